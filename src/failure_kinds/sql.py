"""The rules as SQL, to paste into a warehouse: `CASE` expressions in its dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

try:
    import sqlglot
    from sqlglot import exp
except ImportError:
    raise ImportError("SQL needs the extra: pip install 'failure-kinds[cli]'") from None

from .errors import SqlError
from .rule_expressions import MORE_THAN_NAMESPACED, NAMESPACED, Columns, decided, label, rules_in_force
from .spelling import did_you_mean, is_namespaced, shown
from .terms import folded_runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from .classification import FailureClassificationConfig
    from .registry import FailureRegistry
    from .rule_list import RuleList

__all__ = ["DIALECTS", "RuleSql", "rules_as_sql"]

Sql = Any  # an expression of sqlglot's, whose types differ from version to version

DIALECTS: Final = (
    "athena",
    "bigquery",
    "clickhouse",
    "databricks",
    "duckdb",
    "postgres",
    "presto",
    "redshift",
    "snowflake",
    "spark",
    "trino",
)
"""The dialects that have what the rules need: patterns, and a comparison of text that tells `A` from `a`."""


def __dir__() -> list[str]:
    return __all__


class RuleSql(NamedTuple):
    """The rules as SQL expressions.

    Attributes:
        failure_class: The class.
        reporting_kind: What to call the failure.
        rule: The name of the rule that decides the class.
    """

    failure_class: str
    reporting_kind: str
    rule: str


def rules_as_sql(
    dialect: str,
    *,
    kind: str = "failure_kind",
    stage: str | None = "stage",
    http_status: str | None = "http_status",
    policy: str | None = "policy",
    config: FailureClassificationConfig | None = None,
    registry: FailureRegistry | None = None,
) -> RuleSql:
    """Return the rules as SQL expressions over the columns of a table.

    Args:
        dialect: One of `DIALECTS`.
        kind: The column of recorded names, or any expression of the dialect that gives them as text.
        stage: The same for stages; None if the table has none, as for the two that follow.
        http_status: The same for the statuses of model requests, as integers.
        policy: The same for whether these went to the evaluated model, as booleans.
        config: The rules; by default the registry's.
        registry: The registry; by default the active one.

    Raises:
        SqlError: The dialect isn't one of these, or a column is no expression of it.
        VocabularyError: The active registry has to be loaded, and can't be.
    """
    if dialect not in DIALECTS:
        advice = did_you_mean(dialect, DIALECTS) or f"; take one of {', '.join(DIALECTS)}"
        raise SqlError(f"{shown(dialect)} is no dialect that the rules can be written in{advice}", "dialect")
    rules = rules_in_force(config, registry)
    recorded = _column("kind", kind, dialect)
    columns = Columns(
        kind=recorded,
        stage=None if stage is None else _column("stage", stage, dialect),
        status=None if http_status is None else _column("http_status", http_status, dialect),
        policy=None if policy is None else _column("policy", policy, dialect),
        gives_way=_gives_way(recorded, rules),
    )
    expressions = (
        decided(_SQL, rules, columns, rules.class_answers),
        label(_SQL, rules, columns),
        decided(_SQL, rules, columns, rules.class_names),
    )
    return RuleSql(*(expression.sql(dialect=dialect, pretty=True, max_text_width=100) for expression in expressions))


class _Sql:
    """The language of `rule_expressions`. Where a test is null, `CASE` passes on, as where it is false."""

    def literal(self, answer: str | int) -> Sql:
        return exp.convert(answer)

    def is_named(self, column: Sql, names: AbstractSet[str]) -> Sql:
        return column.isin(*sorted(names)) if names else exp.false()

    def is_status(self, column: Sql, statuses: frozenset[int]) -> Sql:
        runs = folded_runs(statuses)
        alone = [first for first, last in runs if first == last]
        tests = [column.between(first, last) for first, last in runs if first != last]
        return self.any_of([*tests, *([column.isin(*alone)] if alone else [])])

    def is_policy(self, column: Sql) -> Sql:
        return exp.Coalesce(this=column.copy(), expressions=[exp.true()])

    def negated(self, test: Sql) -> Sql:
        return exp.not_(test)

    def all_of(self, tests: Sequence[Sql]) -> Sql:
        return exp.and_(*tests)

    def any_of(self, tests: Sequence[Sql]) -> Sql:
        return exp.or_(*tests)

    def first_of(self, choices: Sequence[tuple[Sql, Sql]], otherwise: Sql) -> Sql:
        case = exp.Case()
        for test, answer in choices:
            case = case.when(test, answer, copy=False)  # it would be copied as a whole, each time
        return case.else_(otherwise, copy=False) if choices else otherwise


_SQL: Final = _Sql()


def _column(argument: str, text: str, dialect: str) -> Sql:
    try:
        return exp.condition(text, dialect=dialect)
    except sqlglot.errors.SqlglotError:
        raise SqlError(f"{shown(text)} is no expression of {dialect}", argument) from None


def _gives_way(kind: Sql, rules: RuleList) -> Sql:
    """The test whether an HTTP status knows better than a recorded name."""

    def matches(pattern: str) -> Sql:
        return exp.RegexpLike(this=kind.copy(), expression=exp.convert(pattern))

    namespaced = [matches(NAMESPACED), exp.not_(matches(MORE_THAN_NAMESPACED))]
    if known := set(filter(is_namespaced, rules.giving_way)):
        namespaced.append(exp.not_(_SQL.is_named(kind, known)))
    keeps = exp.or_(_SQL.is_named(kind, rules.keeping), exp.and_(*namespaced))
    return exp.not_(exp.Coalesce(this=keeps, expressions=[exp.false()]))
