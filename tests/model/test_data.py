"""Data: the model's methods with preallocated results, called without allocating."""

import gc
import inspect
import tracemalloc
import weakref

import numpy as np
import pytest

from robosim.errors import ModelError
from robosim.model import Data, Model
from robosim.model.data import _BY_ARRAYS
from robosim.model.methods import Methods

from .mechanisms import branched_robot

# Methods without an array of their own.
PLAIN = {
    "neutral",
    "random_configuration",
    "kinetic_energy",
    "potential_energy",
    "mass_factor",
}


@pytest.fixture
def robot() -> Model:
    return branched_robot()


def methods() -> dict[str, tuple[str, ...]]:
    """Every method, with its positional arguments."""
    found = {}
    for name, method in inspect.getmembers(Methods, inspect.isfunction):
        if not name.startswith("_"):
            kinds = inspect.signature(method).parameters.values()
            found[name] = tuple(
                p.name for p in kinds if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "self"
            )
    return found


def arguments(model: Model, names: tuple[str, ...], seed: int) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    given: dict[str, object] = {}
    for name in names:
        if name in ("q", "q0", "q1"):
            given[name] = model.random_configuration(rng)
        elif name == "x":
            given[name] = rng.uniform(-1, 1, model.inertial_parameters.size)
        elif name == "link":
            given[name] = model.link_names[-1]
        elif name == "frame":
            given[name] = "local"
        else:
            given[name] = rng.uniform(-1, 1, model.n_v)
    return given


def arrays_of(result):
    if isinstance(result, dict):
        return list(result.values())
    return list(result) if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("name", sorted(set(methods()) - PLAIN))
def test_results_are_the_model_s_and_stay_in_place(robot, name):
    data = robot.data()
    method, names = getattr(data, name), methods()[name]
    first = method(*arguments(robot, names, 1).values())
    kept = [np.array(array) for array in arrays_of(first)]
    expected = getattr(robot, name)(**arguments(robot, names, 1))
    assert type(first) is type(expected)
    for array, other in zip(kept, arrays_of(expected), strict=True):
        np.testing.assert_array_equal(array, other)
    second = method(*arguments(robot, names, 2).values())
    assert second is first or isinstance(first, dict)
    assert all(one is other for one, other in zip(arrays_of(first), arrays_of(second), strict=True))
    assert any(
        (array != other).any()
        for array, other in zip(arrays_of(second), kept, strict=True)
        if array.size
    )
    # A call with keywords has the same result.
    again = arrays_of(getattr(data, name)(**arguments(robot, names, 1)))
    assert all(one is other for one, other in zip(arrays_of(first), again, strict=True))
    for array, other in zip(arrays_of(first), kept, strict=True):
        np.testing.assert_array_equal(array, other)


@pytest.mark.parametrize("name", sorted(PLAIN - {"random_configuration", "mass_factor"}))
def test_other_methods_are_the_model_s(robot, name):
    given = arguments(robot, methods()[name], 3)
    np.testing.assert_array_equal(
        getattr(robot.data(), name)(**given), getattr(robot, name)(**given)
    )


def test_every_method_of_arrays_alone_is_compiled(robot):
    alone = {
        name for name, names in methods().items() if names and not {"link", "rng"} & set(names)
    }
    assert set(_BY_ARRAYS) == alone - PLAIN - {"link_poses", "joint_force_derivatives"}
    data = robot.data()
    for name in _BY_ARRAYS:
        assert type(getattr(data, name)).__name__ == "BoundOperation", name


def test_choices_have_results_of_their_own(robot):
    data = robot.data()
    given = arguments(robot, ("q", "v", "a"), 4)
    plain = data.inverse_dynamics(**given)
    wrench = {"l3": np.arange(6.0)}
    for choices in (
        {"external": wrench},
        {"joint_forces": True},
        {"external": wrench, "joint_forces": True},
    ):
        pushed = data.inverse_dynamics(**given, **choices)
        assert pushed is not plain
        assert data.inverse_dynamics(**given, **choices) is pushed
        np.testing.assert_array_equal(pushed, robot.inverse_dynamics(**given, **choices))
        assert (pushed != plain).any()
    world, local = data.jacobian(given["q"], "l4"), data.jacobian(given["q"], "l4", "local")
    assert world is not local
    assert data.jacobian(given["q"], "l4") is world
    np.testing.assert_array_equal(local, robot.jacobian(given["q"], "l4", "local"))
    out = np.empty(robot.n_v)
    assert data.inverse_dynamics(**given, out=out) is out
    np.testing.assert_array_equal(out, plain)


