"""Recordings are read back bit for bit, by robosim and by others; broken ones are refused."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("rosbags", reason="recordings need the extra `bag`")

from robosim.errors import BagError, FileError, RobosimError
from robosim.execution.joint_trajectory import from_trajectory
from robosim.execution.messages import ArmState, JointTrajectory, JointTrajectoryPoint
from robosim.ros.bags import Bag, BagWriter
from robosim.ros.bags.__main__ import main
from robosim.ros.bags.motion import find_start, measurements, to_trajectory, track
from robosim.trajectory import Trajectory

NAMES = ("shoulder_pan_joint", "elbow_joint")
EPOCH = 1_790_000_000_123_456_789  # a date, as on ROS's clock [ns]


def plan(seed=0):
    """Smooth motion of three seconds, at rest at both ends."""
    random = np.random.default_rng(seed)
    positions = np.cumsum(random.normal(scale=0.4, size=(7, 2)), axis=0)
    return Trajectory.from_waypoints(
        np.linspace(0, 3, 7), positions, position_names=NAMES, robot="ur5"
    )


SCALING = "/speed_scaling_state_broadcaster/speed_scaling"


def record(path, plan_, *, begin=0.5, scaling=(), lag=0.0, rate=500, sent=True, prefix=""):
    """Record an arm that follows `plan_` from time `begin` on, later by `lag`.

    `scaling` lists changes of the speed scaling as (time, per cent).
    """
    moved = plan_.replace(position_names=tuple(f"{prefix}{name}" for name in plan_.position_names))
    clock, speed, changes, k = 0.0, 1.0, list(scaling), 0
    with BagWriter(path) as bag:
        while clock < plan_.duration + 1:
            time_ns = EPOCH + k * 10**9 // rate
            while changes and changes[0][0] <= k / rate:
                speed = changes[0][1] / 100
                bag.write_number(changes.pop(0)[1], topic=SCALING, time_ns=time_ns)
            if sent and k == round(begin * rate):
                bag.write_joint_trajectory(
                    from_trajectory(moved), topic="/ctrl/joint_trajectory", time_ns=time_ns
                )
            q, v = moved.position(clock - lag), moved.velocity(clock - lag) * speed
            bag.write_joint_state(
                ArmState(moved.position_names, q, v, time_ns / 1e9), time_ns=time_ns
            )
            if k / rate >= begin:
                clock += speed / rate
            k += 1
    return Bag(path)


# -- Round trips -----------------------------------------------------------------------------------


def test_states_are_read_back_bit_for_bit(tmp_path):
    random = np.random.default_rng(1)
    joints = ("c", "a", "b")
    values = random.standard_normal((3, 1000, 3)) * 10.0 ** random.integers(-300, 300, (3, 1000, 3))
    values[0, 0] = (-0.0, np.nextafter(0, 1), 1.7976931348623157e308)
    times = np.cumsum(random.integers(1, 10**7, 1000)).tolist()
    with BagWriter(tmp_path / "bag") as bag:
        for k, time in enumerate(times):
            effort = values[2, k] if k % 2 else None
            velocity = values[1, k] if k % 3 else np.full(3, np.nan)
            bag.write_joint_state(ArmState(joints, values[0, k], velocity, time / 1e9, effort))
            if k % 100 == 0:
                bag.flush()
    states = Bag(tmp_path / "bag").joint_states()
    assert states.joint_names == joints
    assert states.position.tobytes() == values[0].tobytes()
    for k in range(1000):
        assert np.array_equal(
            states.velocity[k], values[1, k] if k % 3 else [np.nan] * 3, equal_nan=True
        )
        assert np.array_equal(
            states.effort[k], values[2, k] if k % 2 else [np.nan] * 3, equal_nan=True
        )
    assert states.time.tolist() == [(time - times[0]) / 1e9 for time in times]
    # Another order by name, and a subset of the joints.
    swapped = Bag(tmp_path / "bag").joint_states(joint_names=("b", "c"))
    assert np.array_equal(swapped.position, values[0][:, [2, 0]])


def test_everything_else_is_read_back(tmp_path):
    random = np.random.default_rng(2)
    points = tuple(
        JointTrajectoryPoint(
            0.125 * (i + 1), *(random.standard_normal(2) for _ in range(4 if i else 1))
        )
        for i in range(5)
    )
    commands = random.standard_normal((50, 6))
    # Write descriptions, trajectories, commands and numbers.
    with BagWriter(tmp_path / "bag") as bag:
        bag.write_robot_description("<robot name='old'/>", time_ns=EPOCH)
        bag.write_robot_description("<robot name='\u00e4'/>", time_ns=EPOCH + 1)
        bag.write_joint_trajectory(
            JointTrajectory(NAMES, points, stamp=12.5), topic="/a/joint_trajectory", time_ns=EPOCH
        )
        bag.write_joint_trajectory(
            JointTrajectory(NAMES, ()), topic="/b/joint_trajectory", time_ns=EPOCH + 10**9
        )
        for k, values in enumerate(commands):
            bag.write_command(values, time_ns=EPOCH + k * 2_000_000)
            bag.write_number(k, topic="/scale", time_ns=EPOCH + k * 2_000_000)
        assert bag.counts["/scale"] == 50
    # Read all of them back.
    bag = Bag(tmp_path / "bag")
    assert not bag.truncated
    assert bag.robot_description() == "<robot name='\u00e4'/>"
    (first, second) = bag.joint_trajectories()
    assert (first.time, first.topic, first.trajectory.joint_names) == (
        0.0,
        "/a/joint_trajectory",
        NAMES,
    )
    assert first.trajectory.stamp == 12.5
    for got, put in zip(first.trajectory.points, points, strict=True):
        assert got.time_from_start == put.time_from_start
        for field in ("positions", "velocities", "accelerations", "effort"):
            assert getattr(got, field).tolist() == getattr(put, field).tolist()
    assert (second.time, second.trajectory.points) == (1.0, ())
    times, values = bag.commands()
    assert np.array_equal(values, commands)
    assert np.allclose(times, 0.002 * np.arange(50), rtol=0, atol=1e-12)
    assert np.array_equal(bag.numbers("/scale")[1], np.arange(50.0))


def test_rosbags_reads_it_by_the_definitions_in_the_file(tmp_path):
    """rosbags is an independent reader that uses the stored schemas and their hashes."""
    from rosbags.highlevel import AnyReader

    recorded = record(tmp_path / "bag", plan())
    with AnyReader([tmp_path / "bag"]) as reader:
        assert {c.topic: (c.msgtype, c.msgcount) for c in reader.connections} == {
            name: (topic.type, topic.count) for name, topic in recorded.topics.items()
        }
        connections = [c for c in reader.connections if c.topic == "/joint_states"]
        states = recorded.joint_states()
        for k, (connection, time_ns, data) in enumerate(reader.messages(connections)):
            message = reader.deserialize(data, connection.msgtype)
            assert np.array_equal(message.position, states.position[k])
            assert (time_ns - reader.start_time) / 1e9 == pytest.approx(states.time[k], abs=1e-6)


def test_stamps_of_another_clock_are_shifted(tmp_path):
    """The clock of the robot is a day off: differences of its stamps count, not their dates."""
    jitter = np.random.default_rng(3).integers(0, 3_000_000, 200)
    for name, offset in (("same", 0), ("off", -86_400 * 10**9)):
        with BagWriter(tmp_path / name) as bag:
            for k in range(200):
                stamp = (EPOCH + k * 2_000_000 + offset) / 1e9
                bag.write_joint_state(
                    ArmState(("a",), [k], [0], stamp), time_ns=EPOCH + k * 2_000_000 + jitter[k]
                )
        time = Bag(tmp_path / name).joint_states().time
        # A date as a double is accurate to 0.24 us.
        assert np.allclose(np.diff(time), 0.002, rtol=0, atol=1e-6)
        assert abs(time[0]) < 0.004
        received = Bag(tmp_path / name).joint_states(stamped=False).time
        expected = np.sort((jitter - jitter[0]) / 1e9 + 0.002 * np.arange(200))
        assert np.allclose(received, expected - expected[0], rtol=0, atol=1e-9)


# -- Analysis of motions ---------------------------------------------------------------------------


def test_a_trajectory_meets_every_sample(tmp_path):
    bag = record(tmp_path / "bag", plan())
    states = bag.joint_states()
    motion = to_trajectory(states, robot="ur5")
    time = states.time - states.time[0]
    assert np.allclose(motion.position(time), states.position, rtol=0, atol=1e-12)
    assert np.allclose(motion.velocity(time), states.velocity, rtol=0, atol=1e-9)
    # Between samples, too: the error of a cubic over 2 ms is (h^4 / 384) |q''''|, far below a
    # microradian.
    between = np.linspace(0.6, 3.4, 997)
    assert np.abs(motion.position(between) - plan().position(between - 0.5)).max() < 1e-6


@pytest.mark.parametrize("told", [True, False])
def test_identification_recovers_accelerations_under_noise(tmp_path, told):
    """Accelerations of a 1 Hz plan, except at its ends.

    Encoder noise at 500 Hz, cutoff at 12 Hz.
    """
    motion, random = plan(), np.random.default_rng(4)
    with BagWriter(tmp_path / "bag") as bag:
        for k in range(1500):
            t = k / 500
            velocity = (
                motion.velocity(t) + random.normal(scale=1e-3, size=2)
                if told
                else np.full(2, np.nan)
            )
            effort = np.array([3.0, -4.0]) + random.normal(scale=0.5, size=2)
            state = ArmState(
                NAMES,
                motion.position(t) + random.normal(scale=1e-5, size=2),
                velocity,
                1 + t,
                effort,
            )
            bag.write_joint_state(state)
    states = Bag(tmp_path / "bag").joint_states()
    raw, m = measurements(states), measurements(states, cutoff=12.0)
    inner = (m.time > 0.3) & (m.time < 2.7)
    true = motion.acceleration(m.time)
    rms = np.sqrt(np.mean((m.a - true)[inner] ** 2))
    # The plan's acceleration has corners, which a low-pass filter rounds. Noise alone would make
    # raw differences have an error of 0.35.
    assert rms < 0.1 * np.sqrt(np.mean(true[inner] ** 2))
    if told:
        assert rms < 0.3 * np.sqrt(np.mean((raw.a - motion.acceleration(raw.time))[inner] ** 2))
    assert np.abs(m.q - motion.position(m.time))[inner].max() < 2e-3
    assert np.allclose(m.effort[inner].mean(axis=0), [3.0, -4.0], atol=0.1)
    assert np.std(m.effort[inner], axis=0).max() < 0.2
    for cutoff in (0.0, -1.0, 250.1, np.nan):
        with pytest.raises(BagError, match="cutoff"):
            measurements(states, cutoff=cutoff)


def test_filter_neither_shifts_nor_scales(tmp_path):
    """A slow sine passes unchanged, and a fast one vanishes."""
    with BagWriter(tmp_path / "bag") as bag:
        for k in range(3000):
            t = k / 500
            q = np.array([np.sin(2 * np.pi * t), np.sin(2 * np.pi * 100 * t)])
            bag.write_joint_state(ArmState(("slow", "fast"), q, [np.nan, np.nan], 1 + t))
    m = measurements(Bag(tmp_path / "bag").joint_states(), cutoff=20.0)
    inner = slice(250, -250)
    # Butterworth, applied twice: 1 / (1 + (f / cutoff)^8). Of the slow sine 4e-11 is lost, of the
    # fast one 2.6e-6 is left.
    assert np.abs(m.q[:, 0] - np.sin(2 * np.pi * m.time))[inner].max() < 1e-6
    assert np.abs(m.q[inner, 1]).max() < 5e-6


@pytest.mark.parametrize("sent", [True, False])
@pytest.mark.parametrize("prefix", ["", "left_"])
def test_tracking_finds_the_start_and_the_error(tmp_path, sent, prefix):
    """An arm that follows exactly has no error, with the trajectory in the bag or without.

    Goals of an action leave no trajectory in the bag.
    """
    bag = record(tmp_path / "bag", plan(), begin=0.75, sent=sent, prefix=prefix)
    states = bag.joint_states()
    reference = (
        plan().replace(position_names=tuple(prefix + name for name in NAMES)) if prefix else plan()
    )
    # The fit resolves the start to a small fraction of a sample.
    assert find_start(bag, reference, states) == pytest.approx(0.75, abs=1e-9 if sent else 1e-4)
    tracking = track(bag, plan(), tf_prefix=prefix)
    assert tracking.joint_names == NAMES
    assert tracking.time[-1] == pytest.approx(4.0, abs=0.01) or tracking.time[-1] < 4.0
    assert tracking.max_error.max() < (1e-6 if sent else 1e-3)


def test_tracking_shows_a_lag(tmp_path):
    bag = record(tmp_path / "bag", plan(), lag=0.034)
    tracking = track(bag, plan())
    expected = np.array(
        [plan().position(t - 0.034) - plan().position(t) for t in np.linspace(0, 4, 2001)]
    )
    assert tracking.max_error == pytest.approx(np.abs(expected).max(axis=0), rel=0.01)


def test_tracking_follows_the_speed_scaling(tmp_path):
    """Full speed, 30 %, paused, full speed: the plan's time advances with the arm's."""
    bag = record(
        tmp_path / "bag",
        plan(),
        scaling=[(0.0, 100.0), (1.5, 30.0), (2.5, 5.0), (3.0, 100.0)],
        lag=0.0,
    )
    tracking = track(bag, plan())
    # A change is recorded with the state after which it takes effect. The tolerance is half a
    # sample of the fastest motion.
    assert (
        tracking.max_error.max() < 0.5 / 500 * np.abs(plan().velocity(np.linspace(0, 3, 500))).max()
    )
    named = track(bag, plan(), speed_scaling=SCALING, start=0.5)
    assert np.array_equal(named.error, tracking.error)


def test_commands_beside_the_states(tmp_path):
    motion = plan()
    with BagWriter(tmp_path / "bag") as bag:
        for k in range(1500):
            time_ns = EPOCH + k * 2_000_000
            bag.write_command(motion.position(k / 500), topic="/f/commands", time_ns=time_ns)
            bag.write_joint_state(
                ArmState(NAMES, motion.position(k / 500 - 0.01), [0.0, 0.0], EPOCH / 1e9 + k / 500),
                time_ns=time_ns + 1000,
            )
    tracking = track(Bag(tmp_path / "bag"), motion, start=0.0, commands="/f/commands")
    assert np.abs(tracking.commanded - tracking.desired).max() < 0.002 * 3
    with pytest.raises(BagError, match="no joint state while the plan ran"):
        track(Bag(tmp_path / "bag"), motion, start=100.0)


def test_command_line(tmp_path, capsys):
    record(tmp_path / "bag", plan())
    plan().save(tmp_path / "plan.json")
    assert main([str(tmp_path / "bag"), "--plan", str(tmp_path / "plan.json"), "--plot",
        str(tmp_path / "p.png"),
                 "--save", str(tmp_path / "t.npz"), "--trajectory",
                 str(tmp_path / "m.json")]) == 0  # fmt: skip
    said = capsys.readouterr().out
    count = Bag(tmp_path / "bag").topics["/joint_states"].count
    assert f"/joint_states (sensor_msgs/msg/JointState): {count}, 500.0 Hz" in said
    assert "elbow_joint: error at most" in said
    assert (tmp_path / "p.png").read_bytes()[:4] == b"\x89PNG"
    assert Trajectory.load(tmp_path / "m.json").position_names == NAMES
    for wrong in ([str(tmp_path / "none")], [str(tmp_path / "bag"), "--plot", "x.png"]):
        assert main(wrong) == 1
        assert capsys.readouterr().err.startswith("robosim: error: ")


# -- Interrupted and hostile recordings ------------------------------------------------------------


def test_a_recording_bears_its_name_when_it_is_whole(tmp_path):
    target = tmp_path / "bag"

    def fail():
        with BagWriter(target) as bag:
            for k in range(10):
                bag.write_joint_state(ArmState(("a",), [k], [0], 1 + k))
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        fail()
    assert not target.exists()
    left = Bag(tmp_path / "bag.partial")
    assert left.truncated
    assert left.joint_states().position[:, 0].tolist() == list(range(10))
    with pytest.raises(FileError, match=r"bag\.partial: is left over"):
        BagWriter(target)
    record(tmp_path / "other", plan())
    with pytest.raises(FileError, match="other: exists already"):
        BagWriter(tmp_path / "other")
    with pytest.raises(FileError, match="cannot be made"):
        BagWriter(tmp_path / "nowhere" / "bag")


def test_a_killed_recorder_loses_only_what_was_not_flushed(tmp_path):
    script = (
        "import signal, sys\n"
        "from robosim.ros.bags import BagWriter\n"
        "from robosim.execution.messages import ArmState\n"
        "bag = BagWriter(sys.argv[1])\n"
        "for k in range(5000):\n"
        "    bag.write_joint_state(ArmState(('a',), [k], [0], 1 + k))\n"
        "    if k == 3999: bag.flush()\n"
        "print('written', flush=True)\n"
        "signal.pause()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "bag")], stdout=subprocess.PIPE, cwd=tmp_path
    )
    assert process.stdout.readline() == b"written\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    left = Bag(tmp_path / "bag.partial")
    assert left.truncated
    assert left.joint_states().position[:4000, 0].tolist() == list(range(4000))


def small_bag(folder):
    """Bytes of a bag with a few messages of each kind."""
    with BagWriter(folder) as bag:
        for k in range(20):
            bag.write_joint_state(ArmState(NAMES, [k, -k], [0, 0], 1 + k))
        bag.write_robot_description("<robot/>", time_ns=10**9)
        bag.write_joint_trajectory(from_trajectory(plan()), time_ns=10**9)
        bag.flush()
        bag.write_command([1.0, 2.0], time_ns=3 * 10**9)
    return next(folder.glob("*.mcap")).read_bytes()


def read_everything(path):
    """Call every reading function of a recording."""
    bag = Bag(path)
    for topic in bag.topics:
        for _ in bag.messages(topic):
            pass
    bag.joint_states()
    bag.joint_trajectories()
    bag.commands()
    bag.robot_description()
    return bag


@pytest.mark.parametrize("step", [7])
def test_cut_off_anywhere_it_is_read_as_far_as_it_goes(tmp_path, step):
    whole = small_bag(tmp_path / "bag")
    path = tmp_path / "cut.mcap"
    seen = []
    for end in range(8, len(whole), step):
        path.write_bytes(whole[:end])
        bag = Bag(path)
        count = bag.topics["/joint_states"].count if "/joint_states" in bag.topics else 0
        seen.append(count)
        if count:
            assert bag.joint_states().position[:, 0].tolist() == list(range(count))
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, 20)
    # Within a chunk that was cut, too.
    assert len(set(seen)) > 15


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("healthy")
    return folder / "x.mcap", small_bag(folder / "bag")


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_hostile_bytes_give_an_error_or_a_recording(healthy, data):
    """Bytes are changed, cut out or doubled.

    None of these leads to a crash, a hang, another kind of error, or the use of much memory.
    """
    path, whole = healthy
    content = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 9))
        kind = data.draw(st.sampled_from(["byte", "length", "cut", "double"]))
        if kind == "byte":
            content[at] = data.draw(st.integers(0, 255))
        elif kind == "length":
            content[at : at + 8] = struct.pack(
                "<Q", data.draw(st.sampled_from([0, 1, 2**16, 2**31, 2**63, 2**64 - 1]))
            )
        elif kind == "cut":
            del content[at : at + data.draw(st.integers(1, 40))]
        else:
            content[at:at] = content[at : at + data.draw(st.integers(1, 40))]
    path.write_bytes(content)
    try:
        read_everything(path)
    except RobosimError as error:
        said = str(error)
    else:
        said = str(path)
    assert str(path) in said


def chunk(content, compression, packed, length=None, checksum=0):
    body = struct.pack("<QQQI", 0, 0, len(content) if length is None else length, checksum)
    body += (
        struct.pack("<I", len(compression)) + compression + struct.pack("<Q", len(packed)) + packed
    )
    return b"\x89MCAP0\r\n" + b"\x06" + struct.pack("<Q", len(body)) + body


def test_compressed_chunks_and_bombs(tmp_path):
    from lz4.frame import compress as lz4

    try:
        from compression import zstd
    except ImportError:
        from backports import zstd

    whole = small_bag(tmp_path / "bag")
    size = struct.unpack_from("<Q", whole, 9)[0]
    first = 17 + size  # the first chunk, after the header
    assert whole[first] == 0x06
    fields = struct.unpack_from("<QQQI", whole, first + 9)
    content = whole[first + 9 + 40 : first + 9 + 40 + fields[2]]
    path = tmp_path / "x.mcap"
    for name, packed in ((b"", content), (b"lz4", lz4(content)), (b"zstd", zstd.compress(content))):
        path.write_bytes(chunk(content, name, packed, checksum=zlib.crc32(content)))
        assert Bag(path).topics["/joint_states"].count == 20
        path.write_bytes(chunk(content, name, packed, checksum=1))
        with pytest.raises(BagError, match="checksum"):
            Bag(path)
    bomb = bytes(200_000_000)
    for name, pack in ((b"lz4", lz4), (b"zstd", zstd.compress)):
        path.write_bytes(chunk(bomb, name, pack(bomb), length=1000))
        with pytest.raises(BagError, match="a chunk says 1000 bytes and has 1001"):
            Bag(path)
        path.write_bytes(chunk(content, name, b"nonsense"))
        with pytest.raises(BagError, match="cannot be unpacked"):
            Bag(path)
    path.write_bytes(chunk(content, b"rar", content))
    with pytest.raises(BagError, match="known are none, lz4 and zstd"):
        Bag(path)
    path.write_bytes(chunk(b"", b"", b"", length=2**40))
    with pytest.raises(BagError, match="at most 268435456 are unpacked"):
        Bag(path)


def test_what_is_not_a_recording_is_refused_in_words(tmp_path):
    small_bag(tmp_path / "bag")
    (tmp_path / "empty").mkdir()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "old_0.db3").write_bytes(b"SQLite format 3\0")
    (tmp_path / "text.mcap").write_text("no")
    (tmp_path / "a.bag").write_text("#ROSBAG V2.0")
    os.mkfifo(tmp_path / "pipe.mcap")
    for name, text in (
        ("none", "no such recording"),
        ("empty", "holds no .mcap file"),
        ("old", "ros2 bag convert"),
        ("text.mcap", "magic number"),
        ("a.bag", "is of ROS 1"),
        ("pipe.mcap", "neither a folder nor a regular file"),
    ):
        with pytest.raises(RobosimError, match=text) as error:
            Bag(tmp_path / name)
        assert name in str(error.value)
    bag = Bag(tmp_path / "bag")
    with pytest.raises(
        BagError, match="holds no topic '/other'; it holds /forward_position_controller/comm"
    ):
        list(bag.messages("/other"))
    with pytest.raises(
        BagError, match="topic /joint_states is of type sensor_msgs/msg/JointState, not"
    ):
        bag.commands("/joint_states")
    with pytest.raises(BagError, match="holds no joint state with wrist"):
        bag.joint_states(joint_names=["wrist"])
    with (
        BagWriter(tmp_path / "new") as writer,
        pytest.raises(BagError, match="none of ROS 2's common interfaces"),
    ):
        writer.write("/x", "my_msgs/msg/Own", b"", 0)
    assert Bag(tmp_path / "new").topics == {}
