"""Forces, accelerations and energies of a model: M(q) a + h(q, v) = tau + sum J^T F. Part of `Model`.

Featherstone, "Rigid Body Dynamics Algorithms" (2008), chapters 5 to 7. M and h are those of the rigid bodies and the
drives' armature. Damping, dry friction and springs of the joints are not in them, as in Pinocchio; `joint_forces=True`
adds them to both directions alike.
"""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from robosim import _engine
from robosim.errors import ModelError
from robosim.model.checks import real_array
from robosim.model.kinematics import Kinematics
from robosim.model.parts import FloatArray


class Dynamics(Kinematics):
    """Methods of `Model` about forces. Arguments and results are as in `Kinematics`."""

    n_v: int

    def _wrenches(self, external: Mapping[str, ArrayLike] | None) -> list[tuple[int, ArrayLike]]:
        return [(self._frame(link), wrench) for link, wrench in external.items()] if external else []

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = None,
        joint_forces: bool = False,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """(n_v,) tau = M(q) a + h(q, v) - sum J^T F: the joint forces of a motion [N m or N], by RNEA in O(n).

        Args:
            q: (n_q,).
            v: (n_v,).
            a: (n_v,) dv/dt.
            external: (6,) [force; moment] F on links, at the link's origin in world axes [N, N m].
            joint_forces: whether the drives also have to overcome the joints' damping, dry friction and springs.
            out: (n_v,).
        """
        tau = _engine.rnea(self._engine, self._data, q, v, a, self._wrenches(external), out)
        if joint_forces:
            tau -= self.joint_forces(q, v)
        return tau

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        external: Mapping[str, ArrayLike] | None = None,
        joint_forces: bool = False,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """(n_v,) a = M(q)^-1 (tau - h(q, v) + sum J^T F): the acceleration that joint forces make.

        By ABA in O(n); with mimic joints by CRBA and a Cholesky factorisation of M.

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
        if self._engine.massless:
            names = ", ".join(self._engine.joints[i].name for i in self._engine.massless)
            raise ModelError(f"forward dynamics is undefined: nothing with mass moves along with {names}")
        if joint_forces:
            tau = self.joint_forces(q, v) + real_array(tau, (self.n_v,), "tau")
        return _engine.forward_dynamics(self._engine, self._data, q, v, tau, self._wrenches(external), out)

    def mass_matrix(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """(n_v, n_v) M(q), symmetric, armature included, by CRBA."""
        return _engine.crba(self._engine, self._data, q, out)

    def nonlinear_effects(self, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """(n_v,) h(q, v): Coriolis, centrifugal and gravity forces."""
        return _engine.nonlinear_effects(self._engine, self._data, q, v, out)

    def gravity(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """(n_v,) g(q) = h(q, 0): the joint forces that hold the robot still."""
        return _engine.gravity_forces(self._engine, self._data, q, out)

    def joint_forces(self, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """(n_v,) what the joints themselves exert [N m or N].

        -damping v - friction v / sqrt(v^2 + friction_width^2) - stiffness (q - spring_reference) per entry, springs for
        joints with one position. Dry friction is smooth: Coulomb's for |v| well above the width, zero at rest.
        """
        return _engine.joint_forces(self._engine, q, v, out)

    def joint_force_derivatives(self, q: ArrayLike, v: ArrayLike) -> dict[str, FloatArray]:
        """Diagonals (n_v,) of the derivatives of `joint_forces`, all of which are diagonal.

        In "q" (in the tangent space), "v", "damping", "friction", "friction_width", "stiffness", "spring_reference".
        """
        return _engine.joint_force_derivatives(self._engine, q, v)

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike) -> float:
        """Kinetic energy 1/2 v^T M v [J], armature included."""
        return _engine.kinetic_energy(self._engine, self._data, q, v)

    def potential_energy(self, q: ArrayLike) -> float:
        """Potential energy [J] of gravity and of the joints' springs.

        Minus mass times gravity times centre of mass, zero at the world's origin, and stiffness (q - reference)^2 / 2,
        springs of mimic joints included.
        """
        return _engine.potential_energy(self._engine, self._data, q)

    @property
    def total_mass(self) -> float:
        """Mass of all links [kg], those fixed to the world included."""
        return _engine.total_mass(self._engine)

    def center_of_mass(self, q: ArrayLike) -> FloatArray:
        """(3,) centre of mass of all links in the world [m], those fixed to the world included.

        Raises:
            ModelError: the model has no mass.
        """
        mass = self.total_mass
        if mass == 0:
            raise ModelError(f"model {self._engine.name!r} has no mass and so no centre of mass")
        return _engine.mass_moment(self._engine, self._data, q) / mass
