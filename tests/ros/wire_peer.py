"""The other side of the wire: a talker, a listener and a small arm without robosim's code.

The peer is written from the interfaces that ROS 2 publishes and from DDS alone. It imports
cyclonedds, NumPy and the standard library. It runs as a process of its own: `python wire_peer.py
talk|send|listen|arm OPTIONS`. It reports its progress to the test in lines of JSON on standard
output, with floats in hexadecimal so that no bit is lost. It ends when its standard input ends.
Waiting in this process has no time limit, since the test has one.

Message number k of a talker is a function of k alone: `numbers(k, n)`.
"""

import argparse
import dataclasses
import itertools
import json
import os
import sys
import threading
import time

import numpy as np
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import make_idl_struct
from cyclonedds.idl.annotations import final
from cyclonedds.idl.types import float64, int32, sequence, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic


def struct(package, type_name, /, **fields):
    return final(make_idl_struct(type_name, f"{package}::msg::dds_::{type_name}_", fields))


Stamp = struct("builtin_interfaces", "Time", sec=int32, nanosec=uint32)
Span = struct("builtin_interfaces", "Duration", sec=int32, nanosec=uint32)
Head = struct("std_msgs", "Header", stamp=Stamp, frame_id=str)
Numbers = sequence[float64]
State = struct(
    "sensor_msgs", "JointState",
    header=Head, name=sequence[str], position=Numbers, velocity=Numbers, effort=Numbers,
)  # fmt: skip
Knot = struct(
    "trajectory_msgs", "JointTrajectoryPoint",
    positions=Numbers, velocities=Numbers, accelerations=Numbers, effort=Numbers,
    time_from_start=Span,
)  # fmt: skip
Way = struct(
    "trajectory_msgs",
    "JointTrajectory",
    header=Head,
    joint_names=sequence[str],
    points=sequence[Knot],
)
Dimension = struct("std_msgs", "MultiArrayDimension", label=str, size=uint32, stride=uint32)
Layout = struct("std_msgs", "MultiArrayLayout", dim=sequence[Dimension], data_offset=uint32)
Commands = struct("std_msgs", "Float64MultiArray", layout=Layout, data=Numbers)
Number = struct("std_msgs", "Float64", data=float64)
TYPES = {"state": State, "trajectory": Way, "commands": Commands, "number": Number}

# Event set by a command of the test, and an event that is never set while this process runs.
GO, ENDED = threading.Event(), threading.Event()

RELIABLE = Qos(Policy.Reliability.Reliable(10**9), Policy.History.KeepLast(5000))


def numbers(k, n, channel=0):
    """n doubles of message k: all bits of the significand, many magnitudes, both signs."""
    random = np.random.default_rng([k, n, channel])
    return (random.standard_normal(n) * 10.0 ** random.integers(-12, 12, n)).tolist()


def state(k, joints):
    n = len(joints)
    return State(
        Head(Stamp(k, 7), "base"), joints, numbers(k, n), numbers(k, n, 1), numbers(k, n, 2)
    )


def trajectory(k, joints, knots):
    n = len(joints)
    points = [
        Knot(*(numbers(1000 * k + i, n, c) for c in range(4)), Span(i, 3 * i + 1))
        for i in range(knots)
    ]
    return Way(Head(Stamp(k, 7), "base"), joints, points)


