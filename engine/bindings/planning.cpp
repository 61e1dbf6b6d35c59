// Collision scenes, edge checks and path search.
#include <pybind11/stl.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <tuple>

#include "bindings/bound_scene.h"
#include "bindings/module.h"
#include "bindings/shape_arguments.h"
#include "planning/blend.h"
#include "planning/free_line.h"
#include "planning/rrt_connect.h"
#include "planning/shortcut.h"
#include "planning/whole_turns.h"
#include "scene/self_collision.h"
#include "scene/turn_table.h"

namespace py = pybind11;

namespace robosim {
namespace {

using IntArray = py::array_t<int, py::array::c_style | py::array::forcecast>;

std::vector<std::pair<int, int>> pairs_from(const py::handle& value) {
  const IntArray pairs = IntArray::ensure(value);
  if (!pairs) {
    PyErr_Clear();
    throw InputError("pairs is not an array of integers");
  }
  if (pairs.size() == 0) return {};
  if (pairs.ndim() != 2 || pairs.shape(1) != 2)
    throw InputError(message("pairs has shape ",
                             shape_text(pairs.shape(), static_cast<std::size_t>(pairs.ndim())),
                             "; expected (m, 2)"));
  std::vector<std::pair<int, int>> out;
  for (py::ssize_t i = 0; i < pairs.shape(0); ++i) out.emplace_back(pairs.at(i, 0), pairs.at(i, 1));
  return out;
}

// Read a row-major 4x4 homogeneous matrix whose rotation must be orthonormal to 1e-6.
SE3d rigid_pose(const double* X, const std::string& name) {
  const Mat3d R{{X[0], X[1], X[2]}, {X[4], X[5], X[6]}, {X[8], X[9], X[10]}};
  const Mat3d RtR = transpose(R) * R;
  double worst = std::abs(dot(R.row[0], cross(R.row[1], R.row[2])) - 1);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) worst = std::max(worst, std::abs(RtR(i, j) - (i == j ? 1.0 : 0.0)));
  worst = std::max({worst, std::abs(X[12]), std::abs(X[13]), std::abs(X[14]), std::abs(X[15] - 1)});
  if (!(worst <= 1e-6))
    throw InputError(
        message("the pose of '", name,
                "' is not rigid: expected a rotation, a position and the row 0 0 0 1"));
  return {R, {X[3], X[7], X[11]}};
}

struct BoundTurnTable {
  std::shared_ptr<const TurnTable> table;
};

std::unique_ptr<BoundScene> make_scene(const Model& model, const std::vector<std::string>& names,
                                       const std::vector<AnyBody>& shapes, const py::handle& poses,
                                       const std::vector<int>& bodies, const py::handle& pairs,
                                       const py::object& tables) {
  const std::size_t n = names.size();
  if (shapes.size() != n || bodies.size() != n)
    throw InputError(std::to_string(n) + " names, " + std::to_string(shapes.size()) +
                     " shapes and " + std::to_string(bodies.size()) +
                     " bodies: there must be as many of each");
  std::vector<ExtraObject> extras;
  if (n > 0) {
    const Array X = real_array(poses, {static_cast<py::ssize_t>(n), 4, 4}, "poses");
    for (std::size_t i = 0; i < n; ++i)
      extras.push_back({names[i], geometry_of(shapes[i], names[i].c_str()), bodies[i],
                        rigid_pose(X.data() + 16 * i, names[i])});
  }
  CollisionScene::Tables known;
  if (!tables.is_none())
    for (const py::handle table : tables) {
      if (!table.is_none() && !py::isinstance<BoundTurnTable>(table))
        throw InputError("tables must hold a TurnTable or None for each pair");
      known.push_back(table.is_none() ? nullptr : table.cast<BoundTurnTable&>().table);
    }
  return std::make_unique<BoundScene>(model, std::move(extras), pairs_from(pairs),
                                      std::move(known));
}

struct BoundEdgeResult {
  bool free;
  double t;
  py::object pair;
  std::int64_t work;
};

// Result of `look`, a function of the checker, with the work that it took.
template <class Look>
BoundEdgeResult to_python(const BoundScene& s, EdgeChecker& checker, Look&& look) {
  const std::int64_t before = checker.work();
  const EdgeResult r = look(checker);
  return {r.free, r.t, s.pair_names(r.a, r.b), checker.work() - before};
}

void bind_scene(py::module_& m) {
  py::class_<BoundEdgeResult>(m, "EdgeResult",
                              "Whether a motion is free, and if not, where and what touches.")
      .def_readonly("free", &BoundEdgeResult::free)
      .def_readonly("t", &BoundEdgeResult::t,
                    "Where it touches: the curve's parameter; 0 when free.")
      .def_readonly("pair", &BoundEdgeResult::pair, "The two names that touch, or None.")
      .def_readonly("work", &BoundEdgeResult::work, "What it took, as SearchResult.work counts.")
      .def("__bool__", [](const BoundEdgeResult& r) { return r.free; });

  py::class_<BoundTurnTable, std::shared_ptr<BoundTurnTable>>(
      m, "TurnTable",
      "Where two colliders of a model are known to be apart, over the angles of the one or two "
      "joints between them.")
      .def_property_readonly(
          "q_index",
          [](const BoundTurnTable& t) {
            return std::vector<int>(t.table->q_index, t.table->q_index + t.table->n);
          },
          "The entries of q that these angles are.")
      .def_property_readonly(
          "free",
          [](const BoundTurnTable& t) {
            constexpr int cells = TurnTable::cells;
            py::array_t<bool> out({py::ssize_t(t.table->n == 2 ? cells : 1), py::ssize_t(cells)});
            bool* p = out.mutable_data();
            for (std::size_t i = 0; i < static_cast<std::size_t>(out.size()); ++i)
              *p++ = t.table->free[i / 64] >> (i % 64) & 1;
            return out;
          },
          "(rows, cells): equal cells of whole turns from 0 on, of the last joint in a row; one "
          "row of one joint, of two\n"
          "a row for each cell of the first.")
      .def(
          "is_free",
          [](const BoundTurnTable& t, const py::handle& lower, const py::handle& upper) {
            const Array from = real_array(lower, {t.table->n}, "lower"),
                        to = real_array(upper, {t.table->n}, "upper");
            return t.table->is_free(from.data(), to.data());
          },
          py::arg("lower"), py::arg("upper"),
          "Whether it is known to be apart at all angles from lower to upper, (n,) each.");

  py::class_<BoundScene>(
      m, "CollisionScene",
      "The colliders of a model, extra objects and the exact pairs that must stay apart; "
      "immutable.\n\n"
      "bodies[i] is what extra object i is fixed to: 0 the world, else a moving body; poses[i] is "
      "its pose\n"
      "in that body. pairs (m, 2) number the model's colliders first, then the extras. tables: for "
      "each of\n"
      "them where it is known to be apart, a TurnTable or None; answers are the same without.")
      .def(py::init(&make_scene), py::arg("model"), py::arg("names"), py::arg("shapes"),
           py::arg("poses"), py::arg("bodies"), py::arg("pairs"), py::arg("tables") = py::none(),
           py::keep_alive<1, 2>())
      .def_property_readonly("names",
                             [](const BoundScene& s) {
                               std::vector<std::string> names;
                               for (const SceneObject& o : s.scene.objects())
                                 names.push_back(o.name);
                               return names;
                             })
      .def_property_readonly(
          "stand_ins",
          [](const BoundScene& s) {
            std::vector<std::string> names;
            for (const SceneObject& o : s.scene.objects())
              if (o.geometry.exact) names.push_back(o.name);
            return names;
          },
          "Names of objects whose shape stands for a mesh; depths of their overlaps are those of "
          "the shapes: upper bounds.")
      .def_property_readonly(
          "shapes",
          [](const BoundScene& s) {
            std::vector<py::object> shapes;
            for (const SceneObject& o : s.scene.objects())
              shapes.push_back(body_object(o.geometry));
            return shapes;
          },
          "Of all objects, the model's colliders first.")
      .def_property_readonly(
          "poses",
          [](const BoundScene& s) {
            std::vector<Array> poses;
            for (const SceneObject& o : s.scene.objects()) poses.push_back(pose_array(o.X_BO));
            return poses;
          },
          "(4, 4) of all objects, in the bodies that carry them.")
      .def_property_readonly("n_q", [](const BoundScene& s) { return s.scene.model().n_q; })
      .def_property_readonly("n_colliders",
                             [](const BoundScene& s) { return s.scene.model().colliders.size(); })
      .def_property_readonly(
          "pairs",
          [](const BoundScene& s) {
            IntArray out({static_cast<py::ssize_t>(s.scene.pairs().size()), py::ssize_t(2)});
            int* p = out.mutable_data();
            for (const auto& [a, b] : s.scene.pairs()) *p++ = a, *p++ = b;
            return out;
          })
      .def(
          "collides",
          [](BoundScene& s, const py::handle& q) {
            const Array p = s.configuration(q);
            return BoundScene::Lease(s).at(p).collides();
          },
          py::arg("q"), "Whether any pair overlaps at q (n_q,).")
      .def(
          "collides_many",
          [](BoundScene& s, const py::handle& q, int threads) {
            const Array p = s.configurations(q);
            if (threads < 0)
              throw InputError(message("threads is ", threads, "; it must not be negative"));
            py::array_t<bool> out(p.shape(0));
            bool* flags = out.mutable_data();
            {
              const py::gil_scoped_release release;
              s.batch.collides(p.shape(0), p.data(), flags, threads);
            }
            return out;
          },
          py::arg("q"), py::arg("threads") = 1,
          "Whether any pair overlaps at each of the configurations q (n, n_q): (n,), bit for bit "
          "what `collides` says of each.\n\n"
          "Several configurations go side by side through bounds of balls, and to exact shapes "
          "where these decide nothing.\n"
          "At most `threads` threads share the work, 0 for as many as there are processors; their "
          "number changes nothing.")
      .def(
          "distances_many",
          [](BoundScene& s, const py::handle& q, int threads) {
            const Array p = s.configurations(q);
            if (threads < 0)
              throw InputError(message("threads is ", threads, "; it must not be negative"));
            Array out(Shape2{p.shape(0), static_cast<py::ssize_t>(s.scene.pairs().size())});
            double* distances = out.mutable_data();
            {
              const py::gil_scoped_release release;
              s.batch.distances(p.shape(0), p.data(), distances, threads);
            }
            return out;
          },
          py::arg("q"), py::arg("threads") = 1,
          "Signed distance [m] of every pair, in the order of `pairs`, at each of the "
          "configurations q (n, n_q): (n, m), to rounding\n"
          "what `distances` says of each.\n\n"
          "Several configurations go side by side where the shapes are apart and none is curved "
          "but for spheres and capsules.\n"
          "At most `threads` threads share the work, 0 for as many as there are processors; their "
          "number changes nothing.")
      .def(
          "first_collision",
          [](BoundScene& s, const py::handle& q) {
            const Array p = s.configuration(q);
            int a, b;
            BoundScene::Lease(s).at(p).collides(&a, &b);
            return s.pair_names(a, b);
          },
          py::arg("q"), "The names of one overlapping pair at q (n_q,), or None.")
      .def(
          "collisions",
          [](BoundScene& s, const py::handle& q, double margin) {
            const Array p = s.configuration(q);
            if (!(margin >= 0))
              throw InputError("margin is " + std::to_string(margin) +
                               " m; it must not be negative");
            std::vector<SceneQuery::Contact> contacts;
            BoundScene::Lease(s).at(p).contacts(margin, contacts);
            py::list out;
            for (const auto& c : contacts)
              out.append(py::make_tuple(s.name(c.a), s.name(c.b), c.witness.distance));
            return out;
          },
          py::arg("q"), py::arg("margin") = 0.0,
          "All pairs with a signed distance below margin [m] at q (n_q,): a list of (name, name, "
          "distance).")
      .def(
          "min_distance",
          [](BoundScene& s, const py::handle& q) {
            const Array p = s.configuration(q);
            const SceneQuery::Contact c = BoundScene::Lease(s).at(p).closest();
            if (c.a < 0) throw InputError("the scene has no pair to measure");
            return py::make_tuple(c.witness.distance, s.name(c.a), s.name(c.b),
                                  vec3_array(c.witness.p_WA), vec3_array(c.witness.p_WB));
          },
          py::arg("q"),
          "The smallest signed distance at q: (distance [m], name, name, point (3,), point (3,)), "
          "points in W.")
      .def(
          "distances",
          [](BoundScene& s, const py::handle& q) {
            const Array p = s.configuration(q);
            Array out(Shape2{static_cast<py::ssize_t>(s.scene.pairs().size())});
            BoundScene::Lease(s).at(p).distances(out.mutable_data());
            return out;
          },
          py::arg("q"), "Signed distance [m] of every pair (m,), in the order of `pairs`.")
      .def(
          "edge_free",
          [](BoundScene& s, const py::handle& q0, const py::handle& q1, double resolution) {
            const Array p0 = s.configuration(q0, "q0"), p1 = s.configuration(q1, "q1");
            const BoundScene::Lease checker(s);
            checker->restrict_to({});
            const double fine = checked_resolution(resolution);
            return to_python(s, *checker,
                             [&](EdgeChecker& c) { return c.line(p0.data(), p1.data(), fine); });
          },
          py::arg("q0"), py::arg("q1"), py::arg("resolution") = 0.005,
          "Whether the straight line from q0 to q1 is free of collisions, all of it: nothing is "
          "missed between samples.\n\n"
          "An edge that comes within resolution / 2 [m] of a collision may be called touching; "
          "near its ends much less.")
      .def(
          "trajectory_free",
          [](BoundScene& s, const py::handle& times, const py::handle& coefficients,
             const std::vector<int>& columns, const py::handle& q_rest, double resolution) {
            const Model& model = s.scene.model();
            const int n = static_cast<int>(checked_columns(model, columns).size());
            const Array breaks_array = sized(times, {-1}, "times"),
                        rest = s.configuration(q_rest, "q_rest");
            const double* breaks = breaks_array.data();
            const int pieces = static_cast<int>(breaks_array.size()) - 1;
            if (pieces < 1) throw InputError("times must hold at least two breaks");
            for (int i = 0; i < pieces; ++i)
              if (!(breaks[i] < breaks[i + 1]))
                throw InputError("times do not increase after entry " + std::to_string(i));
            const Array c = sized(coefficients, {pieces, -1, n}, "coefficients");
            const int order = static_cast<int>(c.shape(1));
            if (order < 1 || order > PiecewisePolynomial::max_order)
              throw InputError("coefficients hold " + std::to_string(order) +
                               " powers of time; it must be 1 to " +
                               std::to_string(PiecewisePolynomial::max_order));
            const PiecewisePolynomial curve(breaks, pieces, c.data(), order, columns.data(), n,
                                            rest.data(), model.n_q);
            const BoundScene::Lease checker(s);
            checker->restrict_to({});
            const double fine = checked_resolution(resolution);
            return to_python(s, *checker, [&](EdgeChecker& e) {
              return e.curve(curve, curve.start(), curve.end(), fine);
            });
          },
          py::arg("times"), py::arg("coefficients"), py::arg("columns"), py::arg("q_rest"),
          py::arg("resolution") = 0.005,
          "Whether a piecewise polynomial motion is free of collisions, all of it.\n\n"
          "Refused only if it comes within resolution / 1000 [m] of a collision, so that a path of "
          "free edges stays free.\n"
          "times (k + 1,), coefficients (k, order, n): q[columns] = sum_j coefficients[i, j] (t - "
          "times[i])**j on piece i, the\n"
          "other entries stay at q_rest (n_q,).");

  m.def(
      "sample_self_collisions",
      [](const Model& model, std::uint64_t seed, std::int64_t samples, const py::object& pairs) {
        if (samples < 1)
          throw InputError("samples is " + std::to_string(samples) + "; it must be at least 1");
        std::vector<std::pair<int, int>> list;
        const int n = static_cast<int>(model.colliders.size());
        if (pairs.is_none()) {
          for (int a = 0; a < n; ++a)
            for (int b = a + 1; b < n; ++b)
              if (model.colliders[a].body != model.colliders[b].body) list.emplace_back(a, b);
        } else {
          list = pairs_from(pairs);
        }
        const std::vector<std::int64_t> counts = sample_self_collisions(model, list, seed, samples);
        IntArray index({static_cast<py::ssize_t>(list.size()), py::ssize_t(2)});
        int* p = index.mutable_data();
        for (const auto& [a, b] : list) *p++ = a, *p++ = b;
        py::array_t<std::int64_t> touching(static_cast<py::ssize_t>(counts.size()));
        std::copy(counts.begin(), counts.end(), touching.mutable_data());
        return py::make_tuple(index, touching);
      },
      py::arg("model"), py::arg("seed") = 0, py::arg("samples") = 10000,
      py::arg("pairs") = py::none(),
      "How often pairs of colliders touch at `samples` random configurations within the limits.\n\n"
      "pairs (m, 2) of collider indices; by default all pairs on different bodies. Returns (pairs "
      "(m, 2), counts (m,)).");

  m.def(
      "turn_tables",
      [](const Model& model, const py::handle& pairs, double least, int most_boxes) {
        if (!(least >= 0))
          throw InputError(message("least is ", least, "; it must not be negative"));
        py::list out;
        const std::vector<std::pair<int, int>> list = pairs_from(pairs);
        std::vector<std::shared_ptr<const TurnTable>> tables;
        {
          const py::gil_scoped_release release;
          tables = turn_tables(model, list, least, most_boxes);
        }
        for (const auto& table : tables)
          out.append(table ? py::cast(std::make_shared<BoundTurnTable>(BoundTurnTable{table}))
                           : py::object(py::none()));
        return out;
      },
      py::arg("model"), py::arg("pairs"), py::arg("least") = 1e-3, py::arg("most_boxes") = 30000,
      "For each of the pairs (m, 2) of colliders a TurnTable, or None where nothing is known of "
      "it.\n\n"
      "Only those are looked at between which one or two joints turn about an axis, each by a "
      "coordinate of its own, and\n"
      "each for at most `most_boxes` distances. least: what they are at least apart where the "
      "table says free [m].");
}

// Read positive weights, one per column; empty for None.
std::vector<double> weights_from(const py::handle& value, std::size_t n) {
  if (value.is_none()) return {};
  const Array a = real_array(value, {static_cast<py::ssize_t>(n)}, "weights");
  for (py::ssize_t k = 0; k < a.size(); ++k)
    if (!(a.data()[k] > 0))
      throw InputError(message("weights[", k, "] is ", a.data()[k], "; weights must be positive"));
  return {a.data(), a.data() + a.size()};
}

// Callback that checks Python's signals and asks `progress` whether to continue. An exception stays
// set and is raised later. (The search calls it every 50 ms.)
std::function<bool()> poll_python(const py::object& progress, bool& raised) {
  return [&progress, &raised] {
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) return raised = true, false;
    if (progress.is_none()) return true;
    PyObject* answer = PyObject_CallNoArgs(progress.ptr());
    if (!answer) return raised = true, false;
    const bool stop = answer == Py_False;
    Py_DECREF(answer);
    return !stop;
  };
}

