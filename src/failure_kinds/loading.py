"""Loading a registry: the layers of a vocabulary laid one over the other, in the order given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast

import importlib_resources
from pydantic import ValidationError

from .classification import FailureClassificationConfig
from .conflicts import conflicts_in, constant_of, entries
from .document import STATUS_TABLES, ClassificationSection, Document, DomainGroup, KindSection
from .errors import Problem, VocabularyError
from .findings import Finding, findings_in
from .frozen import FrozenDict
from .layers import FileLayer, Layer, MappingLayer
from .reading import read_yaml
from .registry import FailureRegistry, Kind
from .terms import Names, exact_last, statuses

if TYPE_CHECKING:
    from .reading import NodePath, Source

__all__ = ["BUNDLED_FILE", "load_registry"]

BUNDLED_FILE: Final = "failure_kinds.yaml"
"""The bundled vocabulary: a resource of the package `failure_kinds.vocabulary`, and its name in messages."""


def __dir__() -> list[str]:
    return __all__


def load_registry(
    *overrides: Source | Mapping[str, Any], base: Source | Mapping[str, Any] | None = None
) -> FailureRegistry:
    """Load a vocabulary, with names and rules of one's own laid over it in the order given.

    Args:
        overrides: Paths of YAML files, resources, or Python mappings of the same form, without a `version`.
        base: A whole vocabulary, with a `version`; by default the one that comes with the package.

    Raises:
        VocabularyError: Something is wrong with the files; it says everything that is.

    >>> registry = load_registry({
    ...     "schema_version": 1,
    ...     "classification": {"by_failure_kind": {"agent_timeout": "evaluation"}},
    ... })
    >>> registry.classify_failure("agent_timeout")
    <FailureClass.EVALUATION: 'evaluation'>
    """
    laid = _Laid()
    if base is None:
        laid.lay(importlib_resources.files("failure_kinds.vocabulary") / BUNDLED_FILE, BUNDLED_FILE, is_base=True)
    else:
        laid.lay(base, is_base=True)
    for override in overrides:
        laid.lay(override)
    return laid.registry()


class _Laid:
    """What the layers so far say. As a validation context, it knows the names that the layer at hand may use."""

    def __init__(self) -> None:
        self.version = ""
        self.loaded: str | None = None
        self.domains: dict[str, str] = {}
        self.stages: dict[str, str] = {}
        self.kinds: dict[str, KindSection] = {}
        self.groups: dict[str, tuple[str, ...] | DomainGroup] = {}
        self.retired: dict[str, str] = {}
        self.config: ClassificationSection = ClassificationSection.model_construct()
        self.names = Names(frozenset(), frozenset(), {}, {}, {})
        self.origins: dict[NodePath, str] = {}
        self.problems: list[Problem] = []
        # Whether something that may declare names couldn't be read, so that an unknown name may be a known one.
        self.incomplete = False

    def lay(self, source: Source | Mapping[str, Any], name: str | None = None, *, is_base: bool = False) -> None:
        """Lay a layer over those so far, or keep what is wrong with it."""
        try:
            layer: Layer = MappingLayer(source) if isinstance(source, Mapping) else FileLayer(read_yaml(source, name))
        except VocabularyError as error:
            self.problems += error.problems
            self.incomplete = True
            return
        self.incomplete |= any(len(path) == 1 for path in layer.refused)
        self.names = self._names_with(layer)
        document, findings = self._check(layer.data, is_base)
        self.problems += layer.problems(findings)
        if document is not None and not self.problems:
            self._merge(document, layer)

    def registry(self) -> FailureRegistry:
        """Return what all the layers say together, or raise what is wrong with them."""
        if self.problems:
            raise VocabularyError(self.problems, self.loaded)
        kinds = {
            name: Kind(
                name=name,
                constant=constant_of(name, kind),
                domain=kind.domain,
                summary=kind.summary,
                failure_class=kind.failure_class,
                server_fault=kind.server_fault,
                gate_derived=kind.gate_derived,
            )
            for name, kind in self.kinds.items()
        }
        groups = {
            # By name, because the order of a file's keys never changes a result.
            name: tuple(sorted(kind.name for kind in kinds.values() if kind.domain == group.domain))
            if isinstance(group, DomainGroup)
            else group
            for name, group in self.groups.items()
        }
        return FailureRegistry(
            self.version,
            FrozenDict(self.domains),
            FrozenDict(self.stages),
            FrozenDict(kinds),
            FrozenDict(groups),
            FrozenDict(self.retired),
            cast("FailureClassificationConfig", self.config),
            FrozenDict(self.origins),
        )

    def _names_with(self, layer: Layer) -> Names:
        """The names so far and those that a layer declares, as far as its form allows to tell."""
        registered, gate_derived = set(self.names.registered), set(self.names.gate_derived)
        refused = ((path[1], None) for path in layer.refused if len(path) == 2 and path[0] == "kinds")
        for name, kind in (*entries(layer.data, "kinds"), *refused):
            if name not in registered and name not in gate_derived:
                derived = isinstance(kind, Mapping) and kind.get("gate_derived") in (True, "true")
                (gate_derived if derived else registered).add(str(name))
        declared = {section: dict(entries(layer.data, section)) for section in ("retired", "stages", "domains")}
        return Names(
            registered,
            gate_derived,
            {**declared["retired"], **self.names.retired},
            {**declared["stages"], **self.names.stages},
            {**declared["domains"], **self.names.domains},
        )

    def _check(self, data: Mapping[str, Any], is_base: bool) -> tuple[Document | None, list[Finding]]:
        """A layer as a document, and what is wrong with it."""
        if not data and not is_base:
            return None, []  # a file that says nothing changes nothing
        if "source" in data and "kinds" not in data:
            message = "this is a source, which says how a tool's failures are read; `report` takes it as --source"
            return None, [Finding(("source",), message, at_key=True)]
        document, findings = None, []
        try:
            document = Document.model_validate(data, context=self)
        except ValidationError as error:
            findings = list(findings_in(error))
        if "schema_version" in data and any(finding.path == ("schema_version",) for finding in findings):
            # A file of another form can't be judged by this one.
            return None, [finding for finding in findings if finding.path == ("schema_version",)]
        if self.incomplete:
            findings = [finding for finding in findings if not finding.unknown_name]
        if is_base and data.get("version") is None:
            message = "version is missing; a base is a whole vocabulary, and states its own"
            findings.append(Finding(("version",), message, at_key=True))
        if not is_base and "version" in data:
            message = "only a whole vocabulary has a version; take it out, or pass the file as the base"
            findings.append(Finding(("version",), message, at_key=True))
        if not self.problems:  # or what the layers below say isn't known
            reported = {finding.path for finding in findings}
            declared = document.kinds if document is not None else self._sound_kinds(data)
            findings += (finding for finding in conflicts_in(data, declared, self) if finding.path not in reported)
        return document, findings

    def _sound_kinds(self, data: Mapping[str, Any]) -> dict[str, KindSection]:
        """The declarations that are right in a layer that isn't."""
        kinds = {}
        for name, declaration in entries(data, "kinds"):
            with suppress(ValidationError):
                kinds[name] = KindSection.model_validate(declaration, context=self)
        return kinds

    def _merge(self, document: Document, layer: Layer) -> None:
        if document.version is not None:
            self.version = document.version
            self.loaded = f"vocabulary {document.version} from {layer.name}"
        new_kinds = {name: kind for name, kind in document.kinds.items() if name not in self.kinds}
        new_retired = {name: kind for name, kind in document.retired.items() if name not in self.retired}
        self.origins |= _origins(layer, new_kinds, new_retired)
        self.domains |= document.domains
        self.stages |= document.stages
        self.kinds |= new_kinds
        self.groups |= document.groups
        self.retired |= new_retired
        rules = document.classification
        given = {field: getattr(rules, field) for field in rules.model_fields_set}
        declared: dict[str, dict[str, Any]] = {
            "by_failure_kind": {name: kind.failure_class for name, kind in new_kinds.items()},
            "server_fault_kinds": {name: True for name, kind in new_kinds.items() if kind.server_fault},
            "kind_aliases": new_retired,
        }
        for field, said in declared.items():
            given[field] = {**said, **given.get(field, {})}
        self.config = FailureClassificationConfig.merged_over(self.config, given)


