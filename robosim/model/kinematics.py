"""Configurations of a model and the motion of its links. Part of `Model` and `Data`."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robosim import _engine
from robosim.errors import ModelError
from robosim.model.operations import Axes, Operations
from robosim.model.parts import FloatArray

_ORIGIN = np.zeros(3)
_ORIGIN.setflags(write=False)


class FrameVelocityDerivatives(NamedTuple):
    """Derivatives of V = frame_velocity(q, v), rows [linear; angular].

    Attributes:
        dV_dq: (6, n_v).
        dV_dv: (6, n_v) the frame's Jacobian.
    """

    dV_dq: FloatArray
    dV_dv: FloatArray


class FrameAccelerationDerivatives(NamedTuple):
    """Derivatives of A = frame_acceleration(q, v, a), and of V = frame_velocity(q, v) in q.

    Rows are [linear; angular].

    Attributes:
        dV_dq: (6, n_v).
        dA_dq: (6, n_v).
        dA_dv: (6, n_v).
        dA_da: (6, n_v) the frame's Jacobian.
    """

    dV_dq: FloatArray
    dA_dq: FloatArray
    dA_dv: FloatArray
    dA_da: FloatArray


def point_of(point: ArrayLike | None) -> ArrayLike:
    """Return the given point, or the frame's origin if it is None."""
    return _ORIGIN if point is None else point


