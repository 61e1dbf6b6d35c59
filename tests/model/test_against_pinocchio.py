"""Kinematics and dynamics against Pinocchio on real robots, fixed and free-flying.

Agreement is asked to max(1e-10, 10 eps cond(M)) relative to max(1, largest entry of the reference); the condition
number matters for ABA alone, which solves with M.
"""

import numpy as np
import pytest

from .pinocchio_models import ROBOTS, Mapping, convert, pin, robots_folder

CASES = [(robot, base) for robot in ROBOTS for base in ("fixed", "free-flying")]


def agree(value, reference, tolerance=1e-10):
    reference = np.asarray(reference)
    scale = max(1.0, np.abs(reference).max(initial=0))
    worst = np.abs(np.asarray(value) - reference).max(initial=0) / scale
    assert worst <= tolerance, f"off by {worst:.2e} of {scale:.3g}, {tolerance:.1e} is allowed"


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0].split('/')[-1]}, {case[1]}")
def case(request):
    robot, base = request.param
    path = str(robots_folder() / robot)
    source = (
        pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer())
        if base != "fixed"
        else pin.buildModelFromUrdf(path)
    )
    model = convert(source)
    return model, source, Mapping(model, source)


@pytest.fixture
def state(case):
    model, _, _ = case
    rng = np.random.default_rng(20)
    return model.random_configuration(rng), rng.uniform(-1, 1, model.n_v), rng.uniform(-2, 2, model.n_v)


def test_frames(case, state):
    model, source, mapping = case
    q, v, a = state
    data = source.createData()
    pin.forwardKinematics(source, data, mapping.q(q), mapping.v(v), mapping.v(a))
    pin.computeJointJacobians(source, data, mapping.q(q))
    pin.updateFramePlacements(source, data)
    poses = model.link_poses(q)
    for index, frame in enumerate(source.frames):
        name = f"frame {frame.name}"
        if name not in poses:
            continue
        agree(poses[name], data.oMf[index].homogeneous)
        for ours, theirs in (("world", pin.LOCAL_WORLD_ALIGNED), ("local", pin.LOCAL)):
            J = model.jacobian(q, name, ours)
            agree(mapping.v(J), pin.getFrameJacobian(source, data, index, theirs))
            agree(
                model.frame_velocity(q, v, name, ours),
                pin.getFrameVelocity(source, data, index, theirs).vector,
            )
            agree(
                model.frame_acceleration(q, v, a, name, ours),
                pin.getFrameClassicalAcceleration(source, data, index, theirs).vector,
            )


def test_inverse_dynamics(case, state):
    model, source, mapping = case
    q, v, a = state
    q_pin, v_pin, a_pin = mapping.q(q), mapping.v(v), mapping.v(a)
    data = source.createData()
    agree(mapping.v(model.inverse_dynamics(q, v, a)), pin.rnea(source, data, q_pin, v_pin, a_pin))
    agree(mapping.v(model.nonlinear_effects(q, v)), pin.nonLinearEffects(source, data, q_pin, v_pin))
    agree(mapping.v(model.gravity(q)), pin.computeGeneralizedGravity(source, data, q_pin))


def test_external_forces(case, state):
    model, source, mapping = case
    q, v, a = state
    rng = np.random.default_rng(21)
    data = source.createData()
    pin.forwardKinematics(source, data, mapping.q(q))
    forces = pin.StdVec_Force()
    external = {}
    for i in range(source.njoints):
        wrench = rng.uniform(-10, 10, 6)
        R = data.oMi[i].rotation
        forces.append(pin.Force(R.T @ wrench[:3], R.T @ wrench[3:]))  # theirs: in the joint's own axes
        if i > 0:
            external[f"body of {source.names[i]}"] = wrench
    expected = pin.rnea(source, data, mapping.q(q), mapping.v(v), mapping.v(a), forces)
    agree(mapping.v(model.inverse_dynamics(q, v, a, external=external)), expected)


def test_mass_matrix_and_forward_dynamics(case, state):
    model, source, mapping = case
    q, v, tau = state
    data = source.createData()
    M = pin.crba(source, data, mapping.q(q))
    M = np.triu(M) + np.triu(M, 1).T
    order = mapping.v_order
    agree(model.mass_matrix(q)[np.ix_(order, order)], M)
    tolerance = max(1e-10, 10 * np.finfo(float).eps * np.linalg.cond(M))
    expected = pin.aba(source, data, mapping.q(q), mapping.v(v), mapping.v(tau))
    agree(mapping.v(model.forward_dynamics(q, v, tau)), expected, tolerance)


def test_energies_and_centre_of_mass(case, state):
    model, source, mapping = case
    q, v, _ = state
    data = source.createData()
    agree(model.kinetic_energy(q, v), pin.computeKineticEnergy(source, data, mapping.q(q), mapping.v(v)))
    agree(model.potential_energy(q), pin.computePotentialEnergy(source, data, mapping.q(q)))
    agree(model.total_mass, pin.computeTotalMass(source))
    agree(model.center_of_mass(q), pin.centerOfMass(source, data, mapping.q(q)))


def test_integrate_and_difference(case, state):
    model, source, mapping = case
    q, v, _ = state
    other = model.integrate(q, v)
    agree(mapping.q(other), pin.integrate(source, mapping.q(q), mapping.v(v)))
    agree(mapping.v(model.difference(q, other)), pin.difference(source, mapping.q(q), mapping.q(other)))


def test_planar_joints_agree():
    source = pin.Model()
    inertia = pin.Inertia.Random()
    first = source.addJoint(0, pin.JointModelPlanar(), pin.SE3.Random(), "base")
    source.appendBodyToJoint(first, inertia, pin.SE3.Identity())
    second = source.addJoint(first, pin.JointModelPlanar(), pin.SE3.Random(), "second")
    source.appendBodyToJoint(second, inertia, pin.SE3.Identity())
    model = convert(source)
    mapping = Mapping(model, source)
    rng = np.random.default_rng(3)
    for _ in range(20):
        q, v, a = model.random_configuration(rng), rng.uniform(-3, 3, 6), rng.uniform(-3, 3, 6)
        data = source.createData()
        agree(
            mapping.v(model.inverse_dynamics(q, v, a)),
            pin.rnea(source, data, mapping.q(q), mapping.v(v), mapping.v(a)),
        )
        test_integrate_and_difference((model, source, mapping), (q, v, a))
