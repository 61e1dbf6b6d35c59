"""Configurations of a model and where its links are then. Part of `Model`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from robosim import _engine
from robosim.errors import ModelError
from robosim.model.checks import suggestion
from robosim.model.parts import FloatArray

if TYPE_CHECKING:
    from robosim._engine import Data as EngineData
    from robosim._engine import Model as EngineModel

Axes = Literal["world", "local"]


class Kinematics:
    """Methods of `Model` about q, v and poses.

    Every array argument may be any array-like of finite real numbers of the shape given; anything else raises
    `robosim.errors.ModelError`, as does an unknown link. Results are fresh arrays, or `out`, which must be
    C-contiguous float64 of the result's shape. Calls hold the interpreter lock and share one workspace.
    """

    _engine: EngineModel
    _data: EngineData
    _frames: Mapping[str, int]
    n_q: int

    def _frame(self, link: str) -> int:
        try:
            return self._frames[link]
        except (KeyError, TypeError):
            raise ModelError(f"there is no link {link!r}{suggestion(link, self._frames)}") from None

    # Configurations

    def neutral(self) -> FloatArray:
        """(n_q,) zeros, with the unit quaternion for floating joints; may be outside the limits."""
        return _engine.neutral(self._engine)

    def random_configuration(self, rng: np.random.Generator) -> FloatArray:
        """(n_q,) a configuration uniform within the limits.

        Coordinates without limits: angles within pi of zero, positions within 1 m of it, rotations uniform.

        Args:
            rng: NumPy generator; `n_q` numbers are drawn from it.
        """
        return _engine.sample_configuration(self._engine, rng.random(self.n_q))

    def integrate(self, q: ArrayLike, v: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """(n_q,) the configuration reached from q along the constant velocity v in unit time.

        With `difference` the only way to move on q: q + v wherever coordinates are plain numbers, the exponential of
        SE(3) or SE(2) from the moving frame for floating and planar joints. Quaternions come back with unit length.

        Args:
            q: (n_q,).
            v: (n_v,), times the time step.
            out: (n_q,).
        """
        return _engine.integrate(self._engine, q, v, out)

    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: FloatArray | None = None) -> FloatArray:
        """(n_v,) the velocity that leads from q0 to q1 in unit time: `integrate(q0, difference(q0, q1))` is q1.

        Floating and planar joints turn the short way, by at most pi. Joints with one position are not wrapped.

        Args:
            q0: (n_q,).
            q1: (n_q,).
            out: (n_v,).
        """
        return _engine.difference(self._engine, q0, q1, out)

    # Frames

    def frame_pose(self, q: ArrayLike, link: str, *, out: FloatArray | None = None) -> FloatArray:
        """(4, 4) pose X_WL of a link in the world."""
        return _engine.frame_pose(self._engine, self._data, q, self._frame(link), out)

    def link_poses(self, q: ArrayLike) -> dict[str, FloatArray]:
        """(4, 4) pose X_WL of every link in the world, by name."""
        poses = _engine.frame_poses(self._engine, self._data, q)
        return {name: poses[index] for name, index in self._frames.items()}

    def jacobian(
        self, q: ArrayLike, link: str, frame: Axes = "world", *, out: FloatArray | None = None
    ) -> FloatArray:
        """(6, n_v) J with [linear; angular] velocity of the link's frame = J v.

        The linear rows are the velocity of the frame's origin. Siciliano et al., "Robotics" (2009), eq. 3.30.

        Args:
            q: (n_q,).
            link: by name.
            frame: in world axes, or in those of the link ("local").
            out: (6, n_v).
        """
        return _engine.frame_jacobian(self._engine, self._data, q, self._frame(link), _is_local(frame), out)

    def frame_velocity(self, q: ArrayLike, v: ArrayLike, link: str, frame: Axes = "world") -> FloatArray:
        """(6,) [linear; angular] velocity of a link's frame [m/s, rad/s], axes as in `jacobian`."""
        return _engine.frame_velocity(self._engine, self._data, q, v, self._frame(link), _is_local(frame))

    def frame_acceleration(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, link: str, frame: Axes = "world"
    ) -> FloatArray:
        """(6,) [linear; angular] acceleration of a link's frame [m/s^2, rad/s^2], axes as in `jacobian`.

        The linear part is the second derivative in time of the origin's position (not Featherstone's spatial
        acceleration); gravity has no part in it.
        """
        return _engine.frame_acceleration(
            self._engine, self._data, q, v, a, self._frame(link), _is_local(frame)
        )


def _is_local(frame: str) -> bool:
    if frame not in ("world", "local"):
        raise ModelError(f"frame is {frame!r}; valid are 'world' and 'local'")
    return frame == "local"
