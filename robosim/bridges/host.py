"""Calls of Python functions on the host from code that JAX compiles.

On CPUs the calls use XLA's foreign function interface: the compiled handler of `robosim._engine`
calls the function with NumPy arrays over XLA's memory, which takes some ten microseconds. On other
devices, and if the handler does not know the version of that interface, they use
`jax.pure_callback`, which copies arrays to the host and back.
"""

from __future__ import annotations

import atexit
import itertools
import os
import re
from collections.abc import Callable, Hashable
from functools import cache
from pathlib import Path
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, WeakValueDictionary, ref

import jax
import numpy as np

from robosim import _engine
from robosim.errors import SimulationError

__all__ = ["call"]

_TARGET = "robosim_call"


class _Call:
    """A callable with a key: a function of an owner, which the callable does not keep alive."""

    def __init__(
        self,
        owner: Any,
        function: Callable[..., Any],
        settings: Hashable,
        tree: Any,
        argument_types: Any,
        result_types: Any,
    ) -> None:
        self.key = next(_keys)
        self._owner: ReferenceType[Any] = ref(owner)
        self._function, self._settings, self._tree = function, settings, tree
        self.argument_types, self.result_types = argument_types, result_types

    def __call__(self, arguments: tuple[Any, ...], results: tuple[Any, ...]) -> None:
        owner = self._owner()
        if owner is None:
            raise _gone()
        found = self._function(owner, self._settings, *jax.tree.unflatten(self._tree, arguments))
        for result, value in zip(results, jax.tree.leaves(found), strict=True):
            np.copyto(result, value)


_keys = itertools.count()
_by_key: WeakValueDictionary[int, _Call] = WeakValueDictionary()
_of_owners: WeakKeyDictionary[Any, dict[Hashable, _Call]] = WeakKeyDictionary()


def _gone() -> SimulationError:
    return SimulationError(
        "the simulation that compiled code calls is gone; keep it as long as the code"
    )


def _look_up(key: int) -> _Call:
    found = _by_key.get(key)
    if found is None:
        raise _gone()
    return found


@cache
def _has_handler() -> bool:
    """True if the handler is registered with XLA."""
    header = Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api" / "c_api.h"
    try:
        text = header.read_text(encoding="utf-8")
        major, minor = (
            int(re.findall(rf"^#define XLA_FFI_API_{part} (\d+)$", text, re.MULTILINE)[0])
            for part in ("MAJOR", "MINOR")
        )
        handler = _engine.xla_handler(_look_up, major, minor)
    except (OSError, IndexError, ValueError):
        return False
    jax.ffi.register_ffi_target(_TARGET, handler, platform="cpu")
    atexit.register(_close, os.getpid())
    return True


def _close(process: int) -> None:
    """Close the calls as Python ends.

    XLA's threads may still run code, and must not enter an interpreter that is gone.
    """
    if os.getpid() == process:  # a forked child has none of XLA's threads
        _engine.close_xla_calls()


def call(
    function: Callable[..., Any], owner: Any, settings: Hashable, outlines: Any, *arguments: Any
) -> Any:
    """Call function(owner, settings, *arguments) on the host, with results of these shapes and
    types.

    Under `vmap`, arguments and results have one more leading axis, of length 1 where an argument is
    the same for all.

    Args:
        function: function of these arguments with NumPy arrays, which returns a tree of arrays.
        owner: first argument. Compiled code does not keep it alive, and raises an error when it is
            gone.
        settings: second argument, hashable; equal settings share one call.
        outlines: trees of `jax.ShapeDtypeStruct` of the results.
        arguments: trees of arrays.
    """
    flat, tree = jax.tree.flatten(arguments)
    leaves, result_tree = jax.tree.flatten(outlines)
    if jax.default_backend() != "cpu" or not _has_handler():

        def called(*flat: Any) -> Any:
            return jax.tree.leaves(function(owner, settings, *jax.tree.unflatten(tree, flat)))

        found = jax.pure_callback(called, leaves, *flat, vmap_method="expand_dims")
        return jax.tree.unflatten(result_tree, found)
    types = tuple(tuple(np.dtype(x.dtype) for x in part) for part in (flat, leaves))
    calls = _of_owners.setdefault(owner, {})
    known = calls.get((function, settings, tree, types))
    if known is None:
        known = calls[function, settings, tree, types] = _Call(
            owner, function, settings, tree, *types
        )
        _by_key[known.key] = known
    run = jax.ffi.ffi_call(_TARGET, leaves, vmap_method="expand_dims")
    # The key is an operand and not an attribute, so that code compiled for a call outside of `jit`
    # serves the calls of all simulations.
    return jax.tree.unflatten(result_tree, run(np.int32(known.key), *flat))
