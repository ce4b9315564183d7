"""The command `failure-kinds sql`: the rules as SQL, to paste into a warehouse."""

# No postponed annotations here: typer reads them.
from typing import Annotated

import typer

from .console import write
from .options import ConfigFiles, registry_of

__all__ = ["sql"]

_NONE = "-"


def __dir__() -> list[str]:
    return __all__


def sql(
    dialect: Annotated[str, typer.Option(metavar="DIALECT", help="duckdb, spark, postgres, bigquery, snowflake, ...")],
    kind: Annotated[
        str, typer.Option(metavar="COLUMN", help="The column of recorded names, or an expression.")
    ] = "failure_kind",
    stage: Annotated[
        str, typer.Option(metavar="COLUMN", help="That of stages; - for none, as for the next two.")
    ] = "stage",
    http_status: Annotated[
        str, typer.Option(metavar="COLUMN", help="That of the model requests' statuses, as integers.")
    ] = "http_status",
    policy: Annotated[
        str, typer.Option(metavar="COLUMN", help="That which says whether they went to the evaluated model.")
    ] = "policy",
    config: ConfigFiles = None,
) -> None:
    """Write the rules as SQL: the class, the label and the deciding rule as expressions for a SELECT.

    They answer for a row as this package does, by the rules that are in force now.

    Examples:
        failure-kinds sql --dialect duckdb
        failure-kinds sql --dialect spark --config team.yaml
        failure-kinds sql --dialect bigquery --kind failure.name --policy -
    """
    from ..errors import SqlError
    from ..sql import rules_as_sql

    stages, statuses, policies = (None if column == _NONE else column for column in (stage, http_status, policy))
    registry = registry_of(config)
    try:
        expressions = rules_as_sql(
            dialect, kind=kind, stage=stages, http_status=statuses, policy=policies, registry=registry
        )
    except SqlError as error:
        raise typer.BadParameter(str(error), param_hint=f"--{error.argument.replace('_', '-')}") from None
    write(",\n".join(f"{expression} AS {name}" for name, expression in expressions._asdict().items()))
