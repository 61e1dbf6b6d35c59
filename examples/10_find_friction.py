"""Find the friction of a road from the position where a car with locked wheels stops.

The gradient of the stopping position with respect to friction drives Newton's method.

After an experiment of Qiao, Liang, Koltun and Lin, "Efficient differentiable simulation of
articulated bodies", ICML 2021, Figure 7: there stochastic gradient descent finds a friction of
0.21. The car, the locked wheels, the episode of 2 s and Newton's method are specific to this
example, and so is the friction that it finds. Writes find_friction.png.

Run: python examples/10_find_friction.py
"""

import matplotlib
import numpy as np

from robosim import load_robot
from robosim.scene import Scene
from robosim.simulation import Control, Simulation
from robosim.world import Motor, World

matplotlib.use("Agg")
import matplotlib.pyplot as plt

STOP = 0.8  # observed stopping position of the car [m]
SPEED = 1.0  # initial speed [m/s]
STEPS, DT = 1000, 2e-3
RADIUS = 0.05  # of the wheels [m]
ROBOT = load_robot("race_car", base="floating")
WHEELS = ROBOT.groups["wheels"].joints
TIRES = [joint.child for joint in ROBOT.joints if joint.name in WHEELS]
BRAKE = Motor(velocity_gain=50.0)  # [N m s/rad]; the joints' effort limits apply


def make_simulation() -> Simulation:
    """Return a simulation of the car on a road, with locked wheels and straight steering."""
    scene = Scene("road")
    scene.add_half_space("road")
    steering = dict.fromkeys(ROBOT.groups["steering"].joints, Motor(20.0, 0.5))
    motors = {**steering, **dict.fromkeys(WHEELS, BRAKE)}
    return Simulation(World(ROBOT, scene, motors=motors), dt=DT)


def main() -> None:
    """Find the friction."""
    q, v = ROBOT.neutral(), np.zeros(ROBOT.n_v)
    q[2], v[0] = RADIUS, SPEED
    q_bar = np.zeros((STEPS + 1, ROBOT.n_v))
    q_bar[-1, 0] = 1  # gradient of the final position
    control = Control(q_target=q)
    sought = [("friction", (tire, "road")) for tire in TIRES]
    friction, figure = 0.002, plt.figure(figsize=(6, 3.5), layout="constrained")
    car = make_simulation()
    for _ in range(10):
        simulation = car.with_parameters(dict.fromkeys(sought, friction))
        motion = simulation.rollout(simulation.state(q, v), STEPS, control)
        miss = motion.q[-1, 0] - STOP
        print(
            f"friction {friction:.5f}: {1000 * abs(miss):.2f} mm off after {motion.times[-1]:g} s"
        )
        plt.plot(motion.times, motion.q[:, 0], label=f"{friction:.4f}")
        if abs(miss) < 1e-4:
            break
        # Derivative of the final position with respect to the friction of all tires, back through
        # all steps. Newton's method takes its next guess from this derivative.
        gradient = motion.vjp(q_bar)
        friction -= miss / sum(gradient.parameters[key] for key in sought)
    else:
        raise SystemExit("no friction found")
    plt.axhline(STOP, color="black", linestyle=":")
    plt.xlabel("time [s]")
    plt.ylabel("x [m]")
    plt.legend(title="friction")
    figure.savefig("find_friction.png", dpi=150)


if __name__ == "__main__":
    main()
