// Bodies made of convex pieces, and queries between such bodies and shapes.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <pybind11/stl.h>

#include "bindings/module.h"
#include "bindings/shape_arguments.h"
#include "geometry/bodies/compound_manifolds.h"

namespace py = pybind11;

namespace robosim {
namespace {

// Compounds of one part that are classes of their own in Python.
struct MeshBody : Compound {
  explicit MeshBody(std::shared_ptr<const TriangleMesh> m) : Compound(m), mesh(std::move(m)) {}
  std::shared_ptr<const TriangleMesh> mesh;
};
struct FieldBody : Compound {
  explicit FieldBody(std::shared_ptr<const HeightField> f) : Compound(f), field(std::move(f)) {}
  std::shared_ptr<const HeightField> field;
};
struct CloudBody : Compound {
  explicit CloudBody(std::shared_ptr<const PointCloud> c) : Compound(c), cloud(std::move(c)) {}
  std::shared_ptr<const PointCloud> cloud;
};

// One part of a compound: a Shape, or a body of the class that the part was made from.
BodyObject part_object(const Compound::Geometry& geometry) {
  if (const auto* shape = std::get_if<Shape>(&geometry)) return py::cast(*shape);
  if (const auto* cloud = std::get_if<1>(&geometry))
    return py::cast(std::make_shared<CloudBody>(*cloud));
  const auto& surface = std::get<2>(geometry);
  if (auto mesh = std::dynamic_pointer_cast<const TriangleMesh>(surface))
    return py::cast(std::make_shared<MeshBody>(std::move(mesh)));
  return py::cast(
      std::make_shared<FieldBody>(std::dynamic_pointer_cast<const HeightField>(surface)));
}

FieldBody height_field(const py::object& heights, const py::object& spacing) {
  const py::array any = py::array::ensure(heights);
  if (!any || any.ndim() != 2) {
    PyErr_Clear();
    throw InputError("height field: heights must be numbers of shape (n_x, n_y)");
  }
  const Array array = real_array(any, {any.shape(0), any.shape(1)}, "height field: heights", false);
  if (std::max(array.shape(0), array.shape(1)) > std::numeric_limits<int>::max())
    throw InputError("height field: too many heights");
  const py::array step = py::array::ensure(spacing);
  const bool both = step && step.ndim() == 1;
  const Array d = real_array(spacing, both ? Shape2{2} : Shape2{}, "height field: spacing", false);
  const std::vector<double> values(array.data(), array.data() + array.size());
  return FieldBody(std::make_shared<HeightField>(values, static_cast<int>(array.shape(0)),
                                                 static_cast<int>(array.shape(1)), d.data()[0],
                                                 d.data()[both ? 1 : 0]));
}

Compound compound(const std::vector<std::pair<AnyBody, py::object>>& list) {
  std::vector<Compound::Part> parts;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string name = message("compound: part ", i);
    const SE3d X = rigid(list[i].second, (name + ": its pose").c_str());
    const Body body = body_of(list[i].first, name.c_str());
    if (body.shape())
      parts.push_back({*body.shape(), X, 0});
    else
      for (const Compound::Part& part : body.compound()->parts())
        parts.push_back({part.geometry, X * part.X_BP, 0});
  }
  return Compound(std::move(parts));
}

using PieceTuple = std::tuple<WitnessTuple, int, int>;
PieceTuple piece_tuple(const PieceWitness& x) {
  return {witness_tuple(x.witness), x.piece_A, x.piece_B};
}

void bind_bodies(py::module_& m) {
  py::class_<Compound, std::shared_ptr<Compound>> c(
      m, "Compound",
      "A body made of convex pieces, in a tree: shapes and other bodies fixed to each other.\n\n"
      "Compound([(part, pose), ...]): each part a Shape or a body made of pieces, with its pose "
      "(4, 4) in\n"
      "the frame of the body. Pieces are numbered through the parts. GeometryError names a bad "
      "part.");
  c.def(py::init([](const std::vector<std::pair<AnyBody, py::object>>& parts) {
          return checked([&] { return compound(parts); });
        }),
        py::arg("parts"));
  c.def_property_readonly(
      "parts",
      [](const Compound& b) {
        std::vector<std::pair<BodyObject, Array>> out;
        for (const Compound::Part& part : b.parts())
          out.emplace_back(part_object(part.geometry), pose_array(part.X_BP));
        return out;
      },
      "What it is made of, each with its pose (4, 4) in the frame of the body; parts that were "
      "compounds themselves by theirs.");
  c.def_property_readonly("n_pieces", &Compound::n_pieces, "How many convex pieces it has.");
  c.def("__repr__", [](const Compound& b) {
    return message("Compound(", b.parts().size(), " parts, ", b.n_pieces(), " pieces)");
  });

  py::class_<MeshBody, Compound, std::shared_ptr<MeshBody>> mesh(
      m, "TriangleMesh",
      "A surface of triangles, concave or not: vertices (n, 3) [m], faces (m, 3), "
      "counter-clockwise seen from outside.\n\n"
      "Pieces are the faces. Vertices at one place count as one; faces without an area are no part "
      "of the surface. What a\n"
      "closed surface encloses belongs to it, unless solid is False: then there is the surface "
      "alone.\n"
      "GeometryError names a vertex that is not finite or beyond 1e6 m, and a face that names no "
      "vertex.");
  mesh.def(py::init([](const py::object& vertices, const py::object& faces, bool solid) {
             return checked([&] {
               return MeshBody(std::make_shared<TriangleMesh>(
                   read_points(vertices, "triangle mesh: vertices", false),
                   read_triangles(faces, "triangle mesh: faces"), solid));
             });
           }),
           py::arg("vertices"), py::arg("faces"), py::kw_only(), py::arg("solid") = true);
  mesh.def_property_readonly(
      "vertices", [](const MeshBody& b) { return points_array(b.mesh->vertices()); },
      "(n, 3) [m].");
  mesh.def_property_readonly(
      "faces", [](const MeshBody& b) { return triangles_array(b.mesh->faces()); },
      "(m, 3), indices into vertices.");
  mesh.def_property_readonly(
      "is_closed", [](const MeshBody& b) { return b.mesh->is_closed(); },
      "Whether every edge has a face on either side and the faces look outwards, so that the "
      "surface encloses a volume.");
  mesh.def_property_readonly(
      "is_solid", [](const MeshBody& b) { return b.mesh->has_solid(); },
      "Whether what it encloses belongs to it: closed, and not made with solid=False.");
  mesh.def("__repr__", [](const MeshBody& b) {
    return message("TriangleMesh(", b.mesh->vertices().size(), " vertices, ",
                   b.mesh->faces().size(), " faces)");
  });

  py::class_<FieldBody, Compound, std::shared_ptr<FieldBody>> field(
      m, "HeightField",
      "Terrain: heights (n_x, n_y) [m] over a grid, solid below; heights[i, j] is at x = i * "
      "spacing, y = j * spacing.\n\n"
      "spacing [m]: one number, or along x and y (2,). Pieces are triangles: of cell (i, j), "
      "between the heights\n"
      "(i, j) and (i + 1, j + 1), 2 * (i * (n_y - 1) + j) and the next one, on either side of that "
      "diagonal.\n"
      "GeometryError names a bad height or spacing.");
  field.def(py::init([](const py::object& heights, const py::object& spacing) {
              return checked([&] { return height_field(heights, spacing); });
            }),
            py::arg("heights"), py::arg("spacing"));
  field.def_property_readonly(
      "heights",
      [](const FieldBody& b) {
        Array out(
            {static_cast<py::ssize_t>(b.field->n_x()), static_cast<py::ssize_t>(b.field->n_y())});
        std::copy(b.field->heights().begin(), b.field->heights().end(), out.mutable_data());
        return out;
      },
      "(n_x, n_y) [m].");
  field.def_property_readonly(
      "spacing",
      [](const FieldBody& b) {
        Array out(Shape2{2});
        out.mutable_data()[0] = b.field->spacing_x();
        out.mutable_data()[1] = b.field->spacing_y();
        return out;
      },
      "Along x and y [m], (2,).");
  field.def("__repr__", [](const FieldBody& b) {
    return message("HeightField(", b.field->n_x(), " x ", b.field->n_y(), " heights)");
  });

  py::class_<CloudBody, Compound, std::shared_ptr<CloudBody>> cloud(
      m, "PointCloud",
      "Balls of one radius [m] about points (n, 3) [m], which are its pieces.\n\n"
      "GeometryError names a point that is not finite or beyond 1e6 m, or a bad radius.");
  cloud.def(py::init([](const py::object& points, double radius) {
              return checked([&] {
                return CloudBody(std::make_shared<PointCloud>(
                    read_points(points, "point cloud: points", false), radius));
              });
            }),
            py::arg("points"), py::arg("radius"));
  cloud.def_property_readonly(
      "points", [](const CloudBody& b) { return points_array(b.cloud->points); }, "(n, 3) [m].");
  cloud.def_property_readonly(
      "radius", [](const CloudBody& b) { return b.cloud->radius; }, "Of each [m].");
  cloud.def("__repr__", [](const CloudBody& b) {
    return message("PointCloud(", b.cloud->points.size(), " points, radius=", b.cloud->radius, ")");
  });
}

}  // namespace

