"""YAML text as plain data with positions: a strict subset of YAML in which nothing means more than is written.

Every scalar is the text that stands in the file, so `0640`, `7:30` and `no` stay what they are. Duplicate keys,
anchors, aliases, merge keys and tags are refused. The parser's events are read with a stack of our own: a tree built
by PyYAML no longer knows of an unused anchor or an explicit tag, and building one recurses.
"""

from __future__ import annotations

import bisect
import os
import re
import stat
from typing import TYPE_CHECKING, Any, Final, NoReturn

import yaml

from .errors import Problem, VocabularyError, excerpt
from .spelling import printable, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from importlib_resources.abc import Traversable

    Source = str | os.PathLike[str] | Traversable

__all__ = ["MAX_BYTES", "MAX_DEPTH", "NodePath", "YamlFile", "read_yaml"]

MAX_BYTES: Final = 2**20
"""The largest file that is read, in bytes."""

MAX_DEPTH: Final = 20
"""How deep mappings and lists may be nested."""

NodePath = tuple[str | int, ...]
"""The keys and list positions that lead from the root to a node."""

# The C parser where PyYAML was built with libyaml; both yield the same events.
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS: Final = frozenset({"", "~", "null"})
_LINE_END: Final = re.compile(r"\r\n|\r|\n")

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def __dir__() -> list[str]:
    return __all__


class YamlFile:
    """What a YAML file says, and where.

    Attributes:
        name: The file, as messages name it.
        data: The root mapping, with text, None, dicts and lists in it; empty if the file says nothing.
        problems: What was refused. A refused node is missing from `data` (None in a list).
        refused: Where the refused nodes would have been.
    """

    def __init__(
        self,
        name: str,
        text: str,
        data: dict[str, Any],
        problems: tuple[Problem, ...],
        refused: frozenset[NodePath],
        key_at: dict[NodePath, int],
        value_at: dict[NodePath, int],
    ) -> None:
        self.name = name
        self.data = data
        self.problems = problems
        self.refused = refused
        self._text = text
        self._line_starts = _line_starts(text)
        # Where the key and the value of a node stand, in characters from the start.
        self._key_at = key_at
        self._value_at = value_at

    def problem(self, path: NodePath, message: str, *, at_key: bool = False) -> Problem:
        """Return a problem at the node that a path leads to, or at the nearest one above it that is written down."""
        return _problem_at(self.name, self._text, self._line_starts, self._index(path, at_key), message)

    def line(self, path: NodePath) -> int:
        """Return the line, counted from 1, on which the node that a path leads to is written."""
        return bisect.bisect_right(self._line_starts, self._index(path, at_key=True))

    def _index(self, path: NodePath, at_key: bool) -> int:
        while path:
            for table in (self._key_at, self._value_at) if at_key else (self._value_at, self._key_at):
                if path in table:
                    return table[path]
            path = path[:-1]
        return self._value_at.get((), 0)


def read_yaml(source: Source, name: str | None = None) -> YamlFile:
    """Read a YAML file: UTF-8, at most 1 MiB, one document whose root is a mapping.

    Args:
        source: A path, or a resource with an `open` method.
        name: What to call the file in messages; by default its path as given.

    Raises:
        VocabularyError: The file can't be opened, or isn't YAML to its end. What is refused but leaves the rest
            readable is in the `problems` of the result instead, so that it can be reported with everything else.
    """
    if not isinstance(source, str | os.PathLike) and not hasattr(source, "open"):
        problem = Problem(shown(source), None, None, "a path, a resource or a mapping is needed here")
        raise VocabularyError([problem])
    if name is None:
        name = os.fsdecode(source) if isinstance(source, str | os.PathLike) else source.name
    name = printable(name)
    try:
        raw = _read_bytes(source)
    except (OSError, ValueError) as error:
        raise VocabularyError([Problem(name, None, None, _cannot_read(error))]) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        head = error.object[: error.start].decode("utf-8")
        message = "the file isn't UTF-8 from here on; save it as UTF-8"
        raise VocabularyError([_problem_at(name, head, _line_starts(head), len(head), message)]) from None
    return _Builder(name, text).build()


