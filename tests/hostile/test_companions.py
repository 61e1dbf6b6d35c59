"""Malformed and hostile companions of a URDF: SRDF, joint_limits.yaml and xacro."""

from __future__ import annotations

import pytest

from robosim.errors import JointLimitsError, SrdfError, UrdfError
from robosim.urdf import load_robot

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
ROBOT = f"""<robot name="r"><link name="a"/><link name="b">{INERTIAL}</link>
<link name="c">{INERTIAL}</link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="k" type="continuous"><parent link="b"/><child link="c"/></joint></robot>"""


def srdf(*lines: str) -> str:
    return "\n".join(["<robot name='r'>", *lines, "</robot>", ""])


SRDF = {
    "empty": ("(!)", "empty"),
    "truncated": ("<robot name='r'>\n(!)<group name='g'", "not well-formed"),
    "urdf instead": ("<robot name='r'>\n(!)<link name='a'/></robot>", "unknown element <link>"),
    "entity": ("(!)<!DOCTYPE robot [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>\n<robot name='&x;'/>",
        "DOCTYPE"),
    "deep": ("(!)" + "<robot>" * 300 + "</robot>" * 300, "nested|depth|Excessive"),
    "misspelled": (srdf("(!)<disable_colisions link1='a' link2='b'/>"),
        "did you mean 'disable_collisions'"),
    "misspelled attribute": (srdf("(!)<disable_collisions link1='a' link_2='b'/>"),
        "unknown attribute 'link_2' of <disable_collisions>; did you mean 'link2'"),
    "unnamed group": (srdf("(!)<group><joint name='j'/></group>"), "lacks attribute 'name'"),
    "unknown joint": (srdf("<group name='g'>", "(!)<joint name='nope'/>", "</group>"),
        "group 'g'|joint 'nope'"),
    "unknown link": (srdf("<group name='g'>", "(!)<link name='nope'/>", "</group>"),
        "no link 'nope'"),
    "unknown chain": (srdf("<group name='g'>", "(!)<chain base_link='a' tip_link='nope'/>",
        "</group>"), "no link 'nope'"),
    "unknown subgroup": (srdf("<group name='g'>", "(!)<group name='nope'/>", "</group>"),
        "no group 'nope'"),
    "duplicate group": (srdf("<group name='g'/>", "(!)<group name='g'/>"),
        "defined already in line 2"),
    "group of itself": (srdf("(!)<group name='g'><group name='g'/></group>"), "contains itself"),
    "groups in a circle": (srdf("(!)<group name='g'><group name='h'/></group>",
        "<group name='h'><group name='g'/></group>"), "contains itself"),
    "state of no group": (srdf("(!)<group_state name='s' group='nope'/>"), "no group 'nope'"),
    "state without value": (srdf("<group name='g'><joint name='j'/></group>",
        "<group_state name='s' group='g'>", "(!)<joint name='j'/>", "</group_state>"),
        "lacks its value"),
    "state nan": (srdf("<group name='g'><joint name='j'/></group>",
        "<group_state name='s' group='g'>", "(!)<joint name='j' value='nan'/>", "</group_state>"),
        "value='nan'"),
    "state words": (srdf("<group name='g'><joint name='j'/></group>",
        "<group_state name='s' group='g'>", "(!)<joint name='j' value='up'/>", "</group_state>"),
        "value='up'"),
    "state twice": (srdf("<group name='g'><joint name='j'/></group>",
        "<group_state name='s' group='g'/>", "(!)<group_state name='s' group='g'/>"),
        "exists already"),
    "state joint twice": (srdf("<group name='g'><joint name='j'/></group>",
        "<group_state name='s' group='g'><joint name='j' value='0'/>",
        "(!)<joint name='j' value='1'/>", "</group_state>"), "two values"),
    "tool of no group": (srdf("(!)<end_effector name='t' parent_link='c' group='nope'/>"),
        "no group 'nope'"),
    "tool on no link": (srdf("<group name='g'/>",
        "(!)<end_effector name='t' parent_link='nope' group='g'/>"), "no link 'nope'"),
    "virtual joint": (
        srdf("(!)<virtual_joint name='v' type='spherical' parent_frame='w' child_link='a'/>"),
        "type 'spherical'"),
    "passive": (srdf("(!)<passive_joint name='nope'/>"), "no joint 'nope'"),
}  # fmt: skip


@pytest.mark.parametrize("name", SRDF)
def test_srdf(name, tmp_path, refuses):
    marked, pattern = SRDF[name]
    line = marked[: marked.index("(!)")].count("\n") + 1
    path = tmp_path / "bad.srdf"
    path.write_text(marked.replace("(!)", ""))
    refuses(
        lambda: load_robot(ROBOT, srdf=path, strict=True),
        SrdfError,
        place=f"{path}:{line}: ",
        pattern=pattern,
    )
    try:  # read as far as it has a meaning, and the rest is reported
        model = load_robot(ROBOT, srdf=path)
        said = [*model.warnings, *model.ignored]
    except SrdfError as e:
        said = [str(e)]
    assert any(f"{path}:" in text for text in said)