def _origins(layer: Layer, kinds: Mapping[str, KindSection], retired: Mapping[str, str]) -> dict[NodePath, str]:
    """Where a layer writes what it adds or changes. Later entries replace earlier ones, as the rules do."""
    written: dict[NodePath, NodePath] = {}
    for section in ("domains", "stages", "groups"):
        written |= {(section, name): (section, name) for name, _ in entries(layer.data, section)}
    for name, kind in kinds.items():
        declaration: NodePath = ("kinds", name)
        stated = (*declaration, "class") if kind.failure_class is not None else declaration
        written |= {declaration: declaration, ("classification", "by_failure_kind", name): stated}
        if kind.server_fault:
            written["classification", "server_fault_kinds", name] = (*declaration, "server_fault")
    for name in retired:
        written |= {(*place, name): ("retired", name) for place in (("retired",), ("classification", "kind_aliases"))}
    written |= _rules(layer.data)
    return {place: layer.origin(path) for place, path in written.items()}


def _rules(data: Mapping[str, Any]) -> Iterator[tuple[NodePath, NodePath]]:
    """The rules that a layer writes: the entry of the configuration, and the path in the layer."""
    for field, _ in entries(data, "classification"):
        path: NodePath = ("classification", field)
        if field == "default_class":
            yield path, path
        for key in exact_last(key for key, _ in entries(data, *path)):
            if field == "by_stage":
                stage = (*path, key)
                rules = [(*stage, "by_failure_kind", kind) for kind, _ in entries(data, *stage, "by_failure_kind")]
                rules += [(*stage, name) for name, _ in entries(data, *stage) if name == "default_class"]
                yield from zip(rules, rules, strict=True)
            elif field in STATUS_TABLES:
                yield from (((*path, status), (*path, key)) for status in statuses(key))
            else:
                yield (*path, key), (*path, key)
