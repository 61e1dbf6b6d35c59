"""Every supported element of URDF ends up in the model, with the specification's defaults."""

from __future__ import annotations

import numpy as np
import pytest

import robosim
from robosim.errors import UrdfError
from robosim.geometry import pose
from robosim.urdf import load_robot

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


def robot(joint: str, kind: str = "revolute", link: str = INERTIAL, extra: str = "") -> str:
    return f"""<robot name="r"><link name="a"/><link name="b">{link}</link>
    <joint name="j" type="{kind}"><parent link="a"/><child link="b"/>{joint}
    </joint>{extra}</robot>"""


LIMIT = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'


def load(text: str, **options):
    return load_robot(text, filter_self_collisions=False, **options)


def test_the_package_s_front_door():
    assert robosim.load_robot is load_robot


@pytest.mark.parametrize(
    ("kind", "n_q", "n_v"),
    [
        ("revolute", 1, 1),
        ("continuous", 1, 1),
        ("prismatic", 1, 1),
        ("fixed", 0, 0),
        ("planar", 3, 3),
        ("floating", 7, 6),
    ],
)
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_joint_types(kind, n_q, n_v, base):
    # A floating base must have mass.
    model = load(
        robot(LIMIT, kind).replace('<link name="a"/>', f'<link name="a">{INERTIAL}</link>'),
        base=base,
    )
    extra = base == "floating"
    assert (model.n_q, model.n_v) == (n_q + 7 * extra, n_v + 6 * extra)
    assert model.floating_base == extra
    assert {j.name: j.kind for j in model.joints}["j"] == kind


@pytest.mark.parametrize("seed", range(5))
def test_pose_axis_and_position(seed):
    """X_WB = X_PJ R(axis, q) for every type with one coordinate.

    The axis is not of unit length.
    """
    rng = np.random.default_rng(seed)
    xyz, rpy, axis, q = rng.normal(size=3), rng.uniform(-3, 3, 3), rng.normal(size=3) * 3, 0.7
    text = f"""<origin xyz="{xyz[0]} {xyz[1]} {xyz[2]}" rpy="{rpy[0]} {rpy[1]} {rpy[2]}"/>
    <axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>"""
    X_PJ, u = pose(xyz, rpy=rpy), axis / np.linalg.norm(axis)
    K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    turn, slide = np.eye(4), np.eye(4)
    turn[:3, :3] += np.sin(q) * K + (1 - np.cos(q)) * K @ K  # Rodrigues
    slide[:3, 3] = q * u
    for kind, X in (("revolute", turn), ("continuous", turn), ("prismatic", slide)):
        got = load(robot(text + LIMIT, kind)).frame_pose([q], "b")
        np.testing.assert_allclose(got, X_PJ @ X, atol=1e-14)


def test_default_axis_is_x():
    np.testing.assert_allclose(
        load(robot(LIMIT, "prismatic")).frame_pose([0.5], "b")[:3, 3], [0.5, 0, 0]
    )


def test_limits_dynamics_and_missing_attributes():
    model = load(robot(LIMIT + '<dynamics damping="0.3" friction="0.2"/>'))
    limits = model.limits
    assert (limits.lower[0], limits.upper[0], limits.effort[0], limits.velocity[0]) == (-1, 2, 3, 4)
    assert (model.joints[0].damping, model.joints[0].friction) == (0.3, 0.2)
    # The former name of <dynamics>.
    assert load(robot(LIMIT + '<joint_properties damping="0.3"/>')).joints[0].damping == 0.3
    free = load(robot("", "continuous")).limits
    assert np.all(np.isinf([free.lower[0], free.upper[0], free.velocity[0], free.effort[0]]))
    # URDF's defaults: lower and upper are 0.
    locked = load(robot('<limit effort="1" velocity="1"/>'))
    assert (locked.limits.lower[0], locked.limits.upper[0]) == (0, 0)
    assert "locked" in locked.warnings[0]
    assert load(robot('<limit upper="2" effort="1" velocity="1"/>')).limits.lower[0] == 0


