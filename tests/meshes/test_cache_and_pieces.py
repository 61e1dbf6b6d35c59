"""Disk cache and convex pieces of meshes.

The cache returns only valid entries and survives damage. Pieces are convex and deterministic, and
cover the mesh.
"""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from robosim.errors import MeshError
from robosim.meshes import (
    cache_folder,
    convex_hull_of_file,
    convex_pieces_of_file,
    hull_standoff,
    is_convex,
    left_out,
    load_mesh,
)
from robosim.meshes.cache import cache_key, load_arrays, store_arrays


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBOSIM_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def channel(folder):
    """STL file of a channel, one closed surface: 3 wide, 2 high, 4 long.

    Its slot is 1 wide and 1.5 deep.
    """
    outline = np.array([[0, 0], [3, 0], [3, 2], [2, 2], [2, 0.5], [1, 0.5], [1, 2], [0, 2]])
    caps = [[0, 1, 4], [0, 4, 5], [1, 2, 4], [2, 3, 4], [0, 5, 7], [5, 6, 7]]
    vertices = np.vstack([np.column_stack([outline, np.full(8, z)]) for z in (0.0, 4.0)])
    sides = [
        f
        for i in range(8)
        for f in ([i, (i + 1) % 8, 8 + i], [(i + 1) % 8, 8 + (i + 1) % 8, 8 + i])
    ]
    faces = [c[::-1] for c in caps] + [[8 + i for i in c] for c in caps] + sides
    path = folder / "channel.stl"
    trimesh.Trimesh(vertices, faces, process=False).export(path)
    return path


def test_hull_comes_back_from_the_cache(channel, monkeypatch):
    first = convex_hull_of_file(channel)
    assert len(list(cache_folder().iterdir())) == 1
    # The file must not be parsed again.
    monkeypatch.setattr("robosim.meshes.pieces.parse_mesh", None)
    second = convex_hull_of_file(channel)
    np.testing.assert_array_equal(first.vertices, second.vertices)
    np.testing.assert_array_equal(first.faces, second.faces)


def test_content_and_parameters_make_the_key(channel):
    convex_hull_of_file(channel)
    scaled = convex_hull_of_file(channel, scale=(2, 1, 1))
    assert scaled.vertices[:, 0].max() == pytest.approx(6)
    convex_hull_of_file(channel, max_vertices=6)
    assert len(list(cache_folder().iterdir())) == 3
    trimesh.creation.box((1, 1, 1)).export(channel)
    assert convex_hull_of_file(channel).vertices[:, 0].max() == pytest.approx(0.5)


@pytest.mark.parametrize("damage", [b"", b"junk", None, "arrays", "faces", "nan", "pickle"])
def test_damaged_entries_are_ignored_and_rewritten(channel, damage):
    first = convex_hull_of_file(channel)
    (entry,) = cache_folder().iterdir()
    sound = entry.read_bytes()
    if damage is None:
        entry.write_bytes(sound[: len(sound) // 2])
    elif isinstance(damage, bytes):
        entry.write_bytes(damage)
    else:
        bad = {
            "arrays": {"something": np.zeros(3)},
            "faces": {"vertices": first.vertices, "faces": first.faces + 1000},
            "nan": {"vertices": first.vertices * np.nan, "faces": first.faces},
            "pickle": {"vertices": np.array([object()]), "faces": first.faces},
        }[damage]
        np.savez(entry, **bad)
    again = convex_hull_of_file(channel)
    np.testing.assert_array_equal(first.vertices, again.vertices)
    np.testing.assert_array_equal(first.faces, again.faces)
    assert load_arrays(entry.name, ("vertices", "faces")) is not None


def test_unwritable_cache_costs_nothing_but_time(channel, folder, monkeypatch):
    (folder / "file").write_text("")
    monkeypatch.setenv("ROBOSIM_CACHE_DIR", str(folder / "file" / "below"))
    assert len(convex_hull_of_file(channel).vertices) == 8


def test_no_temporary_files_remain(folder):
    for i in range(5):
        store_arrays(cache_key("test", b"x", i=i), {"a": np.arange(3)})
    assert sorted(p.suffix for p in cache_folder().iterdir()) == [".npz"] * 5


def test_folder_follows_xdg(monkeypatch, tmp_path):
    monkeypatch.delenv("ROBOSIM_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "robosim"


def test_pieces_of_a_channel(channel, monkeypatch, tmp_path):
    pytest.importorskip("coacd", reason="coacd is not installed")
    pieces = convex_pieces_of_file(channel, threshold=0.2)
    mesh = load_mesh(channel)
    assert 2 <= len(pieces) <= 6
    assert all(is_convex(p) for p in pieces)
    # The slot is free: the stand-off decreases from half the slot's width to what the threshold
    # leaves.
    assert hull_standoff([convex_hull_of_file(channel)], mesh).distance > 0.45
    assert hull_standoff(pieces, mesh).distance < 0.25
    assert left_out(pieces, mesh) < 0.01 * mesh.extent
    # Without the cache: the same bits.
    with monkeypatch.context() as patch:
        patch.setenv("ROBOSIM_CACHE_DIR", str(tmp_path / "other"))
        again = convex_pieces_of_file(channel, threshold=0.2)
    # With the cache: no computation.
    monkeypatch.setattr("robosim.meshes.pieces.convex_decomposition", None)
    cached = convex_pieces_of_file(channel, threshold=0.2)
    for a, b, c in zip(pieces, again, cached, strict=True):
        np.testing.assert_array_equal(a.vertices, b.vertices)
        np.testing.assert_array_equal(a.vertices, c.vertices)
        np.testing.assert_array_equal(a.faces, c.faces)


@pytest.mark.parametrize("options", [{"threshold": 0}, {"threshold": 2}, {"max_pieces": 0}])
def test_pieces_refuse_bad_options(channel, options):
    pytest.importorskip("coacd", reason="coacd is not installed")
    with pytest.raises(MeshError, match="threshold"):
        convex_pieces_of_file(channel, **options)
