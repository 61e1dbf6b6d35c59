"""First derivatives of a model's dynamics as full matrices. Part of `Model` and `Data`.

All derivatives are taken in the tangent space: d/dq is the derivative along `integrate(q, dq)` at
dq = 0, so every matrix has n_v columns. Entry (i, j) is the derivative of entry i of the result
with respect to entry j of the argument.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from robosim.model.operations import External, Operations
from robosim.model.parts import FloatArray


class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of tau = inverse_dynamics(q, v, a).

    Attributes:
        dtau_dq: (n_v, n_v).
        dtau_dv: (n_v, n_v).
        dtau_da: (n_v, n_v) the mass matrix.
    """

    dtau_dq: FloatArray
    dtau_dv: FloatArray
    dtau_da: FloatArray


class ForwardDynamicsDerivatives(NamedTuple):
    """The acceleration a = forward_dynamics(q, v, tau) and its derivatives.

    Attributes:
        a: (n_v,) the acceleration itself.
        da_dq: (n_v, n_v).
        da_dv: (n_v, n_v).
        da_dtau: (n_v, n_v) the inverse of the mass matrix.
    """

    a: FloatArray
    da_dq: FloatArray
    da_dv: FloatArray
    da_dtau: FloatArray


class KineticEnergyDerivatives(NamedTuple):
    """Derivatives of the kinetic energy.

    Attributes:
        dT_dq: (n_v,) [J per rad or m].
        dT_dv: (n_v,) the generalized momentum M v.
    """

    dT_dq: FloatArray
    dT_dv: FloatArray


class Derivatives(Operations):
    """Methods about derivatives. Arguments and results are as in `Kinematics`.

    `out` is a tuple of all results.
    """

    def inverse_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        external: External | None = None,
        joint_forces: bool = False,
        out: InverseDynamicsDerivatives | None = None,
    ) -> InverseDynamicsDerivatives:
        """Derivatives of `inverse_dynamics` with respect to q, v and a, in O(n depth).

        Singh, Russo and Wensing, "Efficient analytical derivatives of rigid-body dynamics using
        spatial vector algebra", IEEE Robotics and Automation Letters 7(2), 2022.

        Args:
            q: (n_q,).
            v: (n_v,).
            a: (n_v,).
            external: as in `inverse_dynamics`. A wrench stays constant in the world while its link
                moves with q. The derivative with respect to the wrench, dtau/dF, is minus the
                transpose of the link's `jacobian`.
            joint_forces: True to include the joints' damping, dry friction and springs, as in
                `inverse_dynamics`.
            out: (n_v, n_v) each.
        """
        return self._arrays(
            InverseDynamicsDerivatives,
            "rnea_derivatives",
            q,
            v,
            a,
            out=out,
            external=external,
            joint_forces=joint_forces,
        )

    def forward_dynamics_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        external: External | None = None,
        joint_forces: bool = False,
        out: ForwardDynamicsDerivatives | None = None,
    ) -> ForwardDynamicsDerivatives:
        """`forward_dynamics` and its derivatives with respect to q, v and tau.

        The implicit function theorem on inverse dynamics yields da_dq = -M^-1 dtau_dq and da_dv =
        -M^-1 dtau_dv. Carpentier and Mansard, "Analytical derivatives of rigid body dynamics
        algorithms", RSS 2018, section IV.

        Args:
            q: (n_q,).
            v: (n_v,).
            tau: (n_v,).
            external: as in `inverse_dynamics_derivatives`; da/dF is `da_dtau` times the transpose
                of `jacobian`.
            joint_forces: as in `inverse_dynamics_derivatives`.
            out: (n_v,), and (n_v, n_v) three times.

        Raises:
            ModelError: M(q) is singular, because a joint moves no mass.
        """
        return self._arrays(
            ForwardDynamicsDerivatives,
            "forward_dynamics_derivatives",
            q,
            v,
            tau,
            out=out,
            external=external,
            joint_forces=joint_forces,
        )

    def gravity_derivatives(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """(n_v, n_v) derivative of `gravity` in q, the Hessian of the potential energy.

        The matrix is not symmetric between the coordinates of one floating or planar joint, whose
        directions do not commute.

        Args:
            q: (n_q,).
            out: (n_v, n_v).
        """
        return self._array("gravity_forces_derivatives", q, out=out)

    def kinetic_energy_derivatives(
        self, q: ArrayLike, v: ArrayLike, *, out: KineticEnergyDerivatives | None = None
    ) -> KineticEnergyDerivatives:
        """Derivatives of `kinetic_energy` with respect to q and v.

        Args:
            q: (n_q,).
            v: (n_v,).
            out: (n_v,) each.
        """
        return self._arrays(KineticEnergyDerivatives, "kinetic_energy_derivatives", q, v, out=out)
