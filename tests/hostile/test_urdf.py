"""Malformed and hostile URDF files.

Strict reading refuses each file with the error's class, file, line and the name at fault.
Otherwise, parts with a meaning are read, and the others are reported. In each case the mark (!) is
at the line at fault. It is removed before the file is written.
"""

from __future__ import annotations

import re

import pytest

from robosim.errors import FileError, MeshError, RobosimError, UrdfError
from robosim.urdf import load_robot

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'


def robot(*lines: str) -> str:
    return "\n".join(["<robot name='r'>", *lines, "</robot>", ""])


def two(joint: str = "", *, link: str = "", kind: str = "revolute", name: str = "j") -> str:
    """A base, one link, and a joint between them."""
    return robot(
        "<link name='a'/>",
        f"<link name='b'>{INERTIAL if not link else ''}",
        link,
        "</link>",
        f"<joint name='{name}' type='{kind}'>",
        "<parent link='a'/><child link='b'/>",
        joint or LIMIT,
        "</joint>",
    )


def collision(geometry: str) -> str:
    return robot(
        "<link name='a'>", "<collision><geometry>", geometry, "</geometry></collision></link>"
    )


def inertial(mass: str = "1", tensor: str = 'ixx="1" iyy="1" izz="1"') -> str:
    return f'(!)<inertial><mass value="{mass}"/><inertia {tensor}/></inertial>'


