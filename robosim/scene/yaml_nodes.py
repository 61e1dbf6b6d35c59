"""YAML as nodes that know their line, so that errors are reported with file:line.

`read_yaml(path)` returns the root `Node` of a single document. The text is read as a stream of
parser events, never through a constructor, so no tag can create an object. Nesting and size are
bounded before anything is built. An alias costs nothing but counts with the size of its target, so
a bomb of aliases is refused by its size.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from os import PathLike, fspath
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from robosim.errors import SceneError, suggestion
from robosim.files import read_file

MAX_BYTES = 32 * 2**20
MAX_DEPTH = 32
MAX_NODES = 300_000  # read in about a second

_STANDARD_TAGS = {
    f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null", "seq", "map")
}


class Node:
    """One value of a YAML document.

    It is a scalar (text), a sequence (list of nodes) or a mapping (text to node).

    Attributes:
        value: str, list[Node] or dict[str, Node].
        line: line where the value starts, counted from 1.
        file: name of the file, for messages.
        plain: True for a scalar without quotes.
        size: number of nodes in the value, with aliases counted as their targets.
    """

    __slots__ = ("file", "line", "plain", "size", "value")

    def __init__(self, value: Any, line: int, file: str, plain: bool = False) -> None:
        self.value = value
        self.line: int = line
        self.file = file
        self.plain = plain
        self.size: int = 1

    @property
    def kind(self) -> str:
        """Description of the value in words."""
        if isinstance(self.value, dict):
            return "a mapping"
        if isinstance(self.value, list):
            return f"a sequence of {len(self.value)}"
        return "nothing" if self.is_null() else f"{_shortened(self.value)!r}"

    def error(self, message: str) -> SceneError:
        """Return a SceneError about this node."""
        return SceneError(message, file=self.file, line=self.line)

    def is_null(self) -> bool:
        """True if the value is empty or null."""
        return self.plain and self.value in ("", "~", "null", "Null", "NULL")

    def mapping(
        self, what: str, *, keys: Collection[str] | None = None, required: Collection[str] = ()
    ) -> dict[str, Node]:
        """Return the entries of a mapping.

        Keys must be in `keys` (None for any), and include those of `required`.
        """
        if not isinstance(self.value, dict):
            raise self.error(f"{what}: expected a mapping, found {self.kind}")
        for key, node in self.value.items():
            if keys is not None and key not in keys:
                near = suggestion(key, sorted(keys), limit=None)
                raise node.error(f"{what}: unknown key {_shortened(key)!r}{near}")
        for key in required:
            if key not in self.value:
                raise self.error(f"{what}: {key!r} is missing")
        return self.value

    def sequence(self, what: str, length: int | None = None) -> list[Node]:
        """Return the entries of a sequence, which must have the given length."""
        if not isinstance(self.value, list):
            raise self.error(f"{what}: expected a sequence, found {self.kind}")
        if length is not None and len(self.value) != length:
            raise self.error(f"{what}: expected {length} entries, found {len(self.value)}")
        return self.value

    def text(self, what: str) -> str:
        """Return text that is not empty."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.error(
                f"{what}: expected text, found {self.kind if self.value != '' else 'nothing'}"
            )
        return self.value

    def number(self, what: str) -> float:
        """Return a finite number."""
        try:
            number = float(self.value) if self.plain else math.nan
        except (TypeError, ValueError):
            raise self.error(f"{what}: expected a number, found {self.kind}") from None
        if not math.isfinite(number):
            raise self.error(f"{what}: expected a finite number, found {self.kind}")
        return number

    def integer(self, what: str) -> int:
        """Return a whole number."""
        number = self.number(what)
        if number != int(number):
            raise self.error(f"{what}: expected a whole number, found {self.kind}")
        return int(number)

    def boolean(self, what: str) -> bool:
        """Return a boolean from true, yes, on, 1 or false, no, off, 0."""
        word = self.value.lower() if isinstance(self.value, str) and self.plain else None
        if word in ("true", "yes", "on", "1"):
            return True
        if word in ("false", "no", "off", "0"):
            return False
        raise self.error(f"{what}: expected true or false, found {self.kind}")

    def numbers(self, what: str, length: int | None = None) -> NDArray[np.float64]:
        """Return an array of finite numbers from a sequence."""
        nodes = self.sequence(what, length)
        # Convert all at once if possible; else one by one, to report which number is wrong.
        try:
            values = [float(node.value) for node in nodes if node.plain]
        except (TypeError, ValueError):
            values = []
        if len(values) != len(nodes) or not math.isfinite(sum(values)):
            values = [node.number(what) for node in nodes]
        return np.array(values, dtype=np.float64)

    def table(self, what: str, width: int) -> NDArray[np.float64]:
        """Return an array (n, width) of finite numbers from a sequence of rows."""
        rows = [node.numbers(what, width) for node in self.sequence(what)]
        return np.array(rows, dtype=np.float64).reshape(-1, width)


