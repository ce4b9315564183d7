"""The commands `sources` and `sources show`: which tools' logs are read, and what their values mean."""

# No postponed annotations here: typer reads them.
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import console, write, write_json, write_table
from .options import ConfigFiles, Json, registry_of

if TYPE_CHECKING:
    from ..sources.source import Source

__all__ = ["list_sources", "show_source"]


def __dir__() -> list[str]:
    return __all__


def list_sources(context: typer.Context, as_json: Json = False) -> None:
    """List the tools whose logs are read.

    Each is described by a YAML file. For a tool that isn't here, write one of your own, and name it to the command
    `report` with --source.

    Examples:
        failure-kinds sources
        failure-kinds sources --json
        failure-kinds sources show harbor
    """
    if context.invoked_subcommand is not None:
        return
    from ..sources.bundled import bundled_sources

    sources = bundled_sources().values()
    if as_json:
        write_json([_summary(source) for source in sources])
        return
    write_table((source.name, source.title, source.about or "") for source in sources)


def show_source(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A name that `sources` lists, or a YAML file.")],
    config: ConfigFiles = None,
    yaml: Annotated[
        bool, typer.Option("--yaml", help="Print the file itself, to make one of your own from it.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print what is read out of a tool's logs, and what its values mean.

    Examples:
        failure-kinds sources show harbor
        failure-kinds sources show my_tool.yaml --config team.yaml
        failure-kinds sources show inspect --yaml > my_inspect.yaml
    """
    from ..sources.bundled import source_resources
    from ..sources.loading import load_source

    loaded = load_source(source, registry_of(config))
    if yaml:
        resources = source_resources()
        text = resources[source].read_text(encoding="utf-8") if source in resources else _text_of(source)
        write(text.rstrip("\n"))
    elif as_json:
        write_json(_description(loaded))
    else:
        _write(loaded)


def _text_of(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _summary(source: "Source") -> dict[str, Any]:
    fields = "name", "title", "about", "notes", "url", "digest"
    return {field: getattr(source, field) for field in fields}


def _description(source: "Source") -> dict[str, Any]:
    from ..sources.meanings import condition_text, layout_text, meanings, readings

    return {
        **_summary(source),
        "layouts": [
            {
                "name": layout.name,
                "files": list(layout.files),
                "when": condition_text(layout.when),
                "rows": layout_text(layout),
            }
            for layout in source.layouts
        ],
        "values": [meaning._asdict() for meaning in meanings(source)],
        "fields": [{"what": what, "where": where} for what, where in readings(source)],
    }


def _write(source: "Source") -> None:
    from ..sources.meanings import condition_text, layout_text, meanings, readings

    console().print(f"{source.name}: {source.title}", style="bold")
    for line in (source.about, source.notes, source.url):
        if line is not None:
            write(line)
    if source.layouts:
        _heading("Files")
        rows = ((layout.name, layout_text(layout), _with(condition_text(layout.when))) for layout in source.layouts)
        write_table(rows, indent=2)
    for where, values in groupby(meanings(source), key=lambda meaning: meaning.where):
        _heading(where)
        write_table(((meaning.value, meaning.means) for meaning in values), indent=2)
    if rest := list(readings(source)):
        _heading("Beside it")
        write_table(rest, indent=2)


def _with(condition: str) -> str:
    return f"with {condition}" if condition else ""


def _heading(text: str) -> None:
    write("")
    console().print(text, style="bold")
