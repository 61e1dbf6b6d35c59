"""Call every function of robosim with every combination of optional arguments, in every world.

This module runs in a separate process. Its arguments are a file that names the current call, so
that a crash identifies the call, and then optional names of worlds. It prints the number of calls.
The exit status is 1 if a call raised an unexpected exception, or if a function never returned.

For each function, valid arguments are searched, with lists and arrays of 1, 0, 2 and 3 parts. Then
the function is called with all combinations of values of its optional arguments, omitted and given,
if these are at most LIMIT. Otherwise it is called with all pairs of them. Operations of the
registry, which take their arrays in tuples, are called according to their entries in the registry.
"""

from __future__ import annotations

import contextlib
import faulthandler
import inspect
import itertools
import mmap
import os
import re
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from operations import Operations
from signatures import ABSENT, Call, Parameter, engine_calls, public_calls
from values import TUPLES, NoWay, Shape, Values
from worlds import FILES, WORLDS

import robosim
from robosim.errors import RobosimError

EXPECTED = (RobosimError, TypeError, ValueError)
IS_FULL = os.environ.get("ROBOSIM_TEST_SCALE") == "full"
LIMIT = 250 if IS_FULL else 4
# Worlds that take the least time. Every function returns in one of them.
IN_GATE = ("fixed", "floating", "free", "nothing")
MOST = 5 if IS_FULL else 1  # values of one argument, each with all values of the others
NOTED = 1000  # characters of a call
MIXED = 40  # combinations of required arguments, if the plainest are refused
TRIES = 24  # shapes, if refusals do not name one
SLOW = 0.02  # [s] above which functions are called less often
REFUSED = re.compile(r"(\w+)\W* has shape \([\d, ]*\).*?expected \(([\d, ]*)\)")
WORDS = re.compile(r"'([^']*)'|\b(?:are|known|valid|has|be):? ([\w, ]+)")

# Functions that return in no small world, and the tests where they do.
ELSEWHERE = {"scene.generate": "needs an arm of six joints: tests/scene/test_families.py"}

Given = dict[str, Any]
"""Values by parameter name."""


