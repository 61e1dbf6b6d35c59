// Shapes and queries between them. Errors of input are robosim.errors.GeometryError.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "bindings/arrays.h"
#include "bindings/module.h"
#include "geometry/query.h"

namespace py = pybind11;

namespace robosim {
namespace {

// f(), with a refused input turned into the package's own error.
template <class F>
auto checked(F&& f) {
  try {
    return f();
  } catch (const std::invalid_argument& e) {
    py::set_error(py::module_::import("robosim.errors").attr("GeometryError"), e.what());
    throw py::error_already_set();
  }
}

// A pose whose rotation is one: what the queries rely on.
SE3d rigid(const py::object& value, const char* name) {
  const SE3d X = read_pose(value, name);
  const Mat3d defect = X.R * transpose(X.R) - Mat3d::identity();
  const double worst = std::sqrt(squared_norm(defect.row[0]) + squared_norm(defect.row[1]) + squared_norm(defect.row[2]));
  if (!(worst < 1e-6) || !(dot(X.R.row[0], cross(X.R.row[1], X.R.row[2])) > 0))
    throw InputError(message(name, " is not a pose: its rotation must be right-handed and orthonormal to 1e-6, and is off by ",
                             worst));
  if (!(norm(X.p) <= 1e9)) throw InputError(message(name, " is ", norm(X.p), " m from the origin; at most 1e9 m is allowed"));
  return X;
}

[[noreturn]] void no_attribute(const Shape& s, const char* what) {
  throw py::attribute_error(std::string("a ") + shape_type_names[static_cast<int>(s.type)] + " has no " + what);
}

Shape convex(const py::object& vertices, const py::object& faces) {
  const py::array any = py::array::ensure(vertices);
  if (!any || any.ndim() != 2) {
    PyErr_Clear();
    throw InputError("convex: vertices must be numbers of shape (n, 3)");
  }
  const Array array = real_array(any, {any.shape(0), 3}, "convex: vertices");
  std::vector<Vec3d> points(static_cast<std::size_t>(array.shape(0)));
  for (std::size_t i = 0; i < points.size(); ++i)
    for (int k = 0; k < 3; ++k) points[i][k] = array.at(i, k);
  if (faces.is_none()) return Shape::convex(std::make_shared<ConvexMesh>(convex_hull_mesh(points)));
  const py::array indices = py::array::ensure(faces);
  const char kind = indices ? indices.dtype().kind() : ' ';
  if ((kind != 'i' && kind != 'u') || indices.ndim() != 2 || indices.shape(1) != 3) {
    PyErr_Clear();
    throw InputError("convex: faces must be integers of shape (m, 3)");
  }
  const auto index = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>::ensure(indices);
  std::vector<std::array<int, 3>> triangles(static_cast<std::size_t>(index.shape(0)));
  for (std::size_t i = 0; i < triangles.size(); ++i)
    for (int k = 0; k < 3; ++k)  // what fits no int is no vertex either
      triangles[i][k] = static_cast<int>(std::clamp<std::int64_t>(index.at(i, k), -1, std::numeric_limits<int>::max()));
  return Shape::convex(std::make_shared<ConvexMesh>(convex_mesh(points, triangles)));
}

std::string describe(const Shape& s) {
  const std::string name = std::string("Shape.") + shape_type_names[static_cast<int>(s.type)];
  switch (s.type) {
    case ShapeType::sphere: return message(name, "(radius=", s.radius, ")");
    case ShapeType::box: {
      const Vec3d size = 2.0 * s.half_extents;
      return message(name, "(size=(", size.x, ", ", size.y, ", ", size.z, "))");
    }
    case ShapeType::convex: return message(name, "(", s.mesh->vertices.size(), " vertices)");
    case ShapeType::half_space: return name + "()";
    default: return message(name, "(radius=", s.radius, ", length=", 2 * s.half_length, ")");
  }
}

void bind_shape(py::module_& m) {
  py::class_<Shape>(m, "Shape", "A convex collision shape in its own frame, immutable. Sizes are full sizes in metres.")
      .def_static(
          "sphere", [](double radius) { return checked([&] { return Shape::sphere(radius); }); }, py::arg("radius"),
          "A ball of this radius [m] about the origin.")
      .def_static(
          "box", [](const py::object& size) { return checked([&] { return Shape::box(0.5 * read_vec3(size, "box: size")); }); },
          py::arg("size"), "A box about the origin, its full size along x, y and z [m].")
      .def_static(
          "capsule",
          [](double radius, double length) { return checked([&] { return Shape::capsule(radius, length / 2); }); },
          py::arg("radius"), py::arg("length"),
          "A ball of this radius [m] swept along z; length [m] of the straight part, without the caps.")
      .def_static(
          "cylinder",
          [](double radius, double length) { return checked([&] { return Shape::cylinder(radius, length / 2); }); },
          py::arg("radius"), py::arg("length"), "A cylinder about z with flat ends: radius and full length [m].")
      .def_static("half_space", &Shape::half_space, "All points with z <= 0, without end.")
      .def_static(
          "convex",
          [](const py::object& vertices, const py::object& faces) {
            return checked([&] { return convex(vertices, faces); });
          },
          py::arg("vertices"), py::arg("faces") = py::none(),
          "The convex hull of vertices (n, 3) [m]. With faces (m, 3), refuses those that are not the closed outward surface\n"
          "of the hull. Flat point sets are refused too (thinner than 1e-9 of their extent).")
      .def_property_readonly(
          "type", [](const Shape& s) { return shape_type_names[static_cast<int>(s.type)]; },
          "sphere, box, capsule, cylinder, half_space or convex.")
      .def_property_readonly(
          "radius",
          [](const Shape& s) {
            if (s.radius == 0) no_attribute(s, "radius");
            return s.radius;
          },
          "Of a sphere, capsule or cylinder [m].")
      .def_property_readonly(
          "length",
          [](const Shape& s) {
            if (s.half_length == 0) no_attribute(s, "length");
            return 2 * s.half_length;
          },
          "Of a capsule (straight part) or cylinder [m].")
      .def_property_readonly(
          "size",
          [](const Shape& s) {
            if (s.type != ShapeType::box) no_attribute(s, "size");
            return vec3_array(2.0 * s.half_extents);
          },
          "Full size of a box along x, y, z [m], shape (3,).")
      .def_property_readonly(
          "vertices",
          [](const Shape& s) {
            if (!s.mesh) no_attribute(s, "vertices");
            const auto& v = s.mesh->vertices;
            py::array_t<double> out({static_cast<py::ssize_t>(v.size()), py::ssize_t{3}});
            for (std::size_t i = 0; i < v.size(); ++i)
              for (int k = 0; k < 3; ++k) out.mutable_at(i, k) = v[i][k];
            return out;
          },
          "Corners of a convex shape [m], shape (n, 3).")
      .def_property_readonly(
          "faces",
          [](const Shape& s) {
            if (!s.mesh) no_attribute(s, "faces");
            const auto& f = s.mesh->faces;
            py::array_t<int> out({static_cast<py::ssize_t>(f.size()), py::ssize_t{3}});
            for (std::size_t i = 0; i < f.size(); ++i)
              for (int k = 0; k < 3; ++k) out.mutable_at(i, k) = f[i][k];
            return out;
          },
          "Triangles of a convex shape, counter-clockwise from outside: indices into vertices, shape (m, 3).")
      .def("__repr__", &describe);
}

}  // namespace

void bind_geometry(py::module_& m) {
  bind_shape(m);
  m.def(
      "signed_distance",
      [](const Shape& A, const py::object& X_WA, const Shape& B, const py::object& X_WB) {
        const Witness w = checked([&] { return signed_distance(A, rigid(X_WA, "X_WA"), B, rigid(X_WB, "X_WB")); });
        return std::make_tuple(w.distance, vec3_array(w.p_WA), vec3_array(w.p_WB), vec3_array(w.normal));
      },
      py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"),
      "(distance, p_WA, p_WB, normal) of two posed shapes; see robosim.geometry.signed_distance.");
  m.def(
      "closer_than",
      [](double margin, const Shape& A, const py::object& X_WA, const Shape& B, const py::object& X_WB) {
        return checked([&] {
          if (!(margin >= 0)) throw InputError("margin must be zero or positive");
          return closer_than(margin, A, rigid(X_WA, "X_WA"), B, rigid(X_WB, "X_WB"));
        });
      },
      py::arg("margin"), py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"),
      "Whether the signed distance is less than margin [m], by the first proof either way.");
  m.def(
      "distance_lower_bound",
      [](double enough, const Shape& A, const py::object& X_WA, const Shape& B, const py::object& X_WB) {
        return checked([&] {
          if (!(enough >= 0)) throw InputError("enough must be zero or positive");
          return distance_lower_bound(enough, A, rigid(X_WA, "X_WA"), B, rigid(X_WB, "X_WB"));
        });
      },
      py::arg("enough"), py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"),
      "A certified lower bound on the distance [m], 0 for an overlap; computed only as far as `enough`.");
  m.def(
      "bounding_ball",
      [](const Shape& s) {
        const Ball b = bounding_ball(s);
        return std::make_pair(vec3_array(b.centre), b.radius);
      },
      py::arg("shape"), "(centre (3,), radius) [m] of the smallest ball around the shape, in its frame.");
  m.def(
      "bounding_box",
      [](const Shape& s, const py::object& X_WS) {
        const Aabb b = checked([&] { return bounding_box(s, rigid(X_WS, "X_WS")); });
        return std::make_pair(vec3_array(b.lower), vec3_array(b.upper));
      },
      py::arg("shape"), py::arg("X_WS"), "(lower (3,), upper (3,)) [m]: the axis-aligned box in W of the posed shape.");
  m.def(
      "farthest_from",
      [](const Shape& s, const py::object& p_S) {
        return checked([&] { return farthest_from(s, read_vec3(p_S, "p_S")); });
      },
      py::arg("shape"), py::arg("p_S"), "Farthest distance [m] of a point of the shape from p_S (3,) of its frame.");
}

}  // namespace robosim
