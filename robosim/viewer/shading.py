"""Lighting of rasterized content: a soft sun, an open sky, and glass-like ghosts in front.

Diffuse light at a point with normal n and albedo a, with shadows of both sun and sky:

    a * ( sun * mean_i V_i max(n . s_i, 0)  +  (2 / N) sum_j V_j sky(l_j) max(n . l_j, 0)
          +  bounce * (0.65 - 0.35 n_z) )

The sun is a disc of directions s_i and the sky a hemisphere of directions l_j. V is 1 if the light
is visible, from one parallel depth buffer per direction (shadow mapping). The sky's term with
shadows is ambient occlusion. The picture is drawn at twice its size in each direction. Each of a
pixel's four samples uses a quarter of the directions, so their average uses all. Colors are linear
inside and sRGB outside. Frames: everything in W. Cost: 0.2 us per sample and some 50 small depth
buffers, drawn by the engine.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

import numpy as np

from robosim import _engine
from robosim.viewer.raster import Buffer, clip_near, rasterize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from robosim.viewer.camera import Camera

    F64 = NDArray[np.float64]
    F32 = NDArray[np.float32]

SUN = np.array([0.42, -0.34, 0.84]) / np.linalg.norm(
    [0.42, -0.34, 0.84]
)  # relative to the camera's heading, see `Lights.facing`
_SUN_COLOR = np.array([1.0, 0.96, 0.88], dtype=np.float32) * 0.86
_SKY_TOP = np.array([0.80, 0.88, 1.0], dtype=np.float32) * 0.66
_SKY_SIDE = np.array([1.0, 1.0, 1.0], dtype=np.float32) * 0.56
_BOUNCE = np.array([1.0, 0.97, 0.94], dtype=np.float32) * 0.22
_GROUND = np.array([0.84, 0.85, 0.87], dtype=np.float32)
_LINE = np.array([0.66, 0.68, 0.71], dtype=np.float32)

_SHINING, _SOLID = (
    1.0,
    2.0,
)  # opacity of a mark that is hidden and visible; at a slant like glass, so that 2 is opaque


_NEAR = 0.01  # smallest visible depth [m]
_QUARTERS = 4  # samples per pixel, each of which uses a part of the lights


@dataclass(frozen=True)
class Surface:
    """Surfaces to be lit, in W.

    Triangles have corners and unit normals (m, 3, 3), linear albedo (m, 3) and gloss (m,) from 0 to
    1. Balls have `centers` (k, 3), `radii` (k,) [m], albedo `tints` (k, 3), and no gloss.
    """

    corners: F64
    normals: F64
    albedo: F32
    gloss: F32
    centers: F64 = field(default_factory=lambda: np.empty((0, 3)))
    radii: F64 = field(default_factory=lambda: np.empty(0))
    tints: F32 = field(default_factory=lambda: np.empty((0, 3), np.float32))

    @staticmethod
    def empty() -> Surface:
        """Create a surface without triangles and balls."""
        return Surface(
            np.empty((0, 3, 3)),
            np.empty((0, 3, 3)),
            np.empty((0, 3), np.float32),
            np.empty(0, np.float32),
        )

    @staticmethod
    def join(parts: Sequence[Surface]) -> Surface:
        """Concatenate all triangles and all balls of several surfaces, in order."""
        if not parts:
            return Surface.empty()
        return Surface(
            *(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Surface))
        )

    def look(self, things: NDArray[np.int32]) -> tuple[F32, F32]:
        """Albedo (n, 3) and gloss (n,) by number, triangles first."""
        albedo = np.concatenate([self.albedo, self.tints])
        gloss = np.concatenate([self.gloss, np.zeros(len(self.radii), np.float32)])
        return albedo[things], gloss[things]


@dataclass(frozen=True)
class Lights:
    """Unit directions towards the lights (k, 3): a disc of sun and a hemisphere of sky."""

    sun: F64
    sky: F64

    @staticmethod
    def facing(forward: F64, *, n_sun: int = 24, n_sky: int = 32) -> Lights:
        """Create lights for a line of sight, with the sun behind the viewer's shoulder.

        All pictures are thus lit in the same way.
        """
        ahead = np.array([forward[0], forward[1], 0.0])
        ahead = (
            ahead / np.linalg.norm(ahead)
            if np.linalg.norm(ahead) > 1e-9
            else np.array([0.0, 1.0, 0.0])
        )
        right = np.cross(ahead, [0.0, 0.0, 1.0])
        toward_sun = -SUN[0] * right + SUN[1] * ahead + SUN[2] * np.array([0.0, 0.0, 1.0])
        u = np.cross(toward_sun, right)
        u /= np.linalg.norm(u)
        v = np.cross(toward_sun, u)
        k = np.arange(n_sun)
        r, angle = 0.048 * np.sqrt((k + 0.5) / n_sun), k * 2.399963
        sun = toward_sun + (r * np.cos(angle))[:, None] * u + (r * np.sin(angle))[:, None] * v
        k = np.arange(n_sky)
        z, angle = (k + 0.5) / n_sky, k * 2.399963  # the golden angle spreads directions evenly
        side = np.sqrt(1 - z * z)
        sky = np.stack([side * np.cos(angle), side * np.sin(angle), z], axis=1)
        # Shuffle so that each quarter of the list covers the whole hemisphere.
        return Lights(
            sun / np.linalg.norm(sun, axis=1, keepdims=True),
            sky[np.random.default_rng(0).permutation(n_sky)],
        )


@dataclass
class _Samples:
    """List of k samples to be lit. `where` (k,) is the index of each in the enlarged picture.

    Indices run row by row.
    """

    where: NDArray[np.int64]
    position: F32
    normal: F32
    albedo: F32
    gloss: F32
    fade: F32  # fraction of the backdrop, from 0 to 1

    def part(self, wanted: NDArray[np.bool_]) -> _Samples:
        """Select samples by a mask (k,)."""
        chosen = np.flatnonzero(wanted)
        return _Samples(*(getattr(self, f.name).take(chosen, axis=0) for f in fields(_Samples)))

    @staticmethod
    def join(a: _Samples, b: _Samples) -> _Samples:
        """Concatenate two lists."""
        return _Samples(
            *(np.concatenate([getattr(a, f.name), getattr(b, f.name)]) for f in fields(_Samples))
        )


def draw(
    surface: Surface,
    ghosts: Sequence[tuple[Surface, float]],
    camera: Camera,
    width: int,
    height: int,
    *,
    ground: float | None,
    lines: Surface | None = None,
    marks: Surface | None = None,
) -> NDArray[np.uint8]:
    """Render a picture.

    Args:
        surface: solid surfaces.
        ghosts: transparent surfaces without shadows, each with its opacity in 0..1, drawn in this
            order.
        camera: camera of the picture.
        width, height: size of the picture [pixels].
        ground: height of an unbounded floor in W [m], or None for no floor.
        lines: solid surfaces in front of which no ghosts are drawn.
        marks: surfaces without shadows, not veiled by ghosts, that are visible through what hides
            them.

    Returns:
        sRGB picture (height, width, 3).
    """
    return View(camera, width, height, ground=ground).draw(
        surface, ghosts, lines=lines, marks=marks
    )


class View:
    """Data shared by all pictures of a fixed camera: rays, backdrop, floor and lights.

    Args:
        camera, width, height, ground: as in `draw`.
        n_sun, n_sky: numbers of lights. With fewer lights, shadows have steps and pictures take
            less time.
        line_shadows: True if lines cast shadows. Shadows of thin lines are irregular with few
            lights.
    """

    def __init__(
        self,
        camera: Camera,
        width: int,
        height: int,
        *,
        ground: float | None,
        n_sun: int = 24,
        n_sky: int = 32,
        line_shadows: bool = True,
    ) -> None:
        self._line_shadows = line_shadows
        self.camera, self.width, self.height = camera, width, height
        self._w, self._h = 2 * width, 2 * height
        self._rays = camera.rays(self._w, self._h, np.float32).reshape(-1, 3)
        self._lights = Lights.facing(camera.R_WC[:, 2], n_sun=n_sun, n_sky=n_sky)
        # Shared by all samples of a pixel.
        shades = _backdrop(camera.rays(width, height, np.float32))
        self._backdrop = shades.repeat(2, axis=0).repeat(2, axis=1).reshape(-1, 3)
        self._floor = _floor_samples(self._rays, camera, self._h, ground)

    def draw(
        self,
        surface: Surface,
        ghosts: Sequence[tuple[Surface, float]] = (),
        *,
        lines: Surface | None = None,
        marks: Surface | None = None,
    ) -> NDArray[np.uint8]:
        """Render one picture, see `draw`."""
        camera, rays, lights = self.camera, self._rays, self._lights
        n_veiled, standing = len(surface.corners), surface
        if lines is not None:
            surface = Surface.join([surface, lines])
        seen = visible_faces(surface, camera, self._w, self._h)
        image = self._backdrop.copy()
        free = seen.face.reshape(-1)[self._floor.where] < 0
        s = _Samples.join(_solid_samples(surface, seen, rays, camera), self._floor.part(free))
        casting = surface if self._line_shadows else standing
        lit = s.albedo * _light(s, casting, lights, camera, self._w)
        image[s.where] += (lit - image[s.where]) * (1 - s.fade)[:, None]
        is_line = (seen.face >= n_veiled) & (seen.face < len(surface.corners))
        nearest = np.where(is_line, np.float32(np.inf), seen.nearness)
        for ghost, opacity in ghosts:
            _blend_ghost(image, ghost, opacity, nearest, camera, rays, lights)
        if marks is not None:
            for opacity, before in ((_SHINING, np.zeros_like(nearest)), (_SOLID, seen.nearness)):
                _blend_ghost(image, marks, opacity, before, camera, rays, lights)
        image = image.reshape(self.height, 2, self.width, 2, 3).mean(axis=(1, 3))
        return np.asarray((np.clip(_to_srgb(image), 0, 1) * 255 + 0.5).astype(np.uint8))


def visible_faces(surface: Surface, camera: Camera, width: int, height: int) -> Buffer:
    """Return the visible triangle or ball of a surface at each pixel."""
    local = (surface.corners - camera.position) @ camera.R_WC
    clipped, source = clip_near(local, _NEAR)
    seen = rasterize(
        camera.project(clipped, width, height),
        width,
        height,
        centers=(surface.centers - camera.position) @ camera.R_WC,
        radii=surface.radii,
        focal=camera.focal(height),
        near=_NEAR,
    )
    # Map the numbers of clipped triangles back to those of the surface.
    number = np.concatenate([source, np.arange(len(surface.radii)) + len(local), [-1]]).astype(
        np.int32
    )
    return Buffer(number[seen.face], seen.nearness)


def _solid_samples(surface: Surface, seen: Buffer, rays: F32, camera: Camera) -> _Samples:
    where = np.flatnonzero(seen.face >= 0)
    faces, ray = seen.face.reshape(-1)[where], rays[where]
    p = camera.position.astype(np.float32) + ray / seen.nearness.reshape(-1)[where][:, None]
    normal = _normals_at(surface, faces, p, ray)
    return _Samples(where, p, normal, *surface.look(faces), np.zeros(len(where), np.float32))


def _floor_samples(rays: F32, camera: Camera, h: int, ground: float | None) -> _Samples:
    """Samples of the floor, fading with the distance from the camera's target."""
    height = np.inf if ground is None else float(camera.position[2]) - ground
    where = np.flatnonzero(rays[:, 2] < 0) if 0 < height < np.inf else np.empty(0, np.int64)
    along = np.float32(-height) / rays[where, 2]
    p = camera.position.astype(np.float32) + rays[where] * along[:, None]
    reach = max(float(np.linalg.norm(camera.look_at - camera.position)), 1.0)
    off = p[:, :2] - camera.look_at[:2].astype(np.float32)
    fade = np.sqrt(np.einsum("ij,ij->i", off, off)) / np.float32(reach)
    fade = np.clip((fade - 0.35) / 0.9, 0, 1) ** 0.8
    near = fade < 1
    where, p, along, fade = where[near], p[near], along[near], fade[near]
    normal = np.tile(np.array([0, 0, 1], np.float32), (len(p), 1))
    albedo = _ground_pattern(p, along * np.float32(2 * np.tan(camera.fov / 2) / h))
    return _Samples(where, p, normal, albedo, np.zeros(len(p), np.float32), fade.astype(np.float32))


