"""Arrows of contact forces: position, length, direction, color and time.

They are checked in the viewer, the file and the picture.
"""

import re

import numpy as np
import pytest

from robosim import viewer
from robosim.errors import SimulationError
from robosim.geometry import pose
from robosim.scene import Scene
from robosim.simulation import Replay, Simulation
from robosim.viewer.forces import LENGTH, LONGEST, SLIDING, STICKING, ForceArrows, colors, tree_of
from robosim.viewer.stage import Stage
from robosim.world import Material, World

from ..simulation.worlds import (  # noqa: TID252 (tests have no absolute name)
    G,
    floor,
    free_boxes,
    resting,
)

SIZE = np.array([0.2, 0.3, 0.1])
MASS = 2.0
FRICTION = 0.5


def simulated(count, heights, v=None, *, steps=300, solver="lcp"):
    """Stage with boxes above each other, and the motion of a run."""
    scene, plain = floor(), Material(friction=FRICTION)
    names = ["floor", *(f"box{i}" for i in range(count))]
    simulation = Simulation(
        World(free_boxes(count), scene, materials=dict.fromkeys(names, plain)), solver=solver
    )
    motion = simulation.rollout(simulation.state(resting(*heights), v), steps)
    return Stage(simulation.model, scene, motion.replay()), motion


@pytest.fixture(scope="module")
def dropped():
    """A box that falls by 5 cm, hits the floor after 0.1 s and soon comes to rest."""
    return simulated(1, [0.1])


def test_at_rest_the_arrows_carry_the_weight(dropped):
    stage, _ = dropped
    arrows = stage.forces[-1]
    assert len(arrows.force) == 4
    # At rest to 1e-9 m/s, which over a step of 1 ms is 1e-6 of the weight.
    np.testing.assert_allclose(
        arrows.force.sum(axis=0), [0, 0, MASS * G], rtol=0, atol=1e-6 * MASS * G
    )
    # Arrows are drawn from the corners on the floor upwards, with lengths proportional to the
    # forces.
    np.testing.assert_allclose(arrows.start[:, 2], 0, atol=1e-9)
    np.testing.assert_allclose(
        np.abs(arrows.start[:, :2]), np.tile(SIZE[:2] / 2, (4, 1)), atol=1e-9
    )
    drawn = (stage.forces.tips(-1) - arrows.start).sum(axis=0) * stage.forces.newtons_per_meter
    np.testing.assert_allclose(drawn, [0, 0, MASS * G], rtol=0, atol=1e-6 * MASS * G)
    # During most of the run the box is at rest, which therefore sets the scale.
    np.testing.assert_allclose(
        np.linalg.norm(stage.forces.tips(-1) - arrows.start, axis=1), LENGTH * 0.3742, 1e-3
    )


def test_arrows_are_there_while_something_touches(dropped):
    stage, _ = dropped
    lowest = stage.replay.q[:, 2] - SIZE[2] / 2
    counts = np.array([len(stage.forces[k].force) for k in range(len(lowest))])
    assert not counts[lowest > 0.01].any()
    assert (counts[stage.replay.times > 0.2] == 4).all()
    assert stage.forces.most == 4
    # A box that stays in the air has no arrows.
    flying, _ = simulated(1, [5.0], steps=100)
    assert (flying.forces.most, flying.forces.newtons_per_meter) == (0, 0.0)


def test_what_is_shown_is_a_state_of_the_motion(dropped):
    stage, motion = dropped
    for t in np.linspace(0, stage.duration, 101):
        q = stage.configuration(float(t))
        at = np.flatnonzero((motion.q == q).all(axis=1))
        # Within half of a sixtieth of a second, plus a step for the rounding of times to steps.
        assert len(at)
        assert np.abs(motion.times[at] - t).min() <= 0.5 / 60 + 1e-3
    np.testing.assert_array_equal(stage.configuration(0.0), motion.q[0])
    np.testing.assert_array_equal(stage.configuration(stage.duration), motion.q[-1])


def test_between_two_boxes_there_are_two_opposite_arrows():
    stage, _ = simulated(2, [0.05, 0.15])
    arrows = stage.forces[-1]
    up, down = arrows.force[:, 2] > 0, arrows.force[:, 2] < 0
    assert (up.sum(), down.sum()) == (8, 4)
    np.testing.assert_allclose(arrows.force.sum(axis=0), [0, 0, 2 * MASS * G], atol=1e-6 * MASS * G)
    np.testing.assert_allclose(
        arrows.force[down].sum(axis=0), [0, 0, -MASS * G], atol=1e-6 * MASS * G
    )
    np.testing.assert_allclose(arrows.start[down][:, 2], SIZE[2], atol=1e-9)
    for start, force in zip(arrows.start[down], arrows.force[down], strict=True):
        (other,) = np.flatnonzero((arrows.start == start).all(axis=1) & up)
        np.testing.assert_array_equal(arrows.force[other], -force)


