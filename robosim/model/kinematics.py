"""Configurations of a model and where its links are then. Part of `Model` and `Data`."""

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
    """Derivatives of A = frame_acceleration(q, v, a), and of the velocity V in q, rows [linear;
    angular].

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
    """The point that a call is about: the frame's origin where it names none."""
    return _ORIGIN if point is None else point


class Kinematics(Operations):
    """Methods about q, v and poses.

    Every array argument may be any array-like of finite real numbers; it may have any axes in front
    of its own, which are those stated. All arguments broadcast over these leading axes by NumPy's
    rules, and results have them, too: an argument without them is shared by all states. Methods of
    `Data` take one state.

    An argument of a wrong shape or value raises `robosim.errors.ModelError`, as does an unknown
    link. Results are fresh arrays (of `Data`, which says so, its own), or `out`, which must be
    C-contiguous float64 of the result's shape and may be one of the arguments.

    A call for one state holds the interpreter lock. A call for many runs in the lanes of the
    processor's registers and on several threads (`robosim.set_threads`, `robosim.threads`), without
    that lock; such calls on one model take turns. A state's result has the same bits in both.
    Errors count states in C order.
    """

    # Configurations

    def neutral(self) -> FloatArray:
        """(n_q,) zeros, with the unit quaternion for floating joints; may be outside the limits."""
        return _engine.neutral(self._engine)

    def random_configuration(
        self, rng: np.random.Generator, size: int | tuple[int, ...] = ()
    ) -> FloatArray:
        """(..., n_q) configurations uniform within the limits: one, or as many as `size` says.

        Coordinates without limits: angles within pi of zero, positions within 1 m of it, rotations
        uniform.

        Args:
            rng: NumPy generator; `n_q` numbers are drawn from it for each configuration, the same
            as by as many calls.
            size: the leading axes, a number or a tuple, as NumPy's generators take it.

        Raises:
            ModelError: size is not made of numbers that are 0 or more.
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
        """(n_q,) the configuration reached from q along the constant velocity v in unit time.

        With `difference` the only way to move on q: q + v wherever coordinates are plain numbers,
        the exponential of SE(3) or SE(2) from the moving frame for floating and planar joints.
        Quaternions come back with unit length.

        Args:
            q: (n_q,).
            v: (n_v,), times the time step.
            out: (n_q,).
        """
        return self._array("integrate", q, v, out=out)

    def difference(
        self, q0: ArrayLike, q1: ArrayLike, *, out: FloatArray | None = None
    ) -> FloatArray:
        """(n_v,) the velocity that leads from q0 to q1 in unit time: `integrate(q0, difference(q0,
        q1))` is q1.

        Floating and planar joints turn the short way, by at most pi. Joints with one position are
        not wrapped.

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
        """(..., 4, 4) pose X_WL of every link in the world, by name: views of one array."""
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
        """(6, n_v) J with [linear; angular] velocity of the link's frame = J v.

        The linear rows are the velocity of the frame's origin, or of the point. Siciliano et al.,
        "Robotics" (2009), eq. 3.30.

        Args:
            q: (n_q,).
            link: by name.
            frame: in world axes, or in those of the link ("local").
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
        """(6, n_v) dJ/dt, the rate of `jacobian` while q moves with v [per second].

        In world axes J a + dJ/dt v is `frame_acceleration`. In local axes, which turn meanwhile, it
        is that less the angular velocity times the linear one.

        Args:
            q: (n_q,).
            v: (n_v,).
            link: by name.
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
        """(6,) [linear; angular] velocity of a link's frame [m/s, rad/s], axes and point as in
        `jacobian`."""
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
        """(6,) [linear; angular] acceleration of a link's frame [m/s^2, rad/s^2], axes and point as
        in `jacobian`.

        The linear part is the second derivative in time of the point's position (not Featherstone's
        spatial acceleration); gravity has no part in it.
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
        """Derivatives of `frame_velocity` in q, in the tangent space, and v.

        Carpentier and Mansard, "Analytical derivatives of rigid body dynamics algorithms", RSS
        2018.

        Args:
            q: (n_q,).
            v: (n_v,).
            link: by name.
            frame: axes of the velocity, as in `jacobian`.
            point: as in `jacobian`; moves with the link.
            out: of (6, n_v) each.
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
        """Derivatives of `frame_acceleration` in q, in the tangent space, v and a, and of
        `frame_velocity` in q.

        Carpentier and Mansard, "Analytical derivatives of rigid body dynamics algorithms", RSS
        2018.

        Args:
            q: (n_q,).
            v: (n_v,).
            a: (n_v,).
            link: by name.
            frame: axes of velocity and acceleration, as in `jacobian`.
            point: as in `jacobian`; moves with the link.
            out: of (6, n_v) each.
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
