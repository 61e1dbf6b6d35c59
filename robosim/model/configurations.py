"""Configurations from positions by joint name, and from named states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from robosim.errors import ModelError, suggestion
from robosim.model.parts import FloatArray

if TYPE_CHECKING:
    from robosim.model.model import Model

# Largest disagreement [rad, m] of a listed position of a fixed or mimic joint from its actual
# position.
_AGREEMENT = 1e-3


_positions: WeakKeyDictionary[Model, dict[str, list[int]]] = WeakKeyDictionary()


def joint_positions(model: Model, joint: str) -> list[int]:
    """Return the indices into q of a joint's coordinates (none for a mimic joint)."""
    known = _positions.get(model)
    if known is None:
        known = {}
        for i, name in enumerate(model.position_names):
            ends = [at for at, letter in enumerate(name) if letter == "/"]
            for end in (*ends, len(name)):  # a joint's own name may have a slash, too
                known.setdefault(name[:end], []).append(i)
        _positions[model] = known
    return known.get(joint, []).copy()


def named_positions(model: Model, name: str) -> Mapping[str, float] | None:
    """Return the positions of a named state ("home", or "group/home"), or None if there is none.

    Raises:
        ModelError: several groups have different states of that name.
    """
    found = [
        state for state in model.named_states if name in (state.name, f"{state.group}/{state.name}")
    ]
    if not found:
        return None
    if len({tuple(sorted(state.positions.items())) for state in found}) > 1:
        options = ", ".join(f"{state.group}/{state.name}" for state in found)
        raise ModelError(f"{name!r} may be any of {options}; say which")
    return found[0].positions


def configuration_by_names(
    model: Model, values: Mapping[str, float], rest: FloatArray
) -> FloatArray:
    """Return `rest` (n_q,) with the given positions replaced.

    Fixed and mimic joints may be listed, as in states of whole robots, if their positions agree
    with the other joints.

    Raises:
        ModelError: an unknown name, a value that is not a finite number, or a position that
            contradicts a fixed or mimic joint.
    """
    q: FloatArray = np.array(rest)
    mimics = {joint.name: joint.mimic for joint in model.joints if joint.mimic is not None}
    fixed = {joint.name for joint in model.joints if joint.kind == "fixed"}
    followers: list[tuple[str, float]] = []
    # Set positions of independent joints. Remember mimic joints, and check fixed joints.
    for name, given in values.items():
        try:
            value = float(given)
        except (TypeError, ValueError):
            raise ModelError(f"position of {name!r} is {given!r}; expected a number") from None
        own = joint_positions(model, name)
        if name in mimics:
            followers.append((name, value))
        elif len(own) == 1:
            q[own[0]] = value
        elif name in fixed:
            if abs(value) > _AGREEMENT:
                raise ModelError(f"{name!r} is {value}, but it is fixed; leave it out")
        elif own:
            several = ", ".join(model.position_names[i] for i in own)
            raise ModelError(f"{name!r} has several coordinates; give {several}")
        else:
            known = [*model.position_names, *mimics]
            raise ModelError(
                f"{model.name!r} has no joint {name!r} that moves{suggestion(name, known)}"
            )
    # Check that mimic joints agree with their sources.
    for name, value in followers:
        mimic = mimics[name]
        assert mimic is not None
        follows = (
            mimic.multiplier * float(q[joint_positions(model, mimic.source)[0]]) + mimic.offset
        )
        if abs(follows - value) > _AGREEMENT:
            raise ModelError(
                f"{name!r} is {value}, but it follows {mimic.source!r} and is {follows:.6g} there;"
                " leave it out"
            )
    check_configuration(model, q)
    return q


def check_configuration(model: Model, q: FloatArray) -> None:
    """Raise ModelError unless q (n_q,) is finite and its quaternions have length 1."""
    for i in np.flatnonzero(~np.isfinite(q)):
        raise ModelError(f"{model.position_names[i]!r} is {q[i]}; it must be finite")
    for joint in model.joint_names:
        own = joint_positions(model, joint)
        if len(own) == 7 and abs(np.linalg.norm(q[own[3:]]) - 1) > 1e-6:
            raise ModelError(
                f"the quaternion of {joint!r} is {q[own[3:]].tolist()}; it must be of length 1"
            )
