"""Malformed and hostile scene files: each soon raises an error with the file and the fault."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from robosim.errors import RobosimError, SceneError
from robosim.scene import Scene, read_moveit_request, read_moveit_scene
from robosim.scene.yaml_nodes import parse_yaml

HEAD = "format: robosim-scene\nversion: 1\n"
BOX = "objects:\n  - name: a\n    box: {size: [1, 1, 1]}\n"
QUATERNION = "objects:\n  - name: a\n    pose: {quaternion: [%s]}\n    sphere: {radius: 1}\n"
BOMB = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)
)

# name: (text, line of the error or None, a part of the message)
OWN = {
    "empty": ("", None, "empty"),
    "binary junk": (bytes(range(256)) * 20, 2, "UTF-8"),
    "null bytes": (HEAD + "name: a\0b\n", None, "not valid YAML"),
    "a scalar": ("scene", 1, "expected a mapping"),
    "truncated": ((HEAD + BOX)[:-6], 6, "not valid YAML"),
    "truncated in a quote": (HEAD + 'name: "desk', 3, "not valid YAML"),
    "no format": ("version: 1\n", 1, "'format' is missing"),
    "another format": ("format: sdf\nversion: 1\n", 1, "robosim-scene"),
    "unknown version": ("format: robosim-scene\nversion: 2\n", 2, "version 2 is not known"),
    "version not a number": ("format: robosim-scene\nversion: one\n", 2, "expected a number"),
    "two documents": (HEAD + "---\n" + HEAD, 3, "more than one"),
    "unknown key": (HEAD + "obstacles: []\n", 3, "unknown key 'obstacles'"),
    "unknown key in an object": (HEAD + BOX + "    mass: 3\n", 6, "object 'a': unknown key 'mass'"),
    "a key twice": (HEAD + "name: a\nname: b\n", 4, "'name' stands here twice"),
    "unknown shape": (
        HEAD + "objects:\n  - name: a\n    torus: {radius: 1}\n",
        5,
        "unknown key 'torus'",
    ),
    "no shape": (HEAD + "objects:\n  - name: a\n", 4, "exactly one of"),
    "two shapes": (HEAD + BOX + "    sphere: {radius: 1}\n", 4, "exactly one of"),
    "no name": (HEAD + "objects:\n  - box: {size: [1, 1, 1]}\n", 4, "'name' is missing"),
    "duplicate names": (
        HEAD + BOX + "  - name: a\n    sphere: {radius: 1}\n",
        6,
        "'a' is already there",
    ),
    "two dimensions": (
        HEAD + "objects:\n  - name: a\n    box: {size: [1, 1]}\n",
        5,
        "expected 3 entries, found 2",
    ),
    "missing dimension": (
        HEAD + "objects:\n  - name: a\n    cylinder: {radius: 1}\n",
        5,
        "'length' is missing",
    ),
    "text for a number": (
        HEAD + "objects:\n  - name: a\n    sphere: {radius: big}\n",
        5,
        "found 'big'",
    ),
    "NaN": (HEAD + "objects:\n  - name: a\n    sphere: {radius: .nan}\n", 5, "expected a"),
    "nan in Python's spelling": (
        HEAD + "objects:\n  - name: a\n    sphere: {radius: nan}\n",
        5,
        "finite",
    ),
    "infinity": (HEAD + "objects:\n  - name: a\n    box: {size: [1, inf, 1]}\n", 5, "finite"),
    "huge": (HEAD + "objects:\n  - name: a\n    sphere: {radius: 1e300}\n", 4, "object 'a'"),
    "overflow": (HEAD + "objects:\n  - name: a\n    sphere: {radius: 1e999}\n", 5, "finite"),
    "huge position": (HEAD + BOX + "    pose: {xyz: [1e30, 0, 0]}\n", 4, "object 'a'"),
    "negative radius": (
        HEAD + "objects:\n  - name: a\n    sphere: {radius: -1}\n",
        4,
        "object 'a'",
    ),
    "zero size": (HEAD + "objects:\n  - name: a\n    box: {size: [1, 0, 1]}\n", 4, "object 'a'"),
    "quaternion of zeros": (HEAD + QUATERNION % "0, 0, 0, 0", 5, "length 0"),
    "quaternion too long": (HEAD + QUATERNION % "1, 1, 0, 0", 5, "length 1.414"),
    "three numbers for a quaternion": (HEAD + QUATERNION % "0, 0, 1", 5, "expected 4 entries"),
    "rpy and quaternion": (
        HEAD + BOX + "    pose: {rpy: [0, 0, 0], quaternion: [0, 0, 0, 1]}\n",
        6,
        "not both",
    ),
    "color out of range": (HEAD + BOX + "    color: [1, 2, 0]\n", 4, "0 to 1"),
    "missing mesh": (HEAD + "objects:\n  - name: a\n    mesh: {file: none.stl}\n", 5, "object 'a'"),
    "mesh of an unknown format": (
        HEAD + "objects:\n  - name: a\n    mesh: {file: a.blend}\n",
        5,
        "object 'a'",
    ),
    "mesh beyond its vertices": (
        HEAD + "objects:\n  - name: a\n    mesh: {vertices: [[0,0,0],[1,0,0],[0,1,0]], faces:"
        " [[0,1,7]]}\n",
        4,
        "names vertex 7 of 3",
    ),
    "flat convex hull of one point": (
        HEAD + "objects:\n  - name: a\n    convex: {vertices: [[0,0,0]]}\n",
        4,
        "'a'",
    ),
    "points from a missing file": (
        HEAD + "objects:\n  - name: a\n    points: {radius: 1, file: p.npy}\n",
        5,
        "p.npy",
    ),
    "points in bad base64": (
        HEAD + "objects:\n  - name: a\n    points: {radius: 1, base64: '%%%'}\n",
        5,
        "base64",
    ),
    "points in half a row": (
        HEAD + "objects:\n  - name: a\n    points: {radius: 1, base64: AAAA}\n",
        5,
        "base64",
    ),
    "a million values": (
        HEAD + "objects: [" + "1," * 1_000_000 + "]",
        3,
        "more than 300000 values",
    ),
    "attached and not there": (HEAD + "attached: [{object: a, link: b}]\n", 3, "no object 'a'"),
    "attached half-space": (
        HEAD + "objects: [{name: a, half_space: {}}]\nattached: [{object: a, link: b}]\n",
        4,
        "unbounded",
    ),
    "allowed with itself": (HEAD + BOX + "allowed: [[a, a]]\n", 6, "'a' twice"),
    "allowed of three": (HEAD + "allowed: [[a, b, c]]\n", 3, "expected 2 entries"),
    "start without a number": (HEAD + "starts: {start: {elbow: x}}\n", 3, "expected a number"),
    "goal of nothing": (HEAD + "goals: {goal: {}}\n", 3, "expected joints, or link and pose"),
    "bomb of aliases": (HEAD + BOMB, None, "values"),
    "recursive alias": (HEAD + "objects: &a [*a]\n", 3, "recursive"),
    "unknown alias": (HEAD + "objects: *a\n", 3, "unknown"),
    "a tag of Python": (HEAD + "name: !!python/object/apply:os.system ['true']\n", 3, "tag"),
    "deep nesting": (HEAD + "objects: " + "[" * 100_000, 3, "nested deeper"),
    "deep mappings": (
        HEAD + "objects:\n" + "".join(" " * i + "a:\n" for i in range(1, 500)),
        None,
        "nested deeper",
    ),
    "a list as a key": (HEAD + "? [1, 2]\n: 3\n", 3, "key must be text"),
    "a name that is a list": (
        HEAD + "objects:\n  - name: [1]\n    sphere: {radius: 1}\n",
        4,
        "expected text",
    ),
}

WORLD = "world:\n  collision_objects:\n"
MOVEIT = {
    "no id": (WORLD + "    - primitives: []\n", 3, "'id' is missing"),
    "nothing in it": (WORLD + "    - id: a\n", 3, "at least one shape"),
    "unknown primitive": (
        WORLD + "    - id: a\n      primitives: [{type: torus, dimensions: [1]}]\n",
        4,
        "torus",
    ),
    "wrong dimensions": (
        WORLD + "    - id: a\n      primitives: [{type: box, dimensions: [1]}]\n",
        4,
        "expected 3",
    ),
    "poses missing": (
        WORLD + "    - id: a\n      primitives: [{type: sphere, dimensions: [1]}]\n"
        "      primitive_poses: [{}, {}]\n",
        5,
        "1 primitives but 2 primitive_poses",
    ),
    "unknown frame": (
        WORLD + "    - id: a\n      header: {frame_id: moon}\n      primitives: [{type: sphere,"
        " dimensions: [1]}]\n",
        3,
        "'moon'",
    ),
    "removal": (WORLD + "    - id: a\n      operation: 1\n", 4, "operation"),
    "octomap": ("world: {octomap: {octomap: {data: [1, 2]}}}\n", 1, "octomap"),
    "padding": ("link_padding: [{link_name: a, padding: 0.1}]\n", 1, "link_padding"),
    "matrix not square": (
        "allowed_collision_matrix: {entry_names: [a, b], entry_values: [[true, false]]}\n",
        1,
        "2 entry_names but 1 rows",
    ),
    "more joints than positions": (
        "robot_state: {joint_state: {name: [a, b], position: [1]}}\n",
        1,
        "2 names",
    ),
    "plane without a normal": (
        WORLD + "    - id: a\n      planes: [{coef: [0, 0, 0, 1]}]\n",
        4,
        "normal",
    ),
    "missing resource": (
        WORLD + "    - id: a\n      meshes: [{resource: 'package://x/y.stl'}]\n",
        4,
        "y.stl",
    ),
    "cone without a height": (
        WORLD + "    - id: a\n      primitives: [{type: cone, dimensions: [0, 1]}]\n",
        4,
        "cone",
    ),
    "text of another world": ("name: [\n", 2, "not valid YAML"),
}

TEXT = {
    "cut off": ("desk\n* a\n1\nbox\n1 1 1\n", 5, "the file ends"),
    "no star": ("desk\nbox\n.\n", 2, "expected '* id'"),
    "unknown shape": ("desk\n* a\n1\ntorus\n", 4, "unknown shape"),
    "wrong dimensions": ("desk\n* a\n1\nbox\n1 1\n", 5, "expected 3"),
    "not a number": ("desk\n* a\n1\nsphere\nx\n", 5, "found 'x'"),
    "bad quaternion": ("desk\n* a\n1\nsphere\n1\n0 0 0\n0 0 0 0\n", 7, "length 0"),
    "a million shapes": ("desk\n* a\n1000000\nsphere\n1\n", 3, "expected a count"),
    "a mesh of too many vertices": (
        "desk\n* a\n1\nmesh\n1000000000 1\n0 0 0\n",
        5,
        "lines are left",
    ),
    "duplicate names": (
        "desk\n" + "* a\n1\nsphere\n1\n0 0 0\n0 0 0 1\n0 0 0 0\n" * 2 + ".\n",
        9,
        "'a' is already there",
    ),
}

CASES = [
    *((name, ".yaml", Scene.load, *case) for name, case in OWN.items()),
    *((f"moveit: {name}", ".yaml", read_moveit_scene, *case) for name, case in MOVEIT.items()),
    *((f"scene text: {name}", ".scene", read_moveit_scene, *case) for name, case in TEXT.items()),
]


@pytest.fixture(scope="module")
def patience():
    """Time limit of this process [s]: four times the parsing time of the largest legal sequence."""
    begin = time.process_time()
    assert len(parse_yaml("[" + "1," * 299_000 + "]", "the largest").value) == 299_000
    return 4 * (time.process_time() - begin)


@pytest.mark.parametrize(
    ("suffix", "read", "content", "line", "part"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_hostile_scene_is_refused_by_name(
    tmp_path: Path, patience, suffix, read, content, line, part
):
    path = tmp_path / f"hostile{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    begin = time.process_time()  # of this process: other work on the machine does not count
    with pytest.raises(SceneError) as caught:
        read(path)
    assert time.process_time() - begin < patience
    message = str(caught.value)
    assert message.startswith(str(path)), message
    assert part in message
    assert len(message) < 2000
    if line is not None:
        assert caught.value.line == line, message


@pytest.mark.parametrize("name", [name for name, case in OWN.items() if isinstance(case[0], str)])
def test_hostile_text_is_refused_as_a_file_is(name):
    content, line, part = OWN[name]
    with pytest.raises(SceneError) as caught:
        Scene.from_text(content)
    assert str(caught.value).startswith("<scene text>")
    if "cannot be read" not in part:  # about files beside the scene, which a text does not have
        assert part in str(caught.value)
    if line is not None:
        assert caught.value.line == line


@pytest.mark.parametrize("read", [Scene.load, read_moveit_scene, read_moveit_request])
def test_missing_files_and_folders_are_os_errors(tmp_path: Path, read):
    for path in (tmp_path / "none.yaml", tmp_path):
        with pytest.raises(OSError, match=path.name):
            read(path)


def test_requests_are_refused_by_name(tmp_path: Path):
    path = tmp_path / "request.yaml"
    for content, part in [
        ("group_name: arm\n", "start_state"),
        ("start_state: {}\ngoal_constraints: []\n", "expected 1 entries"),
        ("start_state: {}\ngoal_constraints: [{joint_constraints: []}]\n", "there is none"),
        (
            "start_state: {}\ngoal_constraints: [{position_constraints: [1]}]\n",
            "position_constraints",
        ),
        (
            "start_state: {}\ngoal_constraints: [{joint_constraints: [{joint_name: a}]}]\n",
            "'position' is missing",
        ),
    ]:
        path.write_text(content)
        with pytest.raises(SceneError, match=part) as caught:
            read_moveit_request(path)
        assert str(caught.value).startswith(str(path))


WHOLE = (
    HEAD
    + """name: desk
