"""Whole tables at once: the class, the label and the rule of each failure as columns, computed by the table's engine.

Any engine that Narwhals knows will do, eager or lazy: pandas, Polars, PyArrow, DuckDB, Ibis, Dask, PySpark and others.
The answers are those of `classify_failure`, `reporting_failure_kind` and `explain_failure`; no row passes through Python.

classify_table(frame, policy=None)    # a table that doesn't say whose request it was
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

try:
    import narwhals as nw
except ImportError:  # pragma: no cover  # seen by a test in a process of its own
    raise ImportError("whole tables need the extra: pip install 'failure-kinds[tables]'") from None

from .active import get_registry
from .column_rules import Columns, first_answer, gives_way, literal, status_evidence, translated
from .columns import evidence_columns, open_table, refuse_clashes, unused_names

if TYPE_CHECKING:
    from .classification import FailureClassificationConfig
    from .registry import FailureRegistry
    from .rule_list import RuleList

__all__ = ["class_expr", "classify_table", "reporting_kind_expr", "rule_expr"]

Frame = TypeVar("Frame")


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
    """Return a table with the class, the label and the deciding rule of each row as columns, as text.

    Every row is answered as the functions answer for its values. One that holds no failure is called nothing and
    classed by the default; leave it out before or afterwards.

    Args:
        frame: A table of any engine that Narwhals knows, eager or lazy, or one of Narwhals' own.
        kind: The column of recorded names. Of a column that isn't text, nothing counts as a name.
        stage: The column of stages, likewise; None if there is none, as for the two that follow.
        http_status: The column of the model requests' statuses: integers, or floats or decimals that equal one. A
            column of booleans holds no evidence.
        policy: The column that says whether the request was the evaluated model's: booleans, or numbers of which
            zero says no. A missing value counts as yes.
        class_name: What to call the column of classes.
        reporting_kind_name: What to call the column of labels, as `reporting_failure_kind` answers.
        rule_name: What to call the column of the rules that decide, as `explain_failure` names them.
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
    refuse_clashes(table, [class_name, reporting_kind_name, rule_name])
    rules = _rules(config, registry)
    columns = evidence_columns(table, kind, stage, http_status, policy, rules)
    # Polars runs a whole query on all cores at once, and holds less between its steps.
    at_once = isinstance(table, nw.DataFrame) and table.implementation.is_polars()
    classified = _classified(table.lazy() if at_once else table, columns, rules, class_name, reporting_kind_name, rule_name)
    classified = classified.collect() if at_once else classified
    return classified if table is frame else classified.to_native()


def _classified(
    table: Table, columns: Columns, rules: RuleList, class_name: str, label_name: str, rule_name: str
) -> Table:
    """A table with the three columns. What more than one rule asks for is computed once, in columns of its own."""
    way, status, number = unused_names(table, ["gives_way", "status", "number"])
    shared = [] if columns.status is None else [columns.gives_way.alias(way), columns.status.alias(status)]
    if shared:
        columns = columns._replace(gives_way=nw.col(way), status=nw.col(status))
    decided = _decided(rules, columns, range(len(rules.classes)))
    return (
        table.with_columns(*shared)
        .with_columns(decided.alias(number))
        .with_columns(
            translated(nw.col(number), [rule.answer.value for rule in rules.classes]).alias(class_name),
            _label(rules, columns).alias(label_name),
            translated(nw.col(number), [rule.name for rule in rules.classes]).alias(rule_name),
        )
        .drop(number, *([way, status] if shared else []))
    )


def _rules(config: FailureClassificationConfig | None, registry: FailureRegistry | None) -> RuleList:
    if config is None:
        config = (get_registry() if registry is None else registry).config
    return config.rules.rule_list


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

    The arguments are those of `classify_table`. An expression can't know the types of the columns: names and stages
    must be text, statuses numbers, and policy booleans.

    Raises:
        VocabularyError: The active registry has to be loaded, and can't be.
    """
    rules = _rules(config, registry)
    return _decided(rules, _named(kind, stage, http_status, policy, rules), [rule.answer.value for rule in rules.classes])


def reporting_kind_expr(
    kind: str = "failure_kind",
    http_status: str | None = "http_status",
    policy: str | None = "policy",
    *,
    config: FailureClassificationConfig | None = None,
    registry: FailureRegistry | None = None,
) -> nw.Expr:
    """Return the label as a Narwhals expression; see `class_expr`."""
    rules = _rules(config, registry)
    return _label(rules, _named(kind, None, http_status, policy, rules))


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
    rules = _rules(config, registry)
    return _decided(rules, _named(kind, stage, http_status, policy, rules), [rule.name for rule in rules.classes])


def _named(kind: str, stage: str | None, http_status: str | None, policy: str | None, rules: RuleList) -> Columns:
    optional = (None if name is None else nw.col(name) for name in (stage, policy, http_status))
    stages, policies, statuses = optional
    return Columns(
        nw.col(kind),
        stages,
        policies,
        None if statuses is None else status_evidence(statuses),
        gives_way(nw.col(kind), rules),
    )


def _decided(rules: RuleList, columns: Columns, answers: list[Any]) -> nw.Expr:
    """The answer of each rule for the class, where it decides; the last one is for every failure."""
    *others, (_, last) = zip(rules.classes, answers, strict=True)
    while others and others[-1][1] == last:
        others.pop()
    return first_answer(others, columns, literal(last))


def _label(rules: RuleList, columns: Columns) -> nw.Expr:
    return first_answer(((rule, rule.answer) for rule in rules.labels), columns, columns.kind)
