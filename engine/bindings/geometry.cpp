// Shapes and queries between them. Errors of input are robosim.errors.GeometryError.
#include <pybind11/numpy.h>

#include <sstream>
#include <stdexcept>

#include "bindings/module.h"
#include "geometry/query.h"

namespace py = pybind11;

namespace robosim {
namespace {

using Array = py::array_t<double, py::array::c_style | py::array::forcecast>;

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

Vec3d vec3(const Array& a, const char* name) {
  if (a.ndim() != 1 || a.shape(0) != 3) throw std::invalid_argument(std::string(name) + " must have shape (3,)");
  return {a.at(0), a.at(1), a.at(2)};
}

// A rigid 4x4 matrix; refuses what is not one, NaN included.
SE3d pose(const Array& a, const char* name) {
  if (a.ndim() != 2 || a.shape(0) != 4 || a.shape(1) != 4)
    throw std::invalid_argument(std::string(name) + " must be a 4x4 pose");
  SE3d X;
  for (int i = 0; i < 3; ++i) X.R.row[i] = {a.at(i, 0), a.at(i, 1), a.at(i, 2)}, X.p[i] = a.at(i, 3);
  const Mat3d defect = X.R * transpose(X.R) - Mat3d::identity();
  double worst = 0;
  for (int i = 0; i < 3; ++i) worst = std::fmax(worst, norm(defect.row[i]));
  const bool last_row = a.at(3, 0) == 0 && a.at(3, 1) == 0 && a.at(3, 2) == 0 && a.at(3, 3) == 1;
  const bool proper = dot(X.R.row[0], cross(X.R.row[1], X.R.row[2])) > 0;
  // fmax drops a NaN: test the squared sum too.
  if (!last_row || !proper || !(worst < 1e-6) || !(norm(X.R.row[0]) + norm(X.R.row[1]) + norm(X.R.row[2]) < 4) ||
      !(norm(X.p) <= 1e9)) {
    std::ostringstream message;
    message << name << " is not a pose: its rotation must be orthonormal to 1e-6 (it is off by " << worst
            << ") and right-handed, its last row 0 0 0 1, its position finite and within 1e9 m";
    throw std::invalid_argument(message.str());
  }
  return X;
}

Array array3(const Vec3d& v) {
  Array out(3);
  for (int i = 0; i < 3; ++i) out.mutable_at(i) = v[i];
  return out;
}

[[noreturn]] void no_attribute(const Shape& s, const char* what) {
  throw py::attribute_error(std::string("a ") + shape_type_names[static_cast<int>(s.type)] + " has no " + what);
}

Shape convex(const Array& vertices, const py::object& faces) {
  if (vertices.ndim() != 2 || vertices.shape(1) != 3) throw std::invalid_argument("convex: vertices must have shape (n, 3)");
  std::vector<Vec3d> points(static_cast<std::size_t>(vertices.shape(0)));
  for (std::size_t i = 0; i < points.size(); ++i)
    for (int k = 0; k < 3; ++k) points[i][k] = vertices.at(i, k);
  if (faces.is_none()) return Shape::convex(std::make_shared<ConvexMesh>(convex_hull_mesh(points)));
  const auto indices = py::array_t<int, py::array::c_style | py::array::forcecast>::ensure(faces);
  if (!indices || indices.ndim() != 2 || indices.shape(1) != 3) {
    PyErr_Clear();
    throw std::invalid_argument("convex: faces must be integers of shape (m, 3)");
  }
  std::vector<std::array<int, 3>> triangles(static_cast<std::size_t>(indices.shape(0)));
  for (std::size_t i = 0; i < triangles.size(); ++i)
    for (int k = 0; k < 3; ++k) triangles[i][k] = indices.at(i, k);
  return Shape::convex(std::make_shared<ConvexMesh>(convex_mesh(points, triangles)));
}

std::string describe(const Shape& s) {
  std::ostringstream out;
  out << "Shape." << shape_type_names[static_cast<int>(s.type)] << "(";
  switch (s.type) {
    case ShapeType::sphere: out << "radius=" << s.radius; break;
    case ShapeType::box:
      out << "size=(" << 2 * s.half_extents.x << ", " << 2 * s.half_extents.y << ", " << 2 * s.half_extents.z << ")";
      break;
    case ShapeType::capsule:
    case ShapeType::cylinder: out << "radius=" << s.radius << ", length=" << 2 * s.half_length; break;
    case ShapeType::half_space: break;
    case ShapeType::convex: out << s.mesh->vertices.size() << " vertices"; break;
  }
  out << ")";
  return out.str();
}

void bind_shape(py::module_& m) {
  py::class_<Shape>(m, "Shape", "A convex collision shape in its own frame, immutable. Sizes are full sizes in metres.")
      .def_static(
          "sphere", [](double radius) { return checked([&] { return Shape::sphere(radius); }); }, py::arg("radius"),
          "A ball of this radius [m] about the origin.")
      .def_static(
          "box", [](const Array& size) { return checked([&] { return Shape::box(0.5 * vec3(size, "box: size")); }); },
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
          [](const Array& vertices, const py::object& faces) {
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
            return array3(2.0 * s.half_extents);
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
      [](const Shape& A, const Array& X_WA, const Shape& B, const Array& X_WB) {
        const Witness w = checked([&] { return signed_distance(A, pose(X_WA, "X_WA"), B, pose(X_WB, "X_WB")); });
        return py::make_tuple(w.distance, array3(w.p_WA), array3(w.p_WB), array3(w.normal));
      },
      py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"),
      "(distance, p_WA, p_WB, normal) of two posed shapes; see robosim.geometry.signed_distance.");
  m.def(
      "closer_than",
      [](double margin, const Shape& A, const Array& X_WA, const Shape& B, const Array& X_WB) {
        return checked([&] {
          if (!(margin >= 0)) throw std::invalid_argument("margin must be zero or positive");
          return closer_than(margin, A, pose(X_WA, "X_WA"), B, pose(X_WB, "X_WB"));
        });
      },
      py::arg("margin"), py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"),
      "Whether the signed distance is less than margin [m], by the first proof either way.");
  m.def(
      "distance_lower_bound",
      [](double enough, const Shape& A, const Array& X_WA, const Shape& B, const Array& X_WB) {
        return checked([&] {
          if (!(enough >= 0)) throw std::invalid_argument("enough must be zero or positive");
          return distance_lower_bound(enough, A, pose(X_WA, "X_WA"), B, pose(X_WB, "X_WB"));
        });
      },
      py::arg("enough"), py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"),
      "A certified lower bound on the distance [m], 0 for an overlap; computed only as far as `enough`.");
  m.def(
      "bounding_ball",
      [](const Shape& s) {
        const Ball b = bounding_ball(s);
        return py::make_tuple(array3(b.centre), b.radius);
      },
      py::arg("shape"), "(centre (3,), radius) [m] of the smallest ball around the shape, in its frame.");
  m.def(
      "bounding_box",
      [](const Shape& s, const Array& X_WS) {
        const Aabb b = checked([&] { return bounding_box(s, pose(X_WS, "X_WS")); });
        return py::make_tuple(array3(b.lower), array3(b.upper));
      },
      py::arg("shape"), py::arg("X_WS"), "(lower (3,), upper (3,)) [m]: the axis-aligned box in W of the posed shape.");
  m.def(
      "farthest_from",
      [](const Shape& s, const Array& p_S) {
        return checked([&] { return farthest_from(s, vec3(p_S, "p_S")); });
      },
      py::arg("shape"), py::arg("p_S"), "Farthest distance [m] of a point of the shape from p_S (3,) of its frame.");
}

}  // namespace robosim
