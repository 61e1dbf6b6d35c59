"""Arm over DDS without ROS 2: trajectories and set points out, joint states in, on ROS 2's topics.

Only topics are available, neither services nor actions, so no trajectory is acknowledged. Whether
an arm follows is judged from its joint states. A refusal is noticed only because the arm does not
move.

One thread receives; the caller's thread publishes. Joints are matched by name in any order.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robosim.errors import ExecutionError, TrajectoryError
from robosim.execution.checks import Requirements, check_status
from robosim.execution.clock import monotonic
from robosim.execution.cycle import Event
from robosim.execution.goals import GoalStatus, Rejection, RejectReason
from robosim.execution.messages import (
    ArmState,
    ArmStatus,
    Goal,
    JointTrajectory,
    SafetyMode,
    Setpoint,
)
from robosim.ros import names
from robosim.ros.dds_domain import DEPTH, Participant
from robosim.ros.messages import arm_state
from robosim.ros.published_goal import Judgment, PublishedGoal

__all__ = ["DdsArm", "DdsNames"]

Array = NDArray[np.float64]

# A state older than this, and than the required age, is not of a connected arm [s].
_STALE = 0.5
# Wait for latched messages if status is required: longer than Fast DDS's heartbeat [s].
_SETTLE = 5.0
# Largest number of recorded reasons for refused joint states.
_MOST_REASONS = 20
NO_ANSWER = (
    "took a trajectory from a topic, which acknowledges nothing; how it ended is judged from joint"
    " states"
)
_SAFETY_MODES = frozenset(SafetyMode)


@dataclass(frozen=True)
class DdsNames:
    """Topics of the arm. Relative names are below the namespace.

    Attributes:
        namespace: namespace of all relative names.
        controller: controller of joint trajectories, on <controller>/joint_trajectory.
        forward_controller: controller of set points, on <forward_controller>/commands.
        joint_states, speed_scaling: topics of the arm.
        tf_prefix: prefix of the arm's joint names that the plan's names lack.
    """

    namespace: str = ""
    controller: str = names.SCALED_CONTROLLER
    forward_controller: str = names.FORWARD_POSITION_CONTROLLER
    joint_states: str = names.JOINT_STATES
    speed_scaling: str = names.SPEED_SCALING
    tf_prefix: str = ""

    @property
    def trajectory_topic(self) -> str:
        """Topic of whole trajectories."""
        return f"{self.controller}/joint_trajectory"

    @property
    def commands_topic(self) -> str:
        """Topic of set points."""
        return f"{self.forward_controller}/commands"


class DdsArm:
    """The Arm port over DDS topics.

    Args:
        joint_names: joints that the plan moves, by their names in the plan. Set points are sent in
            the driver's order for a UR arm, otherwise in this order. It must then be that of the
            forward controller's parameter `joints`, because the message has no names.
        dds_names: topics of the arm.
        setpoints: True if set points will be streamed, so that a listener for them is required;
            otherwise a listener for trajectories.
        requirements: conditions that the arm must report before and while it moves. No topic
            reports whether a controller is active.
        judgment: criteria of completion.

    Raises:
        MissingDependencyError: cyclonedds is not installed.
        ExecutionError: an environment variable of ROS 2, a name, or the configuration of Cyclone
            DDS is invalid.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        dds_names: DdsNames | None = None,
        *,
        setpoints: bool = False,
        requirements: Requirements | None = None,
        judgment: Judgment | None = None,
    ) -> None:
        self._joint_names = names.driver_order(joint_names)
        self._setpoints = setpoints
        self.requirements = Requirements() if requirements is None else requirements
        self.events: deque[Event] = deque(maxlen=100)
        self.names = DdsNames() if dds_names is None else dds_names
        self._stale = max(_STALE, self.requirements.state_age)
        self._judgment = Judgment(stale=2 * self._stale) if judgment is None else judgment
        self._wire_names = names.prefixed(self._joint_names, self.names.tf_prefix)
        self._lock = threading.Lock()
        self._goal: PublishedGoal | None = None
        self._setpoint: Setpoint | None = None
        self._state: ArmState | None = None
        self._speed_scaling = 1.0
        self._program_running: bool | None = None
        self._safety_mode: SafetyMode | None = None
        self.received = 0  # number of joint states used
        self.refused: dict[str, int] = {}  # counts of refused joint states by reason
        self._closed = False
        self._participant = Participant(self.names.namespace)
        try:
            self._open()
        except BaseException:
            self._participant.close()
            raise

    # -- The Arm port ------------------------------------------------------------------------------

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Joints, by their names in the plan."""
        return self._joint_names

    def clock(self) -> float:
        """Current time [s], on this machine's monotonic clock."""
        return monotonic()

    def sleep_until(self, time_: float) -> None:
        """Wait until the clock shows `time_`."""
        while (left := time_ - monotonic()) > 0:
            time.sleep(left)

    def state(self) -> ArmState | None:
        """Latest joint state, stamped with its arrival."""
        with self._lock:
            return self._state

    def status(self) -> ArmStatus:
        """Status from the arm's topics. No topic reports whether the controller is active."""
        with self._lock:
            heard = self._state is not None and monotonic() - self._state.stamp <= self._stale
            return ArmStatus(
                connected=heard and self.listens(),
                program_running=self._program_running,
                safety_mode=self._safety_mode,
                speed_scaling=self._speed_scaling,
            )

    def send(self, goal: Goal) -> PublishedGoal | Rejection:
        """Publish a trajectory. Refuse it only if nobody listens, or if it could not be judged."""
        trajectory = goal.trajectory
        unknown = [name for name in trajectory.joint_names if name not in self._joint_names]
        if unknown:
            text = f"joint {unknown[0]!r} is not one of {', '.join(self._joint_names)}"
            return Rejection(RejectReason.UNKNOWN_JOINT, text)
        if not trajectory.points:
            return Rejection(
                RejectReason.NO_POINTS, "the trajectory has no points; it needs one at least"
            )
        if not self._trajectory_writer.get_matched_subscriptions():
            return Rejection(
                RejectReason.CHECK, f"nobody listens on {self._trajectory_writer.topic.name}"
            )
        state = self.state()
        if state is None or monotonic() - state.stamp > self._stale:
            return Rejection(
                RejectReason.CHECK, "no joint states arrive: where the arm is, is not known"
            )
        try:
            message = self._message(trajectory)
            # A stamp is a date on the arm's clock, which is assumed to agree with this machine's.
            delay = max(0.0, trajectory.stamp - time.time()) if trajectory.stamp else 0.0
            handle = PublishedGoal(goal, state, monotonic(), self._judgment, self.stop, delay=delay)
        except (ExecutionError, TrajectoryError) as error:
            return Rejection(RejectReason.SIZE, f"the points do not make a motion: {error}")
        with self._lock:
            previous, self._goal = self._goal, handle
        if previous is not None:
            previous.replaced()
        self._trajectory_writer.write(message)
        self.events.append(Event(monotonic(), "warning", NO_ANSWER))
        return handle

    def stream(self, setpoint: Setpoint) -> None:
        """Publish one set point."""
        from robosim.ros.dds_types import Float64MultiArray

        self._setpoint = setpoint
        self._commands_writer.write(
            Float64MultiArray(data=np.asarray(setpoint.position, dtype=float).tolist())
        )

    def stop(self) -> None:
        """Brake along the path and hold.

        A stream of set points ends with its last one, which is a sample away.
        """
        if self._setpoint is not None:
            self.stream(self._setpoint)
        with self._lock:
            goal, state = self._goal, self._state
        if goal is None or (goal.result is not None and goal.result.ok):
            return
        fresh = state is not None and monotonic() - state.stamp <= self._stale
        self._trajectory_writer.write(self._message(goal.braking(state if fresh else None)))

    def close(self) -> None:
        """Stop, and leave the domain."""
        if self._closed:
            return
        with self._lock:
            goal = self._goal
        if goal is not None and goal.status is GoalStatus.EXECUTING:
            goal.cancel()
        self._closed = True
        self._guard.set(True)
        self._receiver.join()
        del self._trajectory_writer, self._commands_writer, self._guard
        self._participant.close()

    def __enter__(self) -> DdsArm:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- Discovery ---------------------------------------------------------------------------------

    def wait_until_ready(self, timeout: float) -> None:
        """Wait for joint states, a listener, and required status; for the status only briefly.

        Raises ExecutionError, which names what is missing, after `timeout` [s].
        """
        end = monotonic() + timeout
        while (missing := self._missing()) and monotonic() < end:
            time.sleep(0.02)
        if missing:
            raise ExecutionError(
                f"after {timeout:g} s in ROS_DOMAIN_ID {self._participant.domain_id}: {missing}"
            )
        end = min(end, monotonic() + _SETTLE)
        while check_status(self.status(), self.requirements) and monotonic() < end:
            time.sleep(0.02)

    def listens(self) -> bool:
        """Return true if there is a listener for set points, or for whole trajectories."""
        return bool(self._writer().get_matched_subscriptions())

    def _writer(self) -> Any:
        return self._commands_writer if self._setpoints else self._trajectory_writer

    def _missing(self) -> str:
        """Describe what a motion still lacks; empty if nothing."""
        if self.state() is None:
            topic = self._readers[0][0].topic.name
            if not self._readers[0][0].get_matched_publications():
                return f"nobody publishes joint states on {topic}"
            with self._lock:
                refused = "; ".join(f"{why} ({count} times)" for why, count in self.refused.items())
            return f"no usable joint state came on {topic}: {refused or 'its publisher is silent'}"
        if not self.listens():
            topic = self._writer().topic.name
            return f"nobody listens on {topic}: is the controller loaded, and of this name?"
        return ""

    # -- Receiving ---------------------------------------------------------------------------------

    def _open(self) -> None:
        from robosim.ros import dds_types

        names_, part = self.names, self._participant
        self._trajectory_writer = part.writer(names_.trajectory_topic, dds_types.JointTrajectory)
        self._commands_writer = part.writer(names_.commands_topic, dds_types.Float64MultiArray)
        self._readers: list[tuple[Any, Callable[[Any, float], None]]] = [
            (part.reader(names_.joint_states, dds_types.JointState), self._take_joint_state),
            (part.reader(names_.speed_scaling, dds_types.Float64), self._take_speed_scaling),
            (
                part.reader(names.PROGRAM_RUNNING, dds_types.Bool, latched=True),
                self._take_program_running,
            ),
            (
                part.reader(names.SAFETY_MODE, dds_types.SafetyMode, latched=True),
                self._take_safety_mode,
            ),
        ]
        self._waitset, self._guard = part.waitset([reader for reader, _ in self._readers])
        self._receiver = threading.Thread(target=self._receive, name="robosim-dds", daemon=True)
        self._receiver.start()

    def _receive(self) -> None:
        """Receive until closed. Update the goal even if nothing arrives for some time."""
        from cyclonedds.internal import InvalidSample

        while not self._closed:
            self._waitset.wait(100_000_000)
            now = monotonic()
            fresh = self.received
            for reader, take in self._readers:
                try:
                    samples = reader.take(DEPTH)
                except Exception as error:  # a message that does not fit its type's name
                    self._refuse(f"a message on {reader.topic.name} cannot be decoded: {error}")
                    continue
                for sample in samples:
                    # A sample without content reports that a writer has left.
                    if not isinstance(sample, InvalidSample):
                        take(sample, now)
            with self._lock:
                goal, state, speed_scaling = self._goal, self._state, self._speed_scaling
            if goal is not None and goal.result is None:
                goal.update(now, state if self.received != fresh else None, speed_scaling)
                # A controller that continues an aborted goal would move later, unexpectedly.
                if goal.result is not None and goal.result.status is GoalStatus.ABORTED:
                    self.stop()

    def _take_joint_state(self, message: Any, now: float) -> None:
        try:
            told = arm_state(message, joint_names=self._wire_names)
        except ExecutionError as error:
            self._refuse(str(error))
            return
        if not np.isfinite(told.position).all():
            worst = int(np.argmax(~np.isfinite(told.position)))
            self._refuse(f"joint {self._wire_names[worst]!r} is at {told.position[worst]}")
            return
        velocity = told.velocity
        if not np.isfinite(velocity).all():
            velocity = np.where(
                np.isfinite(velocity), velocity, self._differences(told.position, now)
            )
        with self._lock:
            self._state = ArmState(
                self._joint_names, told.position, velocity, now, told.effort, told.measured
            )
            self.received += 1

    def _differences(self, position: Array, now: float) -> Array:
        """Velocities of an arm that does not report them."""
        last = self._state
        if last is None or now <= last.stamp:
            return np.zeros(len(position))
        return (position - last.position) / (now - last.stamp)

    def _refuse(self, why: str) -> None:
        with self._lock:
            if why in self.refused or len(self.refused) < _MOST_REASONS:
                self.refused[why] = self.refused.get(why, 0) + 1

    def _take_speed_scaling(self, message: Any, now: float) -> None:
        if np.isfinite(message.data):
            with self._lock:
                self._speed_scaling = min(max(message.data / 100, 0.0), 1.0)

    def _take_program_running(self, message: Any, now: float) -> None:
        with self._lock:
            self._program_running = bool(message.data)

    def _take_safety_mode(self, message: Any, now: float) -> None:
        with self._lock:
            self._safety_mode = SafetyMode(message.mode) if message.mode in _SAFETY_MODES else None

    # -- Sending -----------------------------------------------------------------------------------

    def _message(self, trajectory: JointTrajectory) -> Any:
        """Convert a trajectory, with the arm's own joint names.

        Raises ExecutionError for a time that does not fit.
        """
        from robosim.ros.dds_types import to_wire

        return to_wire(trajectory, self.names.tf_prefix)
