"""Train a small network to balance a pole on a cart, with PyTorch through the simulation's steps.

The gradient of the cost of one second is propagated back through every step and every output of the
network. Needs the extra `torch`. Writes train_a_policy.png.

Run: python examples/13_train_a_policy.py
"""

import matplotlib
import torch

from robosim import load_robot
from robosim.bridges.torch import step
from robosim.simulation import Simulation
from robosim.world import World

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROBOT = load_robot("cart_pole")  # q: position of the cart [m], angle of the pole [rad]
SIMULATION = Simulation(World(ROBOT), dt=0.02, substeps=4)
STEPS, RUNS, ROUNDS = 50, 8, 31
FORCE = 20.0  # largest force [N]


def try_it(
    policy: torch.nn.Module, q: torch.Tensor, v: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the angles of the poles at all times, and the mean cost, of all runs at once."""
    cost, angles = torch.zeros(()), [q[:, 1]]
    for _ in range(STEPS):
        force = FORCE * torch.tanh(policy(torch.cat([q, v], dim=1)))
        tau = torch.cat([force, torch.zeros_like(force)], dim=1)  # nothing drives the pole
        q, v, _ = step(SIMULATION, q, v, tau=tau)
        cost = cost + (q[:, 1] ** 2 + 0.1 * q[:, 0] ** 2 + 0.01 * (v**2).sum(dim=1)).mean()
        angles.append(q[:, 1])
    return torch.stack(angles), cost / STEPS


def main() -> None:
    """Train the policy, and plot its behavior before and after."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    policy = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.Adam(policy.parameters(), lr=0.02)
    # The states are float32, as the network is. Steps are computed in double precision.
    q, v = torch.zeros(RUNS, 2), torch.zeros(RUNS, 2)
    q[:, 1] = torch.linspace(-0.3, 0.3, RUNS)
    with torch.no_grad():
        before, _ = try_it(policy, q, v)
    for i in range(ROUNDS):
        optimizer.zero_grad()
        _, cost = try_it(policy, q, v)
        cost.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimizer.step()
        if i % 10 == 0:
            print(f"round {i}: cost {cost.item():.4f}")
    with torch.no_grad():
        after, cost = try_it(policy, q, v)
    print(f"learned: cost {cost.item():.4f}, poles within {float(after[-1].abs().max()):.3f} rad")
    if float(after[-1].abs().max()) > 0.1:
        raise SystemExit("the poles fall")
    figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", sharey=True)
    for axis, angles, title in zip(axes, (before, after), ("before", "after"), strict=True):
        axis.plot(SIMULATION.dt * torch.arange(STEPS + 1), angles)
        axis.set(title=title, xlabel="time [s]", ylim=(-1, 1))
    axes[0].set_ylabel("angle of the pole [rad]")
    figure.savefig("train_a_policy.png", dpi=150)


if __name__ == "__main__":
    main()