def _read_bytes(source: Source) -> bytes:
    raw: bytes
    if not isinstance(source, str | os.PathLike):
        with source.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    else:
        # Non-blocking: opening a FIFO would wait for somebody to write to it.
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with open(source, "rb", opener=lambda path, _: os.open(path, flags)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError("it isn't a regular file")
            raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES} bytes, too large for a vocabulary")
    return raw


def _cannot_read(error: OSError | ValueError) -> str:
    if isinstance(error, IsADirectoryError):
        return "can't be read: it is a folder; name a YAML file"
    reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    return f"can't be read: {reason[:1].lower()}{reason[1:]}"


def _line_starts(text: str) -> tuple[int, ...]:
    # Not the marks' own lines: YAML takes NEL and U+2028 for line ends, which no editor counts.
    return (0, *(match.end() for match in _LINE_END.finditer(text)))


def _problem_at(name: str, text: str, line_starts: tuple[int, ...], index: int, message: str) -> Problem:
    line = bisect.bisect_right(line_starts, index)
    start = line_starts[line - 1]
    end = line_starts[line] if line < len(line_starts) else len(text)
    while end > start and text[end - 1] in "\r\n":
        end -= 1
    return Problem(name, line, index - start + 1, message, excerpt(text, start, max(end, index), index))


class _Mapping:
    """A mapping that is being read. `key` is the key whose value comes next, None while a key is expected."""

    __slots__ = ("data", "key", "path")

    def __init__(self, path: NodePath) -> None:
        self.path = path
        self.data: dict[str, Any] = {}
        self.key: str | None = None


class _List:
    """A list that is being read."""

    __slots__ = ("data", "path")

    def __init__(self, path: NodePath) -> None:
        self.path = path
        self.data: list[Any] = []


