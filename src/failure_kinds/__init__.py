"""One shared vocabulary for what goes wrong in an LLM-agent evaluation or an RL rollout.

A producer names a failure, a consumer asks on whose side it lies:

>>> from failure_kinds import AGENT_TIMEOUT, classify_failure
>>> classify_failure(AGENT_TIMEOUT, "agent")
<FailureClass.MODEL: 'model'>

Names are loaded on first use, so that importing a constant costs no more than that.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from . import constants
from .constants import *  # noqa: F403  # generated, and all of them constants

if TYPE_CHECKING:
    from .active import get_registry, reset_registry, set_registry, using_registry
    from .api import classify_failure, explain_failure, reporting_failure_kind
    from .classification import Explanation, FailureClassificationConfig, StageClassificationConfig, Step
    from .errors import FailureKindsError, Problem, UnregisteredKindError, VocabularyError
    from .failure_class import FailureClass
    from .loading import load_registry
    from .names import (
        canonical_failure_kind,
        is_evaluation_side,
        is_gate_derived,
        is_namespaced,
        is_registered,
        is_server_failure,
        is_server_status,
        metric_label,
        require_failure_kind,
        validate_failure_kind,
    )
    from .quota import QUOTA_RESET_REGEX, quota_reset_text, quota_reset_unix
    from .registry import FailureRegistry, Kind

    FAILURE_KINDS: frozenset[str]
    GATE_DERIVED_KINDS: frozenset[str]
    JUDGE_FAILURE_KINDS: tuple[str, ...]
    MODEL_FAULT_KINDS: frozenset[str]
    PROVIDER_FAILURE_KINDS: frozenset[str]
    SERVER_FAULT_KINDS: frozenset[str]

__all__ = [
    "FAILURE_KINDS",
    "GATE_DERIVED_KINDS",
    "JUDGE_FAILURE_KINDS",
    "MODEL_FAULT_KINDS",
    "PROVIDER_FAILURE_KINDS",
    "QUOTA_RESET_REGEX",
    "SERVER_FAULT_KINDS",
    "Explanation",
    "FailureClass",
    "FailureClassificationConfig",
    "FailureKindsError",
    "FailureRegistry",
    "Kind",
    "Problem",
    "StageClassificationConfig",
    "Step",
    "UnregisteredKindError",
    "VocabularyError",
    "canonical_failure_kind",
    "classify_failure",
    "explain_failure",
    "get_registry",
    "is_evaluation_side",
    "is_gate_derived",
    "is_namespaced",
    "is_registered",
    "is_server_failure",
    "is_server_status",
    "load_registry",
    "metric_label",
    "quota_reset_text",
    "quota_reset_unix",
    "reporting_failure_kind",
    "require_failure_kind",
    "reset_registry",
    "set_registry",
    "using_registry",
    "validate_failure_kind",
]
__all__ += constants.__all__


def __dir__() -> list[str]:
    return sorted(__all__)


# A type checker that saw `__getattr__` would take every misspelt name for right.
if not TYPE_CHECKING:  # pragma: no branch
    _HOMES = {
        "active": ("get_registry", "reset_registry", "set_registry", "using_registry"),
        "api": ("classify_failure", "explain_failure", "reporting_failure_kind"),
        "classification": ("Explanation", "FailureClassificationConfig", "StageClassificationConfig", "Step"),
        "errors": ("FailureKindsError", "Problem", "UnregisteredKindError", "VocabularyError"),
        "failure_class": ("FailureClass",),
        "loading": ("load_registry",),
        "names": (
            "canonical_failure_kind",
            "is_evaluation_side",
            "is_gate_derived",
            "is_namespaced",
            "is_registered",
            "is_server_failure",
            "is_server_status",
            "metric_label",
            "require_failure_kind",
            "validate_failure_kind",
        ),
        "quota": ("QUOTA_RESET_REGEX", "quota_reset_text", "quota_reset_unix"),
        "registry": ("FailureRegistry", "Kind"),
    }
    _HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

    # Asked of the active registry at each access, so that they are never older than it.
    _SETS = frozenset(__all__) - frozenset(constants.__all__) - frozenset(_HOME_OF)

    def __getattr__(name: str) -> object:
        if module := _HOME_OF.get(name):
            from importlib import import_module

            value = globals()[name] = getattr(import_module(f".{module}", __name__), name)
            return value
        if name in _SETS or name.isupper():
            from .active import get_registry

            registry = get_registry()
            if name in _SETS:
                return getattr(registry, name.lower())
            if name in registry.constants:
                return registry.constants[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