void bind_search(py::module_& m) {
  struct BoundResult : SearchResult {
    py::object path_rows, culprits;
  };
  m.attr("work_per_iteration") = work_per_iteration;

  // Flags of goals or of columns; empty for None, which sets none.
  const auto flags_from = [](const py::handle& value, py::ssize_t n, const char* what) {
    std::vector<char> flags;
    if (value.is_none()) return flags;
    const auto given = py::array_t<bool, py::array::c_style | py::array::forcecast>::ensure(value);
    if (!given || given.ndim() != 1 || given.shape(0) != n) {
      PyErr_Clear();
      throw InputError(message(what, " is not an array of ", n, " flags"));
    }
    flags.assign(given.data(), given.data() + n);
    return flags;
  };
  py::class_<BoundResult>(m, "SearchResult", "What a search found, and what it cost.")
      .def_property_readonly(
          "status", [](const BoundResult& r) { return name_of(r.status); },
          "'solved', 'budget_exhausted', 'time_out', 'cancelled', 'start_out_of_limits', "
          "'goal_out_of_limits',\n"
          "'start_in_collision' or 'goal_in_collision' (the latter two of goals: of all goals)")
      .def_readonly("path", &BoundResult::path_rows, "Waypoints (p, n_q); (0, n_q) unless solved.")
      .def_readonly("goal_index", &BoundResult::goal, "Which goal was reached, -1 unless solved.")
      .def_readonly(
          "iterations", &BoundResult::iterations,
          "Iterations done; one that took more than `work_per_iteration` counts as several.")
      .def_readonly("n_lines", &BoundResult::lines,
                    "Straight lines tried, to goals and to what differs from these by whole turns, "
                    "nearest first.")
      .def_readonly("n_edges", &BoundResult::edges, "Edges checked.")
      .def_readonly("n_checks", &BoundResult::samples,
                    "Configurations looked at by the edge checks.")
      .def_readonly(
          "work", &BoundResult::work,
          "All that was asked of the scene and the trees, in bounds on the distance of two things.")
      .def_readonly("n_vertices", &BoundResult::vertices, "Vertices of both trees.")
      .def_readonly("seconds", &BoundResult::seconds)
      .def_readonly("pair", &BoundResult::culprits,
                    "What collides at the start or the first goal, where that is the status.");

  m.def(
      "sampling_window",
      [flags_from](const py::handle& start, const py::handle& goals,
                   const std::vector<int>& columns, const py::handle& lower,
                   const py::handle& upper, const py::handle& periodic) {
        const Array from = sized(start, {-1}, "start"),
                    to = sized(goals, {-1, from.size()}, "goals");
        auto [low, high] = limits_from(lower, upper, columns);
        const py::ssize_t n = static_cast<py::ssize_t>(columns.size());
        std::vector<char> turns = flags_from(periodic, n, "periodic");
        turns.resize(columns.size(), 0);
        for (const int c : columns)
          if (c < 0 || c >= from.size())
            throw InputError(
                message("column ", c, " is not an entry of start, which has ", from.size()));
        std::vector<double> ends(from.data(), from.data() + from.size());
        ends.insert(ends.end(), to.data(), to.data() + to.size());
        narrow_to_one_turn(ends.data(), static_cast<std::size_t>(1 + to.shape(0)),
                           static_cast<std::size_t>(from.size()), columns, turns, low, high);
        return py::make_tuple(vector_array(low), vector_array(high));
      },
      py::arg("start"), py::arg("goals"), py::arg("columns"), py::arg("lower"), py::arg("upper"),
      py::arg("periodic"),
      "Bounds (c,), (c,) for a search from `start` (n_q,) to rows of `goals` (k, n_q): the limits, "
      "of columns that are periodic (c,)\n"
      "no more than a turn.");

  // Options that a search and a check of straight lines share.
  const auto options_from = [flags_from](const Model& model, const std::vector<int>& columns,
                                         const py::handle& lower, const py::handle& upper,
                                         const py::handle& periodic, const py::handle& full_turns,
                                         py::ssize_t n_goals, double deadline_s,
                                         double resolution) {
    SearchOptions options;
    options.columns = checked_columns(model, columns);
    if (columns.empty()) throw InputError("columns is empty: nothing may move");
    if (n_goals == 0) throw InputError("goals holds no goal");
    std::tie(options.lower, options.upper) = limits_from(lower, upper, columns);
    options.periodic = flags_from(periodic, static_cast<py::ssize_t>(columns.size()), "periodic");
    options.may_turn = flags_from(full_turns, n_goals, "full_turns");
    options.deadline = checked_deadline(deadline_s);
    options.resolution = checked_resolution(resolution);
    return options;
  };
  const auto fill_in = [](const BoundScene& s, BoundResult& result) {
    result.path_rows = path_array(result.path, s.scene.model().n_q);
    result.culprits = s.pair_names(result.culprit_a, result.culprit_b);
  };

  m.def(
      "rrt_connect",
      [options_from, fill_in](BoundScene& s, const py::handle& start, const py::handle& goals,
                              const std::vector<int>& columns, const py::handle& lower,
                              const py::handle& upper, std::uint64_t seed,
                              std::int64_t max_iterations, double deadline_s, double resolution,
                              const py::object& progress, double range, const py::handle& weights,
                              const py::handle& periodic, const py::handle& full_turns) {
        const Array from = s.configuration(start, "start"), to = s.configurations(goals, "goals");
        SearchOptions options = options_from(s.scene.model(), columns, lower, upper, periodic,
                                             full_turns, to.shape(0), deadline_s, resolution);
        options.weights = weights_from(weights, columns.size());
        options.seed = seed;
        if (max_iterations < 0)
          throw InputError(
              message("max_iterations is ", max_iterations, "; it must not be negative"));
        options.max_iterations = max_iterations;
        if (!(range > 0)) throw InputError(message("range is ", range, "; it must be positive"));
        options.range = range;
        bool raised = false;
        options.poll = poll_python(progress, raised);
        BoundResult result;
        {
          const py::gil_scoped_release release;
          static_cast<SearchResult&>(result) =
              rrt_connect(*BoundScene::Lease(s), from.data(), to.data(),
                          static_cast<int>(to.shape(0)), options);
        }
        if (raised) throw py::error_already_set();
        fill_in(s, result);
        return result;
      },
      py::arg("scene"), py::arg("start"), py::arg("goals"), py::arg("columns"), py::arg("lower"),
      py::arg("upper"), py::arg("seed") = 0, py::arg("max_iterations") = 100000,
      py::arg("deadline_s") = std::numeric_limits<double>::infinity(),
      py::arg("resolution") = 0.005, py::arg("progress") = py::none(),
      py::arg("range") = SearchOptions().range, py::arg("weights") = py::none(),
      py::arg("periodic") = py::none(), py::arg("full_turns") = py::none(),
      "RRT-Connect from start (n_q,) to any of goals (k, n_q), moving the entries `columns` of q "
      "within lower, upper (n,).\n\n"
      "Every edge is proven free as a whole at `resolution` [m] (see edge_free). The result "
      "depends on the seed and\n"
      "max_iterations alone; deadline_s [s] just cuts. range: longest edge, in the metric sqrt(sum "
      "(weights dq)^2).\n"
      "progress() is called every 50 ms or so; it stops the search by returning False. periodic "
      "(n,): columns of which 2 pi more is\n"
      "the same pose, and full_turns (k,): goals for which any configuration that differs by whole "
      "turns will do; None: none.");

  m.def(
      "full_turns",
      [flags_from](const py::handle& start, const py::handle& goals,
                   const std::vector<int>& columns, const py::handle& lower,
                   const py::handle& upper, const py::handle& periodic,
                   const py::handle& full_turns, int most) {
        const Array from = sized(start, {-1}, "start"),
                    to = sized(goals, {-1, from.size()}, "goals");
        const auto [low, high] = limits_from(lower, upper, columns);
        const std::size_t n = columns.size(), n_q = static_cast<std::size_t>(from.size());
        for (const int c : columns)
          if (c < 0 || c >= from.size())
            throw InputError(
                message("column ", c, " is not an entry of start, which has ", from.size()));
        if (most < 0) throw InputError(message("most is ", most, "; it must not be negative"));
        Turning turning{flags_from(periodic, static_cast<py::ssize_t>(n), "periodic"), low, high};
        turning.periodic.resize(n, 0);
        std::vector<char> may_turn = flags_from(full_turns, to.shape(0), "full_turns");
        may_turn.resize(to.shape(0), 0);
        std::vector<double> a, b, rows;
        for (const int c : columns) a.push_back(from.data()[c]);
        for (py::ssize_t g = 0; g < to.shape(0); ++g)
          for (const int c : columns) b.push_back(to.data()[g * from.size() + c]);
        std::vector<int> of;
        WholeTurns turns(turning, a.data(), b, may_turn);
        WholeTurns::Candidate found;
        while (static_cast<int>(of.size()) < most && turns.next(found)) {
          rows.insert(rows.end(), from.data(), from.data() + from.size());
          for (std::size_t k = 0; k < n; ++k)
            rows[of.size() * n_q + static_cast<std::size_t>(columns[k])] = found.q[k];
          of.push_back(found.goal);
        }
        Array q(Shape2{static_cast<py::ssize_t>(of.size()), from.size()});
        std::copy(rows.begin(), rows.end(), q.mutable_data());
        return py::make_tuple(q, of);
      },
      py::arg("start"), py::arg("goals"), py::arg("columns"), py::arg("lower"), py::arg("upper"),
      py::arg("periodic"), py::arg("full_turns"), py::arg("most") = 1000,
      "The goals (k, n_q) and what differs from them by whole turns, as in rrt_connect: "
      "configurations (m, n_q) within limits, nearest\n"
      "to the start (n_q,) first, m <= most, and which goal each stands for.");

  m.def(
      "free_line",
      [options_from, fill_in](BoundScene& s, const py::handle& start, const py::handle& goals,
                              const std::vector<int>& columns, const py::handle& lower,
                              const py::handle& upper, const py::handle& periodic,
                              const py::handle& full_turns, int skip, double below,
                              double deadline_s, double resolution) {
        const Array from = s.configuration(start, "start"), to = s.configurations(goals, "goals");
        const SearchOptions options = options_from(s.scene.model(), columns, lower, upper, periodic,
                                                   full_turns, to.shape(0), deadline_s, resolution);
        if (skip < 0) throw InputError(message("skip is ", skip, "; it must not be negative"));
        if (!(below >= 0))
          throw InputError(message("below is ", below, "; it must not be negative"));
        BoundResult result;
        {
          const py::gil_scoped_release release;
          static_cast<SearchResult&>(result) =
              free_line(*BoundScene::Lease(s), from.data(), to.data(),
                        static_cast<int>(to.shape(0)), options, skip, below);
        }
        fill_in(s, result);
        return result;
      },
      py::arg("scene"), py::arg("start"), py::arg("goals"), py::arg("columns"), py::arg("lower"),
      py::arg("upper"), py::arg("periodic") = py::none(), py::arg("full_turns") = py::none(),
      py::arg("skip") = 0, py::arg("below") = std::numeric_limits<double>::infinity(),
      py::arg("deadline_s") = std::numeric_limits<double>::infinity(),
      py::arg("resolution") = 0.005,
      "The shortest free straight line from start (n_q,) to any of goals (k, n_q), or to what "
      "differs from one by whole turns.\n\n"
      "periodic and full_turns as in rrt_connect, whose first `skip` lines are left out. Lines not "
      "shorter than `below`, Euclidean in\n"
      "q[columns], are not looked at. The goals are taken for free.");

  m.def(
      "shortcut",
      [](BoundScene& s, const py::handle& path, const std::vector<int>& columns, std::uint64_t seed,
         int iterations, double deadline_s, double resolution, const py::handle& weights,
         int patience) {
        const Model& model = s.scene.model();
        ShortcutOptions options;
        options.columns = checked_columns(model, columns);
        options.weights = weights_from(weights, columns.size());
        options.seed = seed;
        options.iterations = iterations;
        options.patience = patience;
        options.deadline = checked_deadline(deadline_s);
        options.resolution = checked_resolution(resolution);
        std::vector<double> waypoints = path_from(path, model);
        {
          const py::gil_scoped_release release;
          waypoints = shortcut(*BoundScene::Lease(s), waypoints, options);
        }
        return path_array(waypoints, model.n_q);
      },
      py::arg("scene"), py::arg("path"), py::arg("columns"), py::arg("seed") = 0,
      py::arg("iterations") = ShortcutOptions().iterations,
      py::arg("deadline_s") = std::numeric_limits<double>::infinity(),
      py::arg("resolution") = 0.005, py::arg("weights") = py::none(),
      py::arg("patience") = ShortcutOptions().patience,
      "A shorter free polyline between the ends of the free polyline path (p, n_q): seeded "
      "shortcuts in all columns or in one.\n\n"
      "Ends early once `patience` attempts in a row gained less than 1 % of the length together.");

  py::class_<BlendedPath>(m, "BlendedPath", "A piecewise quadratic path with rounded corners.")
      .def_property_readonly(
          "breaks", [](const BlendedPath& p) { return vector_array(p.breaks); },
          "(k + 1,), from 0.")
      .def_property_readonly(
          "coefficients",
          [](const BlendedPath& p) {
            const py::ssize_t k = static_cast<py::ssize_t>(p.breaks.size()) - 1;
            Array out(Shape2{
                k, 3, k == 0 ? 0 : static_cast<py::ssize_t>(p.coefficients.size()) / (3 * k)});
            std::copy(p.coefficients.begin(), p.coefficients.end(), out.mutable_data());
            return out;
          },
          "(k, 3, n): q[columns](s) = sum_j coefficients[i, j] (s - breaks[i])**j on piece i.")
      .def_property_readonly(
          "stops", [](const BlendedPath& p) { return vector_array(p.stops); },
          "s of corners too tight for any blend, where the motion has to stop; usually empty.");

  m.def(
      "blend_corners",
      [](BoundScene& s, const py::handle& path, const std::vector<int>& columns, double resolution,
         const py::handle& weights, double largest) {
        BlendOptions options;
        options.columns = checked_columns(s.scene.model(), columns);
        options.weights = weights_from(weights, columns.size());
        options.resolution = checked_resolution(resolution);
        if (!(largest > 0))
          throw InputError(message("largest is ", largest, "; it must be positive"));
        options.largest = largest;
        const std::vector<double> waypoints = path_from(path, s.scene.model());
        const py::gil_scoped_release release;
        return blend_corners(*BoundScene::Lease(s), waypoints, options);
      },
      py::arg("scene"), py::arg("path"), py::arg("columns"), py::arg("resolution") = 0.005,
      py::arg("weights") = py::none(), py::arg("largest") = std::numeric_limits<double>::infinity(),
      "Rounds the corners of the free polyline path (p, n_q) by quadratic curves as large as they "
      "are free: C1 in s.\n\n"
      "s is the metric length along straight parts and |dq/ds| <= 1 in blends, each of which takes "
      "at most half of an edge,\n"
      "and at most `largest` of it. Where points follow each other smoothly at nearly equal "
      "distances, curves run from middle to middle\n"
      "of the edges and |dq/ds| changes with the edges' lengths: a uniform quadratic B-spline.");
}

}  // namespace

void bind_planning(py::module_& m) {
  bind_scene(m);
  bind_search(m);
}

}  // namespace robosim
