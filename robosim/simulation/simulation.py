"""`Simulation`: time steps, rollouts and parameters of a world."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from functools import cached_property
from operator import attrgetter
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import _engine
from robosim.errors import SimulationError, check_type
from robosim.pickling import maker, rebuild
from robosim.scene.compile import compile_scene
from robosim.simulation.arguments import asked_for, aware, engine_errors, listed
from robosim.simulation.axes import with_axes
from robosim.simulation.changes import all_changes, changed_model, engine_values
from robosim.simulation.columns import ColumnLists, ParameterColumns
from robosim.simulation.gradients import Jacobians, MeshRows, OneSidedCause, StepGradient
from robosim.simulation.hulls import links_in_hulls, told_left_out
from robosim.simulation.linearization import Linearization
from robosim.simulation.link_inertias import LinkInertias, link_inertias
from robosim.simulation.parameters import (
    Key,
    ParameterGradient,
    ParameterNames,
    ParameterValues,
)
from robosim.simulation.rollout import Progress, Rollout, roll
from robosim.simulation.rows import frame_closures, joint_equalities, motor_rows, pair_materials
from robosim.simulation.state import DRIVES, Control, State
from robosim.world.closure import Closure, JointEquality
from robosim.world.world import World

__all__ = ["Simulation"]

Array = NDArray[np.float64]
_NO_CONTROL = Control()
_JACOBIANS = ("q", "v", *DRIVES)
# Accessors of the engine's result arrays, in the order of StepGradient and Jacobians.
_GRADIENT_ARRAYS = attrgetter(*_JACOBIANS, "parameters", "vertices", "causes")
_JACOBIAN_ARRAYS = attrgetter(*_JACOBIANS, "parameters", "causes")


class Simulation:
    """Simulation of a world with hard contact, friction, joint limits, motors and closed loops.

    Contacts, limits, dry friction and motors are constraint rows, whose impulses are solved
    together in each step. Touching bodies do not penetrate further, friction stays within mu times
    the normal force along each of two axes, and limits hold. Damping, springs and motors are
    implicit, so stiff ones are stable. Position correction reduces existing penetration by the
    fraction `erp` in each step. Approaching bodies collide within `margin`, or at their time of
    impact, one impact after the other (`bounce`). Free bodies conserve their linear momentum
    exactly.

    Contacts are those of hulls and convex pieces where these stand for meshes (`load_robot`). Links
    whose hulls overlap in the neutral configuration while their meshes do not are not pushed apart:
    such pairs are missing from `pairs` and listed in `left_out`, with a warning.

    A step is a function of state, control and these arguments alone. Its result is the same to the
    bit, whatever was computed before.

    Args:
        world: the world to simulate. It is copied, so later additions to `world` have no effect.
        dt: length of a step [s].
        solver: `convex` solves a few convex problems in bounded time, with friction within a
            circle, the same in every direction. `lcp` solves the rows to rounding, with friction
            within a square. `pgs` makes a fixed number of sweeps of projected Gauss-Seidel from
            zero, with friction within a square.
        integrator: `semi_implicit`: semi-implicit Euler, with implicit damping and springs of
            joints.
        substeps: number of parts of a step, each a step by itself.
        sweeps: number of sweeps of `pgs`.
        erp: fraction of the error that position correction removes per (sub)step, 0 to 1. Errors
            are penetration, excess over a limit and separation at a closure.
        recovery_speed: largest speed of position correction [m/s or rad/s]. The correction moves
            positions and leaves no velocity behind.
        margin: gap within which things count as touching [m]. Contacts are searched within it, and
            as far as things move in the step.
        limit_margin: distance to a joint limit within which the limit has a row [rad or m].
        speed_limits: True if joints with one position keep their speed limits (`Model.limits`),
            whatever drives or strikes them. With `pgs`, as closely as its sweeps converge.
        restitution_threshold: approach speed below which nothing bounces [m/s].
        bounce: time at which approaching bodies bounce or land. `time_of_impact`: when they touch,
            within the step, one impact after the other; runs and their gradients are then those of
            continuous time up to dt, and nothing passes through thin objects. `step`: wherever a
            step finds them within the margin, all at once. `automatic`: `time_of_impact` if any
            material has restitution, else `step`.
        complementarity_aware: search direction for optimizers in `vjp`, with `lcp` only. A body at
            rest has zero gradient with respect to forces that are too weak to lift it, so an
            optimizer never starts. With this option the gradient of each step is computed a second
            time, with contacts and limits that separate or push as the loss prefers. The larger
            gradient of the two is propagated. It is a direction to try, not a derivative, and
            `causes` has `other_classes`. True: each contact and limit is chosen by itself.
            `together`: contacts between two moving bodies push and stick in any case, and only
            limits and contacts with the world follow the loss. This suits objects that something
            else lifts.

    Raises:
        SimulationError: an unknown name, a number out of its range, or a model without valid
            dynamics (`Model.dynamics_faults`).
        SceneError: the scene does not fit the model.

    Source: `engine/step/step.h`; Anitescu and Potra (1997), Werling et al. (2021).

    Example:
        >>> import robosim
        >>> from robosim.scene import Scene
        >>> from robosim.simulation import Control, Simulation
        >>> from robosim.world import Motor, World
        >>> arm = robosim.load_robot("ur5")
        >>> motor = Motor(position_gain=2000, velocity_gain=100)
        >>> motors = dict.fromkeys(arm.joint_names, motor)
        >>> simulation = Simulation(World(arm, motors=motors))
        >>> start = simulation.state([0, -1.5, 1.0, 0, 0, 0])
        >>> state = simulation.step(start, Control(q_target=start.q))
        >>> state.report.status.name, bool(abs(state.q - start.q).max() < 1e-4)
        ('solved', True)
    """

    def __init__(
        self,
        world: World,
        *,
        dt: float = 1e-3,
        solver: str = "convex",
        integrator: str = "semi_implicit",
        substeps: int = 1,
        sweeps: int = 50,
        erp: float = 0.2,
        recovery_speed: float = 1.0,
        margin: float = 1e-3,
        limit_margin: float = 1e-3,
        speed_limits: bool = False,
        restitution_threshold: float = 0.01,
        bounce: str = "automatic",
        complementarity_aware: bool | Literal["together"] = False,
    ) -> None:
        check_type(world, World, "world", SimulationError)
        self.world = world = world.copy()
        self.model = model = world.model
        if model.dynamics_faults:
            raise SimulationError(model._dynamics_fault)
        self.dt = float(dt)
        # Closures; two links that a frame closure connects do not collide.
        self._closures: tuple[Closure, ...] = tuple(world.closures)
        held = [c for c in self._closures if not isinstance(c, JointEquality)]
        laws = [c for c in self._closures if isinstance(c, JointEquality)]
        frames = frame_closures(model, held)
        scene = world.scene.copy()
        for closure in held:
            if closure.a != closure.b:  # the engine refuses it
                scene.allow(closure.a, closure.b)
        # Compile the scene, without pairs of links that overlap by their hulls alone.
        self._scene = compile_scene(scene, model, with_tables=False)
        self.left_out = tuple(links_in_hulls(model, self._scene))
        """Pairs of links that are not pressed apart: their hulls or pieces overlap in the neutral
        configuration, and their meshes do not."""
        if self.left_out:
            for link_a, link_b in self.left_out:
                scene.allow(link_a, link_b)
            self._scene = compile_scene(scene, model, with_tables=False)
            warnings.warn(f"'{model.name}': {told_left_out(self.left_out)}", stacklevel=2)
        # Options of the engine, checked against its lists of names.
        options: dict[str, Any] = {
            "dt": self.dt,
            "solver": listed(solver, _engine.row_solvers, "solver"),
            "integrator": listed(integrator, _engine.integrators, "integrator"),
            "sweeps": sweeps,
            "erp": erp,
            "recovery_speed": recovery_speed,
            "margin": margin,
            "limit_margin": limit_margin,
            "speed_limits": bool(speed_limits),
            "restitution_threshold": restitution_threshold,
            "bounce": listed(bounce, _engine.bounces, "bounce"),
            "substeps": substeps,
        }
        # Arguments of this simulation, for copies and pickling.
        self._made_of: dict[str, Any] = {
            "world": world,
            "complementarity_aware": complementarity_aware,
            **options,
        }
        with engine_errors():
            self._engine = _engine.Simulation(
                self._scene,
                pair_materials(model, self._scene, world.materials),
                motor_rows(model, world.motors),
                closures=frames,
                equalities=joint_equalities(model, laws),
                complementarity_aware=aware(complementarity_aware),
                **options,
            )
        # For a simulation made by `with_parameters`: the simulation that it was derived from, and
        # the values that differ, by kind.
        self._made: Simulation | None = None
        self._changes: dict[str, Array] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuild, (_rebuilt_simulation, {**self._made_of, "parameters": self._changes})

    @cached_property
    def _names(self) -> ParameterNames:
        return ParameterNames(self.model, self._scene, self._closures, self._engine)

    @cached_property
    def _links(self) -> LinkInertias:
        return link_inertias(self.model)

    @property
    def parameters(self) -> ParameterValues:
        """Values of all parameters, by name.

        Example:
            >>> import robosim
            >>> from robosim.simulation import Simulation
            >>> from robosim.world import World
            >>> arm = Simulation(World(robosim.load_robot("ur5")))
            >>> float(arm.parameters["mass", "forearm_link"])
            2.33
            >>> arm.parameters.kinds["mass"].unit
            'kg'
        """
        return ParameterValues(self._names, self._links, *self._engine.parameter_values())

    def with_parameters(self, changes: Mapping[Key, ArrayLike]) -> Simulation:
        """Return a simulation of the same world with other values of some parameters.

        Its gradients are with respect to the same parameters.

        Args:
            changes: values by name, as in `parameters`. Poses and placements are twists [linear;
                angular] from the present pose, in the object's own frame; a scale is a factor. A
                pair stands for all pairs of shapes of both.

        Raises:
            SimulationError: there is no such parameter, an array has the wrong shape, or a number
                is out of its range.

        Example:
            >>> import robosim
            >>> from robosim.simulation import Simulation
            >>> from robosim.world import World
            >>> arm = Simulation(World(robosim.load_robot("ur5")))
            >>> changes = {("mass", "forearm_link"): 3.0, "gravity": [0, 0, -1.62]}
            >>> heavier = arm.with_parameters(changes)
            >>> float(heavier.parameters["mass", "forearm_link"])
            3.0
        """
        made = self._made or self
        return made._with(all_changes(made.parameters, self._changes, changes))

    def _with(self, changes: dict[str, Array], substeps: int | None = None) -> Simulation:
        """Return a copy with these changes from the original values, and with other substeps."""
        values = self.parameters
        numbers, vertices = self._engine.parameter_values()
        links = engine_values(values, numbers, vertices, self.model, changes)
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.__dict__.update(_names=self._names, _made=self, _changes=changes)
        with engine_errors():
            other._engine, other._scene, model = self._engine.with_parameter_values(
                self._scene, self.model._engine, numbers, vertices, substeps
            )
        other.dt = float(self._names.view(numbers, "dt")[0])
        if model is not self.model._engine:
            other.model = changed_model(self.model, model, links)
        if links:
            del other.__dict__["_links"]
            other.__dict__.pop("_parameter_columns", None)
        return other

    def state(
        self, q: ArrayLike | None = None, v: ArrayLike | None = None, *, time: float = 0.0
    ) -> State:
        """Return a state of this world: by default the start configuration, at rest.

        With leading axes it stands for many states.

        Raises:
            SimulationError: q is not (..., n_q) or v not (..., n_v) finite numbers, leading axes do
                not broadcast, or a quaternion in q is zero.
        """
        model = self.model
        state = State(
            np.asarray(self.world.start if q is None else q),
            np.asarray(np.zeros(model.n_v) if v is None else v),
            time,
        )
        self._check_shapes(state)
        return state

    def step(self, state: State, control: Control = _NO_CONTROL) -> State:
        """Return the state one step later; its `report` describes how the step was solved.

        Raises:
            SimulationError: an array has the wrong shape, or is not finite.
        """
        with engine_errors():
            (q, v), report = self._engine.step(
                (state.q, state.v), (control.tau, control.q_target, control.v_target)
            )
        return State._made(q, v, state.time + self.dt, report)

    def linearize(self, state: State, control: Control = _NO_CONTROL) -> Linearization:
        """Take a step, the same to the bit as `step`, and keep its forces and derivatives.

        Raises:
            SimulationError: as in `step`.

        Example:
            >>> import robosim
            >>> from robosim.simulation import Simulation
            >>> from robosim.world import World
            >>> cart = Simulation(World(robosim.load_robot("cart_pole")), dt=0.01)
            >>> step = cart.linearize(cart.state([0.0, 0.3]))
            >>> gradient = step.vjp(v_bar=[0.0, 1.0])
            >>> bool(gradient.parameters["mass", "pole"] != 0)
            True
        """
        return Linearization(self, state, control)

    def rollout(
        self,
        state: State,
        steps: int,
        control: Control = _NO_CONTROL,
        *,
        interval: int = 1,
        progress: Progress | None = None,
    ) -> Rollout:
        """Take many steps, from one state or from many at once. Ctrl-C interrupts it.

        Leading axes of the state's and the control's arrays broadcast by NumPy's rules. Each entry
        is a run, the same to the bit as a run by itself. Many runs use several threads
        (`robosim.set_threads`, `robosim.threads`).

        Args:
            state: the first state; q (..., n_q) and v (..., n_v).
            steps: number of steps of every run.
            control: each array has a row for each step, (..., steps, n), or one row for all steps,
                (n,) or (..., 1, n).
            interval: number of steps between kept states; the last state is always kept. A larger
                interval saves memory in long runs, and gradients recompute the states between.
            progress: called about every thousand steps with the number of steps that all runs have
                taken. An exception from it ends the rollout.

        Raises:
            SimulationError: as in `step`; leading axes do not broadcast; or the interval is below
                1.

        Example:
            >>> import numpy as np, robosim
            >>> from robosim.simulation import Control, Simulation
            >>> from robosim.world import World
            >>> cart = Simulation(World(robosim.load_robot("cart_pole")), dt=0.01)
            >>> pushes = np.zeros((5, 1, 2))  # five runs, each with a push of its own at all steps
            >>> pushes[:, 0, 0] = [-2, -1, 0, 1, 2]
            >>> runs = cart.rollout(cart.state([0.0, 0.3]), 100, Control(tau=pushes))
            >>> runs.q.shape
            (5, 101, 2)
            >>> gradient = runs.vjp(v_bar=np.ones((101, 2)))
            >>> gradient.tau.shape, gradient.parameters["mass", "pole"].shape
            ((5, 100, 2), (5,))
        """
        return roll(self, state.q, state.v, state.time, steps, control.copy(), interval, progress)

    @property
    def objects(self) -> list[str]:
        """Names of the shapes that may touch, in the order of `parameters["pose"]`: colliders, then
        obstacles.

        An obstacle of several shapes is listed once for each shape.
        """
        return list(self._scene.names)

    @property
    def meshes(self) -> list[MeshRows]:
        """Shapes with vertices, and their rows in `parameters["vertices"]`.

        These are convex meshes and single triangles, of colliders and obstacles. Parts of an
        obstacle are separate objects.

        Example:
            >>> import numpy as np
            >>> from robosim.geometry import Shape
            >>> from robosim.model import ModelBuilder
            >>> from robosim.scene import Scene
            >>> from robosim.simulation import Simulation
            >>> from robosim.world import World
            >>> builder = ModelBuilder("stone")
            >>> builder.add_link("root")
            >>> builder.add_link("stone", mass=1.0, inertia=0.01 * np.eye(3))
            >>> builder.add_joint("free", "floating", "root", "stone")
            >>> corners = [[0, 0, 0], [0.1, 0, 0.1], [0, 0.1, 0.1], [-0.1, 0, 0.1]]
            >>> builder.add_collider("stone", Shape.convex(corners))
            >>> ground = Scene("ground")
            >>> ground.add_half_space("ground")
            >>> simulation = Simulation(World(builder.build(), ground))
            >>> pushed = simulation.linearize(simulation.state()).vjp(v_bar=[0, 0, 1, 0, 0, 0])
            >>> mesh = simulation.meshes[0]
            >>> # The lowest one pushes.
            >>> mesh.name, int(pushed.parameters["vertices", "stone"][:, 2].argmin())
            ('stone/0', 0)
        """
        return [
            MeshRows(
                x.name, x.object, slice(x.first_row, x.first_row + len(x.shape.vertices)), x.shape
            )
            for x in self._engine.meshes
        ]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Names of the pairs that may touch, in the order of `parameters["friction"]`."""
        names = self._scene.names
        return [(names[a], names[b]) for a, b in self._scene.pairs]

    @cached_property
    def _parameter_columns(self) -> ParameterColumns:
        return ParameterColumns(self._names, self._links)

    def _wanted(
        self, by: Collection[Key]
    ) -> tuple[tuple[bool, ...], list[Key], ColumnLists | None]:
        """Return the requested flags of state and control, the keys of parameters, and their
        columns."""
        if not by:
            by = _JACOBIANS
        of_state = [x for x in by if isinstance(x, str) and x in _JACOBIANS]
        keys = [x for x in by if x not in of_state]
        for key in keys:
            if isinstance(key, str) and key not in self._names.kinds:
                names = ", ".join([*_JACOBIANS, *self._names.kinds])
                raise SimulationError(f"by has {key!r}; Jacobians are by {names}")
        return (
            asked_for(of_state, _JACOBIANS, "Jacobians are by"),
            keys,
            self._parameter_columns.lists(keys),
        )

    def _gradient(
        self,
        found: _engine.GradientArrays,
        of: type[ParameterGradient] = ParameterGradient,
        leading: tuple[int, ...] | None = None,
    ) -> StepGradient:
        """Convert the engine's arrays, of one step or of runs with these leading axes."""
        arrays: tuple[Array, ...] = _GRADIENT_ARRAYS(found)
        if leading is not None:
            arrays = tuple([with_axes(x, leading) for x in arrays])
        *states, numbers, vertices, causes = arrays
        parameters = of(self._names, self._links, numbers, vertices)
        return StepGradient._make(
            [*states, parameters, causes if leading else OneSidedCause(int(causes))]
        )

    def _jacobians(
        self, found: _engine.JacobianArrays, keys: list[Key], leading: tuple[int, ...] | None = None
    ) -> Jacobians:
        """Convert the engine's arrays, of one step or of runs with these leading axes."""
        arrays: tuple[Array, ...] = _JACOBIAN_ARRAYS(found)
        if leading is not None:
            arrays = tuple([with_axes(x, leading) for x in arrays])
        *blocks, parameters, causes = arrays
        by_name = self._parameter_columns.by_name(keys, parameters)
        return Jacobians._make(
            [*blocks, by_name, OneSidedCause(int(causes)) if leading is None else causes]
        )

    def _check_shapes(self, state: State) -> None:
        model = self.model
        for what, array, n in ("q", state.q, model.n_q), ("v", state.v, model.n_v):
            if array.shape[-1] != n:
                raise SimulationError(f"{what} has shape {array.shape}; it must be (..., {n})")
        try:
            np.broadcast_shapes(state.q.shape[:-1], state.v.shape[:-1])
        except ValueError:
            raise SimulationError(
                f"leading axes of q {state.q.shape[:-1]} and v {state.v.shape[:-1]} must broadcast"
            ) from None
        with engine_errors():
            for i in np.ndindex(state.q.shape[:-1]):
                _engine.check_configuration(model._engine, state.q[i])


@maker
def _rebuilt_simulation(parameters: Mapping[Key, Array], **made_of: Any) -> Simulation:
    """Rebuild a pickled simulation from its arguments and its changed parameters."""
    return Simulation(**made_of).with_parameters(parameters)