def as_json(value):
    """Message as JSON, with floats in hexadecimal."""
    if dataclasses.is_dataclass(value):
        return {
            field.name: as_json(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, float):
        return value.hex()
    return [as_json(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def say(**what):
    print(json.dumps(what), flush=True)


def wait_for(condition):
    while not condition():
        time.sleep(0.005)


def obey():
    """Read commands of the test, in a thread.

    A line is the command to begin. The end of the input ends this process.
    """
    for _ in sys.stdin:
        GO.set()
    os._exit(0)


def match(writer, options):
    """Return once a subscriber is matched; if `held`, once the test confirms the match, too.

    A reader of Cyclone receives what is written after the reader has discovered the writer. A
    reader of Fast DDS receives what is written after the writer has discovered the reader.
    """
    wait_for(writer.get_matched_subscriptions)
    say(matched=options.topic)
    if options.held:
        GO.wait()


def talk(part, options):
    """Publish messages at a rate once a subscriber listens.

    Deadlines are absolute, so that stalls are caught up.
    """
    type_ = TYPES[options.type]
    writer = DataWriter(part, Topic(part, options.topic, type_), qos=RELIABLE)
    match(writer, options)
    begin = time.monotonic()
    for k in range(options.count):
        time.sleep(max(0.0, begin + k / options.rate - time.monotonic()))  # the rate
        if type_ is State:
            writer.write(state(k, options.joints))
        elif type_ is Way:
            writer.write(trajectory(k, options.joints, options.knots))
        elif type_ is Commands:
            writer.write(Commands(Layout([], 0), numbers(k, len(options.joints))))
        else:
            writer.write(Number(float(k)))
    say(talked=options.count)
    ENDED.wait()  # until the test has received everything


def send(part, options):
    """Publish a trajectory of one point, at rest there, once a subscriber listens."""
    writer = DataWriter(part, Topic(part, options.topic, Way), qos=RELIABLE)
    match(writer, options)
    rest = [0.0] * len(options.joints)
    point = Knot(options.start, rest, rest, [], Span(*divmod(round(options.duration * 1e9), 10**9)))
    writer.write(Way(Head(Stamp(0, 0), ""), options.joints, [point]))
    say(sent=True)
    ENDED.wait()


def listen(part, options):
    """Print every message until the required number has arrived."""
    reader = DataReader(part, Topic(part, options.topic, TYPES[options.type]), qos=RELIABLE)
    wait_for(reader.get_matched_publications)
    say(matched=options.topic)
    heard = 0
    while heard < options.count:
        samples = reader.take(1000)
        for sample in samples:
            say(heard=as_json(sample))
        heard += len(samples)
        if not samples:
            time.sleep(0.002)  # before the next look
    say(done=heard)


def arm(part, options):
    """Arm that follows trajectories (cubic between the knots) and set points exactly.

    The arm publishes its joint states in reverse order, with one joint more than required. Speed
    scaling is in per cent.
    """
    joints = options.joints
    states = DataWriter(part, Topic(part, "rt/joint_states", State), qos=RELIABLE)
    scaling = DataWriter(
        part, Topic(part, "rt/speed_scaling_state_broadcaster/speed_scaling", Number), qos=RELIABLE
    )
    ways = DataReader(
        part, Topic(part, f"rt/{options.controller}/joint_trajectory", Way), qos=RELIABLE
    )
    commands = DataReader(
        part, Topic(part, "rt/forward_position_controller/commands", Commands), qos=RELIABLE
    )
    position = np.array(options.start)
    velocity = np.zeros(len(joints))
    way, clock, taken = None, 0.0, 0
    say(ready=True)
    period = 1 / options.rate
    begin = time.monotonic()
    for k in itertools.count():
        time.sleep(max(0.0, begin + k * period - time.monotonic()))  # the rate
        for message in [] if options.deaf else ways.take(10):
            way, clock, order = message, 0.0, [message.joint_names.index(name) for name in joints]
            span = [
                knot.time_from_start.sec + 1e-9 * knot.time_from_start.nanosec
                for knot in message.points
            ]
            times = np.array([0.0, *span])
            q = np.array([position, *(np.array(knot.positions)[order] for knot in message.points)])
            v = np.array([velocity, *(np.array(knot.velocities)[order] for knot in message.points)])
            say(trajectory=len(message.points))
        for message in commands.take(1000):
            velocity, position = (
                (np.array(message.data) - position) / period,
                np.array(message.data),
            )
            taken += 1
        if way is not None:
            clock += period * options.scaling
            i = int(np.searchsorted(times, clock, side="right")) - 1
            if i >= len(times) - 1:
                position, velocity, way = q[-1], np.zeros(len(joints)), None
            else:
                h = times[i + 1] - times[i]
                s = (clock - times[i]) / h
                d0, d1, dq = h * v[i], h * v[i + 1], q[i + 1] - q[i]
                position = q[i] + s * (d0 + s * (3 * dq - 2 * d0 - d1 + s * (d0 + d1 - 2 * dq)))
                velocity = (d0 + s * (2 * (3 * dq - 2 * d0 - d1) + 3 * s * (d0 + d1 - 2 * dq))) / h
        elif not taken:
            velocity = np.zeros(len(joints))
        if options.silent_after is not None and k * period > options.silent_after:
            continue
        stamp = Stamp(*divmod(time.time_ns(), 10**9))
        message = State(
            Head(stamp, ""),
            ["gripper", *reversed(joints)],
            [0.5, *position[::-1].tolist()],
            [0.0, *velocity[::-1].tolist()] if options.velocities else [],
            [],
        )
        states.write(message)
        scaling.write(Number(100.0 * options.scaling))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("task", choices=["talk", "send", "listen", "arm"])
    parser.add_argument("--topic")
    parser.add_argument("--type", choices=TYPES)
    parser.add_argument("--joints", nargs="+", default=[])
    parser.add_argument("--knots", type=int, default=1)
    parser.add_argument("--duration", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=500.0)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--start", nargs="+", type=float)
    parser.add_argument("--controller", default="scaled_joint_trajectory_controller")
    parser.add_argument("--scaling", type=float, default=1.0)
    parser.add_argument("--deaf", action="store_true")
    parser.add_argument("--held", action="store_true")
    parser.add_argument("--no-velocities", dest="velocities", action="store_false")
    parser.add_argument("--silent-after", type=float)
    options = parser.parse_args()
    threading.Thread(target=obey, daemon=True).start()
    part = DomainParticipant(int(os.environ["ROS_DOMAIN_ID"]))
    {"talk": talk, "send": send, "listen": listen, "arm": arm}[options.task](part, options)


if __name__ == "__main__":
    main()
