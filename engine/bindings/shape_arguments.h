// Shared by the bindings of shapes: checked conversion of arguments from Python, sizes of a shape
// by name, and results as tuples.
#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include "bindings/arrays.h"
#include "geometry/bodies/collision_geometry.h"
#include "geometry/contact_derivatives.h"
#include "geometry/manifolds/manifold.h"
#include "geometry/query.h"

namespace robosim {

// Call f() and translate a rejected input into the package's own error.
template <class F>
auto checked(F&& f) {
  try {
    return f();
  } catch (const std::invalid_argument& e) {
    pybind11::set_error(pybind11::module_::import("robosim.errors").attr("GeometryError"),
                        e.what());
    throw pybind11::error_already_set();
  }
}

// Read a pose whose rotation must be orthonormal, as the queries assume. Else InputError.
SE3d rigid(const pybind11::object& value, const char* name);

// A Shape or a Compound from Python, which remains its owner, and conversion to the engine's types.
// InputError for None.
using AnyBody = std::variant<const Shape*, std::shared_ptr<Compound>>;
Body body_of(const AnyBody& any, const char* name);
CollisionGeometry geometry_of(const AnyBody& any, const char* name);
// Convert back to Python: a compound becomes the same object if that object still exists.
using BodyObject = pybind11::typing::Union<Shape, Compound>;
BodyObject body_object(const CollisionGeometry& geometry);

// Check the margin of a query [m]; InputError if it is invalid.
inline double checked_margin(double margin) {
  if (!(margin >= 0 && std::isfinite(margin)))
    throw InputError(
        message("margin is ", margin, "; it must be a finite number of meters, at least 0"));
  return margin;
}

std::vector<Vec3d> read_points(const pybind11::object& value, const char* name, bool finite = true);
pybind11::array_t<double> points_array(std::span<const Vec3d> points);
std::vector<std::array<int, 3>> read_triangles(const pybind11::object& value, const char* name);
pybind11::array_t<int> triangles_array(const std::vector<std::array<int, 3>>& triangles);

// A size of a shape: argument of the Python constructor, attribute of the shape, and key in scene
// files. Always the full size, also where the engine stores half of it.
struct Size {
  using Points = std::span<const Vec3d> (*)(const Shape&);
  const char* name;
  std::variant<double (*)(const Shape&), Vec3d (*)(const Shape&), Points> of;

  const char* kind() const { return std::array{"number", "vector", "points"}[of.index()]; }
};

// Sizes of a type of shape, in the order of its constructor's arguments. Available after
// bind_shapes.
using Sizes = std::vector<Size>;
const Sizes& sizes_of(ShapeType type);

// (distance, p_WA, p_WB, normal).
using WitnessTuple = std::tuple<double, pybind11::array_t<double>, pybind11::array_t<double>,
                                pybind11::array_t<double>>;
inline WitnessTuple witness_tuple(const Witness& w) {
  return {w.distance, vec3_array(w.p_WA), vec3_array(w.p_WB), vec3_array(w.normal)};
}

// Rates of (distance, p_WA, p_WB, normal) with respect to parameters of this shape: arrays of
// `shape` and (3,) + `shape`. A null rate is zero.
using RatesTuple = std::tuple<pybind11::array_t<double>, pybind11::array_t<double>,
                              pybind11::array_t<double>, pybind11::array_t<double>>;
RatesTuple rates_tuple(const std::vector<const WitnessRate*>& rates,
                       const std::vector<pybind11::ssize_t>& shape);

// (kind, number, slide, tilt), see robosim.geometry.Feature.
using FeatureTuple = std::tuple<const char*, int, double, double>;
inline FeatureTuple feature_tuple(const LocalSurface& s) {
  return {feature_kind_names[static_cast<std::size_t>(s.kind)], s.index, s.slide, s.tilt()};
}

// (kind, number, part), see robosim.geometry.ManifoldFeature.
using PartTuple = std::tuple<const char*, int, int>;

// (distance, normal, gap, p_WA, p_WB, p_W, features of A, of B, slide, reference).
using ManifoldTuple = std::tuple<double, pybind11::array_t<double>, pybind11::array_t<double>,
                                 pybind11::array_t<double>, pybind11::array_t<double>,
                                 pybind11::array_t<double>, pybind11::typing::List<PartTuple>,
                                 pybind11::typing::List<PartTuple>, pybind11::array_t<double>, int>;
ManifoldTuple manifold_tuple(const Manifold& m);

}  // namespace robosim
