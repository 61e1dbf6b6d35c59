// The search for pairs of links that self-collision need not check.
#include "scene/self_collision.h"

#include <algorithm>
#include <mutex>

#include "base/index.h"
#include "bindings/arrays.h"
#include "bindings/bound_scene.h"
#include "bindings/module.h"

namespace py = pybind11;

namespace robosim {
namespace {

using IndexArray = py::array_t<int, py::array::c_style | py::array::forcecast>;

// Calls are serialized by a mutex, as they release Python's lock.
struct BoundSelfCollision {
  SelfCollisionSearch search;
  std::mutex busy;

  // Call f(search) without Python's lock.
  template <class F>
  auto without_python(F&& f) {
    const py::gil_scoped_release release;
    const std::lock_guard lock(busy);
    return f(search);
  }
};

std::unique_ptr<BoundSelfCollision> make_search(const Model& model, const IndexArray& pairs,
                                                const IndexArray& group_begin, double margin,
                                                std::uint64_t seed) {
  if (pairs.ndim() != 2 || pairs.shape(1) != 2)
    throw InputError(message("pairs has shape ",
                             shape_text(pairs.shape(), static_cast<std::size_t>(pairs.ndim())),
                             "; it must be (m, 2)"));
  if (!(margin >= 0))
    throw InputError(message("margin is ", margin, " m; it must not be negative"));
  const int n = static_cast<int>(model.colliders.size());
  std::vector<std::pair<int, int>> list;
  for (py::ssize_t i = 0; i < pairs.shape(0); ++i) {
    const int a = pairs.at(i, 0), b = pairs.at(i, 1);
    const bool exist = std::min(a, b) >= 0 && std::max(a, b) < n;
    if (!exist || model.colliders[a].body == model.colliders[b].body)
      throw InputError(message("pairs[", i, "] is (", a, ", ", b, "); it must name two of the ", n,
                               " colliders, on different bodies"));
    list.emplace_back(a, b);
  }
  std::vector<int> begin(group_begin.data(), group_begin.data() + group_begin.size());
  bool is_valid = !begin.empty() && begin.front() == 0 && begin.back() == pairs.shape(0);
  for (std::size_t i = 1; is_valid && i < begin.size(); ++i) is_valid = begin[i - 1] < begin[i];
  if (!is_valid)
    throw InputError(
        message("group_begin must increase from 0 to the number of pairs, ", pairs.shape(0)));
  return std::unique_ptr<BoundSelfCollision>(
      new BoundSelfCollision{{model, std::move(list), std::move(begin), margin, seed}, {}});
}

}  // namespace

void bind_self_collision(py::module_& m) {
  py::class_<BoundSelfCollision>(
      m, "SelfCollisionSearch",
      "Which pairs of links need no check: those that never or always touch.\n\n"
      "pairs (m, 2) of colliders, grouped by links; group_begin (k + 1,): where each of the k\n"
      "groups begins, and m.\n"
      "margin: distance below which a pair counts as one that can touch [m].")
      .def(py::init(&make_search), py::arg("model"), py::arg("pairs"), py::arg("group_begin"),
           py::arg("margin"), py::arg("seed") = 0, py::keep_alive<1, 2>())
      .def(
          "sample",
          [](BoundSelfCollision& s, const py::handle& q) {
            const Array p = sized(q, {-1, s.search.model().n_q}, "q");
            s.without_python(
                [&](SelfCollisionSearch& search) { search.sample(p.shape(0), p.data()); });
          },
          py::arg("q"), "Looks at the configurations q (n, n_q).")
      .def(
          "prove",
          [](BoundSelfCollision& s) {
            s.without_python([](SelfCollisionSearch& search) { search.prove(); });
          },
          "Finds out which pairs can be proven to stay apart by their reach.")
      .def(
          "begin_searches",
          [](BoundSelfCollision& s, const py::handle& q, std::int64_t most_work) {
            const Array p = sized(q, {-1, s.search.model().n_q}, "q");
            if (p.shape(0) < 1)
              throw InputError("q holds no configuration; searches must begin at one");
            s.without_python([&](SelfCollisionSearch& search) {
              search.begin_searches(p.shape(0), p.data(), most_work);
            });
          },
          py::arg("q"), py::arg("most_work"),
          "Prepares a search for a contact of each pair that is far, from the best of the "
          "configurations q (n, n_q).\n\n"
          "most_work: of all searches together, in placements of one joint. Pairs that are left "
          "then are undecided.")
      .def(
          "search",
          [](BoundSelfCollision& s, std::int64_t work) {
            return s.without_python(
                [&](SelfCollisionSearch& search) { return search.search(work); });
          },
          py::arg("work"), "Goes on for about so much work; returns whether searches are left.")
      .def_property_readonly(
          "states",
          [](BoundSelfCollision& s) {
            const std::vector<PairState>& states = s.search.states();
            py::array_t<std::int8_t> out(static_cast<py::ssize_t>(states.size()));
            const auto number = [](PairState state) { return static_cast<std::int8_t>(state); };
            std::transform(states.begin(), states.end(), out.mutable_data(), number);
            return out;
          },
          "(k,) of each group: 0 far, 1 touching in all configurations, 2 apart by proof, 3 "
          "reachable, 4 undecided.");
}

}  // namespace robosim