class _Builder:
    """Builds plain data out of the events of one file."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.line_starts = _line_starts(text)
        self.root: dict[str, Any] = {}
        self.open: list[_Mapping | _List] = []
        self.problems: list[Problem] = []
        self.refused: set[NodePath] = set()
        self.anchors: set[str] = set()
        self.key_at: dict[NodePath, int] = {}
        self.value_at: dict[NodePath, int] = {}

    def build(self) -> YamlFile:
        # Looked for beforehand, because the two parsers report such a character's place in different units. A BOM is
        # allowed at the start only, where decoding has taken it away.
        bad = yaml.reader.Reader.NON_PRINTABLE.search(self.text)
        index = bad.start() if bad else self.text.find("\ufeff")
        if index >= 0:
            self.stop(index, f"the character {shown(self.text[index])} isn't allowed in YAML")
        events = self.events()
        for event in events:
            self.node(event, events)
        return YamlFile(
            self.name,
            self.text,
            self.root,
            tuple(self.problems),
            frozenset(self.refused),
            self.key_at,
            self.value_at,
        )

    def events(self) -> Iterator[Any]:
        """Yield the events of nodes; where the file stops being YAML, stop with a problem."""
        documents = 0
        parser = yaml.parse(self.text, Loader=_LOADER)
        while True:
            try:
                event: Any = next(parser, None)
            except yaml.MarkedYAMLError as error:
                index = error.problem_mark.index if error.problem_mark else 0
                self.stop(index, _not_yaml(error, self.text[index : index + 1]))
            except (yaml.YAMLError, ValueError, OverflowError) as error:  # the pure Python parser lets these through
                self.stop(0, f"not valid YAML: {error}")
            if event is None:
                return
            index = event.start_mark.index
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self.stop(index, "a second document starts here; keep one document to a file")
            elif isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
                yield event

    def stop(self, index: int, message: str) -> NoReturn:
        """Give up: what follows can't be read."""
        raise VocabularyError([*self.problems, self.problem(index, message)])

    def problem(self, index: int, message: str) -> Problem:
        return _problem_at(self.name, self.text, self.line_starts, min(index, len(self.text)), message)

    def node(self, event: Any, events: Iterator[Any]) -> None:
        parent = self.open[-1] if self.open else None
        if isinstance(event, yaml.CollectionEndEvent):
            self.open.pop()
        elif isinstance(parent, _Mapping) and parent.key is None:
            self.key(parent, event, events)
        else:
            self.value(parent, event, events)

    def key(self, mapping: _Mapping, event: Any, events: Iterator[Any]) -> None:
        index = event.start_mark.index
        reason = _why_refused(event)
        if reason is None and not isinstance(event, yaml.ScalarEvent):
            reason = "a key must be a single value, not a mapping or a list"
        if reason is None:
            path = (*mapping.path, event.value)
            plain = event.implicit[0]
            if plain and event.value == "<<":
                reason = "merge keys aren't supported; write out what is meant"
            elif plain and event.value in _NULLS:
                reason = "a key is missing here"
            elif path in self.key_at:
                first = bisect.bisect_right(self.line_starts, self.key_at[path])
                reason = f"{shown(event.value)} is given twice, first on line {first}; keep one of them"
            else:
                mapping.key = event.value
                self.key_at[path] = index
                return
        self.refuse(event, reason, events)
        self.skip(next(events), events)

    def value(self, parent: _Mapping | _List | None, event: Any, events: Iterator[Any]) -> None:
        path: NodePath = ()
        if isinstance(parent, _Mapping):
            path = (*parent.path, parent.key or "")
        elif isinstance(parent, _List):
            path = (*parent.path, len(parent.data))
        self.value_at[path] = event.start_mark.index
        data: Any = None
        if reason := _why_refused(event):
            self.refused.add(path)
            self.refuse(event, reason, events)
        elif isinstance(event, yaml.ScalarEvent):
            if not (event.implicit[0] and event.value in _NULLS):
                data = event.value
            elif not event.value and path in self.key_at:
                self.value_at[path] = self.key_at[path]  # nothing is written: point at the key
        else:
            if len(self.open) == MAX_DEPTH:
                self.stop(event.start_mark.index, f"nested deeper than {MAX_DEPTH} levels")
            opened = _Mapping(path) if isinstance(event, yaml.MappingStartEvent) else _List(path)
            data = opened.data
            self.open.append(opened)
        if isinstance(parent, _Mapping):
            if path not in self.refused:
                parent.data[parent.key or ""] = data
            parent.key = None
        elif isinstance(parent, _List):
            parent.data.append(data)
        elif isinstance(data, dict):
            self.root = data
        elif data is not None:
            kind = "a list" if isinstance(data, list) else "a single value"
            self.stop(event.start_mark.index, f"the file must be a mapping (`key: value`) at its root, not {kind}")

    def refuse(self, event: Any, reason: str, events: Iterator[Any]) -> None:
        """Report a node, unless it is an alias whose anchor was reported, and pass over all that is below it."""
        anchor = event.anchor
        if not (isinstance(event, yaml.AliasEvent) and anchor in self.anchors):
            self.problems.append(self.problem(event.start_mark.index, reason))
        if anchor is not None:
            self.anchors.add(anchor)
        self.skip(event, events)

    def skip(self, event: Any, events: Iterator[Any]) -> None:
        depth = 0
        while True:
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth == 0:
                return
            event = next(events)


def _why_refused(event: Any) -> str | None:
    """Why a node can't be taken, whatever it holds."""
    if isinstance(event, yaml.AliasEvent):
        return f"the alias *{event.anchor} isn't supported; write out what is meant"
    if event.anchor is not None:
        return f"the anchor &{event.anchor} isn't supported, nor are aliases of it; write out what is meant"
    if event.tag is not None:
        return f"the tag {shown(event.tag)} isn't supported; write plain values"
    if isinstance(event, yaml.ScalarEvent) and _SURROGATE.search(event.value):
        return "half of a surrogate pair isn't a character"
    return None


def _not_yaml(error: yaml.MarkedYAMLError, character: str) -> str:
    message = f"not valid YAML: {error.problem}"
    if error.context is not None:
        message += f" ({error.context})"
    if character == "\t":
        message += "; indent with spaces, not with tabs"
    return message