def _normals_at(surface: Surface, things: NDArray[np.int32], points: F32, rays: F32) -> F32:
    """Normals at points of triangles and balls, oriented towards the eye."""
    m = len(surface.corners)
    normals = np.empty_like(points)
    of_faces, of_balls = np.flatnonzero(things < m), np.flatnonzero(things >= m)
    normals[of_faces] = _interpolate_normals(surface, things[of_faces], points[of_faces])
    out = points[of_balls] - surface.centers[things[of_balls] - m].astype(np.float32)
    normals[of_balls] = out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-12)
    away = np.einsum("ij,ij->i", normals, rays) > 0
    normals[away] *= -1
    return normals


def _interpolate_normals(surface: Surface, faces: NDArray[np.int32], points: F32) -> F32:
    """Normals at points of faces, interpolated by barycentric coordinates."""
    # Once per face, in double precision: rows that map a point relative to a to its barycentric
    # coordinates at b and c.
    a, b, c = (surface.corners[:, k] for k in range(3))
    ab, ac = b - a, c - a
    d00, d01, d11 = (np.einsum("ij,ij->i", u, v) for u, v in ((ab, ab), (ab, ac), (ac, ac)))
    det = np.maximum(d00 * d11 - d01 * d01, 1e-300)[:, None]
    rows = np.stack(
        [d11[:, None] * ab - d01[:, None] * ac, d00[:, None] * ac - d01[:, None] * ab], axis=1
    )
    rows = (rows / det[:, None]).astype(np.float32)
    relative = points - a.astype(np.float32)[faces]
    v, u = np.clip(np.einsum("nij,nj->in", rows[faces], relative), 0, 1)
    n = surface.normals.astype(np.float32)
    mixed = n[faces, 0] * np.maximum(1 - u - v, 0)[:, None]
    mixed += n[faces, 1] * v[:, None]
    mixed += n[faces, 2] * u[:, None]
    mixed /= np.maximum(np.sqrt(np.einsum("ij,ij->i", mixed, mixed)), 1e-12)[:, None]
    return np.asarray(mixed, dtype=np.float32)


