"""Fast paths of reading scenes, against the code that they replace."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

from robosim.errors import SceneError
from robosim.geometry import pose
from robosim.scene import Scene, bundled_scenes, load_scene, objects
from robosim.scene.yaml_nodes import MAX_DEPTH, Node, parse_yaml

from ..scale import repeats  # noqa: TID252


def written(node: Node) -> object:
    """All data of a node and of the nodes in it."""
    value = node.value
    if isinstance(value, list):
        value = [written(entry) for entry in value]
    elif isinstance(value, dict):
        value = {key: written(entry) for key, entry in value.items()}
    return node.line, node.plain, node.size, value


def answer(text: str) -> object:
    """Result of reading a text: nodes, or an error with its line."""
    try:
        return written(parse_yaml(text, "a.yaml"))
    except SceneError as error:
        return str(error), error.line


ODD = [
    "",
    "# nothing",
    "a: 1\na: 2",
    "--- 1\n--- 2",
    "%YAML 1.1\n---\na: 1\n...\n",
    "a: &x [1, 2]\nb: *x\nc: {d: *x}",
    "a: &x [*x]",
    "*x : 1",
    "? [1]\n: 2",
    "- !foo 1",
    "- !!str 2\n- ! 3",
    "a: |\n  x\n  y\nb: >\n z\n",
    "a: 'q'\nb: \"r\"\nc: ~",
    *("[" * n + "1" + "]" * n for n in (MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 4 * MAX_DEPTH)),
    *("{a: " * n + "1" + "}" * n for n in (MAX_DEPTH, MAX_DEPTH + 1)),
    "{a: 1, b: [1, 2",
    "a: [1, 2}\n",
    "\ta: 1",
]


def test_both_parsers_of_yaml_give_the_same_nodes_and_lines(monkeypatch, tmp_path):
    """libyaml's parser and the Python parser that replaces it, on bundled scenes and odd texts."""
    if not hasattr(yaml, "CSafeLoader"):
        pytest.skip("this PyYAML has no libyaml")
    texts = [*ODD]
    for name in bundled_scenes():
        load_scene(name).save(tmp_path / "scene.yaml")
        texts.append((tmp_path / "scene.yaml").read_text())
    fast = [answer(text) for text in texts]
    monkeypatch.delattr(yaml, "CSafeLoader")
    for text, one in zip(texts, fast, strict=True):
        other = answer(text)
        if "not valid YAML" in str(one[0]):  # each parser has its own message
            assert "not valid YAML" in str(other[0]), text
        else:
            assert other == one, text


@pytest.mark.parametrize(
    ("entries", "match"),
    [
        ("[1, 2, x]", r"expected a number, found 'x'"),
        ("[1, 2, '3']", r"expected a finite number, found '3'"),
        ("[1, 2, .nan]", r"expected a number, found '.nan'"),
        ("[1, 2, nan]", r"expected a finite number, found 'nan'"),
        ("[1, -inf, inf]", r"expected a finite number, found '-inf'"),
        ("[1, 2, [3]]", r"a sequence of 1"),
        ("[1, 2, ]", r"expected 3 entries, found 2"),
        ("[1, 2, ~]", r"expected a number, found nothing"),
    ],
)
def test_numbers_that_are_none_are_named(entries, match):
    with pytest.raises(SceneError, match=match) as caught:
        parse_yaml(f"a: 1\nb:\n  {entries}", "a.yaml").value["b"].numbers("size", 3)
    assert caught.value.line == 3


def test_large_numbers_are_finite_each_though_their_sum_is_not():
    np.testing.assert_array_equal(
        parse_yaml("[1e308, 1e308, 1e308]", "a.yaml").numbers("size"), np.full(3, 1e308)
    )


def test_a_pose_is_rigid_by_plain_numbers_where_it_is_by_arrays():
    """Random poses: near the tolerance, mirrored, scaled, far away, or with odd numbers."""
    rng = np.random.default_rng(0)
    seen = {True: 0, False: 0}
    for _ in range(repeats(2000, 100_000)):
        X = pose(rng.normal(size=3), quaternion=rng.normal(size=4))
        way = rng.integers(7)
        if way == 1:
            X[:3, :3] += rng.normal(scale=10.0 ** rng.uniform(-16, 0), size=(3, 3))
        elif way == 2:
            X[:3, rng.integers(3)] *= -1
        elif way == 3:
            X[:3, 3] *= 10.0 ** rng.uniform(0, 8)
        elif way == 4:
            X[rng.integers(4), rng.integers(4)] = rng.choice([np.nan, np.inf, -np.inf, 1e200, 2.0])
        elif way == 5:
            X[3] += rng.choice([0, 1e-12, 1e-8], 4)
        elif way == 6:
            X[:3, :3] *= 1 + rng.choice([-1, 1]) * 10.0 ** rng.uniform(-9, -5)
        fault = objects._rigid_fault(X)
        try:
            with np.errstate(all="ignore"):
                expected = objects._check_rigid(X[None], "it")
        except SceneError:
            expected = np.inf
        if np.isfinite(fault):
            # Sums in another order differ by a few roundings.
            assert abs(fault - expected) < 1e-15
        else:  # poses refused by the fast check are checked again
            assert (
                expected == np.inf or (way in (1, 6) and abs(expected - 1e-6) < 1e-15) or way == 5
            )
        seen[bool(np.isfinite(fault))] += 1
    assert min(seen.values()) > 0.1 * sum(seen.values())


def test_a_size_beyond_what_a_scene_has_is_refused_in_every_form():
    for size in (
        (1e7, 1, 1),
        [1, 2, 1e7],
        np.array([1, 1e7, 1]),
        np.array([1, 10_000_000, 1], dtype=object),
    ):
        with pytest.raises(SceneError, match="a size beyond 1e\\+06 m"):
            Scene().add_box("box", size)
    with pytest.raises(SceneError, match="a size beyond"):
        Scene().add_sphere("ball", 1e7)
