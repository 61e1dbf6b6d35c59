"""Products with the derivatives of a model's dynamics, without forming matrices.

Part of `Model` and `Data`. A Jacobian-vector product (JVP) is the derivative of the result along a
direction of the arguments. A vector-Jacobian product (VJP) is the gradient, with respect to all
arguments, of a scalar whose gradient in the result is given. Names of gradients end in `_bar`. Each
product costs about twice as much as the function itself, O(n). A Hessian-vector product (HVP) is
the derivative of the VJP along a direction. All directions and gradients are (n_v,), in the tangent
space.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from robosim.model.operations import External, Operations
from robosim.model.parts import FloatArray


class InverseDynamicsGradients(NamedTuple):
    """Gradients of tau_bar . inverse_dynamics(q, v, a).

    Attributes:
        q_bar: (n_v,).
        v_bar: (n_v,).
        a_bar: (n_v,).
        wrenches_bar: (k, 6) gradient in [force; moment] of the external wrenches, in their order.
    """

    q_bar: FloatArray
    v_bar: FloatArray
    a_bar: FloatArray
    wrenches_bar: FloatArray


class ForwardDynamicsChange(NamedTuple):
    """The acceleration a = forward_dynamics(q, v, tau) and its derivative along a direction.

    Attributes:
        a: (n_v,).
        da: (n_v,).
    """

    a: FloatArray
    da: FloatArray


class ForwardDynamicsGradients(NamedTuple):
    """The acceleration a = forward_dynamics(q, v, tau), and the gradients of a_bar . a.

    Attributes:
        a: (n_v,).
        q_bar: (n_v,).
        v_bar: (n_v,).
        tau_bar: (n_v,).
        wrenches_bar: (k, 6) gradient in [force; moment] of the external wrenches, in their order.
    """

    a: FloatArray
    q_bar: FloatArray
    v_bar: FloatArray
    tau_bar: FloatArray
    wrenches_bar: FloatArray


class InverseDynamicsCurvature(NamedTuple):
    """Derivatives of the gradients of tau_bar . inverse_dynamics along a direction.

    Attributes:
        dq_bar: (n_v,).
        dv_bar: (n_v,).
        da_bar: (n_v,).
    """

    dq_bar: FloatArray
    dv_bar: FloatArray
    da_bar: FloatArray


class ForwardDynamicsCurvature(NamedTuple):
    """Derivatives of the gradients of a_bar . forward_dynamics along a direction.

    Attributes:
        dq_bar: (n_v,).
        dv_bar: (n_v,).
        dtau_bar: (n_v,).
    """

    dq_bar: FloatArray
    dv_bar: FloatArray
    dtau_bar: FloatArray


class Products(Operations):
    """Methods about products with derivatives. Arguments and results are as in `Derivatives`."""

    def inverse_dynamics_jvp(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        dq: ArrayLike,
        dv: ArrayLike,
        da: ArrayLike,
        *,
        external: External | None = None,
        joint_forces: bool = False,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """(n_v,) JVP dtau = dtau_dq dq + dtau_dv dv + M da of inverse dynamics.

        The derivatives are those of `inverse_dynamics_derivatives`.

        Args:
            q: (n_q,).
            v: (n_v,).
            a: (n_v,).
            dq: (n_v,) direction of q.
            dv: (n_v,) direction of v.
            da: (n_v,) direction of a.
            external: as in `inverse_dynamics_derivatives`.
            joint_forces: as in `inverse_dynamics_derivatives`.
            out: (n_v,).
        """
        return self._array(
            "rnea_jvp", q, v, a, dq, dv, da, out=out, external=external, joint_forces=joint_forces
        )

    def inverse_dynamics_vjp(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau_bar: ArrayLike,
        *,
        external: External | None = None,
        joint_forces: bool = False,
        out: InverseDynamicsGradients | None = None,
    ) -> InverseDynamicsGradients:
        """VJP of inverse dynamics: dtau_dq^T tau_bar, dtau_dv^T tau_bar, M tau_bar, and -J tau_bar.

        -J tau_bar is computed for each wrench. Echeandia and Wensing, "Numerical methods to compute
        the Coriolis matrix and Christoffel symbols for rigid-body systems", J. Computational and
        Nonlinear Dynamics 16(9), 2021, contract the recursion in the same way.

        Args:
            q: (n_q,).
            v: (n_v,).
            a: (n_v,).
            tau_bar: (n_v,) gradient with respect to the joint forces.
            external: as in `inverse_dynamics_derivatives`.
            joint_forces: as in `inverse_dynamics_derivatives`.
            out: (n_v,) three times, and (k, 6).
        """
        return self._arrays(
            InverseDynamicsGradients,
            "rnea_vjp",
            q,
            v,
            a,
            tau_bar,
            out=out,
            external=external,
            joint_forces=joint_forces,
        )

    def inverse_dynamics_hvp(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        tau_bar: ArrayLike,
        dq: ArrayLike,
        dv: ArrayLike,
        da: ArrayLike,
        *,
        external: External | None = None,
        joint_forces: bool = False,
        out: InverseDynamicsCurvature | None = None,
    ) -> InverseDynamicsCurvature:
        """HVP of inverse dynamics: the Hessian of tau_bar . tau times (dq, dv, da).

        It is the derivative of `inverse_dynamics_vjp` along a direction. The gradient is followed
        along `integrate(q, t dq)` in the moving frames of floating and planar joints. Directions of
        these joints do not commute, so the Hessian's block in q and q is symmetric for all other
        joints only. Computed forward over reverse, exact to rounding: Griewank and Walther,
        "Evaluating Derivatives" (2008), chapter 5.

        Args:
            q: (n_q,).
            v: (n_v,).
            a: (n_v,).
            tau_bar: (n_v,) gradient with respect to the joint forces, constant.
            dq: (n_v,) direction of q.
            dv: (n_v,) direction of v.
            da: (n_v,) direction of a.
            external: as in `inverse_dynamics_derivatives`.
            joint_forces: as in `inverse_dynamics_derivatives`.
            out: (n_v,) each.
        """
        return self._arrays(
            InverseDynamicsCurvature,
            "rnea_hvp",
            q,
            v,
            a,
            tau_bar,
            dq,
            dv,
            da,
            out=out,
            external=external,
            joint_forces=joint_forces,
        )

    def forward_dynamics_jvp(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        dq: ArrayLike,
        dv: ArrayLike,
        dtau: ArrayLike,
        *,
        external: External | None = None,
        joint_forces: bool = False,
        out: ForwardDynamicsChange | None = None,
    ) -> ForwardDynamicsChange:
        """`forward_dynamics` and its JVP da = da_dq dq + da_dv dv + M^-1 dtau.

        The derivatives are those of `forward_dynamics_derivatives`.

        Args:
            q: (n_q,).
            v: (n_v,).
            tau: (n_v,).
            dq: (n_v,) direction of q.
            dv: (n_v,) direction of v.
            dtau: (n_v,) direction of tau.
            external: as in `inverse_dynamics_derivatives`.
            joint_forces: as in `inverse_dynamics_derivatives`.
            out: (n_v,) each.

        Raises:
            ModelError: M(q) is singular, because a joint moves no mass.
        """
        return self._arrays(
            ForwardDynamicsChange,
            "forward_dynamics_jvp",
            q,
            v,
            tau,
            dq,
            dv,
            dtau,
            out=out,
            external=external,
            joint_forces=joint_forces,
        )

    def forward_dynamics_vjp(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        a_bar: ArrayLike,
        *,
        external: External | None = None,
        joint_forces: bool = False,
        out: ForwardDynamicsGradients | None = None,
    ) -> ForwardDynamicsGradients:
        """`forward_dynamics` and its VJP.

        The VJP is da_dq^T a_bar, da_dv^T a_bar, M^-1 a_bar, and J M^-1 a_bar for each wrench.

        Args:
            q: (n_q,).
            v: (n_v,).
            tau: (n_v,).
            a_bar: (n_v,) gradient with respect to the acceleration.
            external: as in `inverse_dynamics_derivatives`.
            joint_forces: as in `inverse_dynamics_derivatives`.
            out: (n_v,) four times, and (k, 6).

        Raises:
            ModelError: M(q) is singular, because a joint moves no mass.
        """
        return self._arrays(
            ForwardDynamicsGradients,
            "forward_dynamics_vjp",
            q,
            v,
            tau,
            a_bar,
            out=out,
            external=external,
            joint_forces=joint_forces,
        )

    def forward_dynamics_hvp(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        a_bar: ArrayLike,
        dq: ArrayLike,
        dv: ArrayLike,
        dtau: ArrayLike,
        *,
        external: External | None = None,
        joint_forces: bool = False,
        out: ForwardDynamicsCurvature | None = None,
    ) -> ForwardDynamicsCurvature:
        """HVP of forward dynamics: the Hessian of a_bar . a times (dq, dv, dtau).

        It is the derivative of `forward_dynamics_vjp` along a direction. Floating and planar joints
        are treated as in `inverse_dynamics_hvp`.

        Args:
            q: (n_q,).
            v: (n_v,).
            tau: (n_v,).
            a_bar: (n_v,) gradient with respect to the acceleration, constant.
            dq: (n_v,) direction of q.
            dv: (n_v,) direction of v.
            dtau: (n_v,) direction of tau.
            external: as in `inverse_dynamics_derivatives`.
            joint_forces: as in `inverse_dynamics_derivatives`.
            out: (n_v,) each.

        Raises:
            ModelError: M(q) is singular, because a joint moves no mass.
        """
        return self._arrays(
            ForwardDynamicsCurvature,
            "forward_dynamics_hvp",
            q,
            v,
            tau,
            a_bar,
            dq,
            dv,
            dtau,
            out=out,
            external=external,
            joint_forces=joint_forces,
        )
