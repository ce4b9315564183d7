"""The columns of a table that are evidence, brought into the form that the rules are written for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import narwhals as nw

from .column_rules import gives_way, status_evidence
from .errors import ColumnClashError, ColumnTypeError, MissingColumnError
from .rule_expressions import Columns
from .spelling import did_you_mean, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from narwhals.dtypes import DType

    from .rule_list import RuleList

__all__ = ["Table", "evidence_columns", "open_table", "refuse_clashes", "require_columns", "unused_names"]

Table = nw.DataFrame[Any] | nw.LazyFrame[Any]
"""A table as Narwhals holds it."""

_CATEGORIES: Final = (nw.Categorical, nw.Enum)
_MOST_SHOWN: Final = 20


def __dir__() -> list[str]:
    return __all__


# How a column is made one that can be read, in the words of each engine; SQL's are for all others.
_NUMBERS: Final = {
    "pandas": "pandas.to_numeric(frame[{0!r}], errors='coerce')",
    "polars": "pl.col({0!r}).cast(pl.Int64, strict=False)",
    "pyarrow": "pyarrow.compute.cast(table[{0!r}], 'int64')",
    "ibis": "table[{0!r}].try_cast('int64')",
    "sql": "TRY_CAST({0} AS BIGINT)",
}
_BOOLEANS: Final = {
    "pandas": "frame[{0!r}].map({{'true': True, 'false': False}})",
    "polars": "pl.col({0!r}) == 'true'",
    "pyarrow": "pyarrow.compute.equal(table[{0!r}], 'true')",
    "ibis": "table[{0!r}] == 'true'",
    "sql": "{0} = 'true'",
}
_TEXT_ALONE: Final = {
    "pandas": "frame[{0!r}].where(frame[{0!r}].map(type) == str)",
    "polars": "pl.col({0!r}).cast(pl.String)",
    "sql": "CAST({0} AS VARCHAR)",
}


def open_table(frame: object) -> Table:
    """Return a table of any engine as one of Narwhals', without a copy.

    Raises:
        ColumnTypeError: It is no table that Narwhals knows.
    """
    table = nw.from_native(frame, pass_through=True)
    if not isinstance(table, (nw.DataFrame, nw.LazyFrame)):
        raise ColumnTypeError(f"a table is needed, of pandas, Polars, DuckDB and the like, not {shown(frame)}")
    return table


def evidence_columns(
    table: Table, kind: str, stage: str | None, http_status: str | None, policy: str | None, rules: RuleList
) -> Columns[nw.Expr]:
    """Return the evidence in the columns of these names; None for a column that the table doesn't have.

    Raises:
        MissingColumnError: A column isn't there.
        ColumnTypeError: A column is of a type that holds no such evidence.
    """
    require_columns(table, [kind])
    for argument, name in {"stage": stage, "http_status": http_status, "policy": policy}.items():
        require_columns(table, [] if name is None else [name], f"; if there is none, say {argument}=None")
    names = _text(table, kind)
    return Columns(
        kind=nw.lit(None, dtype=nw.String) if names is None else names,
        stage=_text(table, stage),
        policy=_policy(table, policy),
        status=_status(table, http_status),
        gives_way=nw.lit(True) if names is None else gives_way(names, rules),
    )


def require_columns(table: Table, names: Iterable[str], hint: str = "") -> None:
    """Check that a table has columns of some names.

    Raises:
        MissingColumnError: One isn't there.
    """
    columns = table.collect_schema().names()
    for name in names:
        if name not in columns:
            some = ", ".join(map(shown, columns[:_MOST_SHOWN])) + (", ..." if len(columns) > _MOST_SHOWN else "")
            advice = did_you_mean(name, columns) or hint
            raise MissingColumnError(f"there is no column {shown(name)}{advice}; there are {some or 'none at all'}")


def refuse_clashes(names: Iterable[str]) -> None:
    """Check that no two columns of a table would have one name.

    Raises:
        ColumnClashError: Two would.
    """
    taken: set[str] = set()
    for name in names:
        if name in taken:
            raise ColumnClashError(f"there would be two columns {shown(name)}; choose another name for one of them")
        taken.add(name)


def unused_names(table: Table, names: Iterable[str]) -> list[str]:
    """Return names like these that no column of a table has."""
    taken = set(table.collect_schema())
    unused = []
    for name in names:
        name = f"_failure_kinds_{name}"
        while name in taken:
            name += "_"
        unused.append(name)
    return unused


def _text(table: Table, name: str | None) -> nw.Expr | None:
    """A column of text; None if it is of another type, since nothing of it counts then."""
    dtype = _type_of(table, name)
    if name is None or dtype == nw.String:
        return None if name is None else nw.col(name)
    if dtype in _CATEGORIES:
        return nw.col(name).cast(nw.String)
    if dtype == nw.Object:
        raise _unfit(table, name, "text is needed; keep nothing else", _TEXT_ALONE)
    return None


def _status(table: Table, name: str | None) -> nw.Expr | None:
    dtype = _type_of(table, name)
    if name is None or dtype in (nw.Boolean, nw.Unknown):
        return None
    if not dtype.is_numeric():
        raise _unfit(table, name, "numbers are needed; cast it", _NUMBERS)
    if dtype == nw.UInt64:  # some engines can't compare these with other integers
        return status_evidence(nw.when(nw.col(name).is_in(range(400, 600))).then(nw.col(name)), whole=True)
    return status_evidence(nw.col(name), whole=dtype.is_integer())


def _policy(table: Table, name: str | None) -> nw.Expr | None:
    dtype = _type_of(table, name)
    if name is None or dtype == nw.Unknown:
        return None
    if dtype.is_numeric():
        return nw.col(name) != 0
    if dtype == nw.Object:  # booleans with None among them, in pandas
        return nw.col(name).fill_null(True).cast(nw.Boolean)
    if dtype != nw.Boolean:
        raise _unfit(table, name, "booleans are needed; cast it", _BOOLEANS)
    return nw.col(name)


def _type_of(table: Table, name: str | None) -> DType:
    """The type of a column; unknown for one that isn't there, or whose values, as far as they are here, are missing."""
    if name is None or (isinstance(table, nw.DataFrame) and table[name].null_count() == len(table)):
        return nw.Unknown()
    return table.collect_schema()[name]


def _unfit(table: Table, name: str, wanted: str, advice: Mapping[str, str]) -> ColumnTypeError:
    engine = table.implementation
    words = "pandas" if engine.is_pandas_like() or engine.is_dask() else engine.name.lower()
    cast = advice.get(words, advice["sql"]).format(name)
    return ColumnTypeError(f"column {shown(name)} is of the type {_type_of(table, name)}, where {wanted}: {cast}")
