"""Forces, accelerations and energies of a model: M(q) a + h(q, v) = tau + sum J^T F. Part of
`Model` and `Data`.

Featherstone, "Rigid Body Dynamics Algorithms" (2008), chapters 5 to 7. M and h are those of the
rigid bodies and the drives' armature. Damping, dry friction and springs of the joints are not in
them, as in Pinocchio; `joint_forces=True` adds them to both directions alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from robosim.model.mass_factor import MassFactor
from robosim.model.operations import External, Operations
from robosim.model.parts import FloatArray


class JointForceDerivatives(NamedTuple):
    """Diagonals (n_v,) of the derivatives of the joints' own forces, by what they are taken in."""

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
        """(n_v,) tau = M(q) a + h(q, v) - sum J^T F: the joint forces of a motion [N m or N], by
        RNEA in O(n).

        Args:
            q: (n_q,).
            v: (n_v,).
            a: (n_v,) dv/dt.
            external: (6,) [force; moment] F on links, at the link's origin in world axes [N, N m].
            joint_forces: whether the drives also have to overcome the joints' damping, dry friction
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
        """(n_v,) a = M(q)^-1 (tau - h(q, v) + sum J^T F): the acceleration that joint forces make.

        By ABA in O(n); with mimic joints by CRBA and the sparse factor of M.

        Args:
            q: (n_q,).
            v: (n_v,).
            tau: (n_v,) joint forces [N m or N].
            external: (6,) [force; moment] F on links, at the link's origin in world axes [N, N m].
            joint_forces: whether the joints' damping, dry friction and springs act too.
            out: (n_v,).

        Raises:
            ModelError: M(q) is singular, since something moves that has no mass.
        """
        return self._array(
            "forward_dynamics", q, v, tau, out=out, external=external, joint_forces=joint_forces
        )

    def mass_matrix(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """(n_v, n_v) M(q), symmetric, armature included, by CRBA."""
        return self._array("crba", q, out=out)

    def mass_matrix_inverse(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """(n_v, n_v) M(q)^-1, symmetric: what the acceleration gains per unit of each joint force.

        By the sparse factor of M along the tree. To solve with M, `mass_factor` is quicker and more
        precise. Featherstone, "Efficient factorization of the joint-space inertia matrix for
        branched kinematic trees" (2005).

        Args:
            q: (n_q,).
            out: (n_v, n_v).

        Raises:
            ModelError: M(q) is singular, since something moves that has no mass.
        """
        return self._array("mass_matrix_inverse", q, out=out)

    def mass_factor(self, q: ArrayLike) -> MassFactor:
        """M(q) of each state, factored along the tree, to solve with for vectors and matrices.

        M = L^T D L with a unit lower triangular L that has no entries between joints of different
        branches, in O(n depth^2). Featherstone, "Efficient factorization of the joint-space inertia
        matrix for branched kinematic trees", Int. J. Robotics Research 24 (2005).

        Args:
            q: (n_q,).

        Raises:
            ModelError: M(q) is singular, since something moves that has no mass.
        """
        return MassFactor(self, self._array("mass_factor", q))

    def nonlinear_effects(
        self, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """(n_v,) h(q, v): Coriolis, centrifugal and gravity forces."""
        return self._array("nonlinear_effects", q, v, out=out)

    def gravity(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """(n_v,) g(q) = h(q, 0): the joint forces that hold the robot still."""
        return self._array("gravity_forces", q, out=out)

    def coriolis_matrix(
        self, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """(n_v, n_v) C(q, v) with C v = h(q, v) - g(q) and dM/dt = C + C^T, so that dM/dt - 2 C is
        skew-symmetric.

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
        """(n_v,) what the joints themselves exert [N m or N].

        -damping v - friction v / sqrt(v^2 + friction_width^2) - stiffness (q - spring_reference)
        per entry, springs for joints with one position. Dry friction is smooth: Coulomb's for |v|
        well above the width, zero at rest.
        """
        return self._array("joint_forces", q, v, out=out)

    def joint_force_derivatives(self, q: ArrayLike, v: ArrayLike) -> dict[str, FloatArray]:
        """Diagonals (n_v,) of the derivatives of `joint_forces`, all of which are diagonal.

        In "q" (in the tangent space), "v", "damping", "friction", "friction_width", "stiffness",
        "spring_reference".
        """
        diagonals = self._arrays(JointForceDerivatives, "joint_force_derivatives", q, v)
        return diagonals._asdict()

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> Any:
        """() kinetic energy 1/2 v^T M v [J], armature included; a float for one state."""
        return self._array("kinetic_energy", q, v)[()]

    def potential_energy(self, q: ArrayLike) -> Any:
        """() potential energy [J] of gravity and of the joints' springs; a float for one state.

        Minus mass times gravity times center of mass, zero at the world's origin, and stiffness (q
        - reference)^2 / 2, springs of mimic joints included.
        """
        return self._array("potential_energy", q)[()]
