"""The commands that look into a vocabulary: `list`, `show` and `explain`."""

# No postponed annotations here: typer reads them.
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from .console import CLASS_STYLES, console, write, write_json, write_table
from .options import ConfigFiles, Json, completing, registry_of

if TYPE_CHECKING:
    from rich.text import Text

    from ..classification import Explanation
    from ..constants import FailureStage
    from ..registry import FailureRegistry

__all__ = ["explain", "list_kinds", "show"]

_NAMES: Final = ("kinds", "retired", "stages", "domains", "groups")
_TITLES: Final = {
    "class_by_kind": "{}",
    "class_by_stage": "class at {}",
    "kinds_by_stage": "also at {}",
    "of_another_model": "from another model",
    "of_the_evaluated_model": "from the evaluated model",
    "statuses_of_another_model": "statuses from another model",
}
_INTEGER: Final = re.compile(r"-?[0-9]{1,18}")


def __dir__() -> list[str]:
    return __all__


def list_kinds(
    failure_class: Annotated[
        str | None,
        typer.Option("--class", metavar="CLASS", help="Only kinds of this class: evaluation, model or unknown."),
    ] = None,
    domain: Annotated[
        str | None, typer.Option(metavar="DOMAIN", autocompletion=completing("domains"), help="Only this domain.")
    ] = None,
    config: ConfigFiles = None,
    as_json: Json = False,
) -> None:
    """List the kinds by domain, with class and meaning.

    The class is what holds where no closer rule answers, such as one for a stage or an HTTP status.

    Examples:
        failure-kinds list
        failure-kinds list --class model
        failure-kinds list --domain provider --json
        failure-kinds list --config team.yaml
    """
    from .descriptions import describe_kind

    registry = registry_of(config)
    _require_known("--class", failure_class, CLASS_STYLES)
    _require_known("--domain", domain, registry.domains)
    classes = {name: registry.classify_failure(name).value for name in registry.kinds}
    kinds = [
        kind
        for kind in registry.kinds.values()
        if failure_class in (None, classes[kind.name]) and domain in (None, kind.domain)
    ]
    if as_json:
        write_json([describe_kind(registry, kind.name) for kind in kinds])
        return
    for name, meaning in registry.domains.items():
        if listed := [kind.name for kind in kinds if kind.domain == name]:
            console().print(f"{name}: {meaning}", style="bold")
            write_table(((kind, _class(classes[kind]), _summary(registry, kind)) for kind in listed), indent=2)


def show(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME",
            autocompletion=completing(*_NAMES),
            help="A kind, retired name, stage, domain, group, class or HTTP status; its nearest spelling will do.",
        ),
    ],
    config: ConfigFiles = None,
    as_json: Json = False,
) -> None:
    """Show what names mean and how they are classified.

    Examples:
        failure-kinds show agent_timeout
        failure-kinds show judge_invalid verification model
        failure-kinds show 429 --config team.yaml
        failure-kinds show provider_oom_killed --json
    """
    from ..spelling import shown
    from .descriptions import find

    registry = registry_of(config)
    descriptions = []
    for name in names:
        found = find(registry, name)
        if found is None:
            message = f"{shown(name)} is no name of the vocabulary, nor near one, nor a status from 400 to 599"
            raise typer.BadParameter(f"{message}; `failure-kinds list` lists the kinds", param_hint="NAME")
        if found.name != name:
            write(f"{shown(name)} is taken for {found.name!r}", to_stderr=True)
        descriptions += found.descriptions
    if as_json:
        write_json(descriptions)
        return
    for position, description in enumerate(descriptions):
        if position:
            write("")
        _write_description(description)


