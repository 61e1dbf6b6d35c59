"""Pairs left out without an SRDF: adjacent, always touching and never touching ones.

No pair that can collide is left out.
"""

from __future__ import annotations

import numpy as np
import pytest

from robosim.geometry import signed_distance
from robosim.urdf import filter_self_collision, load_robot
from robosim.urdf.load import LoadOptions, load_with_report

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


def link(name: str, size: str, xyz: str = "0 0 0") -> str:
    return f"""<link name="{name}">{INERTIAL}<collision><origin xyz="{xyz}"/>
    <geometry><box size="{size}"/></geometry></collision></link>"""


def hinge(
    name: str, parent: str, child: str, xyz: str, bound: float = 3.0, axis: str = "0 1 0"
) -> str:
    return f"""<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>
    <origin xyz="{xyz}"/><axis xyz="{axis}"/>
    <limit lower="{-bound}" upper="{bound}" effort="1" velocity="1"/></joint>"""


# A folding chain a-b-c-d of sticks 1 m long, a flag that only wags on the far side, and a block
# that never leaves c.
FOLDING = (
    '<robot name="folding">'
    + link("a", "0.1 0.1 0.8", "0 0 0.5")
    + link("b", "0.1 0.1 0.8", "0 0 0.5")
    + link("c", "0.1 0.1 0.8", "0 0 0.5")
    + link("flag", "0.1 0.1 0.1", "0 0 -5")
    + link("core", "0.3 0.3 0.3")
    + hinge("ab", "a", "b", "0 0 1")
    + hinge("bc", "b", "c", "0 0 1")
    + hinge("wag", "a", "flag", "0 0 0", 0.1)
    + hinge("spin", "b", "core", "0 0 0.5")
    + "</robot>"
)


def disabled(model) -> dict[frozenset[str], str]:
    return {frozenset((d.link_a, d.link_b)): d.reason for d in model.disabled_collisions}


def test_the_three_kinds():
    out = disabled(load_robot(FOLDING))
    assert out[frozenset("ab")].lower() == "adjacent"
    assert out[frozenset(("flag", "c"))] == "Never"
    # The core is inside b: they always touch. They are adjacent, too, which is checked first.
    assert frozenset(("b", "core")) in out
    # a and c touch when the chain folds, so this pair must stay.
    assert frozenset("ac") not in out
    model = load_robot(FOLDING)
    links = [c.link for c in model.colliders]
    assert frozenset("ac") in {frozenset((links[a], links[b])) for a, b in model.collision_pairs}


def test_always_touching():
    """Links that are joined through a link without colliders overlap in every configuration."""
    text = (
        '<robot name="r"><link name="base"/>'
        + link("x", "0.4 0.4 0.4")
        + link("y", "0.4 0.4 0.4")
        + hinge("bx", "base", "x", "0 0 0")
        + hinge("by", "base", "y", "0 0 0.1", axis="0 0 1")
        + "</robot>"
    )
    assert disabled(load_robot(text))[frozenset("xy")] == "Always"


@pytest.mark.parametrize(("upper", "is_said"), [(1.0, True), (2.6, False)])
def test_mostly_touching(upper, is_said):
    """A block slides along a bar and beyond it, and overlaps with it for up to 0.6 m."""
    text = (
        '<robot name="r"><link name="base"/>'
        + link("x", "1 0.1 0.1")
        + link("y", "0.2 0.2 0.2")
        + hinge("bx", "base", "x", "0 0 0", axis="1 0 0")
        + f'''<joint name="by" type="prismatic"><parent link="base"/><child link="y"/>
        <axis xyz="1 0 0"/>
        <limit lower="0" upper="{upper}" velocity="1" effort="1"/></joint></robot>'''
    )
    loaded = load_with_report(text, LoadOptions())
    frequent = loaded.self_collision.frequent
    assert len(frequent) == is_said
    said = [warning for warning in loaded.model.warnings if "random configurations" in warning]
    assert len(said) == is_said
    if is_said:
        [(a, b, n)] = frequent
        assert (a, b) == ("x", "y")
        assert abs(n - 60) < 20  # four times the standard deviation of a hundred samples
        assert f"links 'x' and 'y' overlap at {n} of 100 random configurations" in said[0]
    again = load_with_report(text, LoadOptions())  # from the cache
    assert again.self_collision == loaded.self_collision