def test_zero_rates_mean_none_and_leave_a_warning():
    model = load(robot('<limit lower="-1" upper="1" effort="0" velocity="0"/>'))
    assert np.all(np.isinf([model.limits.effort[0], model.limits.velocity[0]]))
    assert len(model.warnings) == 2
    assert all("<string>:2: joint 'j': " in w for w in model.warnings)


@pytest.mark.parametrize(
    ("soft", "expected"),
    [
        ('soft_lower_limit="-0.5" soft_upper_limit="1.5"', (-0.5, 1.5)),
        ('soft_lower_limit="-9" soft_upper_limit="9"', (-1, 2)),
        ('soft_upper_limit="1"', (-1, 1)),
        ("", (-1, 2)),
    ],
)
def test_soft_limits_narrow(soft, expected):
    limits = load(robot(LIMIT + f'<safety_controller k_velocity="10" {soft}/>')).limits
    assert (limits.lower[0], limits.upper[0]) == expected


def test_acceleration_attribute():
    model = load(robot('<limit lower="-1" upper="1" effort="1" velocity="1" acceleration="7"/>'))
    assert model.limits.acceleration[0] == 7


def test_mimic_and_its_defaults():
    text = f"""<robot name="r"><link name="a"/><link name="b">{INERTIAL}</link>
    <link name="c">{INERTIAL}</link><link name="d">{INERTIAL}</link>
    <joint name="j" type="revolute"><parent link="a"/><child link="b"/>{LIMIT}</joint>
    <joint name="k" type="prismatic"><parent link="a"/><child link="c"/>
    <limit lower="-9" upper="9" effort="1" velocity="9"/>
    <mimic joint="j" multiplier="-2" offset="0.1"/></joint>
    <joint name="l" type="continuous"><parent link="a"/><child link="d"/>
    <mimic joint="k"/></joint></robot>"""
    model = load(text)
    assert model.joint_names == ("j",)
    np.testing.assert_allclose(model.frame_pose([0.3], "c")[:3, 3], [-2 * 0.3 + 0.1, 0, 0])
    angle = -2 * 0.3 + 0.1
    np.testing.assert_allclose(model.frame_pose([0.3], "d")[1:3, 1], [np.cos(angle), np.sin(angle)])


def test_inertial_is_turned_into_the_link():
    """An inertia given in a rotated frame, about the center of mass."""
    rpy = (0.3, -0.4, 0.5)
    text = """<inertial><origin xyz="1 2 3" rpy="0.3 -0.4 0.5"/><mass value="2"/>
    <inertia ixx="1" iyy="2" izz="2.5" ixy="0.1"/></inertial>"""
    link = next(k for k in load(robot(LIMIT, link=text)).links if k.name == "b")
    R = pose(rpy=rpy)[:3, :3]
    np.testing.assert_allclose(link.com, [1, 2, 3])
    np.testing.assert_allclose(
        link.inertia, R @ [[1, 0.1, 0], [0.1, 2, 0], [0, 0, 2.5]] @ R.T, atol=1e-15
    )


def test_colliders_and_visuals_of_every_kind():
    link = """<collision name="named"><origin xyz="1 0 0" rpy="0 0 1"/>
    <geometry><box size="1 2 3"/></geometry></collision>
    <collision><geometry><sphere radius="0.5"/></geometry></collision>
    <collision><geometry><cylinder radius="0.5" length="2"/></geometry></collision>
    <collision><geometry><capsule radius="0.25" length="1"/></geometry></collision>
    <visual name="look"><geometry><capsule radius="0.1" length="1"/></geometry>
    <material name="red"/></visual>
    <visual><geometry><box size="1 1 1"/></geometry>
    <material name="own"><color rgba="0 0 1 0.5"/></material></visual>"""
    model = load(
        robot(
            LIMIT,
            link=INERTIAL + link,
            extra='<material name="red"><color rgba="1 0 0 1"/></material>',
        )
    )
    kinds = [(c.name, str(c.shape.type)) for c in model.colliders]
    assert [k for _, k in kinds] == ["box", "sphere", "cylinder", "capsule"]
    assert kinds[0][0] == "b/named"
    assert len({name for name, _ in kinds}) == 4
    np.testing.assert_allclose(model.colliders[0].X_LC, pose((1, 0, 0), rpy=(0, 0, 1)), atol=1e-15)
    np.testing.assert_allclose(model.colliders[0].shape.size, [1, 2, 3])
    assert (model.colliders[2].shape.radius, model.colliders[2].shape.length) == (0.5, 2)
    assert (model.colliders[3].shape.radius, model.colliders[3].shape.length) == (0.25, 1)
    look, own = model.visuals["b"]
    assert (look.name, look.rgba, own.rgba) == ("look", (1, 0, 0, 1), (0, 0, 1, 0.5))
    assert not load(robot(LIMIT, link=INERTIAL + link), visuals=False).visuals


