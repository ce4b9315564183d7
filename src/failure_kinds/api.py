"""The questions that people ask about a failure, put to the active registry or to a configuration of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .active import get_registry

if TYPE_CHECKING:
    from .classification import Explanation, FailureClass, FailureClassificationConfig
    from .constants import FailureStage

__all__ = ["classify_failure", "explain_failure", "reporting_failure_kind"]


def __dir__() -> list[str]:
    return __all__


def classify_failure(
    failure_kind: str | None,
    stage: FailureStage | None = None,
    http_status: object = None,
    policy: bool = True,
    config: FailureClassificationConfig | None = None,
) -> FailureClass:
    """Return on whose side a failure lies: the evaluation's, the model's, or unknown.

    Args:
        failure_kind: The name that was recorded. What isn't text counts as none.
        stage: The stage in which the failure arose, where somebody established it. One that the rules don't know has
            no rule.
        http_status: The status of the model request that failed; no other call's. It is evidence if it is an integer
            from 400 to 599.
        policy: Whether that request went to the evaluated model, rather than to a judge or a simulated user; None
            counts as True.
        config: The rules; by default the active registry's.

    Returns:
        What the first rule says that says anything, in this order: the status's own, the stage's for the kind, the
        stage's default, the kind's that the HTTP status points to, the kind's that stands for a request of another
        model, the kind's, the default. It never raises for what was recorded.

    Raises:
        VocabularyError: The active registry has to be loaded, and can't be.

    >>> classify_failure("provider_oom_killed", "agent"), classify_failure("provider_oom_killed", "seed")
    (<FailureClass.MODEL: 'model'>, <FailureClass.EVALUATION: 'evaluation'>)
    """
    config = get_registry().config if config is None else config
    return config.rules.classify(failure_kind, stage, http_status, policy)


def reporting_failure_kind(
    kind: str | None,
    http_status: object,
    policy: bool = True,
    config: FailureClassificationConfig | None = None,
) -> str | None:
    """Return what to call a failure in a report; what was recorded stays what it is.

    Args:
        kind: The name that was recorded. What isn't text counts as none.
        http_status: The status of the model request that failed, as for `classify_failure`.
        policy: Whether that request went to the evaluated model, as for `classify_failure`.
        config: The rules; by default the active registry's.

    Returns:
        What the table for the status says, if the kind gives way to it; else, for a request that wasn't the evaluated
        model's, the kind that stands for it; else the kind itself, an alias replaced. None if there was no kind and
        the status says nothing.

    Raises:
        VocabularyError: The active registry has to be loaded, and can't be.

    >>> reporting_failure_kind(None, 503), reporting_failure_kind("model_context_limit", 500)
    ('model_server_error', 'model_context_limit')
    """
    config = get_registry().config if config is None else config
    return config.rules.reporting_kind(kind, http_status, policy)


def explain_failure(
    failure_kind: str | None,
    stage: FailureStage | None = None,
    http_status: object = None,
    policy: bool = True,
    config: FailureClassificationConfig | None = None,
) -> Explanation:
    """Return why a failure has its class: what every rule says, which one decides, and where that was written.

    The arguments, and what is raised, are those of `classify_failure`. With a `config`, the origin of an entry that
    differs from the active registry's is `config`.

    >>> explanation = explain_failure("provider_oom_killed", "agent")
    >>> explanation.failure_class, explanation.rule
    (<FailureClass.MODEL: 'model'>, 'stage_kind')
    """
    return get_registry().explain_failure(failure_kind, stage, http_status, policy, config)