class Battery:
    """Makes all calls in one world, and counts them."""

    def __init__(
        self, name: str, values: Values, note: Callable[[str], None], files: dict[str, str]
    ) -> None:
        self.name, self.values, self.note, self.files = name, values, note, files
        self.calls = 0
        self.returned: set[str] = set()
        self.refusals: dict[str, str] = {}
        self.no_way: dict[str, str] = {}
        self.unexpected: dict[str, str] = {}
        self._shapes: dict[tuple[str, str], Shape] = {}  # accepted shapes, by call and parameter
        self._slow: set[str] = set()

    def attempt(self, call: Call, given: Given, which: int = 0) -> tuple[bool, Any]:
        """Call a function. Return True and its result, or False and the message of the exception.

        A method is called on object number `which` of its class.
        """
        own = [] if call.owner is None else [self.values.owners(call.owner)[which]]
        self.note(
            f"{self.name}: {call.name}({', '.join(f'{k}={_told(v)}' for k, v in given.items())})"
        )
        self.calls += 1
        began = perf_counter()
        expected = (*EXPECTED, AttributeError) if call.is_property else EXPECTED
        try:
            result = call(*own, **given)
            if inspect.isgenerator(result):
                result = list(result)
        except expected as error:
            self.refusals[call.name] = f"{type(error).__name__}: {error}"
            return False, str(error)
        except Exception as error:
            if call.name not in self.unexpected:
                trace = "".join(traceback.format_exception(error))
                arguments = ", ".join(f"{k}={_told(v)}" for k, v in given.items())
                self.unexpected[call.name] = f"{self.name}: {call.name}({arguments})\n{trace}"
            return False, str(error)
        finally:
            if perf_counter() - began > SLOW:
                self._slow.add(call.name)
        self.returned.add(call.name)
        self.values.keep(result, parts=len(given) if inspect.isclass(call.function) else 0)
        return True, result

    def fitted(self, call: Call, given: Given, tries: int = TRIES) -> tuple[bool, Given]:
        """Retry a call with arrays of the shapes that refusals require.

        Returns whether the call returned, and its last arguments.
        """
        shapes: dict[str, Shape] = {}
        options: dict[str, Iterator[Shape]] = {}
        for name, value in given.items():
            leading = self.values.leading(value)
            if leading is None:
                continue
            options[name] = self.values.shapes(name, leading)
            taken = self._shapes.get((call.name, name))
            shapes[name] = next(options[name]) if taken is None else _resized(taken, leading)
        asked_for: set[tuple[str, Shape]] = set()
        has_more = False  # True after an axis has been added in front of the required shape
        # Adapt the shapes to each refusal: to the shape that it requires, then with a leading axis,
        # then to the next candidate.
        for _ in range(tries if shapes else 1):
            filled = {
                n: self.values.filled(v, shapes[n]) if n in shapes else v for n, v in given.items()
            }
            is_returned, answer = self.attempt(call, filled)
            if is_returned:
                for name, shape in shapes.items():
                    self._shapes.setdefault((call.name, name), shape)
                return True, filled
            asked = REFUSED.search(answer)
            name = self._named(asked[1] if asked else answer, shapes)
            if name is None:
                break
            shape = tuple(int(n) for n in asked[2].replace(",", " ").split()) if asked else ()
            if asked and (name, shape) not in asked_for and shapes[name] != shape:
                asked_for.add((name, shape))
                is_free = len(shape) > 1 and shape[0] == 1 and (name, ()) not in asked_for
                asked_for.add((name, ()))
                shapes[name] = (
                    _resized(shape, self.values.leading(given[name])) if is_free else shape
                )
            elif asked_for and not has_more:
                has_more = True
                for n, shape in shapes.items():
                    leading = self.values.leading(given[n])
                    shapes[n] = shape if leading is None else (leading, *shape)
            else:
                shapes[name] = next(options[name], shapes[name])
        return False, filled

    def _named(self, text: str, shapes: dict[str, Shape]) -> str | None:
        """Parameter that a refusal is about, otherwise one of those with shapes."""
        if text in shapes:
            return text
        for name in shapes:
            if text in TUPLES.get(name, ()):
                return name
        about = [n for n in shapes if re.search(rf"\b{re.escape(n)}\b", text)]
        if about:
            return about[0]
        return next((n for n in shapes if n.startswith(text)), next(iter(shapes), None))

    def run(self, call: Call) -> bool:
        """Call a function in all ways. Return False if a required argument is still missing."""
        if call.owner is not None and not self.values.owners(call.owner):
            return False
        if "PathLike" in str(call.parameters) or any(p.name == "text" for p in call.parameters):
            for file, text in self.files.items():  # other calls may have written to them
                (self.values.folder / file).write_text(text)
        # Separate parameters with values from those without.
        known, unknown = [], []
        for p in call.parameters:
            try:
                (known if self.values.of(p, 1) or p.default is not ABSENT else unknown).append(p)
            except NoWay as error:
                # Results are written to earlier ones.
                (known if p.name == "out" else unknown).append(p)
                self.no_way[call.name] = str(error)
        if any(p.default is ABSENT for p in unknown):
            return False
        if call.owner is not None and not call.parameters:
            for which in range(len(self.values.owners(call.owner))):
                self.attempt(call, {}, which)
        required = [p for p in known if p.default is ABSENT]
        optional = [p for p in known if p.default is not ABSENT]
        # Call with 1, 0, 2 and 3 parts where an argument has parts.
        given = [
            value for p in known for value in (() if p.name == "out" else self.values.of(p, 2))
        ]
        has_parts = any(self.values.leading(x) or isinstance(x, list | tuple | dict) for x in given)
        has_parts |= any(p.name in ("n", "count") for p in known)
        for k in (1, 0, 2, 3) if has_parts else (1,):
            self._run(call, required, optional, k)
        if not unknown:
            self.no_way.pop(call.name, None)
        return not unknown

    def _run(
        self, call: Call, required: list[Parameter], optional: list[Parameter], k: int
    ) -> None:
        base = self._base(call, required, optional, k)
        if base is None:
            return
        choices: dict[str, list[Any]] = {}
        for p in optional:
            taken, refused = [ABSENT], []
            for value in self._offers(call, base, p, k):
                is_returned, given = self.fitted(call, base | {p.name: value})
                (taken if is_returned else refused).append(given[p.name])
            choices[p.name] = taken[: MOST + 1] + refused[:1]
        for combination in _combinations(choices, 8 if call.name in self._slow else LIMIT):
            self.attempt(call, base | combination)

    def _base(
        self, call: Call, required: list[Parameter], optional: list[Parameter], k: int
    ) -> Given | None:
        """Required arguments that the function accepts, or None if none are found."""
        offers = {p.name: self._offers(call, {}, p, k) for p in required}
        if any(not values for values in offers.values()):
            return None
        first = {name: values[0] for name, values in offers.items()}
        # Some functions require an argument that has a default.
        more = offers | {
            p.name: values for p in optional if (values := self._offers(call, {}, p, k))
        }
        is_returned, found = self.fitted(call, first)
        for _ in range(8):  # use names from a refusal
            corrected = None if is_returned else _corrected(first, self.refusals.get(call.name, ""))
            if corrected is None:
                break
            first = corrected
            is_returned, found = self.fitted(call, first)
        # Try other values of the required arguments.
        for combination in (
            ()
            if is_returned
            else itertools.chain(
                _one_by_one(first, offers),
                *(_mixed(x, MIXED if k == 1 else 4) for x in (offers, more)),
            )
        ):
            is_returned, found = self.fitted(call, combination, 8)
            if is_returned:
                break
        if not is_returned:
            return None
        for combination in itertools.islice(_one_by_one(found, offers), None if IS_FULL else 8):
            self.fitted(call, combination, 4)
        return found

    def _offers(self, call: Call, base: Given, p: Parameter, k: int) -> list[Any]:
        if p.name == "out":
            is_returned, result = self.attempt(call, base)
            return [result, np.zeros(3), "no array"] if is_returned else []
        values = self.values.of(p, k)
        if any(type(v) is str for v in values):  # names from a refusal
            answer = str(self.attempt(call, base | {p.name: "nothing like it"})[1])
            words = [
                w
                for quoted, listed in WORDS.findall(answer)
                for w in (quoted, *re.split(r"[, ]+", listed))
            ]
            values = [*values, *[w for w in dict.fromkeys(words) if w and w not in values][:20]]
        elif p.is_spread and any(type(v) is list and v and type(v[0]) is str for v in values):
            answer = str(self.attempt(call, base | {p.name: ["nothing like it"]})[1])
            words = [
                word
                for _, listed in WORDS.findall(answer)
                for word in re.split(r"[, ]+", listed)
                if word
            ]
            values = [*([word] for word in words[:20]), words[:2], *values]
        return values