# name: (content, pattern). If the error's line is known, (!) marks it.
CASES: dict[str, tuple[str, str]] = {
    # XML
    "empty": ("(!)", "empty"),
    "blank": ("(!)  \n\n ", "empty"),
    "not xml": ("(!)hello, this is no robot", "not well-formed|XML"),
    "truncated": ("<robot name='r'>\n<link name='a'>\n(!)<visual><geom", "not well-formed"),
    "two documents": (robot("<link name='a'/>") + "(!)" + robot("<link name='b'/>"),
        "not well-formed"),
    "wrong root": ("(!)<sdf version='1.6'><model/></sdf>", "begins with <sdf>"),
    "entity bomb": (
        '(!)<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa">'
        + "".join(f'<!ENTITY {chr(98 + i)} "{("&" + chr(97 + i) + ";") * 10}">' for i in range(10))
        + "]>\n<robot name='&k;'><link name='a'/></robot>",
        "DOCTYPE|entit|Entity|not well-formed",
    ),
    "external entity": (
        "(!)<!DOCTYPE robot [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>\n"
        "<robot name='r'><link name='a'/></robot>",
        "DOCTYPE",
    ),
    "external dtd": ("(!)<!DOCTYPE robot SYSTEM 'http://127.0.0.1:9/x.dtd'>\n"
        "<robot name='r'><link name='a'/></robot>", "DOCTYPE"),
    "parameter entity": ("(!)<!DOCTYPE robot [<!ENTITY % p SYSTEM 'file:///dev/zero'> %p;]>\n"
        "<robot name='r'/>", "DOCTYPE|not well"),
    "undefined entity": ("<robot name='r'>\n(!)<link name='&nope;'/></robot>",
        "Entity|entity|not well-formed"),
    "null bytes": (robot("<link name='a'/>") + "(!)\x00\x00", "null bytes"),
    "deep nesting": ("(!)" + "<robot>" * 5000 + "</robot>" * 5000, "nested|depth|Excessive"),
    "deep within": (robot("<link name='a'>", "(!)" + "<visual>" * 120 + "</visual>" * 120,
        "</link>"), "nested|depth"),
    "duplicate attribute": (robot("(!)<link name='a' name='b'/>"), "not well-formed"),
    "unbound prefix": (robot("<link name='a'/>", "(!)<drake:joint/>"), "not well-formed"),
    "unexpanded xacro": ("<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'>\n"
        "(!)<xacro:include filename='x'/></robot>", "xacro"),
    "stray text": (robot("(!)<link name='a'>", "hello", "</link>"), "stray text 'hello'"),
    # structure
    "no link": ("(!)<robot name='r'></robot>", "lacks <link>"),
    "misspelled origin": (robot("<link name='a'>", "<visual>", "(!)<orign xyz='0 0 1'/>",
        "<geometry><box size='1 1 1'/></geometry></visual></link>"),
        "unknown element <orign>; did you mean 'origin'"),
    "misspelled attribute": (robot("<link name='a'><visual>", "(!)<origin xzy='0 0 1'/>",
        "<geometry><box size='1 1 1'/></geometry></visual></link>"),
        "unknown attribute 'xzy' of <origin>; did you mean 'xyz'"),
    "misspelled joint": (robot("<link name='a'/>", "(!)<jiont name='j'/>"),
        "unknown element <jiont>; did you mean 'joint'"),
    "loop joint": (robot("<link name='a'/>", "(!)<loop_joint name='j'/>"),
        "unknown element <loop_joint>"),
    "two inertials": (robot("<link name='a'>", INERTIAL, "(!)" + INERTIAL, "</link>"),
        "more than 1 <inertial>"),
    "no geometry": (robot("<link name='a'>", "(!)<collision/>", "</link>"), "lacks <geometry>"),
    "empty geometry": (robot("<link name='a'><visual>", "(!)<geometry/>", "</visual></link>"),
        "just one of <box>"),
    "two geometries": (robot("<link name='a'><visual>",
        "(!)<geometry><box size='1 1 1'/><sphere radius='1'/></geometry>", "</visual></link>"),
        "just one of"),
    "unnamed link": (robot("(!)<link/>"), "lacks attribute 'name'"),
    "empty name": (robot("(!)<link name=''/>"), "attribute 'name' of <link> is empty"),
    "duplicate link": (robot("<link name='a'/>", "(!)<link name='a'/>"),
        "link 'a': the name is taken by the link in line 2"),
    "duplicate joint": (robot("<link name='a'/>", "<link name='b'/>", "<link name='c'/>",
        "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>",
        "(!)<joint name='j' type='fixed'><parent link='a'/><child link='c'/></joint>"),
        "joint 'j': the name is taken"),
    # numbers
    "nan": (robot("<link name='a'><visual>", "(!)<origin xyz='0 nan 0'/>",
        "<geometry><box size='1 1 1'/></geometry></visual></link>"),
        "xyz='0 nan 0' of <origin> must be 3 finite numbers"),
    "inf": (collision("(!)<sphere radius='inf'/>"),
        "radius='inf' of <sphere> must be one finite number"),
    "huge": (collision("(!)<sphere radius='1e300'/>"), "too large"),
    "overflow": (collision("(!)<sphere radius='1e999'/>"), "too large"),
    "too few": (collision("(!)<box size='1 1'/>"), "size='1 1' of <box> must be 3 finite numbers"),
    "too many": (collision("(!)<box size='1 1 1 1'/>"), "must be 3 finite numbers"),
    "words": (collision("(!)<cylinder radius='wide' length='1'/>"), "radius='wide'"),
    "decimal comma": (collision("(!)<sphere radius='0,5'/>"), "radius='0,5'"),
    "underscore": (collision("(!)<sphere radius='1_0'/>"), "radius='1_0'"),
    "a million digits": (collision(f"(!)<sphere radius='{'9' * 1_000_000}'/>"), "too large"),
    "negative radius": (collision("(!)<sphere radius='-1'/>"),
        "radius='-1' of <sphere> must be positive"),
    "zero box": (collision("(!)<box size='1 0 1'/>"), "must be positive"),
    "wrong color": (robot("<link name='a'/>", "<material name='m'>", "(!)<color rgba='1 1'/>",
        "</material>"), "rgba='1 1'"),
    # inertia
    "negative mass": (robot("<link name='a'>", inertial(mass="-1"), "</link>"),
        "link 'a'.*mass.*-1"),
    "nan mass": (robot("<link name='a'>", inertial(mass="nan"), "</link>"),
        "value='nan' of <mass>"),
    "negative inertia": (robot("<link name='a'>", inertial(tensor='ixx="-1" iyy="1" izz="1"'),
        "</link>"), "link 'a'.*negative"),
    "indefinite inertia": (robot("<link name='a'>",
        inertial(tensor='ixx="1" iyy="1" izz="1" ixy="5"'), "</link>"), "link 'a'.*negative"),
    "triangle inequality": (robot("<link name='a'>", inertial(tensor='ixx="1" iyy="1" izz="3"'),
        "</link>"), "link 'a'.*exceeds the sum of the other two"),
    "inertia lacks izz": (robot("<link name='a'>", inertial(tensor='ixx="1" iyy="1"'), "</link>"),
        "lacks attribute 'izz'"),
    "no inertia": (two().replace(INERTIAL, "").replace("<link name='b'>", "(!)<link name='b'>"),
        "link 'b': moves, but has no mass"),
    "zero mass": (
        two(link='<inertial><mass value="0"/><inertia ixx="0" iyy="0" izz="0"/></inertial>')
        .replace("<link name='b'>", "(!)<link name='b'>"), "link 'b': moves, but has no mass"),
    # tree
    "two roots": (robot("(!)<link name='a'/>", "<link name='b'/>"), "2 root links"),
    "self parent": (robot("<link name='a'/>",
        "(!)<joint name='j' type='fixed'><parent link='a'/><child link='a'/></joint>"),
        "joint 'j'.*both its parent and its child"),
    "cycle": ("(!)" + robot("<link name='a'/>", "<link name='b'/>",
        "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>",
        "<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint>"), "cycle"),
    "cycle beside a root": (robot("<link name='r'/>", "(!)<link name='a'/>", "<link name='b'/>",
        "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>",
        "<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint>"), "cycle"),
    "two parents": (robot("<link name='a'/>", "<link name='b'/>", "(!)<link name='c'/>",
        "<joint name='j' type='fixed'><parent link='a'/><child link='c'/></joint>",
        "<joint name='k' type='fixed'><parent link='b'/><child link='c'/></joint>"),
        "'c' hangs from two joints"),
    "unknown parent": (robot("<link name='a'/>",
        "(!)<joint name='j' type='fixed'><parent link='nope'/><child link='a'/></joint>"),
        "joint 'j': its parent link 'nope' does not exist"),
    "unknown child": (robot("<link name='a'/>",
        "(!)<joint name='j' type='fixed'><parent link='a'/><child link='nope'/></joint>"),
        "joint 'j': its child link 'nope' does not exist"),
    # joints
    "unknown type": (two(kind="spherical").replace("<joint", "(!)<joint"),
        "joint 'j': unknown joint type 'spherical'; known are revolute"),
    "no parent": (robot("<link name='a'/>",
        "(!)<joint name='j' type='fixed'><child link='a'/></joint>"), "joint 'j': lacks <parent>"),
    "zero axis": (two("(!)<axis xyz='0 0 0'/>" + LIMIT), "joint 'j': axis '0 0 0' is zero"),
    "no limit": (two("<axis xyz='0 0 1'/>").replace("<joint", "(!)<joint"),
        "joint 'j': a revolute joint needs a <limit>"),
    "limits reversed": (two("(!)<limit lower='1' upper='-1' effort='1' velocity='1'/>"),
        "lower limit 1 must not be above upper limit -1"),
    "soft limits cross": (two("<safety_controller soft_lower_limit='0.5' soft_upper_limit='-0.5'"
        " k_velocity='1'/>" + LIMIT).replace("<joint", "(!)<joint"), "joint 'j'"),
    "negative velocity": (two("(!)<limit lower='-1' upper='1' effort='1' velocity='-2'/>"),
        "velocity limit must not be negative, got -2"),
    "negative damping": (two("(!)<dynamics damping='-1'/>" + LIMIT),
        "damping must not be negative, got -1"),
    "mimics itself": (two("<mimic joint='j'/>" + LIMIT).replace("<joint", "(!)<joint"),
        "'j' mimics"),
    "mimics nothing": (two("<mimic joint='nope'/>" + LIMIT).replace("<joint", "(!)<joint"),
        "mimics 'nope', which is not a joint"),
    "mimic cycle": (robot("<link name='a'/>", f"<link name='b'>{INERTIAL}</link>",
        f"<link name='c'>{INERTIAL}</link>", "(!)<joint name='j' type='revolute'>",
        f"<parent link='a'/><child link='b'/>{LIMIT}<mimic joint='k'/></joint>",
        f"<joint name='k' type='revolute'><parent link='b'/><child link='c'/>{LIMIT}"
        "<mimic joint='j'/></joint>"), "mimics"),
    "nan multiplier": (two("(!)<mimic joint='j' multiplier='nan'/>" + LIMIT), "multiplier='nan'"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_refused(name, tmp_path, refuses):
    marked, pattern = CASES[name]
    line = marked[: marked.index("(!)")].count("\n") + 1
    path = tmp_path / "bad.urdf"
    path.write_text(marked.replace("(!)", ""))
    refuses(
        lambda: load_robot(path, strict=True), UrdfError, place=f"{path}:{line}: ", pattern=pattern
    )
    _read_or_refused(lambda: load_robot(path), str(path))


def _read_or_refused(load, place):
    """Assert that non-strict reading reports what it skips, or refuses it with its place."""
    try:
        model = load()
        said = [*model.warnings, *model.ignored]
    except RobosimError as e:
        said = [str(e)]
    assert any(f"{place}:" in text for text in said)


BYTES = {
    "binary junk": (bytes(range(256)) * 16, r":\d+: "),
    "elf": (b"\x7fELF\x02\x01\x01" + bytes(400), r":\d+: "),
    "utf-16 without a mark": ("<robot name='r'/>".encode("utf-16-le"), "null bytes"),
    "latin-1 said to be utf-8": ("<robot name='r\xe4'>\n<link name='a'/></robot>".encode("latin-1"),
        ":1: is not utf-8"),
    "unknown encoding": (b"<?xml version='1.0' encoding='klingon'?><robot name='r'/>",
        ":1: declares the unknown encoding 'klingon'"),
}  # fmt: skip


@pytest.mark.parametrize("name", BYTES)
def test_refused_bytes(name, tmp_path, refuses):
    data, pattern = BYTES[name]
    path = tmp_path / "bad.urdf"
    path.write_bytes(data)
    refuses(lambda: load_robot(path, strict=True), UrdfError, place=f"{path}:", pattern=pattern)
    _read_or_refused(lambda: load_robot(path), str(path))


REFERENCES = {
    "missing": ("nope.stl", "no such file"),
    "package": ("package://nowhere/nope.stl", "package 'nowhere' is not found.*package_dirs"),
    "no package": ("package://", "must be package://NAME/PATH"),
    "web": ("http://127.0.0.1:9/x.stl", "scheme 'http' is not supported"),
    "format": ("model.fbx", "format is not supported; use one of .stl"),
    "folder": ("..", "no such file"),
    "device": ("/dev/zero", "no such file"),
    "long": ("x" * 5000 + ".stl", "no such file"),
    "escape": ("package://../../etc/passwd", "not found"),
}


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("use", ["visual", "collision"])
def test_refused_mesh_reference(name, use, tmp_path, refuses):
    filename, pattern = REFERENCES[name]
    path = tmp_path / "bad.urdf"
    (tmp_path / "model.fbx").write_bytes(b"fbx")
    path.write_text(
        robot(
            f"<link name='a'><{use}><geometry>",
            f"<mesh filename='{filename}'/>",
            f"</geometry></{use}></link>",
        )
    )
    place = f"{path}:3: link 'a': mesh "
    refuses(lambda: load_robot(path, strict=True), MeshError, place=place, pattern=pattern)
    if use == "collision":
        refuses(
            lambda: load_robot(path),
            MeshError,
            place=place,
            pattern=f"{pattern}.*missing_meshes='skip'",
        )
    model = load_robot(path, missing_meshes="skip")
    [warning] = model.warnings
    assert warning.startswith(place)
    assert re.search(pattern, warning)
    assert model.visuals == {}
    assert model.colliders == ()


def test_broken_mesh_is_named_with_the_line_that_refers_to_it(tmp_path, refuses):
    path = tmp_path / "bad.urdf"
    path.write_text(
        robot(
            "<link name='a'><collision><geometry>",
            "<mesh filename='m.stl'/>",
            "</geometry></collision></link>",
        )
    )
    (tmp_path / "m.stl").write_bytes(bytes(84) + b"junk")
    refuses(
        lambda: load_robot(path),
        MeshError,
        place=f"{path}:3: link 'a': mesh 'm.stl'",
        pattern=r"m\.stl: binary STL",
    )


def test_zero_scale(tmp_path, refuses):
    path = tmp_path / "bad.urdf"
    path.write_text(
        robot(
            "<link name='a'><visual><geometry>",
            "<mesh filename='m.stl' scale='1 0 1'/>",
            "</geometry></visual></link>",
        )
    )
    refuses(
        lambda: load_robot(path, strict=True),
        UrdfError,
        place=f"{path}:3: link 'a': ",
        pattern="scale='1 0 1' of <mesh> has a zero",
    )
    _read_or_refused(lambda: load_robot(path), str(path))


def test_strings_are_named_as_such(refuses):
    refuses(
        lambda: load_robot("<robot name='r'>\n<lnk name='a'/></robot>", strict=True),
        UrdfError,
        place="<string>:2: ",
        pattern="<lnk>",
    )


@pytest.mark.parametrize(
    "source", ["no_such_robot", "nope.urdf", "/nonexistent/x.urdf", "\0.urdf", "x" * 5000 + ".urdf"]
)
def test_missing_sources(source, refuses):
    refuses(
        lambda: load_robot(source),
        FileError,
        place="",
        pattern="no bundled robot|no such file|cannot be read",
    )


def test_sources_of_other_kinds(refuses, tmp_path):
    refuses(lambda: load_robot(3), UrdfError, place="", pattern="not int")
    refuses(
        lambda: load_robot(tmp_path), FileError, place=str(tmp_path), pattern="it holds no file"
    )


def test_pipe_does_not_block(tmp_path, refuses):
    import os

    path = tmp_path / "pipe.urdf"
    os.mkfifo(path)
    refuses(lambda: load_robot(path), FileError, place=str(path), pattern="not a regular file")


def test_wide_robot_is_linear(tmp_path):
    """20,000 links in a row, with a misspelling at the end: found in time."""
    lines = [f"<link name='l{i}'/>" for i in range(20_000)]
    path = tmp_path / "wide.urdf"
    path.write_text(robot(*lines, "<lnk/>"))
    with pytest.raises(UrdfError, match=r":20002: .*<lnk>"):
        load_robot(path, strict=True)