def read_yaml(path: str | PathLike[str]) -> Node:
    """Read the single document of a YAML file.

    Raises:
        FileError: the file cannot be read or is larger than 32 MiB.
        SceneError: the file is not YAML in UTF-8, is truncated, nests deeper than 32, has more than
            300,000 values, repeats a key, or uses a tag; with file:line.
    """
    return parse_yaml(read_file(path, max_bytes=MAX_BYTES), fspath(path))


def parse_yaml(content: bytes | str, file: str) -> Node:
    """Read the single document of a YAML text, called `file` in messages.

    Raises as `read_yaml` does.
    """
    if isinstance(content, bytes):
        content = decoded(content, file)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        reader = loader(content)
        try:
            return _compose(reader, file)
        finally:
            reader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        problem = f"not valid YAML: {error.problem or error.context}"
        if (
            "nesting depth" in problem
        ):  # PyYAML 6.0.4 reads ahead and has its own limit of nesting, far beyond this one
            problem = f"nested deeper than {MAX_DEPTH}"
        raise SceneError(problem, file=file, line=line) from error
    except yaml.YAMLError as error:
        raise SceneError(f"not valid YAML: {error}", file=file) from error


def decoded(content: bytes, file: str) -> str:
    """Decode bytes as UTF-8 text; SceneError with file:line if they are not."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise SceneError("not a text in UTF-8", file=file, line=line) from error


def _compose(loader: Any, file: str) -> Node:
    """Build the tree of nodes from the events of a parser, on an explicit stack."""
    anchors: dict[str, Node | None] = {}
    # Innermost container, its anchor, and its key that has no value yet; then the containers around
    # it.
    container: Node | None = None
    anchor: str | None = None
    key: str | None = None
    stack: list[tuple[Node, str | None, str | None]] = []
    root: Node | None = None
    next_event = loader.get_event
    while True:
        event = next_event()
        kind = type(event)
        if kind is yaml.ScalarEvent:  # first: the most frequent event of a large document
            line = event.start_mark.line + 1
            if event.tag is not None:
                _check_tag(event.tag, file, line)
            node = Node(event.value, line, file, not event.style)
            if event.anchor:
                anchors[event.anchor] = node
        elif kind is yaml.SequenceStartEvent or kind is yaml.MappingStartEvent:
            line = event.start_mark.line + 1
            _check_tag(event.tag, file, line)
            if container is not None:
                stack.append((container, anchor, key))
            if len(stack) >= MAX_DEPTH:
                raise SceneError(f"nested deeper than {MAX_DEPTH}", file=file, line=line)
            container = Node([] if kind is yaml.SequenceStartEvent else {}, line, file)
            anchor, key = event.anchor, None
            if anchor:
                anchors[anchor] = None  # defined only when the container is complete
            continue
        elif kind is yaml.SequenceEndEvent or kind is yaml.MappingEndEvent:
            assert container is not None
            node = container
            if anchor:
                anchors[anchor] = node
            container, anchor, key = stack.pop() if stack else (None, None, None)
        elif kind is yaml.AliasEvent:
            target = anchors.get(event.anchor or "")
            if target is None:
                line = event.start_mark.line + 1
                raise SceneError(
                    f"the alias *{event.anchor} is unknown or recursive", file=file, line=line
                )
            node = target
        elif kind is yaml.DocumentStartEvent and root is not None:
            line = event.start_mark.line + 1
            raise SceneError("more than one YAML document in the file", file=file, line=line)
        elif kind is yaml.StreamEndEvent:
            break
        else:
            continue

        # Add the node to its container.
        if container is None:
            root = node
            continue
        container.size += node.size
        if container.size > MAX_NODES:
            raise node.error(
                f"more than {MAX_NODES} values, aliases counted with what they stand for; "
                "give large clouds of points as a file"
            )
        values = container.value
        if type(values) is list:
            values.append(node)
        elif key is not None:
            values[key] = node
            key = None
        else:
            key = node.value
            if not isinstance(key, str):
                raise node.error(f"a key must be text, found {node.kind}")
            if key in values:
                raise node.error(f"the key {_shortened(key)!r} stands here twice")
    if root is None:
        raise SceneError("the file is empty", file=file)
    return root


def _check_tag(tag: str | None, file: str, line: int) -> None:
    """Refuse all tags except those of YAML's plain types."""
    if tag is not None and tag != "!" and tag not in _STANDARD_TAGS:
        raise SceneError(f"the tag {_shortened(tag)!r} is not read", file=file, line=line)


def _shortened(text: str, length: int = 60) -> str:
    """Shorten a text for a message."""
    return text if len(text) <= length else text[: length - 3] + "..."