def test_friction_leans_against_the_motion_and_has_its_color():
    stage, _ = simulated(1, [0.05], [0.6, 0.8, 0, 0, 0, 0], steps=100, solver="convex")
    sliding = stage.forces[3]
    assert sliding.sliding.all()
    np.testing.assert_array_equal(colors(sliding), np.tile(SLIDING, (4, 1)))
    total = sliding.force.sum(axis=0)
    np.testing.assert_allclose(
        total, MASS * G * np.array([-0.6 * FRICTION, -0.8 * FRICTION, 1]), rtol=1e-6
    )
    resting, _ = simulated(1, [0.05])
    np.testing.assert_array_equal(colors(resting.forces[-1]), np.tile(STICKING, (4, 1)))


def test_lengths_are_proportional_up_to_a_bound():
    def push(newtons):
        from robosim.geometry import ManifoldFeature
        from robosim.simulation import ContactForce

        along = np.array([0.0, 0.6, 0.8])
        corner, face = ManifoldFeature("vertex", 0, 0), ManifoldFeature("face", 0, 0)
        acting = (np.ones(3), -along, 0.0, -newtons * along, np.zeros(3))
        return [ContactForce("box0/0", "floor", *acting, "sticking", corner, face, np.inf)]

    strengths = np.array([1.0, 5.0, 10.0, 12.0, 1000.0])
    replay = Replay(np.arange(5.0), np.zeros((5, 7)), [push(x) for x in strengths])
    forces = ForceArrows(free_boxes(1), replay, {}, 0.5)
    assert forces.newtons_per_meter == pytest.approx(10 / (LENGTH * 0.5))
    lengths = [np.linalg.norm(forces.tips(k)[0] - 1) for k in range(5)]
    np.testing.assert_allclose(
        lengths, LENGTH * 0.5 * np.minimum(strengths / 10, LONGEST), rtol=1e-12
    )
    for k in range(5):
        # The mesh begins at the contact point and ends at the tip.
        (vertices, faces), rgb = forces.triangles(k)
        along = (vertices - 1) @ [0, 0.6, 0.8]
        assert along.min() == pytest.approx(0, abs=1e-12)
        np.testing.assert_allclose(vertices[along.argmax()], forces.tips(k)[0], atol=1e-12)
        assert len(rgb) == len(faces)
        # The width of an arrow is limited.
        across = np.linalg.norm(vertices - 1 - along[:, None] * [0, 0.6, 0.8], axis=1)
        assert across.max() < 0.5 * lengths[k]


def test_only_what_can_move_takes_arrows(arm):
    assert [tree_of(arm, link) for link in ("base", "link0", "tip")] == [
        ("base", False),
        ("base", True),
        ("base", True),
    ]
    assert [tree_of(free_boxes(2), link) for link in ("root", "box0", "box1")] == [
        ("root", False),
        ("box0", True),
        ("box1", True),
    ]


def test_a_held_object_is_pushed_with_the_robot(arm):
    """The stretched arm lies with its ball on a table."""
    scene = Scene("table")
    scene.add_box("table", (0.2, 0.2, 0.1), pose((1.1, 0, -0.05)))
    scene.add_sphere("ball", 0.1)
    scene.attach("ball", "tip", pose=pose((0, 0, 0.1)), touch_links=["tip", "link1"])
    simulation = Simulation(World(arm, scene))
    motion = simulation.rollout(simulation.state([np.pi / 2, 0.0]), 1)
    stage = Stage(arm, scene, motion.replay())
    assert {frozenset((c.A, c.B)) for c in stage.replay.contacts[0]} == {
        frozenset(("table", "ball"))
    }
    ((start, force, _),) = zip(*stage.forces[0], strict=True)
    np.testing.assert_allclose(start, [1.1, 0, 0], atol=1e-6)
    assert force[2] > 1.0


def test_a_replay_of_another_robot_is_refused(arm, dropped):
    with pytest.raises(SimulationError, match="configurations of 7 numbers; those of arm have 2"):
        Stage(arm, None, dropped[0].replay)


