"""Configurations of a model and where its links are then. Part of `Model`."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from robosim import _engine
from robosim.errors import ModelError
from robosim.model.checks import suggestion
from robosim.model.parts import FloatArray


class Kinematics:
    """Methods of `Model` about q, v and poses. Calls are made under the interpreter lock and share one workspace."""

    _engine: _engine.Model
    _data: _engine.Data
    _frames: Mapping[str, int]

    def _frame(self, link: str) -> int:
        try:
            return self._frames[link]
        except (KeyError, TypeError):
            raise ModelError(f"there is no link {link!r}{suggestion(link, self._frames)}") from None

    def neutral(self) -> FloatArray:
        """(n_q,) zeros, with the unit quaternion for floating joints; may be outside the limits."""
        return _engine.neutral(self._engine)

    def frame_pose(self, q: ArrayLike, link: str, *, out: FloatArray | None = None) -> FloatArray:
        """(4, 4) pose X_WL of a link in the world.

        Raises:
            ModelError: no such link, or q is not (n_q,) finite real numbers.
        """
        return _engine.frame_pose(self._engine, self._data, q, self._frame(link), out)

    def link_poses(self, q: ArrayLike) -> dict[str, FloatArray]:
        """(4, 4) pose X_WL of every link in the world, by name.

        Raises:
            ModelError: q is not (n_q,) finite real numbers.
        """
        poses = _engine.frame_poses(self._engine, self._data, q)
        return {name: poses[index] for name, index in self._frames.items()}
