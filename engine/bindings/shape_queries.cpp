// Queries about one posed shape or two.
#include "geometry/query.h"

#include "bindings/module.h"
#include "bindings/shape_arguments.h"

namespace py = pybind11;

namespace robosim {

void bind_shape_queries(py::module_& m) {
  m.def(
      "signed_distance",
      [](const Shape& A, const py::object& X_WA, const Shape& B, const py::object& X_WB) {
        return witness_tuple(checked(
            [&] { return signed_distance(A, rigid(X_WA, "X_WA"), B, rigid(X_WB, "X_WB")); }));
      },
      py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"),
      "(distance, p_WA, p_WB, normal) of two posed shapes; see robosim.geometry.signed_distance.");
  m.def(
      "closer_than",
      [](double margin, const Shape& A, const py::object& X_WA, const Shape& B,
         const py::object& X_WB) {
        return checked([&] {
          if (!(margin >= 0)) throw InputError("margin must be zero or positive");
          return closer_than(margin, A, rigid(X_WA, "X_WA"), B, rigid(X_WB, "X_WB"));
        });
      },
      py::arg("margin"), py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"),
      "Whether the signed distance is less than margin [m], by the first proof either way.");
  m.def(
      "distance_lower_bound",
      [](double enough, const Shape& A, const py::object& X_WA, const Shape& B,
         const py::object& X_WB) {
        return checked([&] {
          if (!(enough >= 0)) throw InputError("enough must be zero or positive");
          return distance_lower_bound(enough, A, rigid(X_WA, "X_WA"), B, rigid(X_WB, "X_WB"));
        });
      },
      py::arg("enough"), py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"),
      "A certified lower bound on the distance [m], 0 for an overlap; computed only as far as "
      "`enough`.");
  m.def(
      "bounding_ball",
      [](const Shape& s) {
        const Ball b = bounding_ball(s);
        return std::make_pair(vec3_array(b.center), b.radius);
      },
      py::arg("shape"),
      "(center (3,), radius) [m] of the smallest ball around the shape, in its frame.");
  m.def(
      "bounding_box",
      [](const Shape& s, const py::object& X_WS) {
        const Aabb b = checked([&] { return bounding_box(s, rigid(X_WS, "X_WS")); });
        return std::make_pair(vec3_array(b.lower), vec3_array(b.upper));
      },
      py::arg("shape"), py::arg("X_WS"),
      "(lower (3,), upper (3,)) [m]: the axis-aligned box in W of the posed shape.");
  m.def(
      "farthest_from",
      [](const Shape& s, const py::object& p_S) {
        return checked([&] { return farthest_from(s, read_vec3(p_S, "p_S")); });
      },
      py::arg("shape"), py::arg("p_S"),
      "Farthest distance [m] of a point of the shape from p_S (3,) of its frame.");
}

}  // namespace robosim
