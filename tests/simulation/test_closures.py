"""Closed loops: closures of links and joints, their forces, and gradients through them."""

import numpy as np
import pytest

from robosim import _engine
from robosim.errors import SimulationError
from robosim.geometry import Shape, pose
from robosim.model import ModelBuilder
from robosim.scene import Scene
from robosim.simulation import Control, Simulation, StepStatus
from robosim.world import JointEquality, PointClosure, Weld, World

from .worlds import G, free_boxes

BARS = {"crank": 0.3, "coupler": 0.5, "rocker": 0.4}  # [m]
PIVOT = 0.5


def chain(**lengths):
    """Links in the x-z plane, each hinged to the end of the one before."""
    builder = ModelBuilder("chain")
    builder.add_link("ground")
    before, at = "ground", 0.0
    for name, length in lengths.items():
        builder.add_link(name, mass=1.0, com=(length / 2, 0, 0), inertia=length**2 / 12 * np.eye(3))
        builder.add_joint(
            f"to_{name}", "continuous", before, name, X_PJ=pose((at, 0, 0)), axis=(0, -1, 0)
        )
        before, at = name, length
    return builder.build()


def four_bar():
    """A chain of crank, coupler and rocker, and the q at which its end is at the second pivot."""
    crank = 1.2
    x, z = PIVOT - BARS["crank"] * np.cos(crank), -BARS["crank"] * np.sin(crank)
    line = np.hypot(x, z)
    bend = (BARS["coupler"] ** 2 + line**2 - BARS["rocker"] ** 2) / (2 * BARS["coupler"] * line)
    coupler = np.arctan2(z, x) + np.arccos(bend)
    rocker = np.arctan2(
        z - BARS["coupler"] * np.sin(coupler), x - BARS["coupler"] * np.cos(coupler)
    )
    return chain(**BARS), np.array([crank, coupler - crank, rocker - coupler])


PIN = PointClosure("ground", "rocker", at_a=(PIVOT, 0, 0), at_b=(BARS["rocker"], 0, 0), axes="xz")


def test_a_linkage_stays_closed_and_says_what_holds_it():
    model, q = four_bar()
    simulation = Simulation(World(model, closures=[PIN]))
    motion = simulation.rollout(simulation.state(q), 1000)
    assert motion.report.status == StepStatus.solved
    for q in motion.q[::100]:
        end = model.frame_pose(q, "rocker") @ [BARS["rocker"], 0, 0, 1]
        # The drift is of the order of dt^2.
        np.testing.assert_allclose(end[:3], [PIVOT, 0, 0], rtol=0, atol=1.5e-4)
    # The force lies in the frame's plane. The ground receives the opposite of the rocker's force.
    details = simulation.linearize(motion.end)
    (pin,) = details.closures
    assert pin.name == "ground to rocker"
    np.testing.assert_allclose(pin.point, [PIVOT, 0, 0], rtol=0, atol=1.5e-4)
    assert pin.force[1] == 0
    np.testing.assert_array_equal(pin.moment, 0)


@pytest.mark.parametrize("solver", _engine.row_solvers)
def test_forces_of_what_hangs(solver):
    simulation = Simulation(
        World(
            free_boxes(2),
            closures=[
                Weld("root", "box0", at_a=(0.3, 0, 2), at_b=(0.1, 0, 0)),
                PointClosure("box0", "box1", at_a=(0.1, 0, 0), at_b=(0, 0, 0.05)),
            ],
        ),
        solver=solver,
        sweeps=500,
    )
    start = simulation.state([0.2, 0, 2, 0, 0, 0, 1, 0.3, 0, 1.95, 0, 0, 0, 1])
    details = simulation.linearize(start)
    np.testing.assert_allclose(details.state.v, 0, atol=1e-12)
    weld, point = details.closures
    # Each link has 2 kg. The weld carries both, one at an arm of 0.1 m, the other right below.
    np.testing.assert_allclose(weld.force, [0, 0, 4 * G], atol=1e-9)
    np.testing.assert_allclose(weld.moment, [0, 0.1 * 2 * G, 0], atol=1e-9)
    np.testing.assert_allclose(point.force, [0, 0, 2 * G], atol=1e-9)
    np.testing.assert_array_equal(point.moment, 0)


def fingers(closures):
    builder = ModelBuilder("gripper")
    builder.add_link("palm")
    for i, name in enumerate(("left", "right")):
        builder.add_link(name, mass=0.1, inertia=1e-4 * np.eye(3))
        builder.add_joint(f"{name}_joint", "prismatic", "palm", name, axis=(1 - 2 * i, 0, 0))
        builder.add_collider(name, Shape.box((0.02, 0.02, 0.05)))
    return Simulation(World(builder.build(), closures=closures))


