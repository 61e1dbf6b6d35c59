"""Forces, accelerations and energies of a model: M(q) a + h(q, v) = tau + sum J^T F.

Part of `Model` and `Data`.

Featherstone, "Rigid Body Dynamics Algorithms" (2008), chapters 5 to 7. M and h include the rigid
bodies and the drives' armature. They exclude damping, dry friction and springs of the joints, as in
Pinocchio. `joint_forces=True` includes these in both inverse and forward dynamics.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from robosim.model.mass_factor import MassFactor
from robosim.model.operations import External, Operations
from robosim.model.parts import FloatArray


class JointForceDerivatives(NamedTuple):
    """Diagonals (n_v,) of the derivatives of the joints' passive forces, named by argument."""

    q: FloatArray
    v: FloatArray
    damping: FloatArray
    friction: FloatArray
    friction_width: FloatArray
    stiffness: FloatArray
    spring_reference: FloatArray


class Dynamics(Operations):
    """Methods about forces. Arguments and results are as in `Kinematics`."""

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        external: External | None = None,
        joint_forces: bool = False,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """(n_v,) joint forces of a motion, tau = M(q) a + h(q, v) - sum J^T F [N m or N].

        Computed by RNEA in O(n).

        Args:
            q: (n_q,).
            v: (n_v,).
            a: (n_v,) dv/dt.
            external: (6,) [force; moment] F on links, at the link's origin in world axes [N, N m].
            joint_forces: True if the drives must also overcome the joints' damping, dry friction
                and springs.
            out: (n_v,).
        """
        return self._array("rnea", q, v, a, out=out, external=external, joint_forces=joint_forces)

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        external: External | None = None,
        joint_forces: bool = False,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """(n_v,) acceleration from joint forces, a = M(q)^-1 (tau - h(q, v) + sum J^T F).

        Computed by ABA in O(n); with mimic joints by CRBA and the sparse factor of M.

        Args:
            q: (n_q,).
            v: (n_v,).
            tau: (n_v,) joint forces [N m or N].
            external: (6,) [force; moment] F on links, at the link's origin in world axes [N, N m].
            joint_forces: True to include the joints' damping, dry friction and springs.
            out: (n_v,).

        Raises:
            ModelError: M(q) is singular, because a joint moves no mass.
        """
        return self._array(
            "forward_dynamics", q, v, tau, out=out, external=external, joint_forces=joint_forces
        )

    def mass_matrix(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """(n_v, n_v) mass matrix M(q), symmetric, armature included, computed by CRBA."""
        return self._array("crba", q, out=out)

    def mass_matrix_inverse(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """(n_v, n_v) inverse mass matrix M(q)^-1, symmetric: acceleration per unit of joint force.

        Computed from the sparse factor of M along the tree. To solve with M, `mass_factor` is
        faster and more precise. Featherstone, "Efficient factorization of the joint-space inertia
        matrix for branched kinematic trees" (2005).

        Args:
            q: (n_q,).
            out: (n_v, n_v).

        Raises:
            ModelError: M(q) is singular, because a joint moves no mass.
        """
        return self._array("mass_matrix_inverse", q, out=out)

    def mass_factor(self, q: ArrayLike) -> MassFactor:
        """Factor M(q) of each state along the tree, to solve for vectors and matrices.

        M = L^T D L, where L is unit lower triangular without entries between joints of different
        branches. Cost O(n depth^2). Featherstone, "Efficient factorization of the joint-space
        inertia matrix for branched kinematic trees", Int. J. Robotics Research 24 (2005).

        Args:
            q: (n_q,).

        Raises:
            ModelError: M(q) is singular, because a joint moves no mass.
        """
        return MassFactor(self, self._array("mass_factor", q))

    def nonlinear_effects(
        self, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """(n_v,) nonlinear effects h(q, v): Coriolis, centrifugal and gravity forces."""
        return self._array("nonlinear_effects", q, v, out=out)

    def gravity(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """(n_v,) gravity forces g(q) = h(q, 0): the joint forces that hold the robot at rest."""
        return self._array("gravity_forces", q, out=out)

    def coriolis_matrix(
        self, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """(n_v, n_v) Coriolis matrix C(q, v) with C v = h(q, v) - g(q) and dM/dt = C + C^T.

        dM/dt - 2 C is therefore skew-symmetric.

        Echeandia and Wensing, "Numerical methods to compute the Coriolis matrix and Christoffel
        symbols for rigid-body systems", J. Computational and Nonlinear Dynamics 16(9), 2021.

        Args:
            q: (n_q,).
            v: (n_v,).
            out: (n_v, n_v).
        """
        return self._array("coriolis_matrix", q, v, out=out)

    def joint_forces(
        self, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """(n_v,) passive forces of the joints [N m or N].

        Each entry is -damping v - friction v / sqrt(v^2 + friction_width^2) - stiffness (q -
        spring_reference), with springs for joints with one position only. Dry friction is smooth:
        it equals Coulomb friction for |v| well above the width and is zero at rest.
        """
        return self._array("joint_forces", q, v, out=out)

    def joint_force_derivatives(self, q: ArrayLike, v: ArrayLike) -> dict[str, FloatArray]:
        """Diagonals (n_v,) of the derivatives of `joint_forces`, which are diagonal matrices.

        Keys are "q" (in the tangent space), "v", "damping", "friction", "friction_width",
        "stiffness" and "spring_reference".
        """
        diagonals = self._arrays(JointForceDerivatives, "joint_force_derivatives", q, v)
        return diagonals._asdict()

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> Any:
        """() kinetic energy 1/2 v^T M v [J], armature included; a float for one state."""
        return self._array("kinetic_energy", q, v)[()]

    def potential_energy(self, q: ArrayLike) -> Any:
        """() potential energy [J] of gravity and of the joints' springs; a float for one state.

        The gravity part is minus mass times gravity times center of mass, zero at the world's
        origin. The springs' part is stiffness (q - reference)^2 / 2, springs of mimic joints
        included.
        """
        return self._array("potential_energy", q)[()]
