// Derivatives of the signed distance of two shapes.
#include "geometry/contact_derivatives.h"

#include <memory>
#include <tuple>
#include <vector>

#include "bindings/module.h"
#include "bindings/shape_arguments.h"
#include "geometry/bodies/compound_derivatives.h"
#include "geometry/smoothed_distance.h"
#include "geometry/witness_jacobian.h"

namespace py = pybind11;

namespace robosim {

RatesTuple rates_tuple(const std::vector<const WitnessRate*>& rates,
                       const std::vector<py::ssize_t>& shape) {
  std::vector<py::ssize_t> vectors{3};
  vectors.insert(vectors.end(), shape.begin(), shape.end());
  RatesTuple out{py::array_t<double>(shape), py::array_t<double>(vectors),
                 py::array_t<double>(vectors), py::array_t<double>(vectors)};
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

namespace {

// Rates with respect to all twelve entries of the two twists.
RatesTuple twist_arrays() {
  const auto vectors = [] { return Array(Shape2{3, 12}); };
  return {Array(12), vectors(), vectors(), vectors()};
}
RatesTuple twist_rates(const WitnessRate (&twist)[12]) {
  RatesTuple out = twist_arrays();
  double* const to[] = {std::get<0>(out).mutable_data(), std::get<1>(out).mutable_data(),
                        std::get<2>(out).mutable_data(), std::get<3>(out).mutable_data()};
  for (int i = 0; i < 12; ++i) {
    to[0][i] = twist[i].distance;
    for (int k = 0; k < 3; ++k) {
      to[1][12 * k + i] = twist[i].p_WA[k];
      to[2][12 * k + i] = twist[i].p_WB[k];
      to[3][12 * k + i] = twist[i].normal[k];
    }
  }
  return out;
}
RatesTuple twist_rates(const WitnessJacobian& J) {
  RatesTuple out = twist_arrays();
  const auto fill = [&](double* to, int row, int n_rows) {
    for (const int end = row + n_rows; row < end; ++row)
      for (int k = 0; k < 12; ++k) *to++ = J.row[row][WitnessJacobian::column(k)];
  };
  fill(std::get<0>(out).mutable_data(), WitnessJacobian::distance, 1);
  fill(std::get<1>(out).mutable_data(), WitnessJacobian::p_WA, 3);
  fill(std::get<2>(out).mutable_data(), WitnessJacobian::p_WB, 3);
  fill(std::get<3>(out).mutable_data(), WitnessJacobian::normal, 3);
  return out;
}

using SizeRates = py::typing::Dict<py::str, RatesTuple>;

// Rates with respect to each size of A (side 0) or B (side 1), by name of the size.
SizeRates size_rates(const Shape& shape, const WitnessDerivatives& d, std::size_t side) {
  SizeRates all;
  const WitnessRate* next = d.size[side];
  for (const Size& size : sizes_of(shape.type)) {
    std::vector<const WitnessRate*> rates;
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
      const LocalSurface& surface = side ? d.B : d.A;
      for (std::size_t i = 0; i < static_cast<std::size_t>(surface.n_corners); ++i)
        for (std::size_t k = 0; k < 3; ++k)
          rates[3 * static_cast<std::size_t>(surface.corner[i].vertex) + k] = &d.corner[side][i][k];
    }
    all[size.name] = rates_tuple(rates, of);
  }
  return all;
}

// Rates with respect to the sizes of the closest piece. For a surface these are the three vertices
// of the triangle.
SizeRates piece_sizes(const Body& body, int piece, const WitnessDerivatives& d, std::size_t side) {
  return body.with_piece(piece, [&](const Compound::Piece& P) {
    if (!P.surface) return size_rates(P.shape, d, side);
    std::vector<const WitnessRate*> rates(9);
    const LocalSurface& surface = side ? d.B : d.A;
    for (std::size_t i = 0; i < static_cast<std::size_t>(surface.n_corners); ++i)
      for (std::size_t k = 0; k < 3; ++k)
        rates[3 * static_cast<std::size_t>(surface.corner[i].vertex) + k] = &d.corner[side][i][k];
    SizeRates all;
    all["vertices"] = rates_tuple(rates, {3, 3});
    return all;
  });
}

// Closest pieces, and derivatives with respect to everything but poses, computed on request. Most
// callers need derivatives with respect to poses only, and creating the arrays of all others takes
// five times as long as computing the distance.
struct ShapeRates {
  CollisionGeometry A, B;
  SE3d X_WA, X_WB;
  PieceWitness closest;
  std::unique_ptr<WitnessDerivatives> found;  // large

  bool is_of_shapes() const { return A.body().shape() && B.body().shape(); }
  const WitnessDerivatives& derivatives() {
    if (!found) {
      found = std::make_unique<WitnessDerivatives>(
          is_of_shapes() ? witness_derivatives(closest.witness, A.shape, X_WA, B.shape, X_WB)
                         : piece_derivatives(closest, A.body(), X_WA, B.body(), X_WB));
    }
    return *found;
  }
  SizeRates sizes(bool of_B) {
    const Body body = (of_B ? B : A).body();
    return body.shape()
               ? size_rates(*body.shape(), derivatives(), of_B)
               : piece_sizes(body, of_B ? closest.piece_B : closest.piece_A, derivatives(), of_B);
  }
  RatesTuple scale(bool of_B) { return rates_tuple({&derivatives().scale[of_B]}, {}); }
  FeatureTuple feature(bool of_B) {
    return feature_tuple(of_B ? derivatives().B : derivatives().A);
  }
};

std::tuple<WitnessTuple, RatesTuple, bool, std::unique_ptr<ShapeRates>> signed_distance_derivatives(
    const AnyBody& A, const py::object& X_WA, const AnyBody& B, const py::object& X_WB) {
  auto rates = std::make_unique<ShapeRates>(ShapeRates{
      geometry_of(A, "A"), geometry_of(B, "B"), rigid(X_WA, "X_WA"), rigid(X_WB, "X_WB"), {}, {}});
  const SE3d &X_A = rates->X_WA, &X_B = rates->X_WB;
  Witness& w = rates->closest.witness;
  if (rates->is_of_shapes()) {
    const Shape &a = rates->A.shape, &b = rates->B.shape;
    w = signed_distance(a, X_A, b, X_B);
    WitnessJacobian J;
    witness_jacobian(w, a, X_A, b, X_B, J);
    return {witness_tuple(w), twist_rates(J), J.one_sided, std::move(rates)};
  }
  rates->closest = closest_pieces(rates->A.body(), X_A, rates->B.body(), X_B);
  const WitnessDerivatives& d = rates->derivatives();
  return {witness_tuple(w), twist_rates(d.twist), d.one_sided, std::move(rates)};
}

}  // namespace

void bind_witness_derivatives(py::module_& m) {
  py::class_<ShapeRates>(m, "ShapeRates",
                         "Of closest points by shapes; see robosim.geometry.WitnessDerivatives.")
      .def("sizes", &ShapeRates::sizes, py::arg("of_B"),
           "By name, of A or B: rates of distance, p_WA, p_WB and normal.")
      .def("scale", &ShapeRates::scale, py::arg("of_B"), "The same in a factor by which it grows.")
      .def("feature", &ShapeRates::feature, py::arg("of_B"),
           "(kind, number, slide, tilt) of what touches of it.");
  m.def(
      "signed_distance_derivatives",
      [](const AnyBody& A, const py::object& X_WA, const AnyBody& B, const py::object& X_WB) {
        return checked([&] { return signed_distance_derivatives(A, X_WA, B, X_WB); });
      },
      py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"),
      "(witness, rates in both twists, one_sided, those in the shapes); see "
      "robosim.geometry.signed_distance_derivatives.");
  m.def(
      "smoothed_distance",
      [](double smoothing, const Shape& A, const py::object& X_WA, const Shape& B,
         const py::object& X_WB) {
        return checked([&] {
          const SE3d X_A = rigid(X_WA, "X_WA"), X_B = rigid(X_WB, "X_WB");
          const WitnessFactors f = smoothed_distance(smoothing, A, X_A, B, X_B);
          WitnessJacobian J;
          witness_jacobian(f, X_A, X_B, J);
          return std::make_tuple(witness_tuple(f.witness), twist_rates(J), J.one_sided);
        });
      },
      py::arg("smoothing"), py::arg("A"), py::arg("X_WA"), py::arg("B"), py::arg("X_WB"),
      "See robosim.geometry.smoothed_distance.");
}

}  // namespace robosim