def test_fingers_follow_each_other():
    # Only the first finger is pushed. The second follows through the law, which exerts the same
    # force on both.
    simulation = fingers([JointEquality("right_joint", "left_joint")])
    state = simulation.state([0.05, 0.05])
    details = simulation.linearize(state, Control(tau=[2.0, 0.0]))
    np.testing.assert_allclose(details.state.v, 2.0 / 0.2 * simulation.dt, rtol=1e-13)
    (law,) = details.joints
    assert (law.coordinate, law.source) == ("right_joint", "equality")
    assert law.force == pytest.approx(1.0, rel=1e-12)
    held = fingers(
        [
            JointEquality("left_joint", coefficients=(0.03,)),
            JointEquality("right_joint", "left_joint", (0.1, 2.0, -1.0)),
        ]
    )
    end = held.rollout(held.state([0.05, 0.05]), 500).end
    np.testing.assert_allclose(end.q, [0.03, 0.1 + 2 * 0.03 - 0.03**2], rtol=0, atol=1e-14)


def test_links_held_together_do_not_collide():
    state = [0.0, 0.0]  # both fingers at one place
    assert fingers([]).linearize(fingers([]).state(state)).contacts
    held = fingers([PointClosure("left", "right", axes="x")])
    assert held.linearize(held.state(state)).contacts == []
    assert held.pairs == []


def test_where_it_is_holds_what_is_there():
    model, q = four_bar()
    pin = PointClosure.where_it_is(model, q, "ground", "rocker", (PIVOT, 0, 0), "xz")
    np.testing.assert_allclose(pin.at_b, [BARS["rocker"], 0, 0], atol=1e-15)
    other = [0.3, -1.0, 0.4]
    simulation = Simulation(
        World(model, closures=[Weld.where_it_is(model, other, "crank", "rocker")])
    )
    details = simulation.linearize(simulation.state(other, [1.0, 0, 0]))
    np.testing.assert_allclose(details.state.v[1:], 0, atol=1e-12)  # moves as one with the crank
    scene = Scene("as it was")
    Simulation(World(model, scene, closures=[PIN]))
    assert scene.allowed == frozenset()


def test_gradient_of_a_run_by_frames_and_laws():
    q = np.append(four_bar()[1], 0.3)
    model = chain(**BARS, tip=0.2)
    rng = np.random.default_rng(2)
    q_bar, v_bar = rng.normal(size=(2, 31, 4))
    frames, coefficients = [PIN.X_a, PIN.X_b], np.array([-0.5, 0.7, -0.1, 0.05, 0.02])

    def simulated(X_a, X_b, c):
        pin = PointClosure("ground", "rocker", X_a, X_b, "xz")
        law = JointEquality("to_tip", "to_crank", tuple(c))
        return Simulation(World(model, closures=[pin, law]), dt=2e-3)

    start = q + np.array([0.01, -0.02, 0.02, 0.0])  # both are violated

    def loss(*parts):
        simulation = simulated(*parts)
        motion = simulation.rollout(simulation.state(start, [0.5, 0, 0, 0.2]), 30)
        return np.sum(q_bar * motion.q) + np.sum(v_bar * motion.v)

    simulation = simulated(*frames, coefficients)
    motion = simulation.rollout(simulation.state(start, [0.5, 0, 0, 0.2]), 30)
    gradient = motion.vjp(q_bar, v_bar)
    assert not gradient.one_sided
    assert gradient.parameters["frames"].shape == (1, 2, 6)
    assert gradient.parameters["coefficients"].shape == (1, 5)

    def along(change, h=1e-6):
        return (change(h) - change(-h)) / (2 * h)

    for side in 0, 1:
        for axis in 0, 2:
            moved = [along(lambda h, k=side, a=axis: loss(*(
                X @ pose(h * np.eye(3)[a]) if i == k else X for i, X in enumerate(frames)),
                coefficients))]  # fmt: skip
            by = gradient.parameters["frames", ("ground", "rocker")]
            assert by[side, axis] == pytest.approx(moved[0], rel=1e-6, abs=1e-6)
    for k in range(5):
        slope = along(lambda h, k=k: loss(*frames, coefficients + h * np.eye(5)[k]))
        assert gradient.parameters["coefficients", "to_tip"][k] == pytest.approx(
            slope, rel=1e-6, abs=1e-6
        )


@pytest.mark.parametrize(("closure", "text"), [
    (lambda: PointClosure("ground", "rocker", axes="xw"), "axes is 'xw'; expected some of 'xyz'"),
    (lambda: PointClosure("ground", "rocker", at_a=(1, 2)), "at_a is (1, 2); expected a point"),
    (lambda: Weld("ground", "rocker", at_b=(np.nan, 0, 0)), "at_b is"),
    (lambda: JointEquality("to_rocker", "to_crank", (1.0,) * 6), "expected one to five"),
    (lambda: JointEquality("to_rocker", None, (1.0, 2.0)), "follows no joint"),
    (lambda: Weld("ground", "roker"), "there is no link 'roker'; did you mean 'rocker'?"),
    (lambda: Weld("rocker", "rocker"), "of one body twice"),
    (lambda: JointEquality("to_roker", "to_crank"),
        "there is no coordinate 'to_roker'; did you mean 'to_rocker'"),
    (lambda: JointEquality("to_crank", "to_crank"), "of one joint twice"),
])  # fmt: skip
def test_closures_that_cannot_be_are_named(closure, text):
    model, _ = four_bar()
    with pytest.raises(SimulationError) as caught:
        Simulation(World(model, closures=[closure()]))
    assert text in str(caught.value)
