"""Stabilize a planned motion of a UR5 by time-varying LQR.

All knots are linearized at once, and the gains are tested on 256 disturbed runs.
"""

import time

import matplotlib
import numpy as np

import robosim
from robosim.planners import Problem, plan

matplotlib.use("Agg")
import matplotlib.pyplot as plt

robot = robosim.load_robot("ur5")
trajectory = plan(Problem(robot, start="home", goal="ready")).trajectory

# The motion at 256 instants, and the torques that it requires.
t = np.linspace(0, trajectory.duration, 256)
dt = t[1]
q, v, a = trajectory.position(t), trajectory.velocity(t), trajectory.acceleration(t)
tau = robot.inverse_dynamics(q, v, a)

# Linearization at each knot, with x = (difference from q, difference from v):
#  x' = A x + B (change of tau), of the step v' = v + dt a(q, v, tau), q' = integrate(q, dt v').
start = time.perf_counter()
_, da_dq, da_dv, da_dtau = robot.forward_dynamics_derivatives(q, v, tau)
elapsed = 1e3 * (time.perf_counter() - start)
print(f"{len(t)} knots linearized in {elapsed:.2f} ms, memory of the first call included")
n = robot.n_v
one = np.eye(n)
lower = np.concatenate([dt * da_dq, one + dt * da_dv], axis=2)
A = np.concatenate([dt * lower, lower], axis=1)
A[:, :n, :n] += one
B = np.concatenate([dt * dt * da_dtau, dt * da_dtau], axis=1)

# Riccati recursion backwards from the last knot: feedback gains from the weights Q and R.
Q, R = np.diag([1e4] * n + [1e2] * n), np.diag(1e-2 * one.diagonal())
S, K = Q, np.empty((len(t), n, 2 * n))
for k in reversed(range(len(t))):
    K[k] = np.linalg.solve(R + B[k].T @ S @ B[k], B[k].T @ S @ A[k])
    S = Q + A[k].T @ S @ (A[k] - B[k] @ K[k])


def errors(runs: int, *, feedback: bool) -> np.ndarray:
    """Return the largest joint error (knots, runs) of runs that start off the path.

    A random force pulls at the tool of each run from knot 100 to knot 129.
    """
    rng = np.random.default_rng(0)
    at, speed = q[0] + rng.normal(0, 0.02, (runs, n)), v[0] + rng.normal(0, 0.05, (runs, n))
    pull = np.concatenate([rng.normal(0, 5, (runs, 3)), np.zeros((runs, 3))], axis=1)  # [N, N m]
    found = np.empty((len(t), runs))
    for k in range(len(t)):
        x = np.concatenate([robot.difference(q[k], at), speed - v[k]], axis=1)
        found[k] = np.abs(x[:, :n]).max(axis=1)
        torque = tau[k] - x @ K[k].T if feedback else np.broadcast_to(tau[k], (runs, n))
        wrenches = {"tool0": pull if 100 <= k < 130 else 0 * pull}
        speed = speed + dt * robot.forward_dynamics(at, speed, torque, external=wrenches)
        at = robot.integrate(at, dt * speed)
    return found


figure, axes = plt.subplots(layout="constrained")
for feedback, label in ((False, "torques as planned"), (True, "with LQR")):
    error = errors(256, feedback=feedback)
    print(
        f"{label:19} error at the end: median {np.median(error[-1]):.4f} rad, worst"
        f" {error[-1].max():.4f} rad"
    )
    axes.semilogy(t, np.median(error, axis=1), label=f"{label}: median")
    axes.fill_between(
        t, *np.quantile(error, (0.05, 0.95), axis=1), alpha=0.3, label="5 to 95 % of the runs"
    )
axes.set(xlabel="time [s]", ylabel="largest joint error [rad]")
axes.legend()
figure.savefig("lqr.png")
