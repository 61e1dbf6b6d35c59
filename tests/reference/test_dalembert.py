"""The oracle itself, against textbook closed forms."""

import numpy as np

from .dalembert import Body, inverse_dynamics

GRAVITY = np.array([0.0, 0.0, -9.81])
# Five-point differences applied twice, step 1e-3: truncation 1e-11, rounding 1e-16 / 1e-3^2.
TOLERANCE = 1e-8


def rotation_y(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def posed(R, p):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return X


def test_two_link_arm_has_the_closed_form_of_the_textbook():
    # Siciliano et al., "Robotics" (2009), eq. 7.82: planar arm in a vertical plane, angles from the
    # horizontal.
    m, length, c, inertia = (2.0, 1.5), (0.7, 0.5), (0.3, 0.2), (0.05, 0.02)

    def first(q):
        return posed(rotation_y(-q[0]), np.zeros(3))

    def second(q):
        return first(q) @ posed(rotation_y(-q[1]), [length[0], 0, 0])

    bodies = [
        Body(pose, m[i], np.array([c[i], 0, 0]), np.diag([0.01, inertia[i], 0.03]))
        for i, pose in enumerate((first, second))
    ]
    q, v, a = np.array([0.3, -1.1]), np.array([1.2, -0.7]), np.array([0.4, 2.0])
    cross = m[1] * length[0] * c[1]
    M22 = inertia[1] + m[1] * c[1] ** 2
    M12 = M22 + cross * np.cos(q[1])
    M11 = inertia[0] + m[0] * c[0] ** 2 + M22 + m[1] * length[0] ** 2 + 2 * cross * np.cos(q[1])
    h = cross * np.sin(q[1])
    g2 = 9.81 * m[1] * c[1] * np.cos(q[0] + q[1])
    g1 = 9.81 * (m[0] * c[0] + m[1] * length[0]) * np.cos(q[0]) + g2
    expected = [
        M11 * a[0] + M12 * a[1] - h * v[1] ** 2 - 2 * h * v[0] * v[1] + g1,
        M12 * a[0] + M22 * a[1] + h * v[0] ** 2 + g2,
    ]
    tau = inverse_dynamics(bodies, np.add, q, v, a, GRAVITY)
    np.testing.assert_allclose(tau, expected, atol=TOLERANCE)


def test_spinning_body_obeys_euler():
    # Coordinates are a rotation matrix, and v is the body's angular velocity: tau = I w' + w x I w
    # in the body frame.
    from scipy.spatial.transform import Rotation

    inertia = np.diag([0.1, 0.2, 0.25])
    body = Body(
        lambda q: posed(Rotation.from_rotvec(q[:3]).as_matrix(), np.zeros(3)),
        1.0,
        np.zeros(3),
        inertia,
    )

    def integrate(q, dv):
        return (Rotation.from_rotvec(q) * Rotation.from_rotvec(dv)).as_rotvec()

    q, w, dw = np.array([0.2, -0.4, 0.9]), np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.1, -1.0])
    tau = inverse_dynamics([body], integrate, q, w, dw, GRAVITY)
    np.testing.assert_allclose(tau, inertia @ dw + np.cross(w, inertia @ w), atol=TOLERANCE)