def _ground_pattern(p: F32, pixel: F32) -> F32:
    """Floor color at points (k, 3): a grid of 0.5 m, antialiased for sizes `pixel` (k,) [m]."""
    line = np.zeros(len(p), np.float32)
    for cell, strength in ((0.5, 0.55), (1.0, 0.45)):
        half = 0.004 * (cell + 0.5)
        for axis in (0, 1):
            distance = np.abs((p[:, axis] / cell + 0.5) % 1.0 - 0.5) * cell
            cover = np.clip((half - distance) / np.maximum(pixel, 1e-6) + 0.5, 0, 1) * np.minimum(
                1, 2 * half / np.maximum(pixel, 1e-6)
            )
            line = np.maximum(line, cover * strength)
    return np.asarray(_GROUND + (_LINE - _GROUND) * line[:, None], dtype=np.float32)


def _light(s: _Samples, surface: Surface, lights: Lights, camera: Camera, w: int) -> F32:
    """Light on each sample (k, 3), gloss included.

    Each of a pixel's four samples uses every fourth direction.
    """
    sun_map = min(max(2 * w // 3, 320), 1600)  # resolution in proportion to the picture
    # Index of each sample among the four of its pixel.
    sample = (s.where // w % 2 * 2 + s.where % 2).astype(np.uint8)

    def gathered(directions: F64, side: int) -> F32:
        """Means over the directions of V max(n . l, 0), of l_z times that, and of V."""
        sums = _engine.gather_light(
            surface.corners,
            surface.centers,
            surface.radii,
            s.position,
            s.normal,
            sample,
            directions,
            _QUARTERS,
            side,
            0,
        )
        return np.asarray(sums * np.float32(_QUARTERS / len(directions)))

    of_sun, of_sky = gathered(lights.sun, sun_map), 2 * gathered(lights.sky, sun_map // 5)
    sun, glint, sky, sky_z = of_sun[:, 0], of_sun[:, 2], of_sky[:, 0], of_sky[:, 1]
    # Indirect light from all directions, mostly from below.
    bounce = (0.65 - 0.35 * s.normal[:, 2:]) * _BOUNCE
    light = (
        bounce
        + sun[:, None] * _SUN_COLOR
        + sky[:, None] * _SKY_SIDE
        + sky_z[:, None] * (_SKY_TOP - _SKY_SIDE)
    )
    glossy = np.flatnonzero((s.gloss > 0) & (sun > 0))
    halfway = camera.position.astype(np.float32) - s.position[glossy]
    halfway /= np.maximum(np.linalg.norm(halfway, axis=1, keepdims=True), 1e-9)
    halfway += lights.sun.mean(axis=0).astype(np.float32)
    halfway /= np.maximum(np.linalg.norm(halfway, axis=1, keepdims=True), 1e-9)
    gleam = np.einsum("ij,ij->i", s.normal[glossy], halfway).clip(0, 1) ** 48
    # The gleam is white whatever the albedo, by which the caller multiplies.
    light[glossy] += (0.3 * s.gloss[glossy] * glint[glossy] * gleam)[:, None] / np.maximum(
        s.albedo[glossy], 0.02
    )
    return np.asarray(light, dtype=np.float32)


def _blend_ghost(
    image: F32,
    ghost: Surface,
    opacity: float,
    nearest: F32,
    camera: Camera,
    rays: F32,
    lights: Lights,
) -> None:
    """Blend a transparent surface over the picture, denser at a slant, like glass.

    Only pixels nearer than `nearest` are changed.
    """
    own = visible_faces(ghost, camera, nearest.shape[1], nearest.shape[0])
    front = np.flatnonzero((own.face >= 0) & (own.nearness > nearest))
    faces = own.face.reshape(-1)[front]
    if len(faces) == 0:
        return
    ray = rays[front]
    normal = _normals_at(
        ghost,
        faces,
        camera.position.astype(np.float32) + ray / own.nearness.reshape(-1)[front][:, None],
        ray,
    )
    facing = np.abs(np.einsum("ij,ij->i", normal, ray)) / np.linalg.norm(ray, axis=1)
    alpha = (opacity * (0.55 + 0.75 * (1 - facing) ** 2)).clip(0, 1)[:, None]
    sun = np.maximum(normal @ lights.sun.mean(axis=0).astype(np.float32), 0)[:, None]
    light = _SUN_COLOR * sun + _SKY_SIDE * (0.6 + 0.4 * normal[:, 2:])
    image[front] = image[front] * (1 - alpha) + ghost.look(faces)[0] * light * alpha


def _backdrop(rays: F32) -> F32:
    """Nearly white at the horizon, light blue above."""
    slope = rays[..., 2] / np.linalg.norm(rays, axis=-1)
    t = np.clip(slope * 1.6, 0, 1)[..., None]
    return np.asarray(
        (1 - t) * np.array([0.90, 0.915, 0.935]) + t * np.array([0.72, 0.79, 0.88]),
        dtype=np.float32,
    )


def _to_srgb(linear: F32) -> F32:
    """Convert linear light to sRGB, with highlights above 0.8 rolled off instead of clipped."""
    x = np.maximum(linear, 0)
    x = np.where(x > 0.8, 0.8 + 0.2 * (1 - np.exp(-(x - 0.8) / 0.2)), x)
    return np.asarray(
        np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055), dtype=np.float32
    )


def to_linear(srgb: F64) -> F32:
    """Convert sRGB in 0..1 to linear light."""
    x = np.asarray(srgb, dtype=np.float64)
    return np.asarray(
        np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4), dtype=np.float32
    )
