"""Regressor of a model's dynamics and derivatives with respect to its parameters.

Part of `Model` and `Data`. A body is a rigid assembly that a joint moves, with all links welded to
it. There are n_b bodies. `body_joints` names each by the joint that carries it. The body's frame is
the child link of that joint.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from robosim import _engine
from robosim.model.operations import External, Operations
from robosim.model.parts import FloatArray


class ParameterDerivatives(NamedTuple):
    """Derivatives of a vector of n_v entries with respect to parameters of bodies and joints.

    Attributes:
        mass: (n_v, n_b) with respect to the mass [kg], at constant center of mass and moments about
            it.
        com: (n_v, n_b, 3) with respect to the center of mass in the body's frame [m], at constant
            moments about it.
        inertia: (n_v, n_b, 6) with respect to xx, xy, yy, xz, yz, zz of the inertia about the
            center of mass, in the body's axes.
        placement: (n_v, n_b, 6) with respect to the twist [linear; angular] x that displaces the
            body's joint in its parent, X_PJ exp(x).
        armature: (n_v, n_v) with respect to the drives' armature.
    """

    mass: FloatArray
    com: FloatArray
    inertia: FloatArray
    placement: FloatArray
    armature: FloatArray


class ForwardDynamicsParameterDerivatives(NamedTuple):
    """The acceleration a = forward_dynamics(q, v, tau) and its derivatives in parameters.

    Attributes:
        a: (n_v,).
        mass: (n_v, n_b), this and the following as in `ParameterDerivatives`.
        com: (n_v, n_b, 3).
        inertia: (n_v, n_b, 6).
        placement: (n_v, n_b, 6).
        armature: (n_v, n_v).
    """

    a: FloatArray
    mass: FloatArray
    com: FloatArray
    inertia: FloatArray
    placement: FloatArray
    armature: FloatArray


class ParameterGradients(NamedTuple):
    """Gradients of a scalar with respect to the parameters of `ParameterDerivatives`.

    Attributes:
        mass: (n_b,).
        com: (n_b, 3).
        inertia: (n_b, 6).
        placement: (n_b, 6).
        armature: (n_v,).
    """

    mass: FloatArray
    com: FloatArray
    inertia: FloatArray
    placement: FloatArray
    armature: FloatArray


class ParameterMethods(Operations):
    """Methods about parameters. Arguments and results are as in `Derivatives`."""

    @property
    def body_joints(self) -> tuple[str, ...]:
        """(n_b) joint that carries each body, mimic joints included."""
        return tuple(joint.name for joint in self._engine.joints[1:])

    @property
    def inertial_parameters(self) -> FloatArray:
        """(10 n_b,) m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz of each body.

        The array is newly allocated. Inertia is about the origin of the body's frame, in its axes,
        in Pinocchio's order.
        """
        return _engine.inertial_parameters(self._engine)

    def inertial_regressor(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """(n_v, 10 n_b) regressor Y of inverse dynamics without wrenches.

        `inverse_dynamics` = Y `inertial_parameters` + armature a.

        Atkeson, An and Hollerbach, "Estimation of inertial parameters of manipulator loads and
        links", Int. J. Robotics Research 5(3), 1986.

        Args:
            q: (n_q,).
            v: (n_v,).
            a: (n_v,).
            out: (n_v, 10 n_b).
        """
        return self._array("inertial_regressor", q, v, a, out=out)

    def regressor_times(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        x: ArrayLike,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """(n_v,) product Y x in O(n), for Y of `inertial_regressor` and x (10 n_b,)."""
        return self._array("regressor_times", q, v, a, x, out=out)

    def regressor_transpose_times(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau_bar: ArrayLike,
        *,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """(10 n_b,) product Y^T tau_bar in O(n), for Y of `inertial_regressor`, tau_bar (n_v,)."""
        return self._array("regressor_transpose_times", q, v, a, tau_bar, out=out)

    def inverse_dynamics_parameter_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        external: External | None = None,
        out: ParameterDerivatives | None = None,
    ) -> ParameterDerivatives:
        """Derivatives of `inverse_dynamics` with respect to the parameters.

        Parameters are mass, center of mass, inertia, joint placement and armature.

        Args:
            q: (n_q,).
            v: (n_v,).
            a: (n_v,).
            external: as in `inverse_dynamics`; wrenches stay constant in the world while links
                move.
            out: arrays of the results' shapes.
        """
        return self._arrays(
            ParameterDerivatives, "rnea_parameter_derivatives", q, v, a, out=out, external=external
        )

    def inverse_dynamics_parameter_vjp(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau_bar: ArrayLike,
        *,
        external: External | None = None,
        out: ParameterGradients | None = None,
    ) -> ParameterGradients:
        """Gradients of tau_bar . `inverse_dynamics` with respect to the parameters, in O(n).

        Args:
            q: (n_q,).
            v: (n_v,).
            a: (n_v,).
            tau_bar: (n_v,) gradient with respect to the joint forces.
            external: as in `inverse_dynamics_parameter_derivatives`.
            out: arrays of the results' shapes.
        """
        return self._arrays(
            ParameterGradients, "rnea_parameter_vjp", q, v, a, tau_bar, out=out, external=external
        )

    def forward_dynamics_parameter_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        external: External | None = None,
        joint_forces: bool = False,
        out: ForwardDynamicsParameterDerivatives | None = None,
    ) -> ForwardDynamicsParameterDerivatives:
        """`forward_dynamics` and its derivatives with respect to the parameters.

        The derivatives are -M^-1 times those of inverse dynamics.

        Args:
            q: (n_q,).
            v: (n_v,).
            tau: (n_v,).
            external: as in `inverse_dynamics_parameter_derivatives`.
            joint_forces: as in `forward_dynamics`.
            out: arrays of the results' shapes.

        Raises:
            ModelError: M(q) is singular, because a joint moves no mass.
        """
        return self._arrays(
            ForwardDynamicsParameterDerivatives,
            "forward_dynamics_parameter_derivatives",
            q,
            v,
            tau,
            out=out,
            external=external,
            joint_forces=joint_forces,
        )

    def forward_dynamics_parameter_vjp(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        a_bar: ArrayLike,
        *,
        external: External | None = None,
        joint_forces: bool = False,
        out: ParameterGradients | None = None,
    ) -> ParameterGradients:
        """Gradients of a_bar . `forward_dynamics` with respect to the parameters, in O(n).

        Args:
            q: (n_q,).
            v: (n_v,).
            tau: (n_v,).
            a_bar: (n_v,) gradient with respect to the acceleration.
            external: as in `inverse_dynamics_parameter_derivatives`.
            joint_forces: as in `forward_dynamics`.
            out: arrays of the results' shapes.

        Raises:
            ModelError: M(q) is singular, because a joint moves no mass.
        """
        return self._arrays(
            ParameterGradients,
            "forward_dynamics_parameter_vjp",
            q,
            v,
            tau,
            a_bar,
            out=out,
            external=external,
            joint_forces=joint_forces,
        )
