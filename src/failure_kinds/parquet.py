"""Counting the rows of a Parquet file by their evidence: DuckDB groups them, so that only different ones come here."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from .rows import evidence_reader
from .scan import BUNDLED_NAMES, Scan, bounded

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

__all__ = ["ENDING", "scan_parquet"]

ENDING: Final = ".parquet"
"""What the names of Parquet files end in."""

_ROWS_AT_ONCE: Final = 10_000
_FAILURE: Final = ("failure_kind", "stage", "http_status", "policy")
_SCORES: Final = ("reward", "score")
_NUMBER: Final = re.compile(r"u?(tiny|small|big|huge)?int(eger)?|decimal|double|float")
_LITERAL: Final = re.compile(r"[*?\[]")  # what DuckDB would take for a part of a pattern


def __dir__() -> list[str]:
    return __all__


def scan_parquet(
    path: str,
    by: str | None = None,
    known: AbstractSet[str] = BUNDLED_NAMES,
    on_row: Callable[[int, tuple[Any, ...]], None] | None = None,
) -> Scan:
    """Count the rows of a Parquet file, as `scan_file` counts those of a file of lines.

    Args:
        path: The file.
        by: The column that a report is split by.
        known: Names that are never drawn together with others, however many there are.
        on_row: Called with the number and the evidence of each row; all of them then come here, one by one.

    Raises:
        ImportError: DuckDB isn't installed.
        OSError: The file can't be read.
    """
    try:
        import duckdb
    except ImportError:
        raise ImportError(f"{path}: this needs the extra: pip install 'failure-kinds[parquet]'") from None
    row_type, evidence_of = evidence_reader(by)
    read = [field.encode_name for field in msgspec.structs.fields(row_type)]
    counts: Counter[tuple[Any, ...]] = Counter()
    lines = 0
    with duckdb.connect() as connection:
        try:
            pattern = _LITERAL.sub(r"[\g<0>]", path)
            file = connection.from_parquet(pattern)
            types = dict(zip(file.columns, file.types, strict=True))
            fields = [name for name in read if name in types]
            values = [_quoted(name) if name == by else _value(name, types[name]) for name in fields]
            counted, grouped = ("1", "") if on_row else ("count(*)", "GROUP BY ALL")
            query = f"SELECT {', '.join([*values, counted])} FROM read_parquet(?) {grouped}"  # noqa: S608  # quoted
            result = connection.execute(query, [pattern])
            while rows := result.fetchmany(_ROWS_AT_ONCE):
                for *row, number in rows:
                    lines += number
                    evidence = evidence_of(msgspec.convert(dict(zip(fields, row, strict=True)), row_type))
                    counts[evidence] += number
                    if on_row is not None:
                        on_row(lines, evidence)
                counts = bounded(counts, known)
        except duckdb.Error as error:
            raise OSError(f"{path}: {str(error).splitlines()[0]}") from None
    return Scan(+counts, lines, 0, 0, [])


def _value(name: str, dtype: Any) -> str:
    """A column as SQL, without what is no evidence and would only keep equal rows apart."""
    column = _quoted(name)
    if name in _SCORES and _NUMBER.fullmatch(dtype.id):  # that there is one is all that counts
        number = f"CAST({column} AS DOUBLE)"
        return f"CASE WHEN {column} IS NULL OR isnan({number}) THEN NULL ELSE 1.0::DOUBLE END"
    if dtype.id == "decimal":
        return f"CAST({column} AS DOUBLE)"
    if dtype.id == "struct" and name == "failure":
        fields = [field for field, _ in dtype.children if field in _FAILURE]
        packed = ", ".join(f"{field} := {column}.{field}" for field in fields)
        return f"CASE WHEN {column} IS NULL THEN NULL ELSE struct_pack({packed}) END" if fields else "NULL"
    return column


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
