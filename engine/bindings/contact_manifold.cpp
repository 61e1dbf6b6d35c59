// Contact manifolds of two shapes and their derivatives.
#include <functional>

#include <pybind11/typing.h>

#include "bindings/module.h"
#include "bindings/shape_arguments.h"
#include "geometry/manifolds/manifold_derivatives.h"

namespace py = pybind11;

namespace robosim {
namespace {

py::typing::List<PartTuple> features(const Manifold& m, int side) {
  py::typing::List<PartTuple> out;
  for (int i = 0; i < m.n_points; ++i) {
    const FeatureId& f = m.points[i].feature[side];
    out.append(PartTuple(feature_kind_names[static_cast<std::size_t>(f.kind)], f.index, f.part));
  }
  return out;
}

}  // namespace

ManifoldTuple manifold_tuple(const Manifold& m) {
  std::vector<Vec3d> p_WA, p_WB, p_W;
  std::vector<double> gap, slide;
  for (int i = 0; i < m.n_points; ++i) {
    const ManifoldPoint& p = m.points[i];
    gap.push_back(p.gap);
    slide.push_back(p.slide);
    p_WA.push_back(p.p_WA);
    p_WB.push_back(p.p_WB);
    p_W.push_back(p.p_W);
  }
  return {m.witness.distance, vec3_array(m.normal()), vector_array(gap),
          points_array(p_WA), points_array(p_WB),     points_array(p_W),
          features(m, 0),     features(m, 1),         vector_array(slide),
          m.reference};
}

namespace {

// Rates of (gap, normal, p_WA, p_WB, p_W) of n points with respect to parameters of shape s. Their
// shapes are (n,) + s, (3,) + s, and (n, 3) + s for the points. rate(i, k) is the rate of point i
// with respect to parameter k; null means zero.
using Numbers = py::array_t<double>;
using ManifoldRatesTuple = std::tuple<Numbers, Numbers, Numbers, Numbers, Numbers>;
ManifoldRatesTuple manifold_rates(
    int n, const std::vector<py::ssize_t>& shape,
    const std::function<const ManifoldRate*(int, std::size_t)>& rate) {
  std::vector<py::ssize_t> gaps{n}, normals{3}, points{n, 3};
  for (auto* dims : {&gaps, &normals, &points})
    dims->insert(dims->end(), shape.begin(), shape.end());
  ManifoldRatesTuple out{Numbers(gaps), Numbers(normals), Numbers(points), Numbers(points),
                         Numbers(points)};
  std::size_t count = 1;
  for (const py::ssize_t extent : shape) count *= static_cast<std::size_t>(extent);
  double* const normal = std::get<1>(out).mutable_data();
  std::fill_n(normal, 3 * count, 0.0);
  for (int i = 0; i < n; ++i)
    for (std::size_t k = 0; k < count; ++k) {
      const ManifoldRate* const given = rate(i, k);
      const ManifoldRate r = given ? *given : ManifoldRate();
      std::get<0>(out).mutable_data()[static_cast<std::size_t>(i) * count + k] = r.distance;
      for (std::size_t c = 0; c < 3; ++c) {
        const int axis = static_cast<int>(c);
        const std::size_t at = (3 * static_cast<std::size_t>(i) + c) * count + k;
        // All points that depend on the parameter share the rate of the normal.
        if (given) normal[c * count + k] = r.normal[axis];
        std::get<2>(out).mutable_data()[at] = r.p_WA[axis];
        std::get<3>(out).mutable_data()[at] = r.p_WB[axis];
        std::get<4>(out).mutable_data()[at] = r.p_W[axis];
      }
    }
  return out;
}

// Rates with respect to each size of A (side 0) or B (side 1), by name of the size.
py::typing::Dict<py::str, ManifoldRatesTuple> size_rates(const Shape& shape,
                                                         const ManifoldDerivatives& d,
                                                         std::size_t side) {
  py::typing::Dict<py::str, ManifoldRatesTuple> all;
  std::size_t first = 0;  // index of the size's first number in the engine
  for (const Size& size : sizes_of(shape.type)) {
    const auto of_point = [&](int i) -> const ManifoldPointDerivatives& { return d.points[i]; };
    if (size.of.index() < 2) {
      const bool number = size.of.index() == 0;
      all[size.name] = manifold_rates(
          d.n_points, number ? std::vector<py::ssize_t>{} : std::vector<py::ssize_t>{3},
          [&](int i, std::size_t k) { return &of_point(i).size[side][first + k]; });
      first += number ? 1 : 3;
      continue;
    }
    const py::ssize_t n = static_cast<py::ssize_t>(std::get<2>(size.of)(shape).size());
    all[size.name] =
        manifold_rates(d.n_points, {n, 3}, [&](int i, std::size_t k) -> const ManifoldRate* {
          const ManifoldPointDerivatives& p = of_point(i);
          for (int c = 0; c < p.n_corners[side]; ++c)
            if (p.vertex[side][c] == static_cast<int>(k / 3)) return &p.corner[side][c][k % 3];
          return nullptr;
        });
  }
  return all;
}

}  // namespace

void bind_contact_manifold(py::module_& m) {
  m.def(
      "contact_manifold",
      [](const Shape& A, const py::object& X_WA, const Shape& B, const py::object& X_WB,
         double margin) {
        return checked([&] {
          return manifold_tuple(contact_manifold(A, rigid(X_WA, "X_WA"), B, rigid(X_WB, "X_WB"),
                                                 checked_margin(margin)));
        });
      },
      py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"), py::arg("margin"),
      "See robosim.geometry.contact_manifold.");
  m.def(
      "contact_manifold_derivatives",
      [](const Shape& A, const py::object& X_WA, const Shape& B, const py::object& X_WB,
         double margin) {
        return checked([&] {
          const SE3d X_A = rigid(X_WA, "X_WA"), X_B = rigid(X_WB, "X_WB");
          const Manifold manifold = contact_manifold(A, X_A, B, X_B, checked_margin(margin));
          const auto d = std::make_unique<ManifoldDerivatives>();
          manifold_derivatives(manifold, A, X_A, B, X_B, *d);
          const int n = d->n_points;
          const auto scale = [&](std::size_t side) {
            return manifold_rates(
                n, {}, [&, side](int i, std::size_t) { return &d->points[i].scale[side]; });
          };
          py::array_t<bool> one_sided(n);
          for (int i = 0; i < n; ++i) one_sided.mutable_at(i) = d->points[i].one_sided;
          return std::make_tuple(
              manifold_tuple(manifold),
              manifold_rates(n, {12}, [&](int i, std::size_t k) { return &d->points[i].twist[k]; }),
              size_rates(A, *d, 0), size_rates(B, *d, 1), scale(0), scale(1), one_sided);
        });
      },
      py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"), py::arg("margin"),
      "See robosim.geometry.contact_manifold_derivatives.");
}

}  // namespace robosim
