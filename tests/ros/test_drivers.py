"""Table of drivers, without ROS: meaning of the messages, and completeness of each row."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from robosim.errors import ExecutionError
from robosim.execution.checks import REAL_ARM, Requirements
from robosim.execution.messages import ArmStatus, SafetyMode
from robosim.ros import names
from robosim.ros.drivers import DRIVERS, GENERIC, UR, find_driver
from robosim.ros.streamer import PARAMETERS

STATUS = set(ArmStatus.__dataclass_fields__)


def read(driver, topic, **fields):
    (row,) = (row for row in DRIVERS[driver].status if row.name == topic)
    return row.read(SimpleNamespace(**fields))


def test_names_are_those_of_the_rows():
    assert tuple(DRIVERS) == names.PROFILES


def test_the_generic_one_is_the_default_and_requires_nothing():
    parameters = {parameter.name: parameter for parameter in PARAMETERS}
    assert parameters["profile"].default == GENERIC.name == next(iter(DRIVERS))
    assert parameters["profile"].choices == tuple(DRIVERS)
    assert (GENERIC.require, GENERIC.status, GENERIC.joints) == ((), (), ())


def test_ur_is_as_it_was():
    """Everything that a real UR arm reports, its controllers in their order, and no discovery."""
    assert Requirements(**dict.fromkeys(UR.require, True)) == REAL_ARM
    assert UR.action == (names.SCALED_CONTROLLER, names.JOINT_TRAJECTORY_CONTROLLER)
    assert UR.passthrough == (names.PASSTHROUGH_CONTROLLER,)
    assert UR.forward_position == (names.FORWARD_POSITION_CONTROLLER,)
    assert UR.joints == names.UR_JOINTS
    assert not UR.discover
    assert [(row.name, row.latched, row.valid) for row in UR.status] == [
        (names.SPEED_SCALING, False, math.inf),
        (names.PROGRAM_RUNNING, True, math.inf),
        (names.SAFETY_MODE, True, math.inf),
    ]


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=list(DRIVERS))
def test_rows_are_complete(driver):
    """Requirements can be reported by the controller manager or by a topic; names are relative."""
    assert len(driver.summary) > 10
    assert set(driver.require) <= driver.reported
    assert driver.action
    assert len(set(driver.action)) == len(driver.action)
    for row in driver.status:
        assert set(row.fields) <= STATUS
        assert row.message == f"{row.package}/{row.message.split('/')[1]}"
    for topic in (*(row.name for row in driver.status), *driver.seen_by, *driver.action):
        assert not topic.startswith("/")
    others = {topic for other in DRIVERS.values() if other is not driver for topic in other.seen_by}
    assert not others & set(driver.seen_by)


@pytest.mark.parametrize(
    ("percent", "scaling"),
    [(30.0, 0.3), (150.0, 1.0), (-5.0, 0.0), (math.nan, 0.0), (math.inf, 0.0)],
)
def test_speed_scaling_of_ur(percent, scaling):
    assert read("ur", names.SPEED_SCALING, data=percent) == {"speed_scaling": scaling}


def test_safety_mode_of_ur():
    told = {
        number: read("ur", names.SAFETY_MODE, mode=number)["safety_mode"] for number in range(1, 14)
    }
    assert [told[mode] for mode in SafetyMode] == list(SafetyMode)
    assert (told[10], told[12], told[13]) == (
        SafetyMode.FAULT,
        SafetyMode.SAFEGUARD_STOP,
        SafetyMode.SAFEGUARD_STOP,
    )
    assert told[11] is None


@pytest.mark.parametrize(
    ("mode", "safety", "follows"),
    [
        (0, None, None),
        (1, SafetyMode.NORMAL, True),
        (2, SafetyMode.NORMAL, True),
        (3, SafetyMode.NORMAL, False),  # hand guiding
        (4, SafetyMode.PROTECTIVE_STOP, False),
        (5, SafetyMode.SAFEGUARD_STOP, False),
        (6, SafetyMode.RECOVERY, False),
        (7, None, None),
    ],
)
def test_franka(mode, safety, follows):
    told = read("franka", "franka_robot_state_broadcaster/robot_state", robot_mode=mode)
    assert told == {"safety_mode": safety, "program_running": follows}


@pytest.mark.parametrize(
    ("state", "mode", "err", "safety", "follows"),
    [
        (1, 1, 0, SafetyMode.NORMAL, True),
        (2, 1, 0, SafetyMode.NORMAL, True),
        (3, 1, 0, SafetyMode.NORMAL, False),  # paused: the arm would jump when it continues
        (4, 1, 0, SafetyMode.NORMAL, False),
        (5, 1, 0, SafetyMode.NORMAL, False),
        (2, 2, 0, SafetyMode.NORMAL, False),  # hand guiding
        (4, 1, 24, SafetyMode.FAULT, False),
    ],
)
def test_xarm(state, mode, err, safety, follows):
    told = read("xarm", "xarm/robot_states", state=state, mode=mode, err=err)
    assert told == {"safety_mode": safety, "program_running": follows}


def test_an_unknown_profile_is_named_with_the_known_ones():
    with pytest.raises(ExecutionError) as error:
        find_driver("kuka", "--ros2-profile")
    assert str(error.value) == f"--ros2-profile is 'kuka'; it must be one of {', '.join(DRIVERS)}"
