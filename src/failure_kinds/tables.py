"""Whole tables at once: the class, the label and the rule of each failure as columns, computed by the table's engine.

Any engine that Narwhals knows will do, eager or lazy: pandas, Polars, PyArrow, DuckDB, Ibis, Dask, PySpark and others.
The answers are those of `classify_failure`, `reporting_failure_kind` and `explain_failure`; no row passes through
Python.

classify_table(frame, policy=None)    # a table that doesn't say whose request it was
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

try:
    import narwhals as nw
except ImportError:
    raise ImportError("whole tables need the extra: pip install 'failure-kinds[tables]'") from None

from .column_rules import COLUMNS, gives_way, status_evidence, translated
from .columns import as_told_apart, evidence_columns, open_table, refuse_clashes, require_columns, unused_names
from .errors import ColumnClashError, ColumnTypeError
from .rule_expressions import Columns, decided, label, rules_in_force
from .spelling import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .classification import FailureClassificationConfig
    from .columns import Table
    from .registry import FailureRegistry
    from .rule_list import RuleList

__all__ = ["class_expr", "classify_table", "reporting_kind_expr", "rule_expr", "summarize_table"]

Frame = TypeVar("Frame")

# Values that some tools write where there was no failure: those of `vocabulary/sources/plain.yaml`, and the empty one.
_NO_FAILURE: Final = ("", "none", "success", "unset")

_SUMMARY: Final = ("failure_class", "reporting_kind", "stage", "rule")


def __dir__() -> list[str]:
    return __all__


def classify_table(
    frame: Frame,
    *,
    kind: str = "failure_kind",
    stage: str | None = "stage",
    http_status: str | None = "http_status",
    policy: str | None = "policy",
    class_name: str = "failure_class",
    reporting_kind_name: str = "reporting_kind",
    rule_name: str = "rule",
    config: FailureClassificationConfig | None = None,
    registry: FailureRegistry | None = None,
) -> Frame:
    """Return a table with the class, the label and the deciding rule of each row as columns of text.

    Every row is answered as the functions answer for its values; one that holds no failure gets no label and the
    default class.

    Args:
        frame: A table of any engine that Narwhals knows, eager or lazy, or one of Narwhals' own.
        kind: The column of recorded names: text, categories or an enum. Of any other type, nothing counts as a name.
        stage: The column of stages, likewise; None if there is none, as for the two that follow.
        http_status: The column of the model requests' statuses: integers, or floats or decimals that equal one.
            Booleans are no evidence.
        policy: The column that says whether the request was the evaluated model's: booleans, or numbers, of which
            zero says no. A missing value counts as yes.
        class_name: What to call the column of classes.
        reporting_kind_name: What to call the column of labels, which are those of `reporting_failure_kind`.
        rule_name: What to call the column of the rules that decide, named as `explain_failure` names them.
        config: The rules; by default the registry's.
        registry: The registry; by default the active one.

    Returns:
        A table of the same type, lazy if it was, with the three columns behind its own.

    Raises:
        MissingColumnError: A column isn't there.
        ColumnTypeError: A column is of a type that holds no such evidence, or this is no table.
        ColumnClashError: A new column would have the name of another.
        VocabularyError: The active registry has to be loaded, and can't be.
    """
    table = open_table(frame)
    rules = rules_in_force(config, registry)
    columns = evidence_columns(table, kind, stage, http_status, policy, rules)
    names = class_name, reporting_kind_name, rule_name
    refuse_clashes(table, [*table.collect_schema(), *names])
    return _like(frame, table, _classified(_at_once(table), columns, rules, names))


def summarize_table(
    frame: Frame,
    *,
    by: str | Sequence[str] = (),
    kind: str = "failure_kind",
    stage: str | None = "stage",
    http_status: str | None = "http_status",
    policy: str | None = "policy",
    config: FailureClassificationConfig | None = None,
    registry: FailureRegistry | None = None,
) -> Frame:
    """Return how many failures there are of each class, label, stage and rule, the most frequent first.

    Counted are the rows that record a failure: those with a status from 400 to 599, or with a name other than
    the empty one, `none`, `success` and `unset`, which some tools write where there was no failure.

    A report on the same rows as a file may differ: it knows what their source implies, such as that a judge's failures
    are of the stage `verification`, where here a stage is what the column says; and it takes booleans alone for a
    policy, where here a number is read as well.

    Args:
        frame: As for `classify_table`, and so are all arguments but the next.
        by: A column to split the counts by, or several; none if it is empty.
        kind: The column of recorded names.
        stage: The column of stages.
        http_status: The column of statuses.
        policy: The column that says whose request it was.
        config: The rules.
        registry: The registry.

    Returns:
        A table of the same type with the columns of `by`, and `failure_class`, `reporting_kind`, `stage`, `rule` and
        `count`.

    Raises:
        MissingColumnError: A column isn't there.
        ColumnTypeError: A column is of a type that holds no such evidence, this is no table, or `by` no names.
        ColumnClashError: A column of `by` is named twice, or has the name of one of the others.
        VocabularyError: The active registry has to be loaded, and can't be.
    """
    table = open_table(frame)
    rules = rules_in_force(config, registry)
    columns = evidence_columns(table, kind, stage, http_status, policy, rules)
    groups = _groups(table, by)
    failed, *names, count = unused_names(table, ["failed", *_SUMMARY, "count"])
    is_failure = ~COLUMNS.is_named(columns.kind, set(_NO_FAILURE)) & ~columns.kind.is_null()
    if columns.status is not None:
        is_failure |= columns.status > 0
    no_stage = nw.lit(None, dtype=nw.String)
    failures = (
        _at_once(table)
        .with_columns(is_failure.alias(failed), (no_stage if columns.stage is None else columns.stage).alias(names[2]))
        .filter(nw.col(failed))
    )
    counts = (
        _classified(failures, columns, rules, (names[0], names[1], names[3]))
        .group_by(*groups, *names)
        .agg(nw.len().alias(count))
        .sort(count, *groups, *names, descending=[True] + [False] * (len(groups) + len(names)), nulls_last=True)
        .select(*groups, *(nw.col(name).alias(title) for name, title in zip(names, _SUMMARY, strict=True)), count=count)
    )
    return _like(frame, table, nw.maybe_reset_index(counts) if isinstance(counts, nw.DataFrame) else counts)


def class_expr(
    kind: str = "failure_kind",
    stage: str | None = "stage",
    http_status: str | None = "http_status",
    policy: str | None = "policy",
    *,
    config: FailureClassificationConfig | None = None,
    registry: FailureRegistry | None = None,
) -> nw.Expr:
    """Return the class as a Narwhals expression, for a query of one's own.

    The arguments are those of `classify_table`. An expression can't know the types of its columns: names and stages
    must be text, statuses numbers, and policies booleans. It is named `failure_class`, unless you name it otherwise,
    and the others likewise.

    Raises:
        VocabularyError: The active registry has to be loaded, and can't be.
    """
    rules = rules_in_force(config, registry)
    columns = _named(rules, kind, stage, http_status, policy)
    return decided(COLUMNS, rules, columns, rules.class_answers).alias("failure_class")


def rule_expr(
    kind: str = "failure_kind",
    stage: str | None = "stage",
    http_status: str | None = "http_status",
    policy: str | None = "policy",
    *,
    config: FailureClassificationConfig | None = None,
    registry: FailureRegistry | None = None,
) -> nw.Expr:
    """Return the name of the rule that decides the class as a Narwhals expression; see `class_expr`."""
    rules = rules_in_force(config, registry)
    columns = _named(rules, kind, stage, http_status, policy)
    return decided(COLUMNS, rules, columns, rules.class_names).alias("rule")


def reporting_kind_expr(
    kind: str = "failure_kind",
    http_status: str | None = "http_status",
    policy: str | None = "policy",
    *,
    config: FailureClassificationConfig | None = None,
    registry: FailureRegistry | None = None,
) -> nw.Expr:
    """Return the label as a Narwhals expression; see `class_expr`."""
    rules = rules_in_force(config, registry)
    return label(COLUMNS, rules, _named(rules, kind, None, http_status, policy)).alias("reporting_kind")


def _groups(table: Table, by: object) -> list[str]:
    """The columns that a summary is split by."""
    if not isinstance(by, Iterable):
        raise ColumnTypeError(f"by takes the name of a column, or several, not {shown(by)}; by=() splits by none")
    groups = [by] if isinstance(by, str) else list(by)
    require_columns(table, groups)
    own = {as_told_apart(table, name) for name in (*_SUMMARY, "count")}
    for name in groups:
        if as_told_apart(table, name) in own:
            raise ColumnClashError(
                f"a summary has a column {shown(name)} of its own; to split it by yours, give that another name first"
            )
    refuse_clashes(table, groups)
    return groups


def _named(
    rules: RuleList, kind: str, stage: str | None, http_status: str | None, policy: str | None
) -> Columns[nw.Expr]:
    return Columns(
        kind=nw.col(kind),
        stage=None if stage is None else nw.col(stage),
        status=None if http_status is None else status_evidence(nw.col(http_status)),
        policy=None if policy is None else nw.col(policy),
        gives_way=gives_way(nw.col(kind), rules),
    )


def _at_once(table: Table) -> Table:
    """A table whose queries run as a whole, if that is better: on all cores, with less memory between their steps."""
    return table.lazy() if isinstance(table, nw.DataFrame) and table.implementation.is_polars() else table


def _like(frame: Frame, table: Table, result: Table) -> Frame:
    """A result of the type that a table was given in."""
    eager = isinstance(table, nw.DataFrame)
    collected: Any = result.collect() if eager and isinstance(result, nw.LazyFrame) else result
    own = isinstance(frame, (nw.DataFrame, nw.LazyFrame))
    return cast("Frame", collected if own else collected.to_native())


def _classified(table: Table, columns: Columns[nw.Expr], rules: RuleList, names: tuple[str, str, str]) -> Table:
    """A table with the three columns. What more than one rule asks for is computed once, in columns of its own."""
    way, status, number = unused_names(table, ["gives_way", "status", "number"])
    shared = [number]
    if columns.status is not None:
        table = table.with_columns(columns.gives_way.alias(way), columns.status.alias(status))
        columns = columns._replace(gives_way=nw.col(way), status=nw.col(status))
        shared += [way, status]
    places = range(len(rules.classes))
    table = table.with_columns(decided(COLUMNS, rules, columns, places).alias(number))
    answers = (
        translated(nw.col(number), rules.class_answers),
        label(COLUMNS, rules, columns),
        translated(nw.col(number), rules.class_names),
    )
    return table.with_columns(answer.alias(name) for answer, name in zip(answers, names, strict=True)).drop(*shared)
