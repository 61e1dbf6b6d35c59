"""Center of mass and centroidal momentum of a model. Part of `Model` and `Data`."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from robosim import _engine
from robosim.model.operations import Operations
from robosim.model.parts import FloatArray


class CentroidalMomentumRate(NamedTuple):
    """Centroidal momentum and its rate, [linear; angular].

    Attributes:
        h: (6,) [kg m/s, kg m^2/s].
        h_dot: (6,) [N, N m].
    """

    h: FloatArray
    h_dot: FloatArray


class CentroidalMomentumMatrixRate(NamedTuple):
    """The centroidal momentum matrix and its rate.

    Attributes:
        A: (6, n_v).
        A_dot: (6, n_v) per second.
    """

    A: FloatArray
    A_dot: FloatArray


class CentroidalMomentumDerivatives(NamedTuple):
    """Derivatives of the centroidal momentum h and its rate.

    Attributes:
        dh_dq: (6, n_v).
        dhdot_dq: (6, n_v).
        dhdot_dv: (6, n_v).
        dhdot_da: (6, n_v) the centroidal momentum matrix, which is also dh_dv.
    """

    dh_dq: FloatArray
    dhdot_dq: FloatArray
    dhdot_dv: FloatArray
    dhdot_da: FloatArray


class Momentum(Operations):
    """Methods about the robot as a whole. Arguments and results are as in `Kinematics`.

    All axes are world axes. The center of mass includes all links, also those fixed to the world. A
    model without mass has none, and its methods raise `ModelError`. Centroidal momentum includes
    the moving links only, about their common center of mass, without armature. Orin, Goswami and
    Lee, "Centroidal dynamics of a humanoid robot", Autonomous Robots 35 (2013).
    """

    @property
    def total_mass(self) -> float:
        """Mass of all links [kg], those fixed to the world included."""
        return _engine.total_mass(self._engine)

    def center_of_mass(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """(3,) center of mass of all links in the world [m], those fixed to the world included.

        Raises:
            ModelError: the model has no mass.
        """
        return self._array("center_of_mass", q, out=out)

    def center_of_mass_velocity(
        self, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """(3,) velocity of the center of mass [m/s]."""
        return self._array("center_of_mass_velocity", q, v, out=out)

    def center_of_mass_acceleration(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """(3,) acceleration of the center of mass [m/s^2]; gravity is not included."""
        return self._array("center_of_mass_acceleration", q, v, a, out=out)

    def center_of_mass_jacobian(self, q: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """(3, n_v) J, so that J v is the velocity of the center of mass.

        J is also the derivative of the center of mass with respect to q, in the tangent space.
        """
        return self._array("center_of_mass_jacobian", q, out=out)

    def centroidal_momentum(
        self, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """(6,) [linear; angular] momentum of the moving links about their center of mass.

        Units are [kg m/s, kg m^2/s].
        """
        return self._array("centroidal_momentum", q, v, out=out)

    def centroidal_momentum_rate(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: CentroidalMomentumRate | None = None
    ) -> CentroidalMomentumRate:
        """Centroidal momentum and its rate, the sum of all forces with gravity [N, N m].

        Args:
            q: (n_q,).
            v: (n_v,).
            a: (n_v,).
            out: (6,) each.
        """
        return self._arrays(CentroidalMomentumRate, "centroidal_momentum_rate", q, v, a, out=out)

    def centroidal_momentum_matrix(
        self, q: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """(6, n_v) centroidal momentum matrix A, so that A v is the centroidal momentum."""
        return self._array("centroidal_momentum_matrix", q, out=out)

    def centroidal_momentum_matrix_rate(
        self, q: ArrayLike, v: ArrayLike, *, out: CentroidalMomentumMatrixRate | None = None
    ) -> CentroidalMomentumMatrixRate:
        """Centroidal momentum matrix A and dA/dt, so that A a + dA/dt v is the momentum's rate.

        Args:
            q: (n_q,).
            v: (n_v,).
            out: (6, n_v) each.
        """
        return self._arrays(
            CentroidalMomentumMatrixRate, "centroidal_momentum_matrix_dot", q, v, out=out
        )

    def centroidal_momentum_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        out: CentroidalMomentumDerivatives | None = None,
    ) -> CentroidalMomentumDerivatives:
        """Derivatives of centroidal momentum and its rate in q (tangent space), v and a.

        Carpentier and Mansard, "Analytical derivatives of rigid body dynamics algorithms", RSS
        2018.

        Args:
            q: (n_q,).
            v: (n_v,).
            a: (n_v,).
            out: (6, n_v) each.
        """
        return self._arrays(
            CentroidalMomentumDerivatives, "centroidal_momentum_derivatives", q, v, a, out=out
        )