LIMITS = {
    "empty": ("(!)", "empty"),
    "binary": ("(!)\x00\x01", "not YAML"),
    "not a mapping": ("(!)- 1\n- 2\n", "mapping"),
    "unknown key": ("joint_limits:\n  j: {}\n(!)limits: {}\n", "unknown key 'limits'"),
    "unknown joint": ("joint_limits:\n(!)  jj: {max_velocity: 1}\n",
        "no joint 'jj'.*did you mean 'j'"),
    "unknown entry": ("joint_limits:\n  j:\n(!)    max_velocty: 1\n",
        "did you mean 'max_velocity'"),
    "words": ("joint_limits:\n  j:\n(!)    max_velocity: fast\n", "max_velocity is 'fast'"),
    "nan": ("joint_limits:\n  j:\n(!)    max_velocity: .nan\n", "finite"),
    "inf": ("joint_limits:\n  j:\n(!)    max_acceleration: .inf\n", "finite"),
    "negative": ("joint_limits:\n  j:\n(!)    max_velocity: -1\n", "must be positive"),
    "zero": ("joint_limits:\n  j:\n(!)    max_acceleration: 0\n", "must be positive"),
    "reversed": ("joint_limits:\n  j:\n(!)    min_position: 1\n    max_position: -1\n",
        "above max_position"),
    "half": ("joint_limits:\n  j:\n(!)    has_position_limits: true\n    max_position: 1\n",
        "min_position and max_position"),
    "flag": ("joint_limits:\n  j:\n(!)    has_velocity_limits: 2\n    max_velocity: 1\n",
        "true or false"),
    "list": ("joint_limits:\n  j:\n(!)    max_velocity: [1, 2]\n", "a number"),
    "twice": ("joint_limits:\n  j: {max_velocity: 1}\n(!)  j: {max_velocity: 2}\n", "there twice"),
    "alias bomb": ("(!)a: &a [x, x, x, x, x, x, x, x, x]\n"
        "b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\n", "aliases"),
    "python object": ("(!)joint_limits: !!python/object/apply:os.system ['echo hello']\n",
        "tag 'tag:yaml.org,2002:python.* must be one of !degrees|tag .*must be one of"),
    "deep": ("(!)" + "[" * 20_000, "nested|YAML"),
    "tab": ("joint_limits:\n(!)\tj: 1\n", "not YAML"),
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_joint_limits(name, tmp_path, refuses):
    marked, pattern = LIMITS[name]
    line = marked[: marked.index("(!)")].count("\n") + 1
    path = tmp_path / "joint_limits.yaml"
    path.write_text(marked.replace("(!)", ""))
    refuses(
        lambda: load_robot(ROBOT, joint_limits=path),
        JointLimitsError,
        place=f"{path}:{line}: ",
        pattern=pattern,
    )


@pytest.mark.parametrize(
    "limits",
    [
        {"nope": {}},
        {"j": 3},
        {"j": {"max_velocity": "1"}},
        {"j": {"max_velocity": float("nan")}},
        {"joint_limits": 3},
    ],
)
def test_joint_limits_as_argument(limits, refuses):
    refuses(
        lambda: load_robot(ROBOT, joint_limits=limits),
        JointLimitsError,
        place="",
        pattern="joint|joint_limits",
    )


def xacro(*lines: str) -> str:
    return "\n".join(
        [
            "<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'>",
            *lines,
            "<link name='a'/>",
            "</robot>",
        ]
    )


XACRO = {
    "not xml": ("<robot>\n(!)<link", "not well-formed"),
    "undefined property": (xacro("<xacro:property name='p' value='1'/>", "(!)<link name='${q}'/>"),
        "'q'"),
    "undefined macro": (xacro("(!)<xacro:nope/>"), "nope"),
    "missing include": (xacro("(!)<xacro:include filename='nope.xacro'/>"), "nope.xacro"),
    "missing package": (xacro("(!)<xacro:include filename='$(find nowhere)/x.xacro'/>"),
        "package 'nowhere' is not found"),
    "missing argument": (xacro("(!)<link name='$(arg side)'/>"), "side"),
    "syntax": (xacro("(!)<link name='${1 +}'/>"), "invalid syntax"),
    "builtins": (xacro("(!)<link name='${open(\"/etc/passwd\")}'/>"), "open"),
    "import": (xacro("(!)<link name='${__import__(\"os\").getpid()}'/>"), "__import__"),
    "dunder": (xacro("(!)<link name='${().__class__.__base__}'/>"), "__class__"),
    "circular property": (xacro("(!)<xacro:property name='p' value='${q}'/>",
        "<xacro:property name='q' value='${p}'/>", "<link name='${p}'/>"), "circular"),
    "macro of itself": (xacro("<xacro:macro name='m'>", "(!)<xacro:m/>", "</xacro:macro>",
        "<xacro:m/>"), "without end|deep"),
    "includes itself": (xacro("(!)<xacro:include filename='bad.urdf.xacro'/>"),
        "itself|deep|recursion"),
    "gigantic number": (xacro("(!)<link name='${9**9**9}'/>"), "time or memory limit.*9\\*\\*9"),
    "macro bomb": (
        xacro(
            *(
                f"<xacro:macro name='m{i}'>{f'<xacro:m{i + 1}/>' * 10}</xacro:macro>"
                for i in range(12)
            ),
            "(!)<xacro:macro name='m12'><link name='l'/></xacro:macro>".replace("(!)", ""),
            "<xacro:m0/>",
        ).replace("<xacro:macro name='m0'>", "(!)<xacro:macro name='m0'>"),
        "macros are called more than",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", XACRO)
def test_xacro(name, tmp_path, refuses):
    marked, pattern = XACRO[name]
    path = tmp_path / "bad.urdf.xacro"
    path.write_text(marked.replace("(!)", ""))
    # xacro keeps no line numbers. The line is found by the content of the error, so only the file
    # is certain.
    refuses(
        lambda: load_robot(path),
        UrdfError,
        place=f"{path}:",
        pattern=r":\d+: xacro.*" + f"({pattern})",
    )
