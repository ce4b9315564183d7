"""The columns of a table that are evidence, brought into the form that the rules are written for."""

from __future__ import annotations

from collections import Counter
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

__all__ = [
    "Table",
    "as_told_apart",
    "evidence_columns",
    "open_table",
    "refuse_clashes",
    "require_columns",
    "unused_names",
]

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
_TEXT: Final = {
    "pandas": "frame[{0!r}].astype('string')",
    "polars": "pl.col({0!r}).cast(pl.String)",
    "pyarrow": "pyarrow.compute.cast(table[{0!r}], 'string')",
    "sql": "CAST({0} AS VARCHAR)",
}
_TEXT_ALONE: Final = {**_TEXT, "pandas": "frame[{0!r}].where(frame[{0!r}].map(type) == str)"}
# What pandas itself can do nothing with.
_TEXT_OF_VIEWS: Final = {"pandas": "pandas.array(pyarrow.array(frame[{0!r}]).cast('string'), dtype='string')"}


def open_table(frame: object) -> Table:
    """Return a table of any engine as one of Narwhals', without a copy.

    Raises:
        ColumnTypeError: It is no table that Narwhals knows.
        ColumnClashError: Two of its columns have one name, and its engine can't tell them apart either.
    """
    try:
        table = nw.from_native(frame, pass_through=True)
    except nw.exceptions.DuplicateError:
        named: Any = frame
        names = Counter(getattr(named, "column_names", None) or named.columns)
        several = ", ".join(shown(name) for name, number in names.items() if number > 1)
        raise ColumnClashError(f"there are several columns {several}; give each a name of its own") from None
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


def refuse_clashes(table: Table, names: Iterable[str]) -> None:
    """Check that no two columns of a table would have one name, or what its engine takes for one.

    Raises:
        ColumnClashError: Two would.
    """
    taken: dict[str, str] = {}
    for name in names:
        told = as_told_apart(table, name)
        if told in taken:
            other = "" if taken[told] == name else f", as {shown(taken[told])} is the same here"
            raise ColumnClashError(
                f"there would be two columns {shown(name)}{other}; choose another name for one of them"
            )
        taken[told] = name


def as_told_apart(table: Table, name: str) -> str:
    """Return what a table's engine tells a column by: some take `Rule` and `rule` for the same."""
    engine = table.implementation
    return name.lower() if engine.is_duckdb() or engine.is_spark_like() or engine.is_ibis() else name


def unused_names(table: Table, names: Iterable[str]) -> list[str]:
    """Return names like these that no column of a table has."""
    taken = {str(name).lower() for name in table.collect_schema()}  # in pandas, they may be numbers
    unused = []
    for name in names:
        name = f"_failure_kinds_{name}"
        while name in taken:
            name += "_"
        unused.append(name)
    return unused


def _text(table: Table, name: str | None) -> nw.Expr | None:
    """A column of text; None if it is of another type, since nothing of it counts then."""
    dtype = _type_of(table, name, "text is needed; cast it", _TEXT)
    if name is None or dtype is None:
        return None
    column = nw.col(name)
    if dtype == nw.String and _stored_as(table, name).startswith("string_view"):
        if not table.implementation.is_pyarrow():
            raise _unfit(table, name, "text of another form is needed; cast it", _TEXT_OF_VIEWS)
        return column.cast(nw.String)
    if dtype == nw.Object:
        raise _unfit(table, name, "text is needed; keep nothing else", _TEXT_ALONE)
    if dtype in _CATEGORIES:
        return column.cast(nw.String)
    return column if dtype == nw.String else None


def _status(table: Table, name: str | None) -> nw.Expr | None:
    wanted = "numbers are needed; cast it"
    dtype = _type_of(table, name, wanted, _NUMBERS)
    if name is None or dtype is None or dtype == nw.Boolean:
        return None
    if not dtype.is_numeric():
        raise _unfit(table, name, wanted, _NUMBERS)
    if dtype == nw.UInt64:  # some engines can't compare these with other integers
        return status_evidence(nw.when(nw.col(name).is_in(range(400, 600))).then(nw.col(name)), whole=True)
    return status_evidence(_number(name, dtype), whole=dtype.is_integer())


def _policy(table: Table, name: str | None) -> nw.Expr | None:
    wanted = "booleans are needed; cast it"
    dtype = _type_of(table, name, wanted, _BOOLEANS)
    if name is None or dtype is None:
        return None
    if dtype == nw.UInt64:
        return ~nw.col(name).is_in([0])
    if dtype.is_numeric():
        return _number(name, dtype) != 0
    if dtype == nw.Object:  # booleans with None among them, in pandas
        return nw.col(name).fill_null(True).cast(nw.Boolean)
    if dtype != nw.Boolean:
        raise _unfit(table, name, wanted, _BOOLEANS)
    return nw.col(name)


def _number(name: str, dtype: DType) -> nw.Expr:
    """A column of numbers; decimals, and floats of two bytes, can't be compared or rounded on every engine."""
    return nw.col(name) if dtype.is_integer() or dtype == nw.Float64 else nw.col(name).cast(nw.Float64)


def _type_of(table: Table, name: str | None, wanted: str, advice: Mapping[str, str]) -> DType | None:
    """The type of a column; None if it isn't there, or if its values, as far as that can be known, are missing.

    Raises:
        ColumnTypeError: There are values, of a type that Narwhals doesn't know.
    """
    if name is None or (isinstance(table, nw.DataFrame) and table[name].null_count() == len(table)):
        return None
    dtype = table.collect_schema()[name]
    if dtype != nw.Unknown:
        return dtype
    if isinstance(table, nw.LazyFrame):  # as a column without values is, which can't be told from others
        return None
    if _stored_as(table, name).startswith("decimal"):
        return nw.Decimal()
    raise _unfit(table, name, wanted, advice)


def _stored_as(table: Table, name: str) -> str:
    """The type of a column in the words of an eager table's engine, which may tell more of them apart."""
    if isinstance(table, nw.LazyFrame):
        return ""
    column = table[name].to_native()
    return str(getattr(column, "dtype", None) or column.type)


def _unfit(table: Table, name: str, wanted: str, advice: Mapping[str, str]) -> ColumnTypeError:
    engine = table.implementation
    words = "pandas" if engine.is_pandas_like() or engine.is_dask() else engine.name.lower()
    cast = (advice.get(words) or advice["sql"]).format(name)
    dtype = table.collect_schema()[name]
    spelt = _stored_as(table, name) if dtype == nw.Unknown else dtype
    return ColumnTypeError(f"column {shown(name)} is of the type {spelt}, where {wanted}: {cast}")
