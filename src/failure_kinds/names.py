"""Questions about names, put to the active registry. No question that is answered with a bool ever raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from .active import get_registry
from .rules import status_evidence
from .seen import LABELLED, WARNED
from .spelling import is_namespaced

if TYPE_CHECKING:
    from .classification import FailureClassificationConfig

__all__ = [
    "canonical_failure_kind",
    "forget_seen_names",
    "is_evaluation_side",
    "is_gate_derived",
    "is_namespaced",
    "is_registered",
    "is_server_failure",
    "is_server_status",
    "metric_label",
    "require_failure_kind",
    "validate_failure_kind",
]

T = TypeVar("T")


def __dir__() -> list[str]:
    return __all__


def is_registered(name: object) -> bool:
    """Whether a producer may emit a name: one of `FAILURE_KINDS`. Gate-derived, retired and namespaced ones aren't.

    >>> is_registered("agent_timeout"), is_registered("empty_answer"), is_registered(["agent_timeout"])
    (True, False, False)
    """
    return get_registry().is_registered(name)


def is_gate_derived(name: object) -> bool:
    """Whether a name is one of `GATE_DERIVED_KINDS`, which are derived from saved rows and which no producer may emit.

    >>> is_gate_derived("empty_answer")
    True
    """
    return get_registry().is_gate_derived(name)


def is_evaluation_side(name: object, config: FailureClassificationConfig | None = None) -> bool:
    """Whether a name is registered or gate-derived, and its kind rule alone says `EVALUATION`.

    Args:
        name: Anything that was recorded.
        config: The rules; by default the active registry's.

    >>> is_evaluation_side("session_lost"), is_evaluation_side("provider_oom_killed")
    (True, False)
    """
    return get_registry().is_evaluation_side(name, config)


def is_server_failure(kind: object, config: FailureClassificationConfig | None = None) -> bool:
    """Whether a kind is one of which an evaluation failure is a server's. It decides no class.

    Args:
        kind: Anything that was recorded; an alias is read as its kind.
        config: The rules; by default the active registry's.

    >>> is_server_failure("session_lost"), is_server_failure("session_expired")
    (True, False)
    """
    return get_registry().is_server_failure(kind, config)


def is_server_status(status: object) -> bool:
    """Whether an HTTP status is a server error: an integer, no bool, from 500 to 599.

    >>> is_server_status(503), is_server_status("503"), is_server_status(404)
    (True, False, False)
    """
    evidence = status_evidence(status)
    return evidence is not None and evidence >= 500


def validate_failure_kind(name: T) -> T:
    """Return a failure kind as it is, and warn of one that isn't registered: once for each name.

    For the boundary at which failures are taken in: an unknown name is kept, since it is the only evidence there is.
    The warning goes to the logger `failure_kinds` and says what to write instead. Registered and namespaced names,
    None and what isn't text pass in silence. After a thousand names a last line says that further ones aren't shown.
    """
    return get_registry().validate_failure_kind(name)


def require_failure_kind(name: object) -> str:
    """Return a failure kind that a producer may emit: registered or namespaced.

    Raises:
        UnregisteredKindError: It is anything else: unknown, retired, gate-derived, None. It is a ValueError, and says
            what to write instead.

    >>> require_failure_kind("session_lost")
    'session_lost'
    """
    return get_registry().require_failure_kind(name)


def canonical_failure_kind(name: T) -> T | str:
    """Return the replacement of a retired name; anything else as it is.

    >>> canonical_failure_kind("judge_invalid"), canonical_failure_kind("agent_timeout")
    ('judge_unparseable', 'agent_timeout')
    """
    return get_registry().canonical_failure_kind(name)


def metric_label(name: object, budget: int = 100) -> str:
    """Return a label of low cardinality for a failure kind, never empty.

    Args:
        name: Anything that was recorded.
        budget: How many different namespaced names may be labels in this process.

    Returns:
        A registered or gate-derived name as it is; a retired one's replacement; a namespaced one as long as the
        budget lasts; `_OTHER` for everything else.

    >>> metric_label("judge_invalid"), metric_label("Traceback (most recent call last): ..."), metric_label(None)
    ('judge_unparseable', '_OTHER', '_OTHER')
    """
    return get_registry().metric_label(name, budget)


def forget_seen_names() -> None:
    """Forget which names were warned of and which have become metric labels, as tests need it."""
    WARNED.clear()
    LABELLED.clear()
