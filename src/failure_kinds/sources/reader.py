"""Taking the evidence out of decoded rows: once for all rows that say the same."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, Final

import msgspec

from ..spelling import shown
from .conditions import text_of
from .decoding import RowDecoder
from .evidence import Outcome, evidence_in
from .paths import Step, is_key, values_at
from .row_types import paths_read

if TYPE_CHECKING:
    from .paths import Path
    from .source import Source

__all__ = ["EvidenceReader", "reader_of"]

_NUMBERS: Final = frozenset({int, float})
_ROWS_REMEMBERED: Final = 10_000
_READERS: Final = 32
_encode: Final = msgspec.json.Encoder().encode


def __dir__() -> list[str]:
    return __all__


@functools.lru_cache(_READERS)
def reader_of(source: Source, by: str | None = None) -> EvidenceReader:
    """Return the reader of a source, which many files may share; the arguments are those of `EvidenceReader`."""
    return EvidenceReader(source, by)


class EvidenceReader:
    """Takes the evidence out of the rows of one source.

    Attributes:
        paths: The paths to the fields that are read.
        decoder: What decodes the rows.
        score_keys: The fields at the top of a row that hold nothing but a score as a number.
        evidence: The function from a row's key to its evidence, as a plain tuple in the order of
            `failure_kinds.sources.evidence.Evidence`.
    """

    def __init__(self, source: Source, by: str | None = None) -> None:
        """Prepare to read.

        Args:
            source: How the rows are read.
            by: The field that a report is split by: one that the source carries along, or else a field of the rows.

        Raises:
            ValueError: No field of that name can be read.
        """
        if by is not None and not is_key(by):
            raise ValueError(
                f"no field with a quotation mark, a backslash or a control character can be read: {shown(by)}"
            )
        self._source = source
        self._by: tuple[Path, ...] = ()
        if by is not None:
            own: Path = (Step(by),)
            self._by = tuple(dict.fromkeys((source.carry.get(by, own), own)))
        self.paths = paths_read(source, self._by)
        self.decoder = RowDecoder(self.paths)
        self.score_keys = self._score_keys()
        fields = msgspec.structs.fields(self.decoder.type)
        self._scores = [field.name for field in fields if field.encode_name in self.score_keys]
        self.evidence = functools.lru_cache(_ROWS_REMEMBERED)(self._evidence)

    def key(self, row: msgspec.Struct) -> bytes:
        """Return what a row says, as far as it is read: rows with the same key hold the same evidence."""
        for field in self._scores:
            # Whether there is a score is evidence, which one it is isn't; this alone would tell rows apart.
            if type(getattr(row, field)) in _NUMBERS:
                setattr(row, field, 1)
        try:
            return _encode(row)
        except UnicodeEncodeError:  # half a character
            return json.dumps(msgspec.to_builtins(row)).encode("ascii")

    def _evidence(self, key: bytes) -> tuple[Any, ...]:
        row = json.loads(key)
        evidence, _ = evidence_in(row, self._source)
        if evidence.outcome == Outcome.OMITTED:
            return tuple(evidence)
        values = (value for path in self._by for value in values_at(row, path, row))
        return tuple(evidence._replace(group=text_of(next(values, None))))

    def _score_keys(self) -> frozenset[str]:
        keys = {rule.field[0].key for rule in self._source.score if len(rule.field) == 1 and not rule.values}
        scales = (rule for rule in self._source.score if rule.values)
        others = (*paths_read(self._source._replace(score=tuple(scales))), *self._by)
        return frozenset(keys - {path[0].key for path in others})
