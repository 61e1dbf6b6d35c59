"""All methods of Model that take states: their arguments, and calls for many states and for one.

A new method is included in every test by its signature.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from robosim.model import Model
from robosim.model.methods import Methods


def arrays_of(method: Callable[..., Any]) -> list[str]:
    """Required array arguments of a method: those without default, except the link."""
    given = list(inspect.signature(method).parameters.values())[1:]
    return [p.name for p in given if p.default is p.empty and p.name != "link"]


# Array arguments by method. `mass_factor`, whose result is no array, has separate tests.
ARGUMENTS = {
    name: arrays_of(method)
    for name, method in inspect.getmembers(Methods, inspect.isfunction)
    if not name.startswith("_") and {"q", "q0"} & set(arrays_of(method)) and name != "mass_factor"
}


def parameters(function: Callable[..., Any]) -> set[str]:
    return set(inspect.signature(function).parameters)


def arguments(model: Model, n: int, seed: int) -> dict[str, np.ndarray]:
    """Random arguments, different for each state."""
    rng = np.random.default_rng(seed)
    found = {name: model.random_configuration(rng, n) for name in ("q", "q0", "q1")}
    for name in ("v", "a", "tau", "dq", "dv", "da", "dtau", "tau_bar", "a_bar"):
        found[name] = rng.uniform(-2, 2, (n, model.n_v))
    found["x"] = rng.uniform(-2, 2, (n, model.inertial_parameters.size))
    found["point"] = rng.uniform(-1, 1, (n, 3))
    return found


def calls(model: Model, name: str, n: int) -> list[dict[str, Any]]:
    """Keyword arguments that together use every choice of a method."""
    function = getattr(model, name)
    rng = np.random.default_rng(7)
    base: dict[str, Any] = {}
    links = model.link_names
    if "link" in parameters(function):
        base["link"] = links[-1]
    found = [base]
    if "frame" in parameters(function):
        other = {
            "link": links[len(links) // 2],
            "frame": "local",
            "point": rng.uniform(-1, 1, (n, 3)),
        }
        found += [other, {**other, "point": other["point"][0]}]
    if "external" in parameters(function):
        wrenches = {links[-1]: rng.uniform(-9, 9, (n, 6)), links[1]: rng.uniform(-9, 9, 6)}
        found.append({**base, "external": wrenches})
    if "joint_forces" in parameters(function):
        found.append({**found[-1], "joint_forces": True})
    return found


def of_state(value: Any, i: int) -> Any:
    """Part of an argument or result that belongs to state i."""
    if isinstance(value, Mapping):
        return {
            link: of_state(array, i) if np.ndim(array) > 1 else array
            for link, array in value.items()
        }
    if isinstance(value, tuple):
        return tuple(array[i] for array in value)
    return value[i]


def together(
    model: Model, name: str, given: dict[str, np.ndarray], choices: dict[str, Any], **more: Any
) -> Any:
    """Results for all states, from one call."""
    return getattr(model, name)(*(given[key] for key in ARGUMENTS[name]), **choices, **more)


def alone(
    owner: Any, name: str, given: dict[str, np.ndarray], choices: dict[str, Any], i: int
) -> Any:
    """Result for state i alone, from the method of Model or Data."""
    arrays = [given[key][i] for key in ARGUMENTS[name]]
    own = {
        key: of_state(value, i)
        if key == "external" or (key == "point" and np.ndim(value) > 1)
        else value
        for key, value in choices.items()
    }
    return getattr(owner, name)(*arrays, **own)


def assert_same(result: Any, expected: Any) -> None:
    """Assert that results agree bit for bit."""
    if isinstance(expected, Mapping):
        assert list(result) == list(expected)
        for key in expected:
            np.testing.assert_array_equal(result[key], expected[key])
    elif isinstance(expected, tuple):
        assert len(result) == len(expected)
        for one, other in zip(result, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    else:
        np.testing.assert_array_equal(result, expected)
