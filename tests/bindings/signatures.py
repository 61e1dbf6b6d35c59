"""All functions of `robosim._engine` and of the public packages over it, with their parameters.

Only the packages are listed by hand. Functions come from their `__all__`, and methods from their
classes. Parameters of the engine come from its stubs, which the gate compares with the extension
module.
"""

from __future__ import annotations

import ast
import collections
import collections.abc
import importlib
import inspect
import sys
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import GetSetDescriptorType, ModuleType
from typing import Any

import numpy as np

import robosim
from robosim import _engine

__all__ = ["ABSENT", "Call", "Parameter", "engine_calls", "missing_from_stubs", "public_calls"]

PACKAGES = ("geometry", "model", "planners", "scene", "simulation", "trajectory", "world")
ABSENT = inspect.Parameter.empty


@dataclass(frozen=True)
class Parameter:
    """Parameter of a call: its type, and its default, or ABSENT if it is required."""

    name: str
    type: Any
    default: Any = ABSENT
    by_keyword: bool = False
    is_spread: bool = False  # any number of positional arguments; its value is a list of them


@dataclass(frozen=True)
class Call:
    """A function, or a method with the class that it is called on."""

    name: str
    function: Any
    parameters: tuple[Parameter, ...]
    owner: type | None = None
    is_property: bool = False

    def __call__(self, *own: Any, **given: Any) -> Any:
        spread = next((p.name for p in self.parameters if p.is_spread), "")
        return self.function(*own, *given.pop(spread, ()), **given)


@cache
def _names(module: ModuleType) -> dict[str, Any]:
    """Names in the annotations of a module, including imports under TYPE_CHECKING."""
    names = dict(vars(module))
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for line in node.body:
                exec(ast.unparse(line), names)
    return names


def meaning(annotation: Any, module: ModuleType) -> Any:
    """Type that an annotation stands for."""
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    return eval(annotation, _names(module)) if isinstance(annotation, str) else annotation


def public_calls() -> Iterator[Call]:
    """All functions of the Python packages."""
    for package in PACKAGES:
        module = importlib.import_module(f"robosim.{package}")
        for name in module.__all__:
            thing = getattr(module, name)
            where = f"{package}.{name}"
            if inspect.isclass(thing):
                if thing.__module__.startswith("robosim.") and thing.__module__ != _engine.__name__:
                    yield from _class_calls(where, thing)
            elif inspect.isfunction(thing):
                yield Call(where, thing, _parameters(thing))


def _class_calls(where: str, thing: type) -> Iterator[Call]:
    if not issubclass(thing, tuple | Exception | Enum) and not getattr(
        thing, "_is_protocol", False
    ):
        yield Call(where, thing, _parameters(thing))
    for name, _ in inspect.getmembers(thing):
        raw = inspect.getattr_static(thing, name)
        function = raw.__func__ if isinstance(raw, classmethod | staticmethod) else raw
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        if not function.__module__.startswith("robosim."):
            continue
        if isinstance(raw, classmethod | staticmethod):
            yield Call(f"{where}.{name}", getattr(thing, name), _parameters(getattr(thing, name)))
        else:
            yield Call(f"{where}.{name}", getattr(thing, name), _parameters(function)[1:], thing)


def _parameters(function: Any) -> tuple[Parameter, ...]:
    base = function.__init__ if inspect.isclass(function) else function
    base = getattr(inspect.unwrap(base), "__func__", inspect.unwrap(base))
    # Annotations of a data class's `__init__` are evaluated in the module of the class, although
    # fields may be declared in modules of its bases.
    module = sys.modules[function.__module__]

    def parameter(p: inspect.Parameter) -> Parameter:
        kind = meaning(p.annotation, module)
        if p.kind is inspect.Parameter.VAR_POSITIONAL:
            return Parameter(p.name, list[kind], (), is_spread=True)
        return Parameter(p.name, kind, p.default, p.kind is inspect.Parameter.KEYWORD_ONLY)

    given = inspect.signature(function).parameters.values()
    return tuple(parameter(p) for p in given if p.kind is not inspect.Parameter.VAR_KEYWORD)


def _stubs() -> ast.Module:
    return ast.parse(Path(robosim.__file__).with_name("_engine.pyi").read_text())


def engine_calls() -> Iterator[Call]:
    """All functions of the extension module."""
    for node in _stubs().body:
        if isinstance(node, ast.FunctionDef):
            yield Call(f"_engine.{node.name}", getattr(_engine, node.name), _stub_parameters(node))
        if not isinstance(node, ast.ClassDef):
            continue
        owner = getattr(_engine, node.name)
        for method in node.body:
            if not isinstance(method, ast.FunctionDef):
                continue
            if method.name == "__call__":  # it has no signature; `operations` calls it
                continue
            marks = [ast.unparse(mark) for mark in method.decorator_list]
            where, parameters = f"_engine.{node.name}.{method.name}", _stub_parameters(method)
            if method.name == "__init__":
                yield Call(f"_engine.{node.name}", owner, parameters[1:])
            elif "property" in marks or method.name.startswith("__"):
                yield Call(where, _reader(method.name), (), owner, is_property=True)
            elif "staticmethod" in marks:
                yield Call(where, getattr(owner, method.name), parameters)
            else:
                yield Call(where, getattr(owner, method.name), parameters[1:], owner)


def _reader(name: str) -> Any:
    if name.startswith("__"):
        return lambda thing: getattr(thing, name)()
    return lambda thing: getattr(thing, name)


def _stub_parameters(node: ast.FunctionDef) -> tuple[Parameter, ...]:
    names = {"collections": collections, "typing": typing, "numpy": np, **vars(_engine)}
    given = node.args

    def parameter(arg: ast.arg, default: ast.expr | None, by_keyword: bool) -> Parameter:
        kind = Any if arg.annotation is None else eval(ast.unparse(arg.annotation), dict(names))
        if default is None:
            return Parameter(arg.arg, kind, ABSENT, by_keyword)
        return Parameter(arg.arg, kind, ast.literal_eval(default), by_keyword)

    defaults = [None] * (len(given.args) - len(given.defaults)) + list(given.defaults)
    return (
        *(
            parameter(arg, default, False)
            for arg, default in zip(given.args, defaults, strict=True)
        ),
        *(
            parameter(arg, d, True)
            for arg, d in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        ),
    )


def missing_from_stubs() -> set[str]:
    """Names in the extension module that its stubs lack."""
    told = {call.name.removeprefix("_engine.") for call in engine_calls()}
    told |= {node.name for node in _stubs().body if isinstance(node, ast.ClassDef)}
    there = {
        name
        for name, thing in vars(_engine).items()
        if callable(thing) and not name.startswith("_")
    }
    for name in list(there):
        thing = getattr(_engine, name)
        if inspect.isclass(thing):
            members = {k for k, x in vars(thing).items() if not isinstance(x, GetSetDescriptorType)}
            there |= {f"{name}.{member}" for member in members if not member.startswith("_")}
    return there - told