def _corrected(given: Given, answer: str) -> Given | None:
    """Replace an unknown name by a valid one from a refusal, if there is one."""
    for name, value in given.items():
        old = next(iter(value), None) if type(value) is dict else value
        if type(old) is not str or f"'{old}'" not in answer:
            continue
        known = [word for word in re.findall(r"'([^']*)'", answer) if word != old]
        if known:
            new = known[-1]
            return given | {name: {new: value[old]} if type(value) is dict else new}
    return None


def _one_by_one(first: Given, offers: dict[str, list[Any]]) -> Iterator[Given]:
    for name, values in offers.items():
        for value in values[1:]:
            yield first | {name: value}


def _mixed(offers: dict[str, list[Any]], count: int) -> Iterator[Given]:
    rng = np.random.default_rng(0)
    if all(len(values) == 1 for values in offers.values()):
        return
    for _ in range(count):
        yield {name: values[rng.integers(len(values))] for name, values in offers.items()}


def _combinations(choices: dict[str, list[Any]], limit: int) -> Iterator[Given]:
    if np.prod([float(len(values)) for values in choices.values()]) <= limit:
        for combination in itertools.product(*choices.values()):
            yield {n: v for n, v in zip(choices, combination, strict=True) if v is not ABSENT}
        return
    yield {n: v[1] for n, v in choices.items() if len(v) > 1}
    pairs = [
        {a: x, b: y}
        for a, b in itertools.combinations(choices, 2)
        for x, y in itertools.product(choices[a][1:], choices[b][1:])
    ]
    yield from pairs[:: max(1, len(pairs) // limit)]


def _resized(shape: Shape, leading: int | None) -> Shape:
    """Shape with another first extent, except for poses and matrices of three rows."""
    return (
        shape
        if len(shape) < 2 or shape in ((4, 4), (3, 3)) or leading is None
        else (leading, *shape[1:])
    )


def _told(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array{value.shape}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_told, value[:5]))}]"
    return repr(value)[:80] if isinstance(value, str | int | float | None) else type(value).__name__


