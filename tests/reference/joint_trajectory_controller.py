"""Semantics of a joint trajectory controller (docs/execution.md), row by row, in plain Python.

An oracle for the executor: slow, without arrays of coefficients, state machines or shared code. A
motion is a list of rows (time, q, v or None, a or None) on a time axis of its own. A segment is the
polynomial that interpolates the fields given at both of its ends. Only the vocabulary (statuses,
codes, reasons, messages) is robosim's.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from robosim.execution.goals import ErrorCode, GoalStatus, RejectReason


@lru_cache(maxsize=4096)
def _inverse(length, derivatives):
    """Matrix from (q, v, ...) at both ends to the coefficients of the polynomial between them."""
    degree = 2 * derivatives - 1
    rows = []
    for s in (0.0, length):
        for d in range(derivatives):
            rows.append(
                [math.perm(j, d) * s ** (j - d) if j >= d else 0.0 for j in range(degree + 1)]
            )
    return np.linalg.inv(np.array(rows))


def _segment(left, right, time):
    """(q, v, a) at `time` between two rows."""
    derivatives = 1
    while (
        derivatives < 3 and left[derivatives + 1] is not None and right[derivatives + 1] is not None
    ):
        derivatives += 1
    length = right[0] - left[0]
    ends = [row[1 + d] for row in (left, right) for d in range(derivatives)]
    c = _inverse(length, derivatives) @ np.array(ends)
    s = time - left[0]
    return tuple(
        sum(math.perm(j, d) * s ** (j - d) * c[j] for j in range(d, len(c)))
        if d < len(c)
        else 0 * c[0]
        for d in range(3)
    )


def _row_sample(row):
    return tuple(np.zeros_like(row[1]) if f is None else f for f in row[1:])


def sample(rows, before, time):
    """(q, v, a) at `time`, and true if the last row has passed.

    `before` is the row that the motion comes from.
    """
    if time >= rows[-1][0]:
        return _row_sample(rows[-1]), True
    if time < rows[0][0]:
        return _segment(before, rows[0], time), False
    i = max(k for k, row in enumerate(rows) if row[0] <= time)
    return _segment(rows[i], rows[i + 1], time), False


class Goal:
    """The reference's record of a goal."""

    def __init__(self, path, goal, goal_time):
        self.tolerances = (path, goal, goal_time)
        self.outcome = None

    def end(self, status, code=ErrorCode.SUCCESSFUL, text=""):
        assert self.outcome is None
        self.outcome = (status, code, text)