def test_names_given_twice_stay_unique():
    shapes = '<collision name="c"><geometry><sphere radius="1"/></geometry></collision>' * 3
    names = [c.name for c in load(robot(LIMIT, link=INERTIAL + shapes)).colliders]
    assert len(set(names)) == 3


def test_foreign_tags_are_kept_and_listed():
    extra = (
        '<gazebo reference="b"/><gazebo/><transmission name="t"/><ros2_control name="x" type="y"/>'
    )
    model = load(robot(LIMIT + "<calibration rising='0'/>", extra=extra))
    assert any("<gazebo> in <robot> (2x" in text for text in model.ignored)
    assert {"transmission", "ros2_control", "calibration"} <= {
        w for t in model.ignored for w in ("transmission", "ros2_control", "calibration") if w in t
    }
    assert model.warnings == ()


def test_welded_links_are_one_body_and_stay_addressable():
    text = f"""<robot name="r"><link name="a"/><link name="b">{INERTIAL}</link>
    <link name="tool"><inertial><origin xyz="1 0 0"/><mass value="3"/>
    <inertia ixx="1" iyy="1" izz="1"/></inertial></link>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
    <joint name="w" type="fixed"><parent link="b"/><child link="tool"/>
    <origin xyz="0 0 0.5"/></joint></robot>"""
    model = load(text)
    assert model.n_v == 1
    np.testing.assert_allclose(model.frame_pose([0.0], "tool")[:3, 3], [0, 0, 0.5])
    assert model.total_mass == 4
    # About x through j: both moments, and the tool's mass at the distance (y, z) = (0, 0.5).
    assert model.mass_matrix([0.0])[0, 0] == pytest.approx(1 + 1 + 3 * 0.25)


def test_a_robot_without_a_name_takes_the_file_s(tmp_path):
    path = tmp_path / "arm.v2.urdf"
    path.write_text(robot(LIMIT).replace(' name="r"', "", 1))
    model = load_robot(path)
    assert model.name == "arm"
    assert any("has no name" in w for w in model.warnings)


def test_wrong_xml_declarations_are_passed_over():
    for declaration in (
        '<?xml version="0.0" ?>',
        '\n\n<?xml version="1.0"?>',
        "<!-- x -->\n<?xml version='1.0' encoding='UTF-8'?>",
    ):
        model = load(declaration + robot(LIMIT))
        assert "XML declaration" in model.warnings[0]


def test_encodings(tmp_path):
    text = "<?xml version='1.0' encoding='{}'?>" + robot(LIMIT).replace(
        'name="b"', 'name="bräu"'
    ).replace('link="b"', 'link="bräu"')
    for encoding in ("utf-8", "latin-1", "utf-16"):
        path = tmp_path / f"{encoding}.urdf"
        path.write_bytes(text.format(encoding).encode(encoding))
        assert "bräu" in load_robot(path).link_names


def test_bad_options():
    with pytest.raises(
        UrdfError, match="base must be 'fixed', 'floating' or 'described', got 'free'"
    ):
        load(robot(LIMIT), base="free")
    with pytest.raises(UrdfError, match="convex='sphere'"):
        load(robot(LIMIT), convex="sphere")
    with pytest.raises(UrdfError, match="convex names link 'nope'"):
        load(robot(LIMIT), convex={"nope": "hull"})
    with pytest.raises(UrdfError, match="density"):
        load(robot(LIMIT), density=-1)


def test_bundled_robots_load():
    from robosim.urdf import bundled_robots

    assert "ur5" in bundled_robots()
    for name in bundled_robots():
        model = load_robot(name)
        assert model.warnings == ()
        assert model.colliders
