"""Unknown names: every error suggests names that may be meant, by one helper."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import robosim
from robosim import load_robot
from robosim.cli import main
from robosim.cli.app import build_parser
from robosim.errors import RobosimError, suggestion
from robosim.execution.transports import find_transport, transport_names
from robosim.geometry import Shape
from robosim.model import ModelBuilder
from robosim.planners import JointGoal, PoseGoal, Problem, available_planners, get_planner, plan
from robosim.scene import Scene, families, generate, load_scene
from robosim.simulation import Simulation
from robosim.urdf import bundled_robots
from robosim.world import Material, Motor, PointClosure, World

ARM = load_robot("ur5")
PLAN = ["plan", "ur5", "--start", "home", "--goal", "up"]


def mistyped(name: str) -> str:
    """The name without its second letter."""
    return name[:1] + name[2:]


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(RobosimError) as caught:
        call()
    return str(caught.value)


def assert_meant(text: str, name: str) -> None:
    assert re.search(rf"; did you mean ('[^']+' or )*'{re.escape(name)}'( or '[^']+')*\?", text), (
        text
    )


@pytest.mark.parametrize(
    ("names", "door"),
    [
        (bundled_robots(), load_robot),
        (families(), load_scene),
        (families(), lambda name: generate(name, model=ARM)),
        (available_planners(), get_planner),
        (available_planners(), lambda name: plan(Problem(ARM, goal=ARM.neutral()), planner=name)),
        (transport_names(), find_transport),
        ([state.name for state in ARM.named_states], ARM.configuration),
        ([state.name for state in ARM.named_states], lambda name: plan(Problem(ARM, goal=name))),
        (ARM.groups, lambda name: plan(Problem(ARM, goal=ARM.neutral(), group=name))),
        (ARM.joint_names, lambda name: plan(Problem(ARM, goal=ARM.neutral(), group=[name]))),
        (ARM.joint_names, lambda name: plan(Problem(ARM, goal=JointGoal({name: 0.0})))),
        (ARM.link_names, lambda name: plan(Problem(ARM,
            goal=PoseGoal(name, ARM.frame_pose(ARM.neutral(), "tool0"))))),
        (ARM.joint_names, lambda name: ARM.configuration({name: 0.0})),
        (ARM.joint_names, lambda name: ARM.with_damping({name: 0.0})),
        (ARM.link_names, lambda name: ARM.frame_pose(ARM.neutral(), name)),
        (ARM.link_names, lambda name: Simulation(World(ARM, materials={name: Material()}))),
        (ARM.joint_names, lambda name: Simulation(World(ARM, motors={name: Motor()}))),
        (ARM.link_names, lambda name: Simulation(World(ARM,
            closures=[PointClosure(name, "tool0")]))),
        (ARM.link_names, lambda name: held_by(name).compile(ARM)),
        (ARM.link_names, lambda name: desk().attach("mug", name, model=ARM, q=ARM.neutral())),
        (["mug", "table"], lambda name: desk().move(name, None)),
        (["mug", "table"], lambda name: allowing(name).compile(ARM)),
        (ARM.link_names, lambda name: load_robot("ur5", convex={name: "hull"})),
        (ARM.joint_names, lambda name: load_robot("ur5",
            joint_limits={name: {"max_velocity": 1.0}})),
        (ARM.joint_names, lambda name: load_robot("ur5", srdf=srdf(f'<joint name="{name}"/>'),
            strict=True)),
        (ARM.link_names, lambda name: load_robot("ur5", srdf=srdf(f'<link name="{name}"/>'),
            strict=True)),
        (["other"], lambda name: load_robot("ur5", srdf=srdf(f'<group name="{name}"/>'),
            strict=True)),
        (["base", "upper"], lambda name: two_links(parent=name)),
        (["base", "upper"], lambda name: two_links(collider=name)),
        (["elbow"], lambda name: two_links(mimic=name)),
    ],
)  # fmt: skip
def test_what_was_meant_is_asked(names, door):
    names = list(names)
    assert names
    for name in names:
        if (typo := mistyped(name)) not in names:
            assert_meant(refused(lambda typo=typo: door(typo)), name)


def desk() -> Scene:
    scene = Scene("desk")
    scene.add_box("mug", (0.1, 0.1, 0.1))
    scene.add_box("table", (1, 1, 0.1))
    return scene


def held_by(link: str) -> Scene:
    scene = desk()
    scene.attach("mug", link, pose=np.eye(4))
    return scene


def allowing(name: str) -> Scene:
    scene = desk()
    scene.allow(name, "tool0")
    return scene


def srdf(part: str) -> str:
    return f'<robot name="ur5"><group name="other"/><group name="arm">{part}</group></robot>'


def two_links(parent: str = "base", collider: str = "base", mimic: str | None = None) -> object:
    builder = ModelBuilder("two")
    for name in ("base", "upper", "hand"):
        builder.add_link(name, mass=1)
    builder.add_joint("elbow", "revolute", parent, "hand")
    builder.add_joint(
        "wrist", "revolute", "base", "upper", mimic=None if mimic is None else (mimic, 1, 0)
    )
    builder.add_collider(collider, Shape.sphere(1))
    return builder.build(allow_massless=True)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        *(([mistyped(command)],
            command) for command in build_parser()._subparsers._group_actions[0].choices),
        *((["inspect", mistyped(robot)],
            robot) for robot in bundled_robots() if mistyped(robot) != robot),
        *((["simulate", "ur5", "--scene", mistyped(scene)], scene) for scene in families()),
        *(([*PLAN, "--planner", mistyped(planner)], planner) for planner in available_planners()),
        *((["simulate", "ur5", "--start", mistyped(state.name)],
            state.name) for state in ARM.named_states),
        (["simulate", "ur5", "--base", "floting"], "floating"),
        (["simulate", "ur5", "--solver", "cnovex"], "convex"),
        ([*PLAN, "--group", "maniplator"], "manipulator"),
        (["inspect", "ur5", "--convex", "hulls"], "hull"),
    ],
)  # fmt: skip
def test_commands_ask_what_was_meant_too(arguments, name, capsys):
    assert main(arguments) == 2
    assert_meant(capsys.readouterr().err, name)


def test_what_is_like_nothing_is_told_what_there_is():
    text = refused(lambda: load_robot("zzzz"))
    assert all(repr(name) in text for name in bundled_robots())
    assert suggestion("zzzz", [f"n{i}" for i in range(9)]) == (
        "; there are " + ", ".join(f"'n{i}'" for i in range(8)) + ", …"
    )
    assert suggestion("zzzz", []) == ""
    assert suggestion("UR5", ["ur5", "panda"]) == "; did you mean 'ur5'?"
    assert suggestion("panda", ["Panda", "PANDA"]) == "; did you mean 'Panda' or 'PANDA'?"


# Kinds of names: a message about a missing one suggests similar names.
NAMED = (
    r"(robot|scene|planner|transport|link|joint|group|state|object|coordinate|position|parameter"
    r"|family)"
)
MISSING = re.compile(rf"(there is no|has no|is no) ([a-z]+ )*{NAMED} $")


def messages() -> Iterator[tuple[str, bool]]:
    """F-strings of the package about missing names, and true if their block adds a suggestion."""
    for folder in (
        path.resolve() for path in Path(robosim.__file__).parent.iterdir() if path.is_dir()
    ):
        for path in folder.rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            for block in ast.walk(ast.parse(source)):
                statements = getattr(block, "body", None)
                if not isinstance(statements, list):
                    continue
                for statement in statements:
                    if not hasattr(statement, "body") and names_a_missing_one(statement):
                        text = "".join(
                            ast.get_source_segment(source, line) or "" for line in statements
                        )
                        yield f"{path}:{statement.lineno}", "suggestion(" in text


def names_a_missing_one(statement: ast.stmt) -> bool:
    strings = (node.values for node in ast.walk(statement) if isinstance(node, ast.JoinedStr))
    return any(
        isinstance(part, ast.Constant)
        and isinstance(after, ast.FormattedValue)
        and MISSING.search(str(part.value))
        for parts in strings
        for part, after in pairwise(parts)
    )


def test_every_message_about_a_missing_name_asks_what_was_meant():
    found = dict(messages())
    assert len(found) > 20
    assert all(found.values()), [place for place, asks in found.items() if not asks]