robot: ur5
objects:
  - name: top
    pose: {xyz: [0.6, 0, 0.3], quaternion: [0, 0, 0, 1]}
    color: [0.6, 0.4, 0.2, 1]
    box: {size: [1.2, 0.8, 0.04]}
  - name: hammer
    parts:
      - cylinder: {radius: 0.01, length: 0.3}
      - box: {size: [0.1, 0.03, 0.03]}
        pose: {xyz: [0, 0, 0.15], rpy: [0, 1, 0]}
  - {name: cloud, points: {radius: 0.01, xyz: [[1, 2, 3], [4, 5, 6]]}}
  - {name: hull, convex: {vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}}
allowed: [[hammer, top]]
attached: [{object: hammer, link: tool0, touch_links: [left]}]
starts: {start: {elbow: 0.5}}
goals: {goal: {joints: {elbow: 1}}, other: {link: tool0, pose: {xyz: [0.5, 0, 0.4]}}}
"""
)


def test_fuzzed_scenes_load_or_are_refused(tmp_path: Path, patience):
    """Random cuts, swaps and insertions in a valid file: a scene or a SceneError results."""
    path = tmp_path / "fuzz.yaml"
    path.write_text(WHOLE)
    assert len(Scene.load(path)) == 4
    rng = random.Random(0)
    pieces = [
        "[",
        "]",
        "{",
        "}",
        ":",
        "- ",
        "\n",
        " ",
        "*a",
        "&a ",
        "!",
        "1e400",
        "-",
        "nan",
        "'",
        '"',
        "\0",
        "0",
        "#",
        "é",
    ]
    messages: list[str] = []
    for _ in range(400):
        text = WHOLE
        # Insert a piece, delete up to 20 characters, truncate, or repeat 30 characters.
        for _ in range(rng.randint(1, 4)):
            i, j = sorted(rng.randrange(len(text)) for _ in range(2))
            action = rng.randrange(4)
            if action == 0:
                text = text[:i] + rng.choice(pieces) + text[i:]
            elif action == 1:
                text = text[:i] + text[min(j, i + 20) :]
            elif action == 2:
                text = text[:i]
            else:
                text = text[:i] + text[i : i + 30] + text[i:]
            text = text or " "
        path.write_text(text)
        begin = time.process_time()
        try:
            Scene.load(path)
        except RobosimError as error:
            messages.append(str(error))
        assert time.process_time() - begin < patience
    assert len(messages) > 200
    assert all(message.startswith(str(path)) for message in messages)
