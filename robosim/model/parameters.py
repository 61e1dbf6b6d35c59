"""What a model's numbers do to its dynamics: regressor and derivatives in parameters. Part of
`Model` and `Data`.

Bodies are what joints move: rigid parts with all links that are welded to them, n_b of them, each
named in `body_joints` by the joint that carries it, with that joint's child link as its frame.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from robosim import _engine
from robosim.model.operations import External, Operations
from robosim.model.parts import FloatArray


class ParameterDerivatives(NamedTuple):
    """Derivatives of a vector of n_v entries in the bodies' and joints' parameters.

    Attributes:
        mass: (n_v, n_b) in the mass [kg], center of mass and moments about it held fixed.
        com: (n_v, n_b, 3) in the center of mass in the body's frame [m], moments about it held
        fixed.
        inertia: (n_v, n_b, 6) in xx, xy, yy, xz, yz, zz of the inertia about the center of mass, in
        the body's axes.
        placement: (n_v, n_b, 6) in the twist [linear; angular] that moves the body's joint in its
        parent, X_PJ exp(x).
        armature: (n_v, n_v) in the drives' armature.
    """

    mass: FloatArray
    com: FloatArray
    inertia: FloatArray
    placement: FloatArray
    armature: FloatArray


class ForwardDynamicsParameterDerivatives(NamedTuple):
    """a = forward_dynamics(q, v, tau) and its derivatives in parameters.

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
    """Gradients of a scalar in the bodies' and joints' parameters, which are those of
    `ParameterDerivatives`.

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
        """(n_b) the joint that carries each body, mimic ones included."""
        return tuple(joint.name for joint in self._engine.joints[1:])

    @property
    def inertial_parameters(self) -> FloatArray:
        """(10 n_b,) m, m c_x, m c_y, m c_z, I_xx, I_xy, I_yy, I_xz, I_yz, I_zz of each body, a
        fresh array.

        Inertia about the origin of the body's frame, in its axes: Pinocchio's order.
        """
        return _engine.inertial_parameters(self._engine)

    def inertial_regressor(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """(n_v, 10 n_b) Y with `inverse_dynamics` = Y `inertial_parameters` + armature a, without
        wrenches.

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
        """(n_v,) Y x in O(n), with Y of `inertial_regressor` and x (10 n_b,)."""
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
        """(10 n_b,) Y^T tau_bar in O(n), with Y of `inertial_regressor` and tau_bar (n_v,)."""
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
        """Derivatives of `inverse_dynamics` in mass, center of mass, inertia, joint placement and
        armature.

        Args:
            q: (n_q,).
            v: (n_v,).
            a: (n_v,).
            external: as in `inverse_dynamics`; wrenches stay as they are in the world while links
            move.
            out: of the results' shapes.
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
        """Gradients of tau_bar . `inverse_dynamics` in the parameters, in O(n).

        Args:
            q: (n_q,).
            v: (n_v,).
            a: (n_v,).
            tau_bar: (n_v,) gradient in the joint forces.
            external: as in `inverse_dynamics_parameter_derivatives`.
            out: of the results' shapes.
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
        """`forward_dynamics` and its derivatives in the parameters: -M^-1 times those of inverse
        dynamics.

        Args:
            q: (n_q,).
            v: (n_v,).
            tau: (n_v,).
            external: as in `inverse_dynamics_parameter_derivatives`.
            joint_forces: as in `forward_dynamics`.
            out: of the results' shapes.

        Raises:
            ModelError: M(q) is singular, since something moves that has no mass.
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
        """Gradients of a_bar . `forward_dynamics` in the parameters, in O(n).

        Args:
            q: (n_q,).
            v: (n_v,).
            tau: (n_v,).
            a_bar: (n_v,) gradient in the acceleration.
            external: as in `inverse_dynamics_parameter_derivatives`.
            joint_forces: as in `forward_dynamics`.
            out: of the results' shapes.

        Raises:
            ModelError: M(q) is singular, since something moves that has no mass.
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
