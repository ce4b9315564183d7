"""Counting the rows of a Parquet file by their evidence: DuckDB groups them, so that only different ones come here."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import msgspec

from .scan import BUNDLED_NAMES, Scan, bounded
from .sources.reader import EvidenceReader
from .sources.recognition import Shape, recognise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from collections.abc import Set as AbstractSet

    from .sources.source import Source

__all__ = ["ENDING", "scan_parquet"]

ENDING: Final = ".parquet"
"""What the names of Parquet files end in."""

_ROWS_AT_ONCE: Final = 10_000
_NUMBER: Final = re.compile(r"u?(tiny|small|big|huge)?int(eger)?|decimal|double|float")
_LITERAL: Final = re.compile(r"[*?\[]")  # what DuckDB would take for a part of a pattern
_MEMORY: Final = "1GB"
_MOST_THREADS: Final = 4  # of many more, each with a part of the memory, none has enough
_TEXT: Final = "varchar"
_AS_IN_JSON: Final = {"decimal": "DOUBLE", "blob": "VARCHAR"}  # types whose values a file of lines can't hold


def __dir__() -> list[str]:
    return __all__


def scan_parquet(
    path: str,
    sources: Iterable[Source],
    by: str | None = None,
    known: AbstractSet[str] = BUNDLED_NAMES,
    on_row: Callable[[int, str | None, tuple[Any, ...]], None] | None = None,
) -> Scan:
    """Count the rows of a Parquet file, as `scan_file` counts those of a file of lines.

    Args:
        path: The file.
        sources: The sources that its rows may be of.
        by: The column that a report is split by, or what the source carries along. If its values are all different,
            no rows can be counted together, and it takes about as long as one by one.
        known: Names that are never drawn together with others, however many there are.
        on_row: Called with the number, the place and the evidence of each row; all of them then come here, one by one.

    Raises:
        ImportError: DuckDB isn't installed.
        OSError: The file can't be read.
        UnrecognisedError: No source fits, or several do.
    """
    try:
        import duckdb
    except ImportError:
        raise ImportError(f"{path}: this needs the extra: pip install 'failure-kinds[tables]'") from None
    counts: Counter[tuple[Any, ...]] = Counter()
    lines = 0
    with (
        tempfile.TemporaryDirectory(prefix="failure-kinds-") as folder,
        duckdb.connect(config=_settings(folder)) as connection,
    ):
        try:
            pattern = _LITERAL.sub(r"[\g<0>]", path)
            # The name of a folder, such as `stage=agent`, is no column of the file.
            file = connection.from_parquet(pattern, hive_partitioning=False)
            types = dict(zip(file.columns, file.types, strict=True))
            found = recognise(Shape(lines=(frozenset(_fields_of(types)),)), sources)
            reader = EvidenceReader(found.source, by)
            fields, values = _columns(reader, types)
            counted, grouped = ("1", "") if on_row else ("count(*)", "GROUP BY ALL")
            selected = ", ".join([*values, counted])
            query = f"SELECT {selected} FROM read_parquet(?, hive_partitioning = false) {grouped}"  # noqa: S608  # quoted
            result = connection.execute(query, [pattern])
            while rows := result.fetchmany(_ROWS_AT_ONCE):
                for *row, number in rows:
                    lines += number
                    decoded = msgspec.convert(dict(zip(fields, row, strict=True)), reader.decoder.type)
                    evidence = reader.evidence(reader.key(decoded))
                    counts[evidence] += number
                    if on_row is not None:
                        on_row(lines, None, evidence)
                counts = bounded(counts, known)
        except (duckdb.Error, msgspec.ValidationError) as error:
            raise OSError(f"{path}: {str(error).splitlines()[0]}") from None
    return Scan(+counts, lines, 0, 0, [], found.source.name, found.layout.name)


def _settings(folder: str) -> dict[str, Any]:
    """How DuckDB runs: what doesn't fit into memory is put aside in a folder, not in the working directory."""
    threads = min(_MOST_THREADS, os.cpu_count() or 1)
    return {"memory_limit": _MEMORY, "threads": threads, "temp_directory": folder}


def _fields_of(types: dict[str, Any], above: str = "") -> Iterable[str]:
    """The columns, and the fields of those that hold objects, as a source names them."""
    for name, dtype in types.items():
        yield f"{above}{name}"
        if dtype.id == "struct":
            yield from _fields_of(dict(dtype.children), f"{above}{name}.")


def _columns(reader: EvidenceReader, types: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The columns that are read, and each as SQL without what would only keep rows apart that say the same."""
    below: dict[str, set[str]] = {}
    for (key, selector), *rest in reader.paths:
        below.setdefault(key, set()).update({rest[0].key} if rest and selector is None else ())
    read = [name for name in below if name in types]
    return read, [_value(name, types[name], below[name], is_score=name in reader.score_keys) for name in read]


def _value(name: str, dtype: Any, below: set[str], *, is_score: bool) -> str:
    column = _quoted(name)
    if is_score and _NUMBER.fullmatch(dtype.id):  # that there is one is all that counts
        number = f"CAST({column} AS DOUBLE)"
        return f"CASE WHEN {column} IS NULL OR isnan({number}) THEN NULL ELSE 1.0::DOUBLE END"
    if dtype.id == "struct" and below:
        fields = {_quoted(field): of_field for field, of_field in dtype.children if field in below}
        packed = ", ".join(f"{field} := {_plain(f'{column}.{field}', of_field)}" for field, of_field in fields.items())
        return f"CASE WHEN {column} IS NULL THEN NULL ELSE struct_pack({packed}) END" if fields else "NULL"
    return _plain(column, dtype)


def _plain(value: str, dtype: Any) -> str:
    """A value with nothing in it that a file of lines couldn't hold."""
    if dtype.id == "map" and dict(dtype.children)["key"].id != _TEXT:
        return "NULL"
    plain = _plain_type(dtype)
    return value if plain == str(dtype) else f"CAST({value} AS {plain})"


def _plain_type(dtype: Any) -> str:
    """The name of a type, with others in place of those that a file of lines doesn't have."""
    if dtype.id == "struct":
        return f"STRUCT({', '.join(f'{_quoted(name)} {_plain_type(of_field)}' for name, of_field in dtype.children)})"
    if dtype.id == "map":
        key, value = (of_part for _, of_part in dtype.children)
        return f"MAP({key}, {_plain_type(value)})"
    if dtype.id == "list":
        return f"{_plain_type(dtype.children[0][1])}[]"
    return _AS_IN_JSON.get(dtype.id, str(dtype))


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
