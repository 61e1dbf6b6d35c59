"""Closed-form inverse kinematics of the UR5: all solutions, by geometry.

An oracle for tests, slow and plain. Denavit-Hartenberg parameters are those published by Universal
Robots. The derivation follows K. P. Hawkins, "Analytic inverse kinematics for the Universal Robots
UR-5/UR-10 arms" (2013): shoulder from the wrist's distance to the base axis, wrist 2 and 3 from the
tool's orientation, then a planar two-link arm. Poses are of the tool flange in the controller's
base frame.
"""

import numpy as np

D = np.array([0.089159, 0, 0, 0.10915, 0.09465, 0.0823])
A = np.array([0, -0.425, -0.39225, 0, 0, 0])
ALPHA = np.array([np.pi / 2, 0, 0, np.pi / 2, -np.pi / 2, 0])


def link(i, theta):
    """Rz(theta) Tz(d) Tx(a) Rx(alpha) of joint i."""
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(ALPHA[i]), np.sin(ALPHA[i])
    return np.array(
        [
            [c, -s * ca, s * sa, A[i] * c],
            [s, c * ca, -c * sa, A[i] * s],
            [0, sa, ca, D[i]],
            [0, 0, 0, 1],
        ]
    )


def forward(q):
    """Pose of the flange in the base frame."""
    X = np.eye(4)
    for i, theta in enumerate(q):
        X = X @ link(i, theta)
    return X


def inverse(X, margin=1e-9):
    """All solutions (k, 6) with angles in (-pi, pi].

    Away from singularities k is 0, 2, 4, 6 or 8.
    """
    found = []
    wrist = X @ [0, 0, -D[5], 1]
    reach = np.hypot(wrist[0], wrist[1])
    if abs(D[3]) > reach:
        return np.zeros((0, 6))
    for side in (1, -1):
        q1 = np.arctan2(wrist[1], wrist[0]) + side * np.arccos(D[3] / reach) + np.pi / 2
        s1, c1 = np.sin(q1), np.cos(q1)
        cosine5 = (X[0, 3] * s1 - X[1, 3] * c1 - D[3]) / D[5]
        if abs(cosine5) > 1 + margin:
            continue
        for flip in (1, -1):
            q5 = flip * np.arccos(np.clip(cosine5, -1, 1))
            s5 = np.sin(q5)
            q6 = np.arctan2((-X[0, 1] * s1 + X[1, 1] * c1) / s5, (X[0, 0] * s1 - X[1, 0] * c1) / s5)
            X14 = np.linalg.inv(link(0, q1)) @ X @ np.linalg.inv(link(4, q5) @ link(5, q6))
            p = (X14 @ [0, -D[3], 0, 1])[:3]
            span = np.hypot(p[0], p[1])
            cosine3 = (span**2 - A[1] ** 2 - A[2] ** 2) / (2 * A[1] * A[2])
            if abs(cosine3) > 1:
                continue
            for elbow in (1, -1):
                q3 = elbow * np.arccos(cosine3)
                q2 = -np.arctan2(p[1], -p[0]) + np.arcsin(A[2] * np.sin(q3) / span)
                X34 = np.linalg.inv(link(1, q2) @ link(2, q3)) @ X14
                q4 = np.arctan2(X34[1, 0], X34[0, 0])
                found.append([q1, q2, q3, q4, q5, q6])
    solutions = np.reshape(found, (-1, 6))
    return np.pi - np.mod(np.pi - solutions, 2 * np.pi)
