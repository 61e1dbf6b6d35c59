"""Runs of a robot with everything: each equals its steps, and its gradient is their sum."""

from __future__ import annotations

import numpy as np
import pytest

import robosim
from robosim.geometry import Shape
from robosim.model import ModelBuilder
from robosim.simulation import Control, Simulation, State
from robosim.simulation.state import DRIVES
from robosim.world import Material, Motor, World

from .worlds import floor

STEPS = 33


def robot():
    """A floating box with a spike, an arm and a slide. n_q is n_v + 1."""
    builder = ModelBuilder("robot")
    builder.add_link("root")
    builder.add_link("base", mass=2.0, com=(0.01, 0.02, 0), inertia=np.diag([0.02, 0.03, 0.04]))
    builder.add_link("arm", mass=0.7, com=(0.1, 0, 0.02), inertia=np.diag([0.002, 0.005, 0.004]))
    builder.add_link("slide", mass=0.5, com=(0.02, 0.05, 0), inertia=np.diag([0.003, 0.002, 0.002]))
    builder.add_joint("free", "floating", "root", "base")
    drag = {"damping": 0.3, "friction": 0.2, "armature": 0.02, "spring_reference": 0.1}
    builder.add_joint(
        "swing",
        "revolute",
        "base",
        "arm",
        axis=(1, 2, 0),
        lower=-0.4,
        upper=0.4,
        velocity=0.9,
        stiffness=3.0,
        **drag,
    )
    builder.add_joint(
        "push",
        "prismatic",
        "arm",
        "slide",
        axis=(1, 0, 1),
        lower=-0.2,
        upper=0.2,
        stiffness=9.0,
        **drag,
    )
    builder.add_collider("base", Shape.box((0.2, 0.3, 0.1)))
    spike = [[-0.15, 0.02, -0.07], [-0.05, -0.1, 0], [-0.05, 0.1, 0.01], [-0.06, 0.02, 0.05]]
    builder.add_collider("base", Shape.convex(spike))
    builder.add_collider("slide", Shape.capsule(0.05, 0.2))
    return builder.build()


@pytest.fixture(scope="module")
def simulation():
    return Simulation(
        World(
            robot(),
            floor(),
            materials={
                ("base", "floor"): Material(0.4, 0.3, 0.02, 0.01),
                ("slide", "floor"): Material(
                    0.4, 0.0, 0.02, 0.01, compliance=1e-4, relaxation_time=2e-3
                ),
            },
            motors={"swing": Motor(20.0, 1.0, 2.0), "push": Motor(30.0, 2.0)},
        ),
        dt=5e-3,
        speed_limits=True,
    )


def starts_and_controls(simulation, count):
    """Starts near the floor, some with joints beyond limits, and controls of each run and step."""
    rng = np.random.default_rng(1)
    model = simulation.model
    starts, controls = [], []
    for _ in range(count):
        turn = rng.normal(size=4) * (0.1, 0.1, 1, 1)
        q = [
            0,
            0,
            rng.uniform(0.05, 0.1),
            *(turn / np.linalg.norm(turn)),
            *rng.uniform(-0.45, 0.45, 2),
        ]
        starts.append(simulation.state(q, rng.normal(size=model.n_v)))
        q_target = np.stack([model.neutral()] * STEPS)
        q_target[:, 7:] = rng.uniform(-0.3, 0.3, (STEPS, 2))
        controls.append(
            Control(
                tau=rng.normal(size=(STEPS, model.n_v)),
                q_target=q_target,
                v_target=rng.normal(size=(STEPS, model.n_v)),
            )
        )
    return starts, controls


def at_step(control, i):
    return Control(tau=control.tau[i], q_target=control.q_target[i], v_target=control.v_target[i])


def parameters(gradient):
    """Gradients with respect to everything except state and control."""
    return dict(gradient.parameters)


def test_a_run_and_its_gradient_are_the_sum_of_its_steps_in_every_number(simulation):
    rng = np.random.default_rng(2)
    n_v = simulation.model.n_v
    seen = None
    for start, control in zip(*starts_and_controls(simulation, 6), strict=True):
        motion = simulation.rollout(start, STEPS, control)
        q_bar, v_bar = rng.normal(size=(2, STEPS + 1, n_v))
        whole = motion.vjp(q_bar, v_bar)
        q, v, sums, causes = q_bar[-1], v_bar[-1], None, 0
        reached = start
        for i in range(STEPS):
            reached = simulation.step(State(reached.q, reached.v), at_step(control, i))
            np.testing.assert_array_equal(reached.q, motion.q[i + 1])
            np.testing.assert_array_equal(reached.v, motion.v[i + 1])
        for i in reversed(range(STEPS)):
            one = simulation.linearize(State(motion.q[i], motion.v[i]), at_step(control, i)).vjp(
                q, v
            )
            for name in ("tau", "q_target", "v_target"):
                np.testing.assert_array_equal(getattr(one, name), getattr(whole, name)[i])
            q, v = one.q + q_bar[i], one.v + v_bar[i]
            by = parameters(one)
            sums = by if sums is None else {name: sums[name] + by[name] for name in by}
            causes |= one.causes
        np.testing.assert_array_equal(q, whole.q)
        np.testing.assert_array_equal(v, whole.v)
        for name, got in parameters(whole).items():
            np.testing.assert_array_equal(got, sums[name], err_msg=name)
        assert whole.causes == causes
        found = {name: x != 0 for name, x in parameters(whole).items()}
        seen = found if seen is None else {name: seen[name] | found[name] for name in found}
    # The sums are only tested if every kind of number has a nonzero gradient.
    of_closures = "frames", "coefficients"  # the world has no closures
    assert all(x.any() for name, x in seen.items() if name not in of_closures)


@pytest.mark.parametrize("threads", [1, 3])
def test_runs_longer_than_threads_go_without_a_look_are_each_one_by_itself(simulation, threads):
    """With 70 runs one thread takes 14 steps at a time, and three threads take 41."""
    count = 70
    starts, controls = starts_and_controls(simulation, count)
    n_v = simulation.model.n_v
    bars = np.random.default_rng(3).normal(size=(2, count, STEPS + 1, n_v))
    start = State([x.q for x in starts], [x.v for x in starts])
    control = Control(*(np.array([getattr(x, name) for x in controls]) for name in DRIVES))
    with robosim.threads(threads):
        runs = simulation.rollout(start, STEPS, control)
        gradient = runs.vjp(*bars)
    every = parameters(gradient)
    for i in range(count):
        alone = simulation.rollout(starts[i], STEPS, controls[i])
        np.testing.assert_array_equal(runs.q[i], alone.q)
        np.testing.assert_array_equal(runs.v[i], alone.v)
        assert [x[i] for x in runs.report] == list(alone.report)
        expected = alone.vjp(bars[0, i], bars[1, i])
        for name in ("q", "v", "tau", "q_target", "v_target", "causes"):
            np.testing.assert_array_equal(getattr(gradient, name)[i], getattr(expected, name))
        for name, by in every.items():
            np.testing.assert_array_equal(by[i], expected.parameters[name])
