// Ray casts and times of impact, with their derivatives.
#include <pybind11/typing.h>

#include "bindings/module.h"
#include "bindings/ray_arguments.h"
#include "geometry/bodies/compound_rays.h"
#include "geometry/casts/time_of_impact.h"

namespace py = pybind11;

namespace robosim {
namespace {

using Numbers = py::array_t<double>;

// Cast many rays. Returns (hit, inside, t, points, normals, pieces).
auto ray_cast_of(const AnyBody& any, const py::object& X_WS, const py::object& origins,
                 const py::object& directions, double max_t, int threads) {
  const Body body = body_of(any, "shape");
  const SE3d X = rigid(X_WS, "X_WS");
  return cast_all(checked_rays(origins, directions, max_t, threads), threads, [&](const Ray& ray) {
    if (body.compound()) return ray_cast(*body.compound(), X, ray, max_t);
    const RayHit hit = ray_cast(*body.shape(), X, ray, max_t);
    return PieceRayHit{hit, hit.hit ? 0 : -1};
  });
}

// Rates of (t, point, normal) with respect to parameters of this shape. A null rate is zero.
using RatesOfHit = std::tuple<Numbers, Numbers, Numbers>;
RatesOfHit rates_of_hit(const std::vector<const RayHitRate*>& rates,
                        const std::vector<py::ssize_t>& shape) {
  std::vector<py::ssize_t> vectors{3};
  vectors.insert(vectors.end(), shape.begin(), shape.end());
  RatesOfHit out{Numbers(shape), Numbers(vectors), Numbers(vectors)};
  const std::size_t n = rates.size();
  for (std::size_t i = 0; i < n; ++i) {
    const RayHitRate rate = rates[i] ? *rates[i] : RayHitRate();
    std::get<0>(out).mutable_data()[i] = rate.t;
    for (std::size_t k = 0; k < 3; ++k) {
      std::get<1>(out).mutable_data()[k * n + i] = rate.point[static_cast<int>(k)];
      std::get<2>(out).mutable_data()[k * n + i] = rate.normal[static_cast<int>(k)];
    }
  }
  return out;
}

py::typing::Dict<py::str, RatesOfHit> size_rates(const Shape& shape, const RayCastDerivatives& d) {
  py::typing::Dict<py::str, RatesOfHit> all;
  const RayHitRate* next = d.size;
  for (const Size& size : sizes_of(shape.type)) {
    std::vector<const RayHitRate*> rates;
    std::vector<py::ssize_t> of;
    if (size.of.index() == 0) {
      rates = {next++};
    } else if (size.of.index() == 1) {
      rates = {next, next + 1, next + 2};
      of = {3};
      next += 3;
    } else {
      const std::size_t n = std::get<2>(size.of)(shape).size();
      rates.resize(3 * n);
      of = {static_cast<py::ssize_t>(n), 3};
      for (std::size_t i = 0; i < static_cast<std::size_t>(d.surface.n_corners); ++i)
        for (std::size_t k = 0; k < 3; ++k)
          rates[3 * static_cast<std::size_t>(d.surface.corner[i].vertex) + k] = &d.corner[i][k];
    }
    all[size.name] = rates_of_hit(rates, of);
  }
  return all;
}

auto ray_cast_derivatives_of(const Shape& shape, const py::object& X_WS, const py::object& origin,
                             const py::object& direction) {
  const SE3d X = rigid(X_WS, "X_WS");
  const Ray ray = checked_ray(read_vec3(origin, "origin"), read_vec3(direction, "direction"), 0);
  const RayHit hit = ray_cast(shape, X, ray);
  const RayCastDerivatives d = ray_cast_derivatives(hit, shape, X, ray);
  const auto three = [](const RayHitRate(&r)[3]) {
    return rates_of_hit({&r[0], &r[1], &r[2]}, {3});
  };
  std::vector<const RayHitRate*> twist;
  for (const RayHitRate& r : d.twist) twist.push_back(&r);
  return std::make_tuple(
      std::make_tuple(hit.hit, hit.inside, hit.t, vec3_array(hit.point), vec3_array(hit.normal)),
      three(d.origin), three(d.direction), rates_of_hit(twist, {6}), size_rates(shape, d),
      rates_of_hit({&d.scale}, {}), feature_tuple(d.surface), d.one_sided);
}

struct ImpactCase {
  Impact impact;
  Sweep A, B;
};
ImpactCase impact_of(const Shape& A, const py::object& X_WA0, const py::object& X_WA1,
                     const Shape& B, const py::object& X_WB0, const py::object& X_WB1,
                     double margin, double tolerance) {
  if (!(margin >= 0 && std::isfinite(margin)))
    throw InputError(
        message("margin is ", margin, "; it must be a finite number of meters, at least 0"));
  if (!(tolerance > 0 && std::isfinite(tolerance)))
    throw InputError(
        message("tolerance is ", tolerance, "; it must be a finite number of meters above 0"));
  ImpactCase c{{},
               Sweep::between(rigid(X_WA0, "X_WA"), rigid(X_WA1, "X_WA")),
               Sweep::between(rigid(X_WB0, "X_WB"), rigid(X_WB1, "X_WB"))};
  c.impact = time_of_impact(A, c.A, B, c.B, margin, tolerance);
  return c;
}

auto impact_tuple(const Impact& i) {
  return std::make_tuple(impact_status_names[static_cast<std::size_t>(i.status)], i.t,
                         witness_tuple(i.witness), i.normal_velocity, i.rounds);
}

Numbers twelve(const double (&rates)[2][6]) {
  Numbers out(12);
  for (std::size_t i = 0; i < 12; ++i) out.mutable_data()[i] = rates[i / 6][i % 6];
  return out;
}

}  // namespace

void bind_motion_queries(py::module_& m) {
  m.def(
      "ray_cast",
      [](const AnyBody& shape, const py::object& X_WS, const py::object& origins,
         const py::object& directions, double max_t, int threads) {
        return checked(
            [&] { return ray_cast_of(shape, X_WS, origins, directions, max_t, threads); });
      },
      py::arg("shape"), py::arg("X_WS"), py::arg("origins"), py::arg("directions"),
      py::arg("max_t"), py::arg("threads"), "See robosim.geometry.ray_cast.");
  m.def(
      "ray_cast_derivatives",
      [](const Shape& shape, const py::object& X_WS, const py::object& origin,
         const py::object& direction) {
        return checked([&] { return ray_cast_derivatives_of(shape, X_WS, origin, direction); });
      },
      py::arg("shape"), py::arg("X_WS"), py::arg("origin"), py::arg("direction"),
      "See robosim.geometry.ray_cast_derivatives.");
  m.def(
      "time_of_impact",
      [](const Shape& A, const py::object& X_WA0, const py::object& X_WA1, const Shape& B,
         const py::object& X_WB0, const py::object& X_WB1, double margin, double tolerance) {
        return checked([&] {
          return impact_tuple(
              impact_of(A, X_WA0, X_WA1, B, X_WB0, X_WB1, margin, tolerance).impact);
        });
      },
      py::arg("A"), py::arg("X_WA0"), py::arg("X_WA1"), py::arg("B"), py::arg("X_WB0"),
      py::arg("X_WB1"), py::arg("margin"), py::arg("tolerance"),
      "See robosim.geometry.time_of_impact.");
  m.def(
      "time_of_impact_derivatives",
      [](const Shape& A, const py::object& X_WA0, const py::object& X_WA1, const Shape& B,
         const py::object& X_WB0, const py::object& X_WB1, double margin, double tolerance) {
        return checked([&] {
          const ImpactCase c = impact_of(A, X_WA0, X_WA1, B, X_WB0, X_WB1, margin, tolerance);
          const ImpactDerivatives d = impact_derivatives(c.impact, A, c.A, B, c.B);
          return std::make_tuple(impact_tuple(c.impact), twelve(d.start), twelve(d.end),
                                 d.one_sided);
        });
      },
      py::arg("A"), py::arg("X_WA0"), py::arg("X_WA1"), py::arg("B"), py::arg("X_WB0"),
      py::arg("X_WB1"), py::arg("margin"), py::arg("tolerance"),
      "See robosim.geometry.time_of_impact_derivatives.");
}

}  // namespace robosim
