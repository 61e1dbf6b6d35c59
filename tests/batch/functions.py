"""All functions of robosim.batch: what they take, and how to call them and the model's methods alike.

A new function enters every test by its row in ARGUMENTS.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from robosim import batch
from robosim.model import Model

# Per function its arrays.
ARGUMENTS = {
    "center_of_mass": "q",
    "center_of_mass_acceleration": "q v a",
    "center_of_mass_jacobian": "q",
    "center_of_mass_velocity": "q v",
    "centroidal_momentum": "q v",
    "centroidal_momentum_derivatives": "q v a",
    "centroidal_momentum_matrix": "q",
    "centroidal_momentum_matrix_rate": "q v",
    "centroidal_momentum_rate": "q v a",
    "coriolis_matrix": "q v",
    "difference": "q0 q1",
    "forward_dynamics": "q v tau",
    "forward_dynamics_derivatives": "q v tau",
    "forward_dynamics_hvp": "q v tau a_bar dq dv dtau",
    "forward_dynamics_jvp": "q v tau dq dv dtau",
    "forward_dynamics_parameter_derivatives": "q v tau",
    "forward_dynamics_parameter_vjp": "q v tau a_bar",
    "forward_dynamics_vjp": "q v tau a_bar",
    "frame_acceleration": "q v a",
    "frame_acceleration_derivatives": "q v a",
    "frame_pose": "q",
    "frame_velocity": "q v",
    "frame_velocity_derivatives": "q v",
    "gravity": "q",
    "gravity_derivatives": "q",
    "inertial_regressor": "q v a",
    "integrate": "q v",
    "inverse_dynamics": "q v a",
    "inverse_dynamics_derivatives": "q v a",
    "inverse_dynamics_hvp": "q v a tau_bar dq dv da",
    "inverse_dynamics_jvp": "q v a dq dv da",
    "inverse_dynamics_parameter_derivatives": "q v a",
    "inverse_dynamics_parameter_vjp": "q v a tau_bar",
    "inverse_dynamics_vjp": "q v a tau_bar",
    "jacobian": "q",
    "jacobian_rate": "q v",
    "joint_force_derivatives": "q v",
    "joint_forces": "q v",
    "kinetic_energy": "q v",
    "kinetic_energy_derivatives": "q v",
    "link_poses": "q",
    "mass_matrix": "q",
    "mass_matrix_inverse": "q",
    "nonlinear_effects": "q v",
    "potential_energy": "q",
    "regressor_times": "q v a x",
    "regressor_transpose_times": "q v a tau_bar",
}
# Those that do not map states to results; `mass_factor` has tests of its own.
OTHERS = {"MassFactors", "get_threads", "mass_factor", "random_configuration", "set_threads"}


def parameters(function: Callable[..., Any]) -> set[str]:
    return set(inspect.signature(function).parameters)


def arguments(model: Model, n: int, seed: int) -> dict[str, np.ndarray]:
    """Different numbers for every state."""
    rng = np.random.default_rng(seed)
    found = {name: batch.random_configuration(model, rng, n) for name in ("q", "q0", "q1")}
    for name in ("v", "a", "tau", "dq", "dv", "da", "dtau", "tau_bar", "a_bar"):
        found[name] = rng.uniform(-2, 2, (n, model.n_v))
    found["x"] = rng.uniform(-2, 2, (n, model.inertial_parameters.size))
    found["point"] = rng.uniform(-1, 1, (n, 3))
    return found


def calls(model: Model, name: str, n: int) -> list[dict[str, Any]]:
    """Keyword arguments that between them use every choice of a function."""
    function = getattr(batch, name)
    rng = np.random.default_rng(7)
    base: dict[str, Any] = {}
    links = model.link_names
    if "link" in parameters(function):
        base["link"] = links[-1]
    found = [base]
    if "frame" in parameters(function):
        other = {"link": links[len(links) // 2], "frame": "local", "point": rng.uniform(-1, 1, (n, 3))}
        found += [other, {**other, "point": other["point"][0]}]
    if "external" in parameters(function):
        wrenches = {links[-1]: rng.uniform(-9, 9, (n, 6)), links[1]: rng.uniform(-9, 9, 6)}
        found.append({**base, "external": wrenches})
    if "joint_forces" in parameters(function):
        found.append({**found[-1], "joint_forces": True})
    return found


def of_state(value: Any, i: int) -> Any:
    """The share of state i of an argument or result."""
    if isinstance(value, Mapping):
        return {link: of_state(array, i) if np.ndim(array) > 1 else array for link, array in value.items()}
    if isinstance(value, tuple):
        return tuple(array[i] for array in value)
    return value[i]


def in_batch(
    model: Model, name: str, given: dict[str, np.ndarray], choices: dict[str, Any], **more: Any
) -> Any:
    arrays = [given[key] for key in ARGUMENTS[name].split()]
    return getattr(batch, name)(model, *arrays, **choices, **more)


def alone(owner: Any, name: str, given: dict[str, np.ndarray], choices: dict[str, Any], i: int) -> Any:
    """The same by the method of Model or Data, for state i."""
    arrays = [given[key][i] for key in ARGUMENTS[name].split()]
    own = {
        key: of_state(value, i) if key == "external" or (key == "point" and np.ndim(value) > 1) else value
        for key, value in choices.items()
    }
    return getattr(owner, name)(*arrays, **own)


def assert_same(result: Any, expected: Any) -> None:
    """Bit for bit."""
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