def _is_of_world(call: Call) -> bool:
    """Return False for functions that are the same in all worlds: shapes, trajectories, data."""
    shapes = ("Shape", "Compound", "TriangleMesh", "HeightField", "PointCloud")
    alone = ("geometry.", "trajectory.", *(f"_engine.{name}" for name in shapes))
    return not call.name.startswith(alone) and "_engine.Shape" not in str(
        [p.type for p in call.parameters]
    )


def main(place: str, *worlds: str) -> int:
    faulthandler.enable()
    warnings.simplefilter("ignore")
    every = [*engine_calls(), *public_calls()]
    names = {call.name for call in every}
    returned: set[str] = set()
    made: set[str] = set()  # classes with at least one object
    refusals: dict[str, str] = {}
    unexpected: dict[str, str] = {}
    ways: dict[str, str] | None = None  # arguments that cannot be made in any world
    calls = 0
    Path(place).write_bytes(bytes(NOTED))
    with open(place, "r+b") as file, tempfile.TemporaryDirectory() as name_of_folder:
        kept = mmap.mmap(file.fileno(), NOTED)  # survives a crash
        folder = Path(name_of_folder)

        def note(text: str) -> None:
            kept[:] = text.encode()[:NOTED].ljust(NOTED)

        worlds = tuple(WORLDS) if IS_FULL or worlds == ("all",) else worlds or IN_GATE
        first, *_ = worlds
        for name in worlds:
            for path in folder.iterdir():
                path.unlink()
            began = perf_counter()
            with (
                contextlib.chdir(folder)
                if hasattr(contextlib, "chdir")
                else contextlib.nullcontext()
            ):
                world = WORLDS[name]()
                world.scene.save("scene.yaml")
                files = FILES | {"a_scene.yaml": (folder / "scene.yaml").read_text()}
                battery = Battery(name, Values(world, folder), note, files)
                others = Operations(name, battery.values.world.model, note)
                others.run()
                every = [call for call in every if call.name not in others.returned]
                pending, known = (
                    (every if name == first else [c for c in every if _is_of_world(c)]),
                    -1,
                )
                while known < (known := len(battery.values.found) + len(battery.returned)):
                    pending = [
                        c for c in pending if not battery.run(c) or c.name not in battery.returned
                    ]
                    robosim.set_threads(2)
            calls += battery.calls + others.calls
            returned |= battery.returned | others.returned
            made |= {kind.__name__ for kind in (*battery.values.found, *battery.values.world.make)}
            refusals |= battery.refusals | battery.no_way
            ways = (
                battery.no_way
                if ways is None
                else {n: t for n, t in ways.items() if n in battery.no_way}
            )
            unexpected |= battery.unexpected | others.unexpected
            print(
                f"{name}: {battery.calls + others.calls} calls in {perf_counter() - began:.1f} s",
                flush=True,
            )
    never = names - returned
    # Classes whose objects are made by other functions need not be constructed.
    by_others = {
        c.name for c in every if inspect.isclass(c.function) and c.function.__name__ in made
    }
    never -= by_others | set(ELSEWHERE)
    ways = {name: text for name, text in (ways or {}).items() if name not in by_others}
    for name in sorted(never):
        print(f"never returned: {name}: {refusals.get(name, 'there is nothing to call it on')}")
    for name, text in ways.items():
        print(f"not all of it was given: {name}: {text}")
    for text in unexpected.values():
        print(f"raised what no caller expects: {text}")
    print(f"{calls} calls of {len(names)} functions")
    return 1 if never or ways or unexpected else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
