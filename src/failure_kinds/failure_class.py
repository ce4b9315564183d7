"""The three answers that a classification can give."""

from __future__ import annotations

import enum

__all__ = ["FailureClass"]


def __dir__() -> list[str]:
    return __all__


class FailureClass(enum.Enum):
    """On whose side a failure lies: a shared default for reporting, never an order to retry, mask or score.

    >>> FailureClass("model")
    <FailureClass.MODEL: 'model'>
    """

    EVALUATION = "evaluation"
    """Something of the evaluation's broke: infrastructure, a judge, a sandbox, the harness."""

    MODEL = "model"
    """The evaluated model or agent did it itself."""

    UNKNOWN = "unknown"
    """What was recorded doesn't say. Absence of evidence is this, never `MODEL`."""