def test_rare_collisions_are_found():
    """Two long arms whose tips touch only when they point at each other to about a degree.

    Uniform samples find that in about one of a hundred thousand. The margin and the descent must
    find it.
    """
    arm = "0.02 0.02 1.0"
    text = (
        '<robot name="r"><link name="base"/>'
        + link("x", arm, "0 0 0.5")
        + link("y", arm, "0 0 0.5")
        + hinge("bx", "base", "x", "-1.005 0 0")
        + hinge("by", "base", "y", "1.005 0 0")
        + "</robot>"
    )
    model = load_robot(text)
    # At 90 degrees each tip reaches +-0.005: the gap of 10 mm is within the margin, though the tips
    # never touch.
    q = [np.pi / 2, -np.pi / 2]
    poses = model.link_poses(q)
    a, b = model.colliders
    distance = signed_distance(a.shape, poses["x"] @ a.X_LC, b.shape, poses["y"] @ b.X_LC).distance
    assert distance == pytest.approx(0.01, abs=1e-9)
    assert disabled(model) == {}


def test_the_descent_finds_what_few_samples_miss():
    """Two arms of 10 m whose tips overlap only within 2 degrees of pointing at each other.

    None of 20 samples finds the overlap.
    """
    arm = "0.02 0.02 10"
    text = (
        '<robot name="r"><link name="base"/>'
        + link("x", arm, "0 0 5")
        + link("y", arm, "0 0 5")
        + hinge("bx", "base", "x", "-9.995 0 0")
        + hinge("by", "base", "y", "9.995 0 0")
        + "</robot>"
    )
    model = load_robot(text, filter_self_collisions=False)
    for seed in range(5):
        assert disabled(filter_self_collision(model, n_samples=20, seed=seed)[0]) == {}


def test_same_seed_same_answer_and_report(monkeypatch, tmp_path):
    model = load_robot(FOLDING, filter_self_collisions=False)
    answers = []
    for i in range(2):
        monkeypatch.setenv("ROBOSIM_CACHE_DIR", str(tmp_path / str(i)))  # an empty cache
        filtered, report = filter_self_collision(model, n_samples=1000, seed=3)
        assert (report.n_samples, report.seed) == (1000, 3)
        answers.append(disabled(filtered))
    assert answers[0] == answers[1]
    # From here on only the cache can answer.
    monkeypatch.setattr("robosim.urdf.self_collision._verdicts", None)
    assert disabled(filter_self_collision(model, n_samples=1000, seed=3)[0]) == answers[0]


def test_no_sampled_collision_is_ever_left_out():
    """A real arm with hulls or primitives.

    Every pair that collides in one of 3,000 independent samples is still checked.
    """
    full = load_robot("ur5", srdf=False, filter_self_collisions=False)
    kept = load_robot("ur5", srdf=False)
    never = {k for k, reason in disabled(kept).items() if reason == "Never"}
    rng = np.random.default_rng(12345)
    from robosim import _engine

    scene = _engine.CollisionScene(
        full._engine, [], [], np.zeros((0, 4, 4)), [], full.collision_pairs
    )
    link_of = {c.name: c.link for c in full.colliders}
    for _ in range(3000):
        for a, b, _ in scene.collisions(full.random_configuration(rng)):
            assert frozenset((link_of[a], link_of[b])) not in never


def test_switching_it_off():
    assert all(
        r.lower() == "adjacent"
        for r in disabled(load_robot(FOLDING, filter_self_collisions=False)).values()
    )
