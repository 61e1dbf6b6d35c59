"""`Simulation`: a model among obstacles, stepped through time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robosim import _engine
from robosim.errors import SimulationError, check_type
from robosim.model import Model
from robosim.pickling import maker, rebuild
from robosim.scene import Scene
from robosim.scene.compile import compile_scene
from robosim.simulation.arguments import (
    asked_for,
    aware,
    drive_of,
    drive_rows,
    each_step,
    engine_errors,
    listed,
    sized,
    stacked,
    state_of,
    thread_count,
)
from robosim.simulation.balance import StepBalance, balance_of
from robosim.simulation.changes import all_changes, changed_model, engine_values
from robosim.simulation.closure import Closure, JointEquality, equality_rows, frame_rows
from robosim.simulation.columns import ColumnLists, ParameterColumns
from robosim.simulation.details import StepDetails, StepReport, details_of
from robosim.simulation.gradients import (
    MeshRows,
    RunJacobians,
    StepCurvature,
    StepGradient,
    StepJacobians,
    StepTangent,
)
from robosim.simulation.hulls import links_in_hulls
from robosim.simulation.link_inertias import LinkInertias, link_inertias
from robosim.simulation.material import Material, Motor, motor_rows, pair_materials
from robosim.simulation.parameters import (
    Key,
    ParameterErrors,
    ParameterGradient,
    ParameterNames,
    ParameterValues,
)
from robosim.simulation.replay import Replay, spread
from robosim.simulation.state import DRIVES, Control, Motion, State

__all__ = ["Simulation"]

Array = NDArray[np.float64]
Progress = Callable[[int], object]
_NO_CONTROL = Control()
_JACOBIANS = ("q", "v", *DRIVES)


class Simulation:
    """Steps a model through time with hard contact, friction, joint limits, dry friction, motors and closed loops.

    Contacts, limits, dry friction and motors are rows whose impulses are found together at each step: what
    touches does not overlap further, friction stays within mu times the normal force along each of two axes, limits
    hold. Damping, springs and motors are implicit, so that stiff ones are steady. What overlaps already is taken
    back by a part `erp` in each step, what approaches is met within `margin`, or with `bounce="time_of_impact"` when it
    touches. Bodies that move freely keep their linear momentum exactly. Several robots or objects are one model, with a
    joint from its root to each.

    Contacts are those of hulls and convex pieces, where these stand for meshes (`load_robot`). Links whose hulls
    overlap in the neutral configuration, and whose meshes do not, are not pressed apart: `pairs` lacks them.

    A step is a function of state, control and these arguments alone: the same to the bit whatever was asked before.

    Args:
        model: robots and free objects.
        scene: obstacles, and which pairs may touch without being told (`Scene.allow`); None for none.
        dt: length of a step [s].
        solver: `lcp` solves the rows to rounding, friction within a square; `cone` to rounding, friction within a
            circle, the same in every direction; `pgs` makes a fixed number of sweeps of projected Gauss-Seidel from
            zero, friction within a square.
        integrator: `semi_implicit`: semi-implicit Euler, with damping and springs of joints implicit.
        materials: by name of a link or of an object, or by a pair of names; `Material()` where nothing is said.
        motors: by name of a joint.
        closures: points and frames of links that stay together, and laws between joints. Two links that one holds
            together do not collide, as those that a joint connects.
        substeps: parts of a step, each a step by itself.
        sweeps: of `pgs`.
        erp: part of an overlap that is taken back in a (sub)step, 0 to 1.
        margin: [m] within which things are taken for touching.
        limit_margin: [rad or m] the same of joint limits.
        speed_limits: whether joints with one position keep the limits of their speeds (`Model.limits`), whatever drives
            or strikes them; with `pgs` as near as its sweeps come.
        restitution_threshold: [m/s] of approach, below which nothing bounces.
        bounce: when what comes near bounces or lands: `step`, wherever a step finds it within the margin;
            `time_of_impact`, when it touches, between the steps' ends. Then runs and their gradients are those of
            continuous time, up to dt, for one bounce and for several that do not feel each other; nothing passes
            through what is thin.
        complementarity_aware: of `vjp` and `run_vjp`, with `lcp` or `cone`. What rests has no gradient by forces that
            are too weak to lift it, and an optimiser never begins. With this each step's gradient is taken a second
            time, with contacts and limits that let go where the loss wants them to part and push where it wants them
            to, and the larger one goes on: a direction to try, not a derivative, and `one_sided` then. True: each of
            them by itself. `together`: contacts between two things that both move push and stick whether they do or
            not, and only limits and contacts with the world follow the loss: for what is lifted by something else.

    Raises:
        SimulationError: a name that nothing has, a number out of its range, or a model without valid dynamics
            (`Model.dynamics_faults`).
        SceneError: the scene does not fit the model.

    Source: `engine/step/step.h`; Anitescu and Potra (1997), Werling et al. (2021).

    Example:
        >>> import robosim
        >>> from robosim.scene import Scene
        >>> from robosim.simulation import Control, Motor, Simulation
        >>> arm = robosim.load_robot("ur5")
        >>> motors = {name: Motor(position_gain=2000, velocity_gain=100) for name in arm.joint_names}
        >>> simulation = Simulation(arm, motors=motors)
        >>> start = simulation.state([0, -1.5, 1.0, 0, 0, 0])
        >>> state = simulation.step(start, Control(q_target=start.q))
        >>> state.report.status, bool(abs(state.q - start.q).max() < 1e-4)
        ('solved', True)
    """

    def __init__(
        self,
        model: Model,
        scene: Scene | None = None,
        *,
        dt: float = 1e-3,
        solver: str = "lcp",
        integrator: str = "semi_implicit",
        materials: Mapping[str | tuple[str, str], Material] | None = None,
        motors: Mapping[str, Motor] | None = None,
        closures: Sequence[Closure] = (),
        substeps: int = 1,
        sweeps: int = 50,
        erp: float = 0.2,
        margin: float = 1e-3,
        limit_margin: float = 1e-3,
        speed_limits: bool = False,
        restitution_threshold: float = 0.01,
        bounce: str = "step",
        complementarity_aware: bool | Literal["together"] = False,
    ) -> None:
        check_type(model, Model, "model", SimulationError)
        if scene is not None:
            check_type(scene, Scene, "scene", SimulationError)
        if model.dynamics_faults:
            raise SimulationError(model._dynamics_fault)
        self.model = model
        self.dt = float(dt)
        self._closures: tuple[Closure, ...] = tuple(closures)
        held = [c for c in self._closures if not isinstance(c, JointEquality)]
        laws = [c for c in self._closures if isinstance(c, JointEquality)]
        frames = frame_rows(model, held)
        scene = Scene() if scene is None else scene.copy()
        for closure in held:
            if closure.a != closure.b:  # the engine refuses it
                scene.allow(closure.a, closure.b)
        self._scene = compile_scene(scene, model, with_tables=False)
        if apart := links_in_hulls(model, self._scene):
            for link_a, link_b in apart:
                scene.allow(link_a, link_b)
            self._scene = compile_scene(scene, model, with_tables=False)
        options: dict[str, Any] = {
            "dt": self.dt,
            "solver": listed(solver, _engine.row_solvers, "solver"),
            "integrator": listed(integrator, _engine.integrators, "integrator"),
            "sweeps": sweeps,
            "erp": erp,
            "margin": margin,
            "limit_margin": limit_margin,
            "speed_limits": bool(speed_limits),
            "restitution_threshold": restitution_threshold,
            "bounce": bounce,
            "substeps": substeps,
        }
        # What it is made of, for copies.
        self._made_of: dict[str, Any] = {
            "model": model,
            "scene": scene,
            "materials": dict(materials or {}),
            "motors": dict(motors or {}),
            "closures": self._closures,
            "complementarity_aware": complementarity_aware,
            **options,
        }
        with engine_errors():
            self._engine = _engine.Simulation(
                self._scene,
                pair_materials(model, self._scene, self._made_of["materials"]),
                motor_rows(model, self._made_of["motors"]),
                closures=frames,
                equalities=equality_rows(model, laws),
                complementarity_aware=aware(complementarity_aware),
                **options,
            )
        # Of a world with other parameters: the one that it was made from, and all that is not as there, by kind.
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
        """The values of all parameters, by name.

        Example:
            >>> import robosim
            >>> from robosim.simulation import Simulation
            >>> arm = Simulation(robosim.load_robot("ur5"))
            >>> float(arm.parameters["mass", "forearm_link"])
            2.33
            >>> arm.parameters.kinds["mass"].unit
            'kg'
        """
        return ParameterValues(self._names, self._links, *self._engine.parameter_values())

    def with_parameters(self, changes: Mapping[Key, ArrayLike]) -> Simulation:
        """The same world with other values of some parameters: the steps of its gradient's arguments.

        Args:
            changes: by name, as in `parameters`. Poses and placements are twists [linear; angular] from where things
                are, in their own frames; a scale is a factor. A pair stands for all pairs of shapes of both.

        Raises:
            SimulationError: there is no such parameter, an array has the wrong shape, or a number is out of its range.

        Example:
            >>> import robosim
            >>> from robosim.simulation import Simulation
            >>> arm = Simulation(robosim.load_robot("ur5"))
            >>> heavier = arm.with_parameters({("mass", "forearm_link"): 3.0, "gravity": [0, 0, -1.62]})
            >>> float(heavier.parameters["mass", "forearm_link"])
            3.0
        """
        made = self._made or self
        return made._with(all_changes(made.parameters, self._changes, changes))

    def _with(self, changes: dict[str, Array], substeps: int | None = None) -> Simulation:
        """With what is not as it was made, and other substeps."""
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

    def state(self, q: ArrayLike | None = None, v: ArrayLike | None = None, *, time: float = 0.0) -> State:
        """A state of this model: by default in its neutral configuration and at rest.

        Raises:
            SimulationError: q is not (n_q,) or v not (n_v,) finite numbers, or a quaternion in q is zero.
        """
        model = self.model
        state = State(
            np.asarray(model.neutral() if q is None else q),
            np.asarray(np.zeros(model.n_v) if v is None else v),
            time,
        )
        self._check_shapes(state)
        return state

    def step(self, state: State, control: Control = _NO_CONTROL) -> State:
        """The state one step later.

        Its `report` tells how the step was solved.

        Raises:
            SimulationError: an array has the wrong shape, or is not finite.
        """
        with engine_errors():
            (q, v), report = self._engine.step(
                (state.q, state.v), (control.tau, control.q_target, control.v_target)
            )
        return State(q, v, state.time + self.dt, StepReport(*report))

    def details(self, state: State, control: Control = _NO_CONTROL) -> StepDetails:
        """`step`, with all that acts in it: forces, and the conditions that they were found for.

        Raises:
            SimulationError: as of `step`.
        """
        with engine_errors():
            (q, v), report, contacts, joints, closures, islands = self._engine.details(
                state_of(state), drive_of(control)
            )
        after = State(q, v, state.time + self.dt, StepReport(*report))
        return details_of(after, self.model.velocity_names, contacts, joints, closures, islands)

    def balance(self, state: State, control: Control = _NO_CONTROL) -> StepBalance:
        """Energy and momentum before and after a step, and what has given and taken them; of substeps of the last.

        Some milliseconds, as it asks the model for each link's motion.

        Raises:
            SimulationError: as of `step`.
        """
        substeps = self._made_of["substeps"]
        one = self
        if substeps > 1:
            one = (self._made or self)._with(
                {**self._changes, "dt": np.array(self.dt / substeps)}, substeps=1
            )
            for _ in range(substeps - 1):
                state = one.step(state, control)
        details = one.details(state, control)
        coefficients = iter(self.parameters["coefficients"])
        closures = [
            c
            if not isinstance(c, JointEquality)
            else replace(c, coefficients=next(coefficients)[: None if c.of else 1])
            for c in self._closures
        ]
        return balance_of(self.model, state, control, details, one.dt, closures)

    def signature(self, state: State, control: Control = _NO_CONTROL) -> bytes:
        """Which formula the step is: what touches by which features, and what each row does; of the last substep.

        Steps with the same signature are values of one smooth function, so their differences can be compared with
        derivatives. Where it changes, a step has a kink or a jump. It means nothing else, and nothing to another
        simulation of another model.

        Raises:
            SimulationError: as of `step`.
        """
        with engine_errors():
            return self._engine.signature(state_of(state), drive_of(control))

    def run(
        self,
        state: State,
        steps: int,
        control: Control = _NO_CONTROL,
        *,
        interval: int = 1,
        progress: Progress | None = None,
    ) -> Motion:
        """Many steps. Ctrl-C ends it.

        Args:
            state: the first.
            steps: how many.
            control: one for all, or with a first axis of length `steps` in any of its arrays.
            interval: every which state is kept, beside the last: of long runs fewer take less memory, and a gradient
                makes those between again.
            progress: called every thousand steps or so with how many were taken; what it raises ends the run.

        Raises:
            SimulationError: as of `step`; or the interval is below 1.
        """
        return self.run_many([state], steps, control, interval=interval, progress=progress)[0]

    def run_many(
        self,
        states: Sequence[State],
        steps: int,
        controls: Control | Sequence[Control] = _NO_CONTROL,
        *,
        interval: int = 1,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Motion]:
        """Many runs at once, on several threads: each the same to the bit as by itself. Ctrl-C ends them.

        Args:
            states: the first of each.
            steps: how many, of all alike.
            controls: as of `run`: one for all, or one for each, with the same of their arrays given.
            interval: as of `run`.
            threads: at most; None for as many as `robosim.get_threads` says.
            progress: as of `run`, with the steps that all have taken.

        Raises:
            SimulationError: as of `step`; or there are not as many controls as states.
        """
        if not states:
            return []
        for state in states:
            self._check_shapes(state)
        rows = drive_rows(controls, len(states), steps)
        q, v = stacked([state.q for state in states]), stacked([state.v for state in states])
        with engine_errors():
            (qs, vs), reports = self._engine.run(
                (q, v), steps, interval, *rows, thread_count(threads), progress
            )
        times = np.full((len(states), steps + 1), self.dt)
        times[:, 0] = [state.time for state in states]
        np.add.accumulate(times, axis=1, out=times)  # one by one, as steps do
        kept = [*range(0, steps, interval), steps]
        return [
            Motion(times[i, kept], qs[i], vs[i], StepReport(*report), first, steps, interval)
            for i, (report, first) in enumerate(reports)
        ]

    def replay(self, motion: Motion, control: Control = _NO_CONTROL, *, rate: float = 60.0) -> Replay:
        """States of a run with the contact forces that act there, to be looked at: `robosim.viewer` shows them.

        The steps from these states are taken again, and are the same to the bit. The run's last state begins one that
        it has not made, with the control of the one before.

        Args:
            motion: from `run`.
            control: the same as of the run.
            rate: [Hz] states per second, if the run has as many; fewer where there would be more than 3600 in all.

        Raises:
            SimulationError: as of `step`; the rate is not positive, or the control is not of as many steps as the run.
        """
        steps = motion.steps
        rows = [None if row is None else np.asarray(row) for row in each_step(control, max(steps, 1))]
        for name, row in zip(("tau", "q_target", "v_target"), rows, strict=True):
            if row is not None and len(row) != max(steps, 1):
                raise SimulationError(f"{name} is of {len(row)} steps; the run has {steps}")
        chosen = spread(motion.times, rate)
        contacts = []
        for i in chosen:
            step = min(i * motion.interval, steps - 1)
            driven = Control(*(None if row is None else row[step] for row in rows))
            contacts.append(self.details(State(motion.q[i], motion.v[i]), driven).contacts)
        return Replay(motion.times[chosen], motion.q[chosen], contacts)

    @property
    def objects(self) -> list[str]:
        """Names of the shapes that may touch, in the order of `parameters["pose"]`: colliders, then obstacles.

        An obstacle of several shapes is there once for each.
        """
        return list(self._scene.names)

    @property
    def meshes(self) -> list[MeshRows]:
        """The shapes that have vertices, with the rows of these in `parameters["vertices"]`.

        Convex meshes and single triangles, of colliders and obstacles; parts of an obstacle are objects of their own.

        Example:
            >>> import numpy as np
            >>> from robosim.geometry import Shape
            >>> from robosim.model import ModelBuilder
            >>> from robosim.scene import Scene
            >>> from robosim.simulation import Simulation
            >>> builder = ModelBuilder("stone")
            >>> builder.add_link("root")
            >>> builder.add_link("stone", mass=1.0, inertia=0.01 * np.eye(3))
            >>> builder.add_joint("free", "floating", "root", "stone")
            >>> builder.add_collider("stone", Shape.convex([[0, 0, 0], [0.1, 0, 0.1], [0, 0.1, 0.1], [-0.1, 0, 0.1]]))
            >>> ground = Scene("ground")
            >>> ground.add_half_space("ground")
            >>> simulation = Simulation(builder.build(), ground)
            >>> pushed = simulation.vjp(simulation.state(), np.zeros(6), [0, 0, 1, 0, 0, 0])
            >>> mesh = simulation.meshes[0]
            >>> mesh.name, int(pushed.parameters["vertices", "stone"][:, 2].argmin())  # the lowest one pushes
            ('stone/0', 0)
        """
        return [
            MeshRows(name, number, slice(first, first + len(shape.vertices)), shape)
            for number, name, first, shape in self._engine.meshes
        ]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Names of the pairs that may touch, in the order of `parameters["friction"]`."""
        names = self._scene.names
        return [(names[a], names[b]) for a, b in self._scene.pairs]

    def vjp(
        self, state: State, q_bar: ArrayLike, v_bar: ArrayLike, control: Control = _NO_CONTROL
    ) -> StepGradient:
        """The gradient of a loss of the next state, exact for the step that `step` takes.

        In the state, the control and every number that the world is made of: masses, lengths, springs, limits,
        materials, motors, shapes down to the vertices of convex meshes, gravity, dt. Right through contacts: points
        move, normals turn, what sticks, slides, bounces or is at a limit counts as such. Classes are held, so that
        where one changes right there the gradient is that of one side. Of `pgs` it is that of its sweeps, whether they
        have ended at a solution or not.

        Args:
            state: before the step.
            q_bar: (n_v,) what the loss changes by with the next q, in its tangent space.
            v_bar: (n_v,) and with the next v.
            control: of the step.

        Raises:
            SimulationError: an array has the wrong shape or is not finite.

        Source: `engine/step/linearization/step_vjp.cpp`; Werling et al., "Fast and feature-complete differentiable
        physics for articulated rigid bodies with contact", RSS 2021, with one transposed solve in the place of its
        matrices; of `pgs` the adjoint of the sweeps, Qiao et al., "Efficient differentiable simulation of articulated
        bodies", ICML 2021, Algorithm 1.
        """
        with engine_errors():
            return self._gradient(self._engine.vjp(state_of(state), (q_bar, v_bar), drive_of(control)))

    def jvp(
        self,
        state: State,
        control: Control = _NO_CONTROL,
        *,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        q_target: ArrayLike | None = None,
        v_target: ArrayLike | None = None,
        parameters: Mapping[Key, ArrayLike] | None = None,
    ) -> StepTangent:
        """What the next state changes by when everything that it depends on changes along one direction.

        The product of its Jacobian with that direction, exact for the step that `step` takes, and without a matrix:
        `vjp` is the transpose. What is not given does not change.

        Args:
            state: before the step.
            control: of the step.
            q: (n_v,) how the state's q changes, in its tangent space.
            v: (n_v,) its v.
            tau: (n_v,) of the control; as are q_target (n_q,) and v_target (n_v,).
            q_target: see tau.
            v_target: see tau.
            parameters: by name, as in `parameters`. Sizes and scales of bodies made of pieces have no derivative: where
                they change and anything touches, the result is nan.

        Raises:
            SimulationError: an array has the wrong shape or is not finite, or there is no parameter of that name.

        Example:
            >>> import numpy as np, robosim
            >>> from robosim.simulation import Simulation, State
            >>> cart = Simulation(robosim.load_robot("cart_pole"), dt=0.01)
            >>> still = State(np.zeros(2), np.zeros(2))
            >>> pushed = cart.jvp(still, tau=[1.0, 0.0])
            >>> np.allclose(pushed.q, cart.dt * pushed.v)
            True

        Source: `engine/step/linearization/step_jvp.cpp`.
        """
        given = {"q": q, "v": v, "tau": tau, "q_target": q_target, "v_target": v_target}
        direction = {name: value for name, value in given.items() if value is not None}
        if parameters is not None:
            direction |= self._names.direction(self._links, parameters)
        with engine_errors():
            parts, one_sided = self._engine.jvp(state_of(state), direction, drive_of(control))
        return StepTangent(*parts, one_sided)

    def hvp(
        self,
        state: State,
        q_bar: ArrayLike,
        v_bar: ArrayLike,
        control: Control = _NO_CONTROL,
        *,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        q_target: ArrayLike | None = None,
        v_target: ArrayLike | None = None,
    ) -> StepCurvature:
        """A second-order product: what the gradient of `vjp` changes by along one direction of state and control.

        Of the loss q_bar . (q_next - q_next here) + v_bar . v_next, the product of its Hessian with the direction,
        while everything touches and slides as it does here: what planners of Newton's kind need beside the Jacobians.
        It is symmetric in q, v and the control, where q moves along the tangent space at the state (`Model.integrate`)
        and the difference of configurations is `Model.difference`. Parameters' numbers are its mixed derivatives.

        Made of exact gradients beside the state and extrapolated, to some ten digits, `error` of each number beside it;
        the points are drawn in until all are steps by one formula (`signature`). About as much as ten gradients. What
        `complementarity_aware` says is not looked at.

        Args:
            state: before the step.
            q_bar: as of `vjp`.
            v_bar: as of `vjp`.
            control: of the step.
            q: (n_v,) how the state's q changes, in its tangent space; None for not at all, as of the others.
            v: (n_v,) its v.
            tau: (n_v,) of the control.
            q_target: (n_q,) of it, where it has one.
            v_target: (n_v,) of it.

        Raises:
            SimulationError: an array has the wrong shape or is not finite.

        Example:
            >>> import numpy as np, robosim
            >>> from robosim.simulation import Simulation, State
            >>> cart = Simulation(robosim.load_robot("cart_pole"), dt=0.01)
            >>> state, falls = State(np.array([0.0, 0.3]), np.array([0.0, 1.0])), np.array([0.0, 1.0])
            >>> by_q = cart.hvp(state, 0 * falls, falls, q=[0.0, 1.0]).gradient
            >>> by_v = cart.hvp(state, 0 * falls, falls, v=[0.0, 1.0]).gradient
            >>> np.allclose(by_q.v[1], by_v.q[1], rtol=1e-8)
            True

        Source: `engine/rollout/hessian_product.cpp`; Ridders (1982).
        """
        given = {"q": q, "v": v, "tau": tau, "q_target": q_target, "v_target": v_target}
        direction = {name: value for name, value in given.items() if value is not None}
        with engine_errors():
            product, error = self._engine.hvp(state_of(state), (q_bar, v_bar), direction, drive_of(control))
        return StepCurvature(self._gradient(product), self._gradient(error, ParameterErrors))

    def jacobians(
        self, state: State, control: Control = _NO_CONTROL, *, by: Collection[Key] = _JACOBIANS
    ) -> StepJacobians:
        """Derivatives of the next state in this one, in the control and in parameters.

        Args:
            state: before the step.
            control: of the step.
            by: which of q, v, tau, q_target and v_target, and parameters by name, as in `parameters`. What is not named
                is not made, and has no columns.

        Raises:
            SimulationError: as of `vjp`; or `by` has another name.

        Example:
            >>> import robosim
            >>> from robosim.simulation import Simulation
            >>> arm = Simulation(robosim.load_robot("ur5"))
            >>> found = arm.jacobians(arm.state(), by=["v", "gravity", ("com", "forearm_link")])
            >>> found.parameters["com", "forearm_link"].shape
            (2, 6, 3)

        Source: `engine/step/linearization/step_jacobians.cpp`.
        """
        wanted, keys, columns = self._wanted(by)
        with engine_errors():
            *blocks, parameters, one_sided = self._engine.jacobians(
                state_of(state), drive_of(control), wanted, columns
            )
        by_name = self._parameter_columns.by_name(keys, parameters)
        return StepJacobians._make([*blocks, by_name, one_sided])

    @cached_property
    def _parameter_columns(self) -> ParameterColumns:
        return ParameterColumns(self._names, self._links)

    def _wanted(self, by: Collection[Key]) -> tuple[tuple[bool, ...], list[Key], ColumnLists | None]:
        """Which Jacobians of state and control; of which parameters, and their columns."""
        if isinstance(by, str):
            raise SimulationError(f"by is {by!r}; expected a list of names")
        of_state = [x for x in by if isinstance(x, str) and x in _JACOBIANS]
        keys = [x for x in by if x not in of_state]
        for key in keys:
            if isinstance(key, str) and key not in self._names.kinds:
                names = ", ".join([*_JACOBIANS, *self._names.kinds])
                raise SimulationError(f"by has {key!r}; Jacobians are by {names}")
        return asked_for(of_state, _JACOBIANS, "Jacobians are by"), keys, self._parameter_columns.lists(keys)

    def run_jacobians(
        self,
        motion: Motion,
        control: Control = _NO_CONTROL,
        *,
        by: Collection[Key] = _JACOBIANS,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> RunJacobians:
        """`jacobians` of every step of a run, on several threads: what planners linearise about.

        The same to the bit for any number of threads and interval of the run. Ctrl-C ends it.

        Args:
            motion: from `run`, with the same control.
            control: as of `run`.
            by: as of `jacobians`; all of a long run are large.
            threads: as of `run_many`.
            progress: as of `run`, with the steps whose Jacobians are there.

        Raises:
            SimulationError: as of `jacobians`.

        Example:
            >>> import numpy as np, robosim
            >>> from robosim.simulation import Simulation, State
            >>> cart = Simulation(robosim.load_robot("cart_pole"), dt=0.01)
            >>> motion = cart.run(State(np.array([0.0, 0.3]), np.zeros(2)), 20)
            >>> cart.run_jacobians(motion, by=["q", "v", "tau"]).tau.shape
            (20, 2, 2, 2)
        """
        wanted, keys, columns = self._wanted(by)
        with engine_errors():
            *blocks, parameters, one_sided = self._engine.run_jacobians(
                (motion.q, motion.v),
                motion.steps,
                motion.interval,
                drive_of(control),
                thread_count(threads),
                progress,
                wanted,
                columns,
            )
        by_name = self._parameter_columns.by_name(keys, parameters)
        return RunJacobians._make([*blocks, by_name, one_sided])

    def run_vjp(
        self,
        motion: Motion,
        q_bar: ArrayLike,
        v_bar: ArrayLike,
        control: Control = _NO_CONTROL,
        *,
        by: Collection[str] = DRIVES,
        progress: Progress | None = None,
    ) -> StepGradient:
        """The gradient of a loss of all states of a run that it has kept.

        Goes back from the last step, taking each again from its state: nothing but the states is needed. The same to
        the bit whatever interval they were kept at, where the loss sees the same of them. Ctrl-C ends it.

        Args:
            motion: from `run`, with the same control.
            q_bar: (n, n_v) what the loss changes by with each q that was kept, in its tangent space.
            v_bar: (n, n_v) and with each v.
            control: as of `run`.
            by: of which controls the gradient is kept: of the others it has no rows. Of long runs it is larger than the
                states.
            progress: as of `run`, with the steps that were gone back; at states that were kept.

        Raises:
            SimulationError: as of `vjp`.
        """
        return self.run_many_vjp([motion], [q_bar], [v_bar], control, by=by, progress=progress)[0]

    def run_many_vjp(
        self,
        motions: Sequence[Motion],
        q_bar: Sequence[ArrayLike],
        v_bar: Sequence[ArrayLike],
        controls: Control | Sequence[Control] = _NO_CONTROL,
        *,
        by: Collection[str] = DRIVES,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[StepGradient]:
        """The gradients of many runs at once, on several threads: each the same to the bit as by `run_vjp`.

        Args:
            motions: from `run_many`, with the same controls.
            q_bar: of each as of `run_vjp`; (m, n, n_v) in an array.
            v_bar: likewise.
            controls: as of `run_many`.
            by: as of `run_vjp`.
            threads: as of `run_many`.
            progress: as of `run_vjp`.

        Raises:
            SimulationError: as of `vjp`; or the runs are not equally long, or their states not kept alike.
        """
        if not motions:
            return []
        steps, interval, kept = motions[0].steps, motions[0].interval, len(motions[0].times)
        for motion in motions:
            for name, one, other in ("steps", steps, motion.steps), ("interval", interval, motion.interval):
                if one != other:
                    raise SimulationError(f"runs have {name} {one} and {other}; expected one number")
        q_bars, v_bars = (
            self._bars(given, len(motions), kept, name)
            for name, given in (("q_bar", q_bar), ("v_bar", v_bar))
        )
        wanted = asked_for(by, DRIVES, "a control has")
        rows = drive_rows(controls, len(motions), steps)
        q, v = stacked([motion.q for motion in motions]), stacked([motion.v for motion in motions])
        with engine_errors():
            gradients = self._engine.run_vjp(
                (q, v), (q_bars, v_bars), steps, interval, *rows, thread_count(threads), progress, wanted
            )
        return [self._gradient(parts) for parts in gradients]

    def _gradient(
        self, parts: tuple[Any, ...], of: type[ParameterGradient] = ParameterGradient
    ) -> StepGradient:
        *states, numbers, vertices, one_sided = parts
        return StepGradient._make([*states, of(self._names, self._links, numbers, vertices), one_sided])

    def _bars(self, given: Sequence[ArrayLike], runs: int, kept: int, name: str) -> Array:
        if len(given) != runs:
            raise SimulationError(f"{name} is of {len(given)} runs; there are {runs}")
        return stacked([sized(x, (kept, self.model.n_v), name) for x in given])

    def _check_shapes(self, state: State) -> None:
        for what, array, n in ("q", state.q, self.model.n_q), ("v", state.v, self.model.n_v):
            sized(array, (n,), what)
        with engine_errors():
            _engine.check_configuration(self.model._engine, state.q)


@maker
def _rebuilt_simulation(parameters: Mapping[Key, Array], **made_of: Any) -> Simulation:
    """The simulation that was pickled: as it was made, and what is not as there."""
    return Simulation(**made_of).with_parameters(parameters)
