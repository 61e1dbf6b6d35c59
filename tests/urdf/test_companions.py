"""SRDF and joint_limits.yaml: their data ends up in the model."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from robosim.errors import JointLimitsError, UrdfError
from robosim.urdf import load_robot

LINKS = ["base", "upper", "lower", "wrist", "hand", "finger_l", "finger_r", "tool"]
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
BALL = '<collision><geometry><sphere radius="0.01"/></geometry></collision>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def joint(name, parent, child, kind="revolute", extra=""):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="0 0 0.3"/>{LIMIT}{extra}</joint>'
    )


# Declared out of order: the order in groups must be the tree's, not the file's.
URDF = (
    '<robot name="arm">'
    + "".join(f'<link name="{n}">{INERTIAL}{BALL}</link>' for n in LINKS)
    + joint("j3", "lower", "wrist")
    + joint("j1", "base", "upper")
    + joint("j2", "upper", "lower")
    + joint("mount", "wrist", "hand", "fixed")
    + joint("grip_l", "hand", "finger_l", "prismatic")
    + joint("grip_r", "hand", "finger_r", "prismatic", '<mimic joint="grip_l" multiplier="-1"/>')
    + joint("tip", "hand", "tool", "fixed")
    + "</robot>"
)
SRDF = """<robot name="arm">
<virtual_joint name="world_joint" type="floating" parent_frame="world" child_link="base"/>
<group name="arm"><chain base_link="base" tip_link="hand"/></group>
<group name="listed"><joint name="j3"/><joint name="j1"/><joint name="mount"/></group>
<group name="by_links"><link name="lower"/><link name="wrist"/></group>
<group name="hand"><joint name="grip_l"/><joint name="grip_r"/></group>
<group name="all"><group name="arm"/><group name="hand"/><joint name="world_joint"/></group>
<group_state name="home" group="all"><joint name="j2" value="0.5"/>
<joint name="grip_r" value="0"/><joint name="mount" value="0"/>
<joint name="world_joint" value="0 0 1 0 0 0 1"/></group_state>
<end_effector name="gripper" parent_link="hand" group="hand" parent_group="arm"/>
<disable_collisions link1="upper" link2="base" reason="Adjacent"/>
<disable_collisions link1="gone" link2="base" reason="Never"/>
<gripper name="x"/>
</robot>"""


def test_groups_states_tools_and_pairs():
    model = load_robot(URDF, srdf=SRDF)
    groups = model.groups
    assert (groups["arm"].joints, groups["arm"].tip) == (("j1", "j2", "j3"), "hand")
    assert groups["listed"].joints == ("j1", "j3")
    assert groups["by_links"].joints == ("j2", "j3")
    assert groups["hand"].joints == ("grip_l",)
    assert groups["all"].joints == ("j1", "j2", "j3", "grip_l")
    (state,) = model.named_states
    assert (state.group, state.name, dict(state.positions)) == ("all", "home", {"j2": 0.5})
    tool = model.end_effectors["gripper"]
    assert (tool.link, tool.group) == ("hand", "hand")
    assert [(d.link_a, d.link_b, d.reason) for d in model.disabled_collisions] == [
        ("base", "upper", "Adjacent")
    ]
    # Unused parts of the SRDF are reported.
    assert any("'gone'" in w for w in model.warnings)
    assert any("<gripper>" in t for t in model.ignored)
    assert any("virtual joint 'world_joint' of type floating" in t for t in model.ignored)
    assert sum("in state 'home'" in t for t in model.ignored) == 2


@pytest.mark.parametrize(
    ("said", "floating"),
    [
        ('type="floating" parent_frame="world" child_link="base"', True),
        ('type="fixed" parent_frame="world" child_link="base"', False),
        ('type="planar" parent_frame="world" child_link="base"', False),
        ('type="floating" parent_frame="world" child_link="hand"', False),  # carried by the arm
    ],
)
def test_base_is_as_the_virtual_joint_describes(said, floating):
    srdf = SRDF.replace('type="floating" parent_frame="world" child_link="base"', said)
    model = load_robot(URDF, srdf=srdf, base="described")
    assert model.floating_base == floating
    honored = floating or 'type="fixed"' in said
    assert any("virtual joint" in text and "type" in text for text in model.ignored) != honored
    assert not load_robot(URDF, base="described").floating_base
    assert load_robot(URDF, srdf=srdf, base="floating").floating_base
    assert not load_robot(URDF, srdf=srdf, base="fixed").floating_base


def test_unknown_base_is_refused():
    with pytest.raises(
        UrdfError, match="base must be 'fixed', 'floating' or 'described', got 'free'"
    ):
        load_robot(URDF, base="free")


def test_only_listed_pairs_are_left_out():
    """All pairs of different bodies except the disabled one are checked.

    Adjacent pairs are checked, too, since the SRDF decides.
    """
    model = load_robot(URDF, srdf=SRDF)
    links = [c.link for c in model.colliders]
    checked = {frozenset((links[a], links[b])) for a, b in model.collision_pairs}
    body = dict(
        zip(
            LINKS,
            ["base", "upper", "lower", "wrist", "wrist", "finger_l", "finger_r", "wrist"],
            strict=True,
        )
    )
    expected = {frozenset(p) for p in itertools.combinations(LINKS, 2) if body[p[0]] != body[p[1]]}
    assert checked == expected - {frozenset(("base", "upper"))}


def test_default_and_enabled_pairs():
    text = """<robot name="arm"><disable_default_collisions link="base"/>
    <enable_collisions link1="base" link2="lower"/></robot>"""
    model = load_robot(URDF, srdf=text)
    links = [c.link for c in model.colliders]
    with_base = {
        links[a] if links[b] == "base" else links[b]
        for a, b in model.collision_pairs
        if "base" in (links[a], links[b])
    }
    assert with_base == {"lower"}


def test_passive_joints_leave_their_groups():
    text = """<robot name="arm"><passive_joint name="j2"/>
    <group name="g"><chain base_link="base" tip_link="hand"/></group></robot>"""
    assert load_robot(URDF, srdf=text).groups["g"].joints == ("j1", "j3")


def test_a_chain_may_go_up_and_down():
    text = """<robot name="arm"><group name="g">
    <chain base_link="finger_l" tip_link="lower"/></group></robot>"""
    assert load_robot(URDF, srdf=text).groups["g"].joints == ("j3", "grip_l")


def test_joint_limits(tmp_path):
    path = tmp_path / "limits.yaml"
    path.write_text(
        "default_velocity_scaling_factor: 0.1\njoint_limits:\n"
        "  j1: {has_velocity_limits: true, max_velocity: 2.5,"
        " has_acceleration_limits: true, max_acceleration: 1e1}\n"
        "  j2: {has_velocity_limits: false,"
        " has_position_limits: true, min_position: -0.25, max_position: 3}\n"
        "  j3: {max_acceleration: 4, has_jerk_limits: true, max_jerk: 100, max_effort: 9}\n"
    )
    model = load_robot(URDF, joint_limits=path)
    at = {n: i for i, n in enumerate(model.position_names)}
    limits = model.limits
    assert limits.velocity[at["j1"]] == 2.5
    assert limits.acceleration[at["j1"]] == 10
    assert np.isinf(limits.velocity[at["j2"]])
    assert (limits.lower[at["j2"]], limits.upper[at["j2"]]) == (-0.25, 3)
    assert limits.acceleration[at["j3"]] == 4
    assert limits.effort[at["j3"]] == 9
    assert limits.velocity[at["j3"]] == 1
    assert str(path) in limits.acceleration_source
    assert "default" in limits.acceleration_source, "the fingers' accelerations come from elsewhere"
    assert any("jerk limit of joint 'j3'" in t for t in model.ignored)
    assert any("default_velocity_scaling_factor" in t for t in model.ignored)


def test_joint_limits_as_a_mapping():
    for limits in ({"j1": {"max_velocity": 3}}, {"joint_limits": {"j1": {"max_velocity": 3}}}):
        model = load_robot(URDF, joint_limits=limits)
        assert model.limits.velocity[model.position_names.index("j1")] == 3
    with pytest.raises(JointLimitsError, match="did you mean 'j1'"):
        load_robot(URDF, joint_limits={"jj1": {"max_velocity": 3}})
