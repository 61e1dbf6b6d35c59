// Derivatives of the signed distance of two shapes.
#include "geometry/contact_derivatives.h"

#include "bindings/module.h"
#include "bindings/shape_arguments.h"
#include "geometry/smoothed_distance.h"

namespace py = pybind11;

namespace robosim {

RatesTuple rates_tuple(const std::vector<const WitnessRate*>& rates, const std::vector<py::ssize_t>& shape) {
  std::vector<py::ssize_t> vectors{3};
  vectors.insert(vectors.end(), shape.begin(), shape.end());
  RatesTuple out{py::array_t<double>(shape), py::array_t<double>(vectors), py::array_t<double>(vectors), py::array_t<double>(vectors)};
  const std::size_t n = rates.size();
  for (std::size_t i = 0; i < n; ++i) {
    const WitnessRate rate = rates[i] ? *rates[i] : WitnessRate();
    std::get<0>(out).mutable_data()[i] = rate.distance;
    for (std::size_t k = 0; k < 3; ++k) {
      std::get<1>(out).mutable_data()[k * n + i] = rate.p_WA[static_cast<int>(k)];
      std::get<2>(out).mutable_data()[k * n + i] = rate.p_WB[static_cast<int>(k)];
      std::get<3>(out).mutable_data()[k * n + i] = rate.normal[static_cast<int>(k)];
    }
  }
  return out;
}

py::typing::Dict<py::str, RatesTuple> size_rates(const Shape& shape, const WitnessDerivatives& d, std::size_t side) {
  py::typing::Dict<py::str, RatesTuple> all;
  const WitnessRate* next = d.size[side];
  for (const Size& size : sizes_of(shape.type)) {
    std::vector<const WitnessRate*> rates;
    std::vector<py::ssize_t> of;
    if (size.of.index() == 0) {
      rates = {next++};
    } else if (size.of.index() == 1) {
      rates = {next, next + 1, next + 2}, of = {3}, next += 3;
    } else {
      const std::size_t n = std::get<2>(size.of)(shape).size();
      rates.resize(3 * n), of = {static_cast<py::ssize_t>(n), 3};
      const LocalSurface& surface = side ? d.B : d.A;
      for (std::size_t i = 0; i < static_cast<std::size_t>(surface.n_corners); ++i)
        for (std::size_t k = 0; k < 3; ++k) rates[3 * static_cast<std::size_t>(surface.corner[i].vertex) + k] = &d.corner[side][i][k];
    }
    all[size.name] = rates_tuple(rates, of);
  }
  return all;
}

void bind_witness_derivatives(py::module_& m) {
  m.def(
      "signed_distance_derivatives",
      [](const Shape& A, const py::object& X_WA, const Shape& B, const py::object& X_WB) {
        return checked([&] {
          const SE3d X_A = rigid(X_WA, "X_WA"), X_B = rigid(X_WB, "X_WB");
          const Witness w = signed_distance(A, X_A, B, X_B);
          const WitnessDerivatives d = witness_derivatives(w, A, X_A, B, X_B);
          std::vector<const WitnessRate*> twist;
          for (const WitnessRate& rate : d.twist) twist.push_back(&rate);
          return std::make_tuple(witness_tuple(w), rates_tuple(twist, {12}), size_rates(A, d, 0), size_rates(B, d, 1),
                                 rates_tuple({&d.scale[0]}, {}), rates_tuple({&d.scale[1]}, {}), feature_tuple(d.A), feature_tuple(d.B), d.one_sided);
        });
      },
      py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"), "See robosim.geometry.signed_distance_derivatives.");
  m.def(
      "smoothed_distance",
      [](double smoothing, const Shape& A, const py::object& X_WA, const Shape& B, const py::object& X_WB) {
        return checked([&] {
          const SE3d X_A = rigid(X_WA, "X_WA"), X_B = rigid(X_WB, "X_WB");
          const WitnessFactors f = smoothed_distance(smoothing, A, X_A, B, X_B);
          WitnessRate rates[12];
          expand(f, X_A, X_B, rates);
          std::vector<const WitnessRate*> twist;
          for (const WitnessRate& rate : rates) twist.push_back(&rate);
          return std::make_tuple(witness_tuple(f.witness), rates_tuple(twist, {12}), f.one_sided);
        });
      },
      py::arg("smoothing"), py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"), "See robosim.geometry.smoothed_distance.");
}

}  // namespace robosim