Body body_of(const AnyBody& any, const char* name) {
  if (const auto* shape = std::get_if<0>(&any); shape && *shape) return Body(**shape);
  if (const auto* compound = std::get_if<1>(&any); compound && *compound) return Body(**compound);
  throw InputError(message(name, " is None; a Shape or a Compound is needed"));
}

CollisionGeometry geometry_of(const AnyBody& any, const char* name) {
  if (const Shape* shape = body_of(any, name).shape()) return *shape;
  return std::shared_ptr<const Compound>(std::get<1>(any));
}

BodyObject body_object(const CollisionGeometry& geometry) {
  if (!geometry.compound) return py::cast(geometry.shape);
  return py::cast(std::const_pointer_cast<Compound>(geometry.compound));
}

void bind_compounds(py::module_& m) {
  bind_bodies(m);
  m.def(
      "closest_pieces",
      [](const AnyBody& A, const py::object& X_WA, const AnyBody& B, const py::object& X_WB) {
        return checked([&] {
          return piece_tuple(closest_pieces(body_of(A, "A"), rigid(X_WA, "X_WA"), body_of(B, "B"),
                                            rigid(X_WB, "X_WB")));
        });
      },
      py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"),
      "See robosim.geometry.closest_pieces.");
  m.def(
      "contacts",
      [](double margin, const AnyBody& A, const py::object& X_WA, const AnyBody& B,
         const py::object& X_WB) {
        return checked([&] {
          std::vector<PieceWitness> found;
          contacts(checked_margin(margin), body_of(A, "A"), rigid(X_WA, "X_WA"), body_of(B, "B"),
                   rigid(X_WB, "X_WB"), found);
          std::vector<PieceTuple> out;
          for (const PieceWitness& x : found) out.push_back(piece_tuple(x));
          return out;
        });
      },
      py::arg("margin"), py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"),
      "See robosim.geometry.contacts.");
  m.def(
      "contact_manifolds",
      [](const AnyBody& A, const py::object& X_WA, const AnyBody& B, const py::object& X_WB,
         double margin) {
        return checked([&] {
          std::vector<PieceManifold> found;
          PieceManifolds().find(checked_margin(margin), body_of(A, "A"), rigid(X_WA, "X_WA"),
                                body_of(B, "B"), rigid(X_WB, "X_WB"), found);
          std::vector<std::tuple<ManifoldTuple, int, int>> out;
          for (const PieceManifold& x : found)
            out.emplace_back(manifold_tuple(x.manifold), x.piece_A, x.piece_B);
          return out;
        });
      },
      py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"), py::arg("margin"),
      "See robosim.geometry.contact_manifolds.");
  m.def(
      "bodies_closer_than",
      [](double margin, const AnyBody& A, const py::object& X_WA, const AnyBody& B,
         const py::object& X_WB) {
        return checked([&] {
          return closer_than(checked_margin(margin), body_of(A, "A"), rigid(X_WA, "X_WA"),
                             body_of(B, "B"), rigid(X_WB, "X_WB"));
        });
      },
      py::arg("margin"), py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"),
      "See robosim.geometry.collide.");
  m.def(
      "body_bounding_box",
      [](const Compound& body, const py::object& X_WB) {
        const Aabb b = checked([&] { return bounding_box(body, rigid(X_WB, "X_WB")); });
        return std::make_pair(vec3_array(b.lower), vec3_array(b.upper));
      },
      py::arg("body"), py::arg("X_WB"), "See robosim.geometry.bounding_box.");
}

}  // namespace robosim