class Kinematics(Operations):
    """Methods about q, v and poses.

    Every array argument may be any array-like of finite real numbers. It may have additional
    leading axes in front of the stated axes. All arguments broadcast over these leading axes by
    NumPy's rules, and so do the results. An argument without leading axes is shared by all states.
    Methods of `Data` take one state.

    An argument of a wrong shape or value raises `robosim.errors.ModelError`, as does an unknown
    link. Results are newly allocated arrays (reused ones with `Data`), or `out`, which must be
    C-contiguous float64 of the result's shape and may be one of the arguments.

    A call for one state holds the interpreter lock. A call for many states runs in SIMD lanes and
    on several threads (`robosim.set_threads`, `robosim.threads`), without the interpreter lock;
    calls of this kind on one model run one after the other. A state's result has the same bits in
    both. Errors number states in C order.
    """

    # Configurations

    def neutral(self) -> FloatArray:
        """(n_q,) zeros, with the unit quaternion for floating joints; may be outside the limits."""
        return _engine.neutral(self._engine)

    def random_configuration(
        self, rng: np.random.Generator, size: int | tuple[int, ...] = ()
    ) -> FloatArray:
        """(..., n_q) random configurations, uniform within the limits.

        Coordinates without limits are drawn as follows: angles within pi of zero, positions within
        1 m of zero, rotations uniform.

        Args:
            rng: NumPy generator. Each configuration takes `n_q` numbers from it, so one call equals
                as many single calls.
            size: leading axes, a number or a tuple, as for NumPy's generators.

        Raises:
            ModelError: size is not a non-negative integer, or a tuple of such.
        """
        leading = size if isinstance(size, tuple) else (size,)
        try:
            u = rng.random((prod(leading), self.n_q))
        except (TypeError, ValueError):
            raise ModelError(
                f"size is {size!r}; it must be a number of configurations or a tuple of such"
            ) from None
        return _engine.sample_configuration(self._engine, u).reshape(*leading, self.n_q)

    def integrate(self, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """(n_q,) configuration reached from q along the constant velocity v in unit time.

        `integrate` and `difference` are the only operations that move on q. The result is q + v for
        coordinates that are plain numbers, and the exponential of SE(3) or SE(2) from the moving
        frame for floating and planar joints. Quaternions of the result have unit length.

        Args:
            q: (n_q,).
            v: (n_v,) velocity times the time step.
            out: (n_q,).
        """
        return self._array("integrate", q, v, out=out)

    def difference(
        self, q0: ArrayLike, q1: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """(n_v,) velocity that leads from q0 to q1 in unit time.

        `integrate(q0, difference(q0, q1))` is q1. Floating and planar joints take the shorter
        rotation, by at most pi. Joints with one position are not wrapped.

        Args:
            q0: (n_q,).
            q1: (n_q,).
            out: (n_v,).
        """
        return self._array("difference", q0, q1, out=out)

    # Frames

    def frame_pose(self, q: ArrayLike, link: str, *, out: FloatArray | None = None) -> FloatArray:
        """(4, 4) pose X_WL of a link in the world."""
        return self._array("frame_poses", q, out=out, link=link)

    def link_poses(self, q: ArrayLike) -> dict[str, FloatArray]:
        """(..., 4, 4) pose X_WL of every link in the world, by name, as views of one array."""
        try:
            poses = self._evaluate("frame_poses", (q,), self._all_frames(), None, None)
        except ModelError as wrong:
            raise self._explained(wrong, (q,)) from None
        return {link: poses[..., k, :, :] for k, link in enumerate(self._frames)}

    def jacobian(
        self,
        q: ArrayLike,
        link: str,
        frame: Axes = "world",
        *,
        point: ArrayLike | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """(6, n_v) Jacobian J, so that J v is the [linear; angular] velocity of the link's frame.

        The linear rows are the velocity of the frame's origin, or of the point. Siciliano et al.,
        "Robotics" (2009), eq. 3.30.

        Args:
            q: (n_q,).
            link: name of the link.
            frame: "world" axes, or the "local" axes of the link.
            point: (3,) fixed in the link, in its coordinates [m]; its origin by default.
            out: (6, n_v).
        """
        return self._array("frame_jacobians", q, point_of(point), out=out, link=link, axes=frame)

    def jacobian_rate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        link: str,
        frame: Axes = "world",
        *,
        point: ArrayLike | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """(6, n_v) dJ/dt, time derivative of `jacobian` while q moves with v [per second].

        In world axes J a + dJ/dt v is `frame_acceleration`. In local axes, which rotate with the
        link, it is `frame_acceleration` minus the angular velocity times the linear velocity.

        Args:
            q: (n_q,).
            v: (n_v,).
            link: name of the link.
            frame: axes of J, as in `jacobian`.
            point: as in `jacobian`.
            out: (6, n_v).
        """
        return self._array(
            "frame_jacobians_dot", q, v, point_of(point), out=out, link=link, axes=frame
        )

    def frame_velocity(
        self,
        q: ArrayLike,
        v: ArrayLike,
        link: str,
        frame: Axes = "world",
        *,
        point: ArrayLike | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """(6,) [linear; angular] velocity of a link's frame [m/s, rad/s].

        Axes and point are as in `jacobian`.
        """
        return self._array(
            "frame_velocities", q, v, point_of(point), out=out, link=link, axes=frame
        )

    def frame_acceleration(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        link: str,
        frame: Axes = "world",
        *,
        point: ArrayLike | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """(6,) [linear; angular] acceleration of a link's frame [m/s^2, rad/s^2].

        Axes and point are as in `jacobian`. The linear part is the second time derivative of the
        point's position (not Featherstone's spatial acceleration). Gravity is not included.
        """
        return self._array(
            "frame_accelerations", q, v, a, point_of(point), out=out, link=link, axes=frame
        )

    def frame_velocity_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        link: str,
        frame: Axes = "world",
        *,
        point: ArrayLike | None = None,
        out: FrameVelocityDerivatives | None = None,
    ) -> FrameVelocityDerivatives:
        """Derivatives of `frame_velocity` with respect to q (in the tangent space) and v.

        Carpentier and Mansard, "Analytical derivatives of rigid body dynamics algorithms", RSS
        2018.

        Args:
            q: (n_q,).
            v: (n_v,).
            link: name of the link.
            frame: axes of the velocity, as in `jacobian`.
            point: as in `jacobian`; the point moves with the link.
            out: (6, n_v) each.
        """
        return self._arrays(
            FrameVelocityDerivatives,
            "frame_velocity_derivatives",
            q,
            v,
            point_of(point),
            out=out,
            link=link,
            axes=frame,
        )

    def frame_acceleration_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        link: str,
        frame: Axes = "world",
        *,
        point: ArrayLike | None = None,
        out: FrameAccelerationDerivatives | None = None,
    ) -> FrameAccelerationDerivatives:
        """Derivatives of `frame_acceleration` in q, v and a, and of `frame_velocity` in q.

        Derivatives in q are taken in the tangent space.

        Carpentier and Mansard, "Analytical derivatives of rigid body dynamics algorithms", RSS
        2018.

        Args:
            q: (n_q,).
            v: (n_v,).
            a: (n_v,).
            link: name of the link.
            frame: axes of velocity and acceleration, as in `jacobian`.
            point: as in `jacobian`; the point moves with the link.
            out: (6, n_v) each.
        """
        return self._arrays(
            FrameAccelerationDerivatives,
            "frame_acceleration_derivatives",
            q,
            v,
            a,
            point_of(point),
            out=out,
            link=link,
            axes=frame,
        )
