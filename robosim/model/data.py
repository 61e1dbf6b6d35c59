"""`Data`: a model's methods for loops, without allocating arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from robosim import _engine
from robosim.model.derivatives import (
    ForwardDynamicsDerivatives,
    InverseDynamicsDerivatives,
    KineticEnergyDerivatives,
)
from robosim.model.mass_factor import MassFactor
from robosim.model.methods import Methods
from robosim.model.momentum import (
    CentroidalMomentumDerivatives,
    CentroidalMomentumMatrixRate,
    CentroidalMomentumRate,
)
from robosim.model.operations import Choices, operation_index
from robosim.model.parameters import (
    ForwardDynamicsParameterDerivatives,
    ParameterDerivatives,
    ParameterGradients,
)
from robosim.model.parts import FloatArray
from robosim.model.products import (
    ForwardDynamicsChange,
    ForwardDynamicsCurvature,
    ForwardDynamicsGradients,
    InverseDynamicsCurvature,
    InverseDynamicsGradients,
)

if TYPE_CHECKING:
    from robosim.model.model import Model

# Methods whose required arguments are all arrays: the operation, and the result type if there are
# several results.
_BY_ARRAYS: dict[str, tuple[str, type[tuple[FloatArray, ...]] | None]] = {
    "center_of_mass": ("center_of_mass", None),
    "center_of_mass_acceleration": ("center_of_mass_acceleration", None),
    "center_of_mass_jacobian": ("center_of_mass_jacobian", None),
    "center_of_mass_velocity": ("center_of_mass_velocity", None),
    "centroidal_momentum": ("centroidal_momentum", None),
    "centroidal_momentum_derivatives": (
        "centroidal_momentum_derivatives",
        CentroidalMomentumDerivatives,
    ),
    "centroidal_momentum_matrix": ("centroidal_momentum_matrix", None),
    "centroidal_momentum_matrix_rate": (
        "centroidal_momentum_matrix_dot",
        CentroidalMomentumMatrixRate,
    ),
    "centroidal_momentum_rate": ("centroidal_momentum_rate", CentroidalMomentumRate),
    "coriolis_matrix": ("coriolis_matrix", None),
    "difference": ("difference", None),
    "forward_dynamics": ("forward_dynamics", None),
    "forward_dynamics_derivatives": ("forward_dynamics_derivatives", ForwardDynamicsDerivatives),
    "forward_dynamics_hvp": ("forward_dynamics_hvp", ForwardDynamicsCurvature),
    "forward_dynamics_jvp": ("forward_dynamics_jvp", ForwardDynamicsChange),
    "forward_dynamics_parameter_derivatives": (
        "forward_dynamics_parameter_derivatives",
        ForwardDynamicsParameterDerivatives,
    ),
    "forward_dynamics_parameter_vjp": ("forward_dynamics_parameter_vjp", ParameterGradients),
    "forward_dynamics_vjp": ("forward_dynamics_vjp", ForwardDynamicsGradients),
    "gravity": ("gravity_forces", None),
    "gravity_derivatives": ("gravity_forces_derivatives", None),
    "inertial_regressor": ("inertial_regressor", None),
    "integrate": ("integrate", None),
    "inverse_dynamics": ("rnea", None),
    "inverse_dynamics_derivatives": ("rnea_derivatives", InverseDynamicsDerivatives),
    "inverse_dynamics_hvp": ("rnea_hvp", InverseDynamicsCurvature),
    "inverse_dynamics_jvp": ("rnea_jvp", None),
    "inverse_dynamics_parameter_derivatives": ("rnea_parameter_derivatives", ParameterDerivatives),
    "inverse_dynamics_parameter_vjp": ("rnea_parameter_vjp", ParameterGradients),
    "inverse_dynamics_vjp": ("rnea_vjp", InverseDynamicsGradients),
    "joint_forces": ("joint_forces", None),
    "kinetic_energy_derivatives": ("kinetic_energy_derivatives", KineticEnergyDerivatives),
    "mass_matrix": ("crba", None),
    "mass_matrix_inverse": ("mass_matrix_inverse", None),
    "nonlinear_effects": ("nonlinear_effects", None),
    "regressor_times": ("regressor_times", None),
    "regressor_transpose_times": ("regressor_transpose_times", None),
}


class Data(Methods):
    """Workspace of one loop over one model; `Model.data` creates it.

    `Data` has the model's methods about configurations, kinematics, dynamics and derivatives, with
    the same arguments. Results are arrays that `Data` owns. A method returns the same arrays on
    each call with the same options (link, axes, links of wrenches, friction), and its next call
    overwrites them. After its first call a method allocates nothing. Copy results that must last,
    or pass `out`.

    Calls with all arrays by position go to compiled functions, at an overhead of 0.1 us per call::

        data = model.data()
        for q, v, a in motion:
            tau = data.inverse_dynamics(q, v, a)

    `Data` holds no state, so copying or sending it is of no use. Two interleaved loops need two.
    """

    def __init__(self, model: Model) -> None:
        self.name: str = model.name
        self.n_q: int = model.n_q
        self.n_v: int = model.n_v
        self._engine = model._engine
        self._frames = model._frames
        self._dynamics_fault = model._dynamics_fault
        self._memory = _engine.OperationData(model._engine)
        self._bound: dict[tuple[str, Choices], Any] = {}
        self._poses: dict[str, FloatArray] | None = None
        self._factor: MassFactor | None = None
        for method, (operation, results) in _BY_ARRAYS.items():
            if self._refusal(operation) is None:  # else the method says why there is no result
                # Shadows the method, to which all other calls are forwarded.
                self.__dict__[method] = self._bind(
                    operation, Choices(), results, getattr(self, method)
                )

    def __repr__(self) -> str:
        return f"<Data of {self.name!r}>"

    def link_poses(self, q: ArrayLike) -> dict[str, FloatArray]:
        """(4, 4) pose X_WL of every link in the world, by name."""
        if self._poses is None:
            self._poses = super().link_poses(q)
        else:
            self._evaluate("frame_poses", (q,), self._all_frames(), None, None)
        return self._poses

    def mass_factor(self, q: ArrayLike) -> MassFactor:
        """M(q) factored along the tree, for solving.

        Every call returns the same object, with the latest M.
        """
        factor = self._array("mass_factor", q)
        if self._factor is None:
            self._factor = MassFactor(self, factor)
        return self._factor

    def _bind(
        self,
        operation: str,
        choices: Choices,
        results: type[tuple[FloatArray, ...]] | None,
        otherwise: Any,
    ) -> Any:
        bound = _engine.bind_operation(
            operation_index(operation), self._engine, self._memory, *choices, results, otherwise
        )
        self._bound[operation, choices] = bound
        return bound

    def _evaluate(
        self,
        operation: str,
        inputs: tuple[ArrayLike, ...],
        choices: Choices,
        out: Any,
        results: type[tuple[FloatArray, ...]] | None,
    ) -> Any:
        if out is not None:
            found = _engine.evaluate(
                operation_index(operation), self._engine, self._memory, inputs, out, *choices
            )
            return found if results is None else results(*found)
        bound = self._bound.get((operation, choices))
        if bound is None:
            bound = self._bind(operation, choices, results, None)
        return bound(*inputs)