def explain(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", autocompletion=completing("kinds"), help="The kind recorded; - for none.")
    ],
    stage: Annotated[
        str | None,
        typer.Option(metavar="STAGE", autocompletion=completing("stages"), help="The stage in which it failed."),
    ] = None,
    http_status: Annotated[
        str | None, typer.Option(metavar="N", help="The HTTP status of the model request that failed.")
    ] = None,
    non_policy: Annotated[
        bool, typer.Option("--non-policy", help="That request went to another model than the evaluated one.")
    ] = False,
    config: ConfigFiles = None,
    as_json: Json = False,
) -> None:
    """Explain a failure's class: what every rule says.

    The rules stand in their order of precedence. The one that decided is marked, and each is given with the place where
    it is written.

    Examples:
        failure-kinds explain provider_oom_killed --stage agent
        failure-kinds explain - --http-status 503
        failure-kinds explain model_context_limit --non-policy --json
        failure-kinds explain timeout_exceeded --config team.yaml
    """
    status = int(http_status) if http_status and _INTEGER.fullmatch(http_status) else http_status
    explanation = registry_of(config).explain_failure(
        None if kind == "-" else kind, cast("FailureStage | None", stage), status, not non_policy
    )
    if as_json:
        write_json(_explanation_as_data(explanation))
    else:
        _write_explanation(explanation)


def _require_known(option: str, value: str | None, known: Iterable[str]) -> None:
    from ..spelling import did_you_mean, shown

    known = list(known)
    if value is not None and value not in known:
        advice = did_you_mean(value, known) or f"; it is one of {', '.join(known)}"
        raise typer.BadParameter(f"{shown(value)} isn't known{advice}", param_hint=option)


def _summary(registry: "FailureRegistry", kind: str) -> str:
    flags = {"server": registry.is_server_failure(kind), "gate-derived": registry.is_gate_derived(kind)}
    return registry.kinds[kind].summary + "".join(f" [{flag}]" for flag, is_set in flags.items() if is_set)


def _class(name: str) -> "Text":
    from rich.text import Text

    return Text(name, style=CLASS_STYLES[name])


def _write_description(description: dict[str, Any]) -> None:
    """Write a description as text, without what is empty or false."""
    name, summary = description["name"], description.get("summary")
    console().print(f"{name} ({description['type']})" + (f": {summary}" if summary else ""), style="bold")
    rows: list[tuple[str | Text, ...]] = []
    for field, value in description.items():
        if field in ("type", "name", "summary") or not value:
            continue
        title = _TITLES.get(field, field.replace("_", " "))
        if isinstance(value, dict) and "rule" not in value:
            rows += ((title.format(key), _as_text(part, (name, key))) for key, part in value.items())
        else:
            rows.append((title, _as_text(value, (name,))))
    write_table(rows, indent=2)


def _as_text(value: Any, names: tuple[str, ...]) -> "str | Text":
    """A value of a description; a label goes without saying if it is one of the names that stand beside it."""
    if isinstance(value, dict):
        label = f" as {value['label']}" if value["label"] not in (None, *names) else ""
        return _class(value["class"]).append(f"{label} ({value['rule']}, {value['origin']})", style="default")
    if isinstance(value, list):
        return ", ".join(value)
    return "yes" if value is True else value


def _explanation_as_data(explanation: "Explanation") -> dict[str, Any]:
    from .descriptions import verdict

    steps = [
        {**step._asdict(), "says": step.says.value if step.says else None, "decides": step is explanation.decided}
        for step in explanation.steps
    ]
    return {**verdict(explanation), "steps": steps, "notes": list(explanation.notes)}


def _write_explanation(explanation: "Explanation") -> None:
    failure_class = explanation.failure_class.value
    console().print(_class(failure_class) + (f": {explanation.label}" if explanation.label else ""))
    rows: list[tuple[str | Text, ...]] = []
    for step in explanation.steps:
        mark = ">" if step is explanation.decided else ""
        says = _class(step.says.value) if step.says else "nothing" if step.entry else "-"
        entry = ".".join(map(str, step.entry)) if step.entry else "doesn't apply"
        rows.append((mark, step.rule, says, entry, step.origin or ""))
    write_table(rows)
    for note in explanation.notes:
        write(note)