def test_a_result_may_be_the_next_argument(robot):
    data = robot.data()
    given = arguments(robot, ("q", "v", "tau"), 5)
    a = data.forward_dynamics(**given)
    expected = robot.forward_dynamics(given["q"], given["v"], a.copy())
    assert data.forward_dynamics(given["q"], given["v"], a) is a
    np.testing.assert_array_equal(a, expected)
    rows = data.forward_dynamics_derivatives(**given)
    last = rows.da_dv[-1]
    expected = robot.forward_dynamics_derivatives(given["q"], last.copy(), given["tau"])
    for one, other in zip(
        data.forward_dynamics_derivatives(given["q"], last, given["tau"]), expected, strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_any_real_array_like_is_an_argument(robot):
    data = robot.data()
    q, v, a = arguments(robot, ("q", "v", "a"), 6).values()
    expected = robot.inverse_dynamics(q, v, a)
    strided = np.zeros((robot.n_v, 2))[:, 0]
    strided[:] = v
    np.testing.assert_array_equal(data.inverse_dynamics(list(q), strided, tuple(a)), expected)
    single = v.astype(np.float32)
    np.testing.assert_array_equal(
        data.inverse_dynamics(q, single, a), robot.inverse_dynamics(q, single.astype(float), a)
    )


def test_wrong_arguments_are_refused(robot):
    data = robot.data()
    q, v, a = arguments(robot, ("q", "v", "a"), 7).values()
    for call, error, message in (
        (
            lambda: data.inverse_dynamics(q[1:], v, a),
            ModelError,
            r"q has shape \(12,\); expected \(13,\)",
        ),
        (lambda: data.inverse_dynamics(q, v, a * np.nan), ModelError, "a holds nan"),
        (lambda: data.inverse_dynamics(q, v, 1j * a), ModelError, "a has dtype complex"),
        (
            lambda: data.inverse_dynamics(q, v),
            TypeError,
            "missing 1 required positional argument: 'a'",
        ),
        (lambda: data.inverse_dynamics(q, v, a, a), TypeError, "positional arguments"),
        (lambda: data.inverse_dynamics(q, v, a, speed=1), TypeError, "speed"),
        (lambda: data.jacobian(q, "l99"), ModelError, "no link 'l99'"),
    ):
        with pytest.raises(error, match=message):
            call()


@pytest.mark.parametrize("name", sorted(_BY_ARRAYS))
def test_calls_allocate_nothing(robot, name):
    data = robot.data()
    call, given = getattr(data, name), list(arguments(robot, methods()[name], 8).values())
    call(*given)
    gc.collect()
    tracemalloc.start()
    try:
        call(*given)
        before = tracemalloc.take_snapshot()
        start, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        for _ in range(1000):
            call(*given)
        end, peak = tracemalloc.get_traced_memory()
        after = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    # Only the loop's counter and the snapshot are allocated: less than the smallest result would
    # take.
    ours = (tracemalloc.Filter(False, tracemalloc.__file__), tracemalloc.Filter(False, "<unknown>"))
    grown = after.filter_traces(ours).compare_to(before.filter_traces(ours), "filename")
    assert sum(stat.count_diff for stat in grown if stat.size_diff > 1000) == 0
    # A thousand results of n_v numbers would take ten times as much.
    assert end - start < 8 * robot.n_v * 100
    assert peak - start < 8 * robot.n_v * 100


def test_data_is_collected(robot):
    data = robot.data()
    data.inverse_dynamics(*arguments(robot, ("q", "v", "a"), 9).values())
    result, alive = data.mass_matrix(robot.neutral()), weakref.ref(data)
    call = data.gravity
    del data
    gc.collect()
    # A reference to one of its methods keeps Data alive, since the method forwards some calls to
    # it.
    assert alive() is not None
    call(robot.neutral())
    del call
    gc.collect()
    assert alive() is None
    np.testing.assert_array_equal(result, robot.mass_matrix(robot.neutral()))


def test_data_outlives_its_model():
    robot = branched_robot()
    q = robot.neutral()
    expected = robot.gravity(q)
    data = robot.data()
    del robot
    gc.collect()
    np.testing.assert_array_equal(data.gravity(q), expected)
    assert repr(data) == "<Data of 'robot'>"
    assert isinstance(data, Data)