class ReferenceController:
    """Controller with a dictionary of options; `profile` is "humble", "jazzy" or "rolling"."""

    def __init__(self, names, options):
        self.names, self.o = list(names), options
        self.active, self.goal, self.motion, self.next = False, None, None, None
        self.hold_flag = True
        self.command = None
        self.tolerances = self.own = (options["path"], options["goal"], options["goal_time"])

    # -- Row "refused", in this order --------------------------------------------------------------

    def refusal(self, message, now):
        names, points = list(message.joint_names), message.points
        if not self.active:
            return RejectReason.INACTIVE
        if not self.o["partial"] and len(names) != len(self.names):
            return RejectReason.JOINT_COUNT
        if not names:
            return RejectReason.NO_JOINTS
        if not points:
            return RejectReason.NO_POINTS
        if set(names) - set(self.names):
            return RejectReason.UNKNOWN_JOINT
        if len(set(names)) < len(names):
            return RejectReason.REPEATED_JOINT
        moving_end = self.o["moving_end"]
        if moving_end is None:
            moving_end = self.o["profile"] == "humble"
        if not moving_end and any(abs(v) > 1.2e-7 for v in points[-1].velocities):
            return RejectReason.END_VELOCITY
        if message.stamp != 0 and message.stamp + points[-1].time_from_start < now:
            return RejectReason.ENDS_IN_PAST
        # Times must increase, and sizes must match the names.
        previous = None
        for p in points:
            if previous is not None and p.time_from_start <= previous:
                return RejectReason.TIMES
            previous = p.time_from_start
            sizes = len(p.positions), len(p.velocities), len(p.accelerations)
            if sizes[0] != len(names) or any(size not in (0, len(names)) for size in sizes[1:]):
                return RejectReason.SIZE
            if len(p.effort):
                return RejectReason.EFFORT
        # Values must be finite and within the limits, up to 0.1 %.
        if self.o["limits"] is not None:
            for p in points:
                for field, bound in zip(
                    ("positions", "velocities", "accelerations"), self.o["limits"], strict=True
                ):
                    for value in getattr(p, field):
                        if not math.isfinite(value):
                            return RejectReason.NOT_FINITE
                    if any(abs(value) > bound * 1.001 for value in getattr(p, field)):
                        return RejectReason.OUT_OF_LIMITS
        return None

    # -- Rows about goals, topics and ends ---------------------------------------------------------

    def activate(self, q, v):
        self.active, self.goal, self.motion = True, None, None
        self.q, self.v = np.array(q), np.array(v)
        self.command = (self.q, 0 * self.q, 0 * self.q)
        self.tolerances = self.own
        self.hold()

    def deactivate(self):
        if self.goal:
            text = "Current goal cancelled during deactivate transition."
            self.goal.end(GoalStatus.ABORTED, ErrorCode.INVALID_GOAL, text)
        self.active, self.goal, self.motion, self.next = False, None, None, None
        if self.command is not None:
            self.command = (self.command[0], 0 * self.q, 0 * self.q)

    def submit(self, goal, now):
        refusal = self.refusal(goal.trajectory, now)
        if refusal:
            return refusal
        if self.goal and self.o["profile"] == "humble":
            text = "Current goal cancelled due to new incoming action."
            self.goal.end(GoalStatus.CANCELED, ErrorCode.INVALID_GOAL, text)
        elif self.goal:
            text = "Current goal preempted by new incoming action."
            self.goal.end(GoalStatus.ABORTED, ErrorCode.INVALID_GOAL, text)
        self.tolerances = self.merged(goal)
        self.goal = Goal(*self.tolerances)
        self.next, self.hold_flag = ("message", goal.trajectory), False
        return self.goal

    def merged(self, goal):
        """Merge the goal's tolerances with the controller's own.

        A value of 0 means the controller's own value, -1 means none. Any other negative value, or
        an unknown joint, makes all tolerances of the goal void.
        """
        given = [(goal.goal_time_tolerance,)] + [
            (t.position, t.velocity, t.acceleration)
            for t in (*goal.path_tolerance, *goal.goal_tolerance)
        ]
        names = {t.name for t in (*goal.path_tolerance, *goal.goal_tolerance)}
        if names - set(self.names) or any(x < 0 and x != -1 for values in given for x in values):
            return self.own

        def one(own, value):
            return {0: own, -1: 0}.get(value, value)

        path, end = dict(self.own[0]), dict(self.own[1])
        for table, listed in ((path, goal.path_tolerance), (end, goal.goal_tolerance)):
            for t in listed:
                own = table[t.name]
                table[t.name] = (one(own[0], t.position), one(own[1], t.velocity))
        return path, end, one(self.own[2], goal.goal_time_tolerance)

    def publish(self, message, now):
        if self.active and not message.points and not set(message.joint_names) - set(self.names):
            self.next, self.motion, self.hold_flag = None, None, True
            if self.goal:
                self.goal.end(
                    GoalStatus.ABORTED,
                    ErrorCode.INVALID_GOAL,
                    "Current goal ended by an empty trajectory on the topic.",
                )
                self.goal = None
            return None
        refusal = self.refusal(message, now)
        if refusal is None:
            self.next, self.hold_flag = ("message", message), False
        return refusal

    def cancel(self):
        if self.goal:
            self.goal.end(GoalStatus.CANCELED)
            self.goal = None
            self.slow_down()

    def hold(self):
        self.next, self.hold_flag = ("rows", [(0.0, self.q, 0 * self.q, 0 * self.q)]), True

    def slow_down(self):
        """Stop each joint at its own deceleration, if a deceleration is configured."""
        self.hold()
        if self.o["deceleration"] is None or not self.v.any():
            return
        a = np.full(len(self.q), self.o["deceleration"])
        rows = []
        for t in sorted({0.0, *(np.abs(self.v) / a)}):
            q, v = [], []
            for q0, v0, a0 in zip(self.q, self.v, a, strict=True):
                s = min(t, abs(v0) / a0)
                q.append(q0 + v0 * s - math.copysign(a0, v0) * s * s / 2)
                v.append(0.0 if t >= abs(v0) / a0 else v0 - math.copysign(a0, v0) * s)
            rows.append((t, np.array(q), np.array(v), None))
        self.next = ("rows", rows)

    # -- Row "a cycle" -----------------------------------------------------------------------------

    def update(self, q, v, now, period, scaling):
        self.q, self.v = np.array(q), np.array(v)
        if not self.active:
            return self.command
        first = False
        advance = period * scaling
        if self.next is not None:
            self.begin(now, advance)
            first = True
        if self.motion is None:
            self.command = (self.command[0], 0 * self.q, 0 * self.q)
            return self.command
        if not first:
            self.time += advance
        rows, before = self.motion
        desired, past = sample(rows, before, self.time)
        command = desired
        if self.o["profile"] != "humble":
            command, past = sample(rows, before, self.time + period)
        self.judge(rows, desired, command, past, first)
        return self.command

    def begin(self, now, advance):
        kind, what = self.next
        self.next = None
        old, cursor = self.motion, 0.0 if self.motion is None else self.time + advance
        if kind == "rows":
            self.motion, self.time = (what, None), 0.0
            return
        rows = []
        for p in what.points:
            fields = []
            for values, rest in (
                (p.positions, self.command[0]),
                (p.velocities, 0),
                (p.accelerations, 0),
            ):
                if not len(values) or (len(fields) == 2 and fields[1] is None):
                    fields.append(None)
                    continue
                given = dict(zip(what.joint_names, values, strict=True))
                rest = rest if len(fields) == 0 else [0.0] * len(self.names)
                fields.append(
                    np.array([given.get(name, rest[i]) for i, name in enumerate(self.names)])
                )
            rows.append((p.time_from_start, *fields))
        start = what.stamp if what.stamp != 0 else now  # if the message's time is 0
        if self.o["profile"] == "rolling" and old is not None and len(old[0]) > 1:
            spliced = self.spliced(
                old, cursor, rows, start - now, [n in what.joint_names for n in self.names]
            )
            if spliced:
                self.motion, self.time = (spliced, None), 0.0
                return
        self.time = now - start
        before = (
            (self.time, *self.command)
            if self.o["from_desired"]
            else (self.time, self.q, self.v, None)
        )
        self.motion = (rows, before)

    def spliced(self, old, cursor, rows, delay, named):
        """Old motion until the new one begins, then the new rows.

        Unnamed joints stay on the old motion.
        """
        seam = max(delay, 0.0)
        ahead = [(row[0] + delay, *row[1:]) for row in rows if row[0] + delay > seam]
        if not ahead:
            return None

        def at(t):
            return (t, *sample(*old, cursor + t)[0])

        def mix(t, new, other):
            fields = []
            for a, b in zip(new[1:], other[1:], strict=True):
                both = a is not None and b is not None
                fields.append(
                    np.array([x if k else y for k, x, y in zip(named, a, b, strict=True)])
                    if both
                    else None
                )
            return (t, *fields)

        out = [at(0.0)]
        out += [(row[0] - cursor, *row[1:]) for row in old[0] if cursor < row[0] < cursor + seam]
        if seam > 0:
            out.append(at(seam))
        out += [row if all(named) else mix(row[0], row, at(row[0])) for row in ahead]
        if not all(named):
            end = out[-1]
            stay = (None, end[1], 0 * end[1], 0 * end[1])
            out += [mix(row[0] - cursor, stay, row) for row in old[0] if row[0] - cursor > end[0]]
        return out

    def judge(self, rows, desired, command, past, first):
        path, end, goal_time = self.tolerances
        overdue = self.time - rows[-1][0]

        def outside(table):
            for i, name in enumerate(self.names):
                position, velocity = table[name]
                if position > 0 and abs(desired[0][i] - self.q[i]) > position:
                    return True
                if (
                    self.o["velocity_command"]
                    and velocity > 0
                    and abs(desired[1][i] - self.v[i]) > velocity
                ):
                    return True
            return False

        on_the_way = not self.hold_flag and (first or not past) and outside(path)
        at_the_end = not self.hold_flag and past and outside(end)
        late = at_the_end and goal_time != 0 and overdue > goal_time
        limit = self.o["cmd_timeout"]
        given_up = limit > self.own[2] and past and not self.hold_flag and overdue > limit
        if not on_the_way and not late:
            self.command = command
        if on_the_way:
            self.lose(ErrorCode.PATH_TOLERANCE_VIOLATED, "Aborted due to path tolerance violation")
            self.hold()
        elif late:
            text = f"Aborted due to goal_time_tolerance exceeding by {overdue:.6f} seconds"
            self.lose(ErrorCode.GOAL_TOLERANCE_VIOLATED, text)
            self.slow_down()
        elif past and not at_the_end and self.goal:
            self.goal.end(GoalStatus.SUCCEEDED, ErrorCode.SUCCESSFUL, "Goal successfully reached!")
            self.goal = None
            self.next, self.hold_flag = ("rows", [(0.0, *_row_sample(rows[-1]))]), True
        elif given_up:
            self.lose(ErrorCode.GOAL_TOLERANCE_VIOLATED, "Aborted due to command timeout")
            self.slow_down()

    def lose(self, code, text):
        if self.goal:
            self.goal.end(GoalStatus.ABORTED, code, text)
            self.goal = None
