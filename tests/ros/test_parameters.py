"""Tables of parameters without ROS, and declared on a real node if rclpy is available."""

from __future__ import annotations

import math
import subprocess
import sys

import pytest

from robosim.errors import ExecutionError
from robosim.ros.parameters import Parameter, declare, markdown

RATE = Parameter("rate", 500.0, "Of the loop [Hz].", minimum=1, maximum=1000)
MODE = Parameter("mode", "ideal", "How.", choices=("ideal", "dynamics"), read_only=True)
HOME = Parameter("home.positions", (0.0, 1.0), "Where it starts [rad].", minimum=-7)
NAMES = Parameter("names", (), "Of joints.", kind="string array")
COUNT = Parameter("count", 3, "Of a thing.", minimum=0)
FLAG = Parameter("flag", True, "Whether.")
ALL = (RATE, MODE, HOME, NAMES, COUNT, FLAG)


@pytest.mark.parametrize(
    ("parameter", "given", "expected"),
    [
        (RATE, 5, 5.0),  # for ROS, a whole number on the command line is an integer
        (RATE, 1000.0, 1000.0),
        (HOME, [1, 2.5], (1.0, 2.5)),
        (NAMES, ["a"], ("a",)),
        (COUNT, 0, 0),
        (FLAG, False, False),
        (MODE, "dynamics", "dynamics"),
    ],
)
def test_valid_values_come_out_in_the_parameters_type(parameter, given, expected):
    value = parameter.check(given)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("parameter", "given", "valid"),
    [
        (RATE, 0.5, "a double from 1 to 1000"),
        (RATE, math.nan, "a double from 1 to 1000"),
        (RATE, True, "a double from 1 to 1000"),
        (RATE, "fast", "a double from 1 to 1000"),
        (COUNT, 1.5, "an integer not below 0"),
        (COUNT, True, "an integer"),
        (FLAG, 1, "a bool"),
        (MODE, "Ideal", "one of ideal, dynamics"),
        (HOME, [0.0, -8.0], "a double array not below -7"),
        (HOME, "0 0", "a double array"),
        (NAMES, [1], "a string array"),
    ],
)
def test_other_values_are_refused_by_name_with_what_is_valid(parameter, given, valid):
    with pytest.raises(ExecutionError) as caught:
        parameter.check(given)
    assert f"'{parameter.name}'" in str(caught.value)
    assert repr(given) in str(caught.value)
    assert valid in str(caught.value)


def test_a_table_with_a_wrong_default_is_refused():
    with pytest.raises(ExecutionError, match=r"'rate' is 0\.5"):
        Parameter("rate", 0.5, "", minimum=1)
    with pytest.raises(ExecutionError, match="kind ''"):
        Parameter("names", (), "")


def test_markdown_has_a_row_for_each_with_type_default_and_limits():
    rows = markdown(ALL).splitlines()
    assert len(rows) == len(ALL) + 2
    assert (
        rows[2]
        == "| `rate` | double | `500.0` | Of the loop [Hz]. Valid: a double from 1 to 1000. |"
    )
    assert "Cannot change" in rows[3]
    assert "`[0.0, 1.0]`" in rows[4]
    assert rows[5] == "| `names` | string array | none | Of joints. |"


@pytest.fixture
def make_node():
    rclpy = pytest.importorskip(
        "rclpy", reason="rclpy is not installed: the ROS 2 tests run in CI's ros lane"
    )
    context = rclpy.Context()
    rclpy.init(context=context)
    nodes = []

    def make(**overrides):
        given = [rclpy.parameter.Parameter(name, value=value) for name, value in overrides.items()]
        node = rclpy.create_node("parameters", context=context, parameter_overrides=given)
        nodes.append(node)
        return node

    yield make
    for node in nodes:
        node.destroy_node()
    rclpy.shutdown(context=context)


def test_declared_with_descriptions_ranges_and_given_values(make_node):
    node = make_node(rate=5, use_sim_time=False)
    values = declare(node, ALL)
    assert (values.rate, values.mode, values.home_positions, values.names) == (
        5.0,
        "ideal",
        (0.0, 1.0),
        (),
    )
    assert node.get_parameter("rate").value == 5.0
    descriptor = node.describe_parameter("rate")
    assert descriptor.description == RATE.description
    assert (
        descriptor.floating_point_range[0].from_value,
        descriptor.floating_point_range[0].to_value,
    ) == (
        1,
        1000,
    )
    assert node.describe_parameter("mode").read_only
    assert "ideal, dynamics" in node.describe_parameter("mode").additional_constraints


def test_bad_overrides_are_refused_by_name(make_node):
    with pytest.raises(ExecutionError, match=r"'rate' is 0.5; it must be a double from 1 to 1000"):
        declare(make_node(rate=0.5), ALL)
    with pytest.raises(ExecutionError, match=r"no parameter 'rat'; did you mean 'rate'\?"):
        declare(make_node(rat=5.0), ALL)


def test_changes_at_run_time_are_checked_and_reach_the_values(make_node):
    from rclpy.parameter import Parameter as RosParameter

    node, seen = make_node(), []

    def on_change(name, value):
        if value == 13.0:
            raise ExecutionError("not thirteen")
        seen.append((name, value))

    values = declare(node, ALL, on_change)

    def change(name, value):
        return node.set_parameters([RosParameter(name, value=value)])[0]

    assert change("rate", 50.0).successful
    assert values.rate == 50.0
    assert change("names", ["a", "b"]).successful
    assert values.names == ("a", "b")
    assert not change("rate", 0.5).successful
    assert not change("mode", "dynamics").successful
    assert "not below -7" in change("home.positions", [-8.0]).reason
    assert change("rate", 13.0).reason == "not thirteen"
    assert values.rate == 50.0
    assert seen == [("rate", 50.0), ("names", ("a", "b"))]


def test_the_package_and_the_nodes_tables_need_no_ros(tmp_path):
    code = (
        "import sys; sys.modules['rclpy'] = None; import robosim.ros, robosim.ros.messages,"
        " robosim.ros.names; from robosim.ros import sim_arm; from robosim.ros.parameters import"
        " markdown; print(markdown(sim_arm.PARAMETERS)); sys.exit(sim_arm.main([]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert done.returncode == 2, done.stderr
    assert "| `robot` |" in done.stdout
    assert "'rclpy' cannot be imported" in done.stderr
    assert "setup.bash" in done.stderr
    assert "Traceback" not in done.stderr