def green(image, more=40):
    r, g, b = np.moveaxis(np.asarray(image).astype(int), -1, 0)
    return np.count_nonzero((g > r + more) & (g > b + more // 4))


def test_the_picture_shows_the_last_forces(dropped):
    stage, _ = dropped
    model, shown = stage.model, {"size": (160, 120), "ghosts": 0, "azimuth": 0.4}
    replay = stage.replay
    falling = Replay(replay.times[:5], replay.q[:5], replay.contacts[:5])
    assert green(viewer.picture(model, floor(), falling, **shown)) == 0
    assert green(viewer.picture(model, floor(), replay, **shown)) > 100


def test_arrows_shine_through_what_hides_them(dropped):
    replay, model = dropped[0].replay, dropped[0].model
    shown = {"size": (160, 120), "ghosts": 0, "azimuth": np.pi / 2, "elevation": 0.3}
    scene = floor()
    scene.add_box("screen", (0.6, 0.02, 0.4), pose((0, 0.3, 0.2)))
    without = viewer.picture(
        model, scene, replay._replace(contacts=[[] for _ in replay.times]), **shown
    )
    behind = viewer.picture(model, scene, replay, **shown)
    changed = (behind.astype(int) - without).reshape(-1, 3)
    changed = changed[np.abs(changed).max(axis=1) > 10]
    assert len(changed) > 50
    assert (changed[:, 1] > changed[:, 0]).all()  # greener


class TestInTheBrowser:
    """Data sent by the server; the browser's picture is in test_browser."""

    @pytest.fixture
    def running(self, dropped):
        pytest.importorskip("viser", reason="the extra `view` is not installed")
        stage, _ = dropped
        shown = viewer.show(stage.model, floor(), stage.replay, port=0, block=False)
        yield shown
        shown.stop()

    def test_bodies_and_arrows_are_where_they_should_be(self, running, dropped):
        stage, motion = dropped
        running._play.value = False
        for t in (0.0, 0.05, 0.25, 0.29):
            running._show(t)
            q = motion.q[np.argmin(np.abs(motion.times - stage.replay.times[stage.moment(t)]))]
            frame = running.scene.links["box0"]
            # viser sends no smaller change.
            np.testing.assert_allclose(frame.position, q[:3], rtol=1e-5, atol=1e-8)
            np.testing.assert_allclose(np.roll(frame.wxyz, -1), q[3:], rtol=1e-5, atol=1e-8)
            (node,) = running.scene.arrows
            positions, R, scales = stage.forces.poses(stage.moment(t))
            k = len(positions)
            assert k == (4 if t > 0.2 else 0)
            # Browsers draw in single precision.
            np.testing.assert_allclose(node.batched_positions[:k], positions, rtol=1e-6, atol=1e-7)
            np.testing.assert_allclose(node.batched_scales[:k], scales, rtol=1e-6)
            for (w, x, y, z), turned in zip(node.batched_wxyzs[:k], R, strict=True):
                axis = [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)]
                np.testing.assert_allclose(axis, turned[:, 2], atol=1e-6)
            assert node.batched_scales[k:].max(initial=0) < 1e-5

    def test_forces_can_be_hidden_and_the_robot_be_made_solid(self, running):
        boxes = {
            handle.label: handle
            for handle in running.server.gui._gui_input_handle_from_uuid.values()
        }
        assert {"contact forces", "see through the robot"} <= set(boxes)
        assert all(node.opacity < 1 for node in running.scene._robot)
        running._see_through(False)
        assert all(node.opacity is None for node in running.scene._robot)

    def test_without_contacts_there_is_nothing_to_see_through(self):
        pytest.importorskip("viser", reason="the extra `view` is not installed")
        stage, _ = simulated(1, [5.0], steps=50)
        shown = viewer.show(stage.model, floor(), stage.replay, port=0, block=False)
        try:
            assert shown.scene.arrows == []
            assert all(node.opacity is None for node in shown.scene._robot)
        finally:
            shown.stop()

    def test_the_file_says_what_arrows_mean(self, dropped, tmp_path):
        pytest.importorskip("viser", reason="the extra `view` is not installed")
        stage, _ = dropped
        viewer.export_html(tmp_path / "drop.html", stage.model, floor(), stage.replay)
        (told,) = re.findall(
            r"an arrow of ([\d.]+) cm is ([\d.]+) N", (tmp_path / "drop.html").read_text()[-1000:]
        )
        assert float(told[1]) / float(told[0]) == pytest.approx(
            stage.forces.newtons_per_meter / 100, rel=0.01
        )
