"""Kinematics and dynamics against Pinocchio on real robots, fixed and free-flying.

The tolerance is max(1e-10, 10 eps cond(M)) relative to max(1, largest entry of the reference). The
condition number matters for ABA only, which solves with M.
"""

from typing import get_args

import numpy as np
import pytest

from robosim.model import JointKind

from .pinocchio_models import (
    REFUSED,
    REFUSED_BY_PINOCCHIO,
    ROBOTS,
    load,
    pin,
    random_tree,
    robots_folder,
)

MOVING = [kind for kind in get_args(JointKind) if kind != "fixed"]
CASES = [
    (robot, base, route)
    for robot in ROBOTS
    for base in ("fixed", "free-flying")
    for route in ("converted", "URDF")
    if route == "converted" or not robot.endswith(REFUSED + REFUSED_BY_PINOCCHIO)
]


def agree(value, reference, tolerance=1e-10):
    reference = np.asarray(reference)
    scale = max(1.0, np.abs(reference).max(initial=0))
    worst = np.abs(np.asarray(value) - reference).max(initial=0) / scale
    assert worst <= tolerance, f"off by {worst:.2e} of {scale:.3g}, {tolerance:.1e} is allowed"


@pytest.fixture(
    scope="module", params=CASES, ids=lambda case: ", ".join([case[0].split("/")[-1], *case[1:]])
)
def case(request):
    robot, base, route = request.param
    return load(robots_folder() / robot, free_flying=base != "fixed", by_urdf=route == "URDF")


@pytest.fixture
def state(case):
    model = case.model
    rng = np.random.default_rng(20)
    return (
        model.random_configuration(rng),
        rng.uniform(-1, 1, model.n_v),
        rng.uniform(-2, 2, model.n_v),
    )


def test_frames(case, state):
    model, source = case.model, case.source
    q, v, a = state
    data = source.createData()
    pin.forwardKinematics(source, data, case.q(q), case.v(v), case.v(a))
    pin.computeJointJacobians(source, data, case.q(q))
    pin.updateFramePlacements(source, data)
    poses = model.link_poses(q)
    assert case.frames
    for index, name in case.frames.items():
        agree(poses[name], data.oMf[index].homogeneous)
        for ours, theirs in (("world", pin.LOCAL_WORLD_ALIGNED), ("local", pin.LOCAL)):
            J = model.jacobian(q, name, ours)
            agree(case.v(J), pin.getFrameJacobian(source, data, index, theirs))
            agree(
                model.frame_velocity(q, v, name, ours),
                pin.getFrameVelocity(source, data, index, theirs).vector,
            )
            agree(
                model.frame_acceleration(q, v, a, name, ours),
                pin.getFrameClassicalAcceleration(source, data, index, theirs).vector,
            )


def test_inverse_dynamics(case, state):
    model, source = case.model, case.source
    q, v, a = state
    q_pin, v_pin, a_pin = case.q(q), case.v(v), case.v(a)
    data = source.createData()
    agree(case.v(model.inverse_dynamics(q, v, a)), pin.rnea(source, data, q_pin, v_pin, a_pin))
    agree(case.v(model.nonlinear_effects(q, v)), pin.nonLinearEffects(source, data, q_pin, v_pin))
    agree(case.v(model.gravity(q)), pin.computeGeneralizedGravity(source, data, q_pin))


def test_external_forces(case, state):
    model, source = case.model, case.source
    q, v, a = state
    rng = np.random.default_rng(21)
    data = source.createData()
    pin.forwardKinematics(source, data, case.q(q))
    forces = pin.StdVec_Force()
    external = {}
    for i in range(source.njoints):
        wrench = rng.uniform(-10, 10, 6)
        R = data.oMi[i].rotation
        # Pinocchio's forces are in the joint's own axes.
        forces.append(pin.Force(R.T @ wrench[:3], R.T @ wrench[3:]))
        if i > 0:
            external[case.bodies[i]] = wrench
    expected = pin.rnea(source, data, case.q(q), case.v(v), case.v(a), forces)
    agree(case.v(model.inverse_dynamics(q, v, a, external=external)), expected)


def test_mass_matrix_and_forward_dynamics(case, state):
    model, source = case.model, case.source
    q, v, tau = state
    data = source.createData()
    M = pin.crba(source, data, case.q(q))
    M = np.triu(M) + np.triu(M, 1).T
    order = case.v_order
    agree(model.mass_matrix(q)[np.ix_(order, order)], M)
    tolerance = max(1e-10, 10 * np.finfo(float).eps * np.linalg.cond(M))
    if case.has_mimic:  # Pinocchio's aba has no mimic joints
        h = pin.nonLinearEffects(source, data, case.q(q), case.v(v))
        expected = np.linalg.solve(M, case.v(tau) - h)
    else:
        expected = pin.aba(source, data, case.q(q), case.v(v), case.v(tau))
    agree(case.v(model.forward_dynamics(q, v, tau)), expected, tolerance)


def test_energies_and_center_of_mass(case, state):
    model, source = case.model, case.source
    q, v, _ = state
    data = source.createData()
    # Pinocchio's energies have neither mimic joints nor armature; its kinematics and mass matrix
    # have both.
    if case.has_mimic or source.armature.any():
        M = pin.crba(source, data, case.q(q))
        M = np.triu(M) + np.triu(M, 1).T
        kinetic = case.v(v) @ M @ case.v(v) / 2
    else:
        kinetic = pin.computeKineticEnergy(source, data, case.q(q), case.v(v))
    pin.forwardKinematics(source, data, case.q(q))
    mass = sum(inertia.mass for inertia in source.inertias)
    moment = sum(
        body.mass * X.act(body.lever) for body, X in zip(source.inertias, data.oMi, strict=True)
    )
    agree(model.kinetic_energy(q, v), kinetic)
    agree(model.potential_energy(q), -source.gravity.linear @ moment)
    agree(model.total_mass, mass)
    agree(model.center_of_mass(q), moment / mass)


def test_integrate_and_difference(case, state):
    model, source = case.model, case.source
    q, v, _ = state
    other = model.integrate(q, v)
    agree(case.q(other), pin.integrate(source, case.q(q), case.v(v)))
    agree(case.v(model.difference(q, other)), pin.difference(source, case.q(q), case.q(other)))


@pytest.mark.parametrize(
    "kinds", [*([kind] * 4 for kind in MOVING), MOVING * 2], ids=lambda kinds: kinds[0]
)
def test_trees_of_every_kind_of_joint_agree(kinds):
    """All of the above on random trees, of one kind of joint each and of all kinds."""
    case = random_tree(kinds, seed=len(kinds))
    assert {joint.kind for joint in case.model.joints} - {"fixed"} == set(kinds)
    rng = np.random.default_rng(3)
    for _ in range(5):
        n = case.model.n_v
        state = case.model.random_configuration(rng), rng.uniform(-1, 1, n), rng.uniform(-3, 3, n)
        for test in (
            test_frames,
            test_inverse_dynamics,
            test_external_forces,
            test_mass_matrix_and_forward_dynamics,
            test_energies_and_center_of_mass,
            test_integrate_and_difference,
        ):
            test(case, state)
