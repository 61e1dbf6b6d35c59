"""Checks before the first motion of an arm, and while it moves.

Every refusal names the object, its value, and valid values. Between samples, checks apply to the
motion that a controller will interpolate, not to the plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from robosim.errors import TrajectoryError
from robosim.execution.goals import Rejection, RejectReason
from robosim.execution.joint_trajectory import to_trajectory
from robosim.execution.messages import ArmState, ArmStatus, SafetyMode
from robosim.execution.motion import Motion
from robosim.trajectory import TrajectoryLimits

__all__ = [
    "REAL_ARM",
    "Requirements",
    "check_before_motion",
    "check_state",
    "check_status",
    "continuous_joints",
    "to_present_turn",
]

Array = NDArray[np.float64]
START_TOLERANCE = 0.01  # [rad or m]
START_VELOCITY_TOLERANCE = 0.1  # [rad/s or m/s]: a measured velocity is noisy
# Allowances for the interpolation of a message whose plan lies on its limits: see from_trajectory.
POSITION_ALLOWANCE = 2e-5  # [rad or m]
VELOCITY_ALLOWANCE, ACCELERATION_ALLOWANCE = 1.01, 1.05


@dataclass(frozen=True)
class Requirements:
    """Conditions that must be known to hold.

    Conditions known to be violated are refused in any case.

    Attributes:
        limits: True if limits must be known, of the plan or of the robot.
        controller_active: True if the arm must report that the controller is active.
        program_running: True if the arm must report that the robot's program runs.
        safety_mode: True if the arm must report its safety mode.
        safety_modes: modes in which motion is allowed.
        state_age: largest age of a state [s].
        setting: returns, for the name of a rule (that of the streamer node's parameter), the
            setting with which a user changes the rule, such as "parameter 'require'"; "" if there
            is none. Refusals mention it.
    """

    limits: bool = True
    controller_active: bool = False
    program_running: bool = False
    safety_mode: bool = False
    safety_modes: frozenset[SafetyMode] = frozenset({SafetyMode.NORMAL})
    state_age: float = 0.2
    setting: Callable[[str], str] = field(default=lambda rule: "", repr=False, compare=False)

    def hint(self, *rules: str) -> str:
        """Return the settings of these rules.

        They end a refusal, as " (parameter 'require')", or are "".
        """
        known = [text for text in map(self.setting, rules) if text]
        return f" ({', '.join(known)})" if known else ""


REAL_ARM = Requirements(controller_active=True, program_running=True, safety_mode=True)


def check_before_motion(
    motion: Motion,
    state: ArmState | None,
    status: ArmStatus,
    limits: TrajectoryLimits | None = None,
    *,
    now: float,
    joint_names: Sequence[str] | None = None,
    continuous: Collection[str] = (),
    start_tolerance: float = START_TOLERANCE,
    requirements: Requirements | None = None,
) -> list[Rejection]:
    """Return all reasons against sending this motion; empty if there are none.

    Args:
        motion: a plan, or a message to send; see `motion_of`.
        state: last state, or None if none was received.
        status: status of the arm.
        limits: in the order of the motion's joints; those of the motion by default.
        now: time on the clock of the state's stamp [s].
        joint_names: joints of the controller, all of which the motion must move; those of the
            motion by default.
        continuous: joints that may start at another full turn.
        start_tolerance: largest distance of the first position from the present one, for each joint
            [rad or m].
        requirements: conditions that must be known to hold; by default those of a simulated arm.
    """
    needed = Requirements() if requirements is None else requirements
    names = motion.joint_names
    limits = motion.limits if limits is None else limits
    found = check_status(status, needed) + check_state(state, now, needed, names)
    wrong = _check_joints(
        names, names if joint_names is None else tuple(joint_names)
    ) or motion.flaw(now)
    if wrong is not None:
        return [*found, wrong]
    if limits is None and needed.limits:
        text = (
            "no limits are known for this trajectory; give the robot's, or a plan that has its own"
        )
        text += needed.hint("robot")
        found.append(Rejection(RejectReason.CHECK, text))
    state = None if state is None or any(name not in state.joint_names for name in names) else state
    try:
        found += _check_limits(motion, state, limits)
    except TrajectoryError as error:
        text = f"the motion that a controller would make of it is not valid: {error}"
        return [*found, Rejection(RejectReason.CHECK, text)]
    if state is not None and motion.begins_there:
        found += _check_start(motion, state, continuous, start_tolerance, needed)
    return found


def check_status(status: ArmStatus, requirements: Requirements) -> list[Rejection]:
    """Return reasons against motion.

    They are in the arm's status: not connected, not active, no program, a safety stop.
    """
    found = []
    required = requirements.hint("require")
    if not status.connected:
        found.append("the arm is not connected; it has to publish its states")
    for what, value, needed in (
        ("the controller", status.controller_active, requirements.controller_active),
        ("the robot's program", status.program_running, requirements.program_running),
    ):
        verb = "is active" if what == "the controller" else "runs"
        if value is None and needed:
            found.append(
                f"the arm does not say whether {what} {verb}, and that is required{required}"
            )
        elif value is False:
            found.append(
                f"{what} is not {'active' if verb == 'is active' else 'running'}; it has to be"
            )
    valid = " or ".join(mode.name for mode in sorted(requirements.safety_modes))
    if status.safety_mode is None and requirements.safety_mode:
        found.append(f"the arm does not say its safety mode, and {valid} is required{required}")
    elif status.safety_mode is not None and status.safety_mode not in requirements.safety_modes:
        text = f"the safety mode is {status.safety_mode.name}; it has to be {valid}"
        reduced = status.safety_mode is SafetyMode.REDUCED
        found.append(text + (requirements.hint("allow_reduced_mode") if reduced else ""))
    return [Rejection(RejectReason.CHECK, text) for text in found]


def check_state(
    state: ArmState | None, now: float, requirements: Requirements, joint_names: Sequence[str]
) -> list[Rejection]:
    """Check that the state exists, is fresh and finite, and has these joints.

    A NaN velocity is not measured.
    """
    if state is None:
        return [
            Rejection(
                RejectReason.CHECK, "no joint state has arrived yet; the arm has to publish them"
            )
        ]
    missing = [name for name in joint_names if name not in state.joint_names]
    if missing:
        text = (
            f"the joint state lacks {', '.join(map(repr, missing))}; it has"
            f" {', '.join(state.joint_names)}"
        )
        return [Rejection(RejectReason.UNKNOWN_JOINT, text)]
    age, max_age = now - state.stamp, requirements.state_age
    if not age <= max_age:
        text = f"the last joint state is {age:.3f} s old; it may be {max_age:g} s old at most"
        text += requirements.hint("watchdog")
        return [Rejection(RejectReason.CHECK, text)]
    for what, values, wrong in (
        ("position", state.position, lambda value: not math.isfinite(value)),
        ("velocity", state.velocity, math.isinf),
    ):
        for name, value in zip(state.joint_names, values, strict=True):
            if name in joint_names and wrong(value):
                text = f"the measured {what} of {name} is {value}; it has to be finite"
                return [Rejection(RejectReason.NOT_FINITE, text)]
    return []


def continuous_joints(
    names: Sequence[str], units: Sequence[str], limits: TrajectoryLimits | None
) -> set[str]:
    """Return the joints that turn endlessly: measured in radians, without position limits."""
    if limits is None or limits.lower is None or limits.upper is None:
        return set()
    rows = zip(names, units, limits.lower, limits.upper, strict=True)
    return {
        name
        for name, unit, lower, upper in rows
        if unit == "rad" and lower == -np.inf and upper == np.inf
    }


def to_present_turn(motion: Motion, state: ArmState, continuous: Collection[str]) -> Motion:
    """Shift continuous joints by full turns, to start the motion next to the present positions.

    A controller turns a joint that is sent from 3.1 to -3.1 rad by almost a full turn, since it
    controls angles and not directions.
    """
    turns, first = np.zeros(len(motion.joint_names)), motion.position
    for i, name in enumerate(motion.joint_names):
        if name in continuous and name in state.joint_names:
            turns[i] = 2 * np.pi * np.round((_present(state, name) - first[i]) / (2 * np.pi))
    return motion.shifted(turns) if turns.any() else motion


def _present(state: ArmState, name: str) -> float:
    return float(state.position[state.joint_names.index(name)])


def _check_joints(names: Sequence[str], known: Sequence[str]) -> Rejection | None:
    extra = [name for name in names if name not in known]
    missing = [name for name in known if name not in names]
    if not extra and not missing:
        return None
    parts = []
    if extra:
        parts.append(f"moves {', '.join(map(repr, extra))}, which the arm has not")
    if missing:
        parts.append(f"lacks {', '.join(map(repr, missing))}")
    reason = RejectReason.UNKNOWN_JOINT if extra else RejectReason.JOINT_COUNT
    return Rejection(
        reason, f"the trajectory {' and '.join(parts)}; the arm's joints: {', '.join(known)}"
    )


def _check_limits(
    motion: Motion, state: ArmState | None, limits: TrajectoryLimits | None
) -> list[Rejection]:
    """Check limits at all times.

    This includes a controller's interpolation of the motion's message.
    """
    violations = motion.violations(limits)
    if not violations:
        executed = to_trajectory(motion.message, from_state=state, limits=limits)
        if limits is not None:
            violations = executed.validate(_widened(limits))
    return [Rejection(RejectReason.OUT_OF_LIMITS, f"{violation}") for violation in violations]


def _widened(limits: TrajectoryLimits) -> TrajectoryLimits:
    """Widen limits by the allowances for interpolation.

    Jerk and torque are checked on the plan alone. Points cannot represent a jump of the
    acceleration, so their jerk is high where that of the plan is not defined.
    """

    def times(bound: Array | None, factor: float) -> Array | None:
        return None if bound is None else bound * factor

    return TrajectoryLimits(
        lower=None if limits.lower is None else limits.lower - POSITION_ALLOWANCE,
        upper=None if limits.upper is None else limits.upper + POSITION_ALLOWANCE,
        velocity=times(limits.velocity, VELOCITY_ALLOWANCE),
        acceleration=times(limits.acceleration, ACCELERATION_ALLOWANCE),
    )


def _check_start(
    motion: Motion,
    state: ArmState,
    continuous: Collection[str],
    tolerance: float,
    requirements: Requirements,
) -> list[Rejection]:
    """Compare the start of the motion with the present state of the arm."""
    position, velocity = motion.position, motion.velocity
    found = []
    for i, name in enumerate(motion.joint_names):
        present = _present(state, name)
        off = position[i] - present
        if name in continuous:
            off = math.remainder(off, 2 * math.pi)
        if not abs(off) <= tolerance:
            text = (
                f"{name} is at {present:.6g} and the trajectory starts at {position[i]:.6g},"
                f" {abs(off):.6g} away; it has to start within {tolerance:g}: plan again from the"
                f" present state{requirements.hint('start_tolerance')}"
            )
            found.append(Rejection(RejectReason.CHECK, text))
        moving = float(state.velocity[state.joint_names.index(name)])
        wanted = float(velocity[i])
        if abs(moving - wanted) > START_VELOCITY_TOLERANCE:  # False for NaN
            text = (
                f"{name} moves at {moving:.6g} per s and the trajectory starts at {wanted:.6g}; "
                f"they have to agree within {START_VELOCITY_TOLERANCE:g}"
            )
            found.append(Rejection(RejectReason.CHECK, text))
    return found
