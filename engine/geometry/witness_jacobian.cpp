#include "geometry/witness_jacobian.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "base/cpu.h"
#include "geometry/pair_factors.h"

namespace robosim {
namespace {

// Found once; asked for by one load, as a pair of spheres takes no longer than a guard with what it guards.
std::atomic<const detail::JacobianKernels*> chosen = nullptr;

[[gnu::noinline]] const detail::JacobianKernels& choose() {
  const auto& found = for_kernel_isa([](auto isa) -> const detail::JacobianKernels& { return detail::jacobian_kernels<isa>(); });
  chosen.store(&found, std::memory_order_release);
  return found;
}

ROBOSIM_INLINE const detail::JacobianKernels& kernels() {
  const detail::JacobianKernels* found = chosen.load(std::memory_order_acquire);
  return found ? *found : choose();
}

ROBOSIM_INLINE void multiply_out(const WitnessFactors& f, const SE3d& X_WA, const SE3d& X_WB, WitnessJacobian& out) {
  out.one_sided = f.one_sided;
  if (f.finite) kernels().any(f, X_WA, X_WB, out.row[0]);
  else std::fill_n(out.row[0], WitnessJacobian::n_rows * WitnessJacobian::stride, 0.0);
}

// By the types, without the terms that are zero for a sphere or on a half-space; false where the general ones are called for, which is rare.
template <ShapeType a, ShapeType b>
ROBOSIM_INLINE bool simple(const Witness& w, const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB, WitnessJacobian& out) {
  using enum ShapeType;
  if constexpr (a == sphere && b == sphere) {
    const double m = w.distance + A.radius + B.radius, size = std::max(A.radius, B.radius);
    if (!(m * m > tangent_plane::singular * size * size)) return false;
    const double p = 1 / m;
    out.one_sided = false;
    kernels().spheres(w, p, p * A.radius, p * (w.distance + A.radius), X_WA, X_WB, out.row[0]);
    return true;
  } else if constexpr (a == half_space || b == half_space) {
    constexpr bool is_B = b == half_space;
    constexpr ShapeType o = is_B ? a : b;
    if constexpr (o == half_space) return false;
    else {
      const Shape& O = is_B ? A : B;
      const SE3d &X_WH = is_B ? X_WB : X_WA, &X_WO = is_B ? X_WA : X_WB;
      const Vec3d x = X_WH.R.col(0), y = X_WH.R.col(1);
      auto side = pair_factors::look_at<o, half_space>(O, X_WO, is_B ? w.p_WA : w.p_WB, is_B ? w.normal : -w.normal, x, is_B ? -y : y);
      if constexpr (o == sphere) {
        out.one_sided = false;
        kernels().on_half_space(w, tangent_plane::diagonal(O.radius), is_B, true, X_WH, X_WO, out.row[0]);
      } else {
        tangent_plane::Radii& radii = side.radii;
        if (is_B && radii.n_straight == 2) return false;  // the half-space's point is held, and n turns with the face
        out.one_sided = side.at_switch || radii.n_straight > 0;
        radii.hold();
        kernels().on_half_space(w, radii.finite, is_B, false, X_WH, X_WO, out.row[0]);
      }
      return true;
    }
  } else {
    constexpr bool is_B = b == sphere;
    const Shape& S = is_B ? B : A;
    const SE3d &X_WS = is_B ? X_WB : X_WA, &X_WO = is_B ? X_WA : X_WB;
    Vec3d t0, t1;
    tangents(w.normal, t0, t1);
    bool one_sided;
    const tangent_plane::Response r = pair_factors::answer(w.distance, pair_factors::look_at<a, b>(A, X_WA, w.p_WA, w.normal, t0, t1),
                                                           pair_factors::look_at<b, a>(B, X_WB, w.p_WB, -w.normal, t0, t1), one_sided);
    if (!r.regular) return false;
    out.one_sided = one_sided;
    kernels().about_sphere(w, t0, t1, r.P.row[0].x, r.P.row[0].y, r.P.row[1].y, S.radius, is_B, X_WS, X_WO, out.row[0]);
    return true;
  }
}

void of_any(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB, WitnessJacobian& out) {
  multiply_out(witness_factors(witness, A, X_WA, B, X_WB), X_WA, X_WB, out);
}

template <ShapeType a, ShapeType b>
void of_pair(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB, WitnessJacobian& out) {
  if constexpr (pair_factors::is_simple(a) || pair_factors::is_simple(b)) {
    if (!simple<a, b>(witness, A, X_WA, B, X_WB, out)) of_any(witness, A, X_WA, B, X_WB, out);
  } else {
    Vec3d t0, t1;
    tangents(witness.normal, t0, t1);
    multiply_out(pair_factors::over<a, b>(witness, t0, t1, A, X_WA, B, X_WB), X_WA, X_WB, out);
  }
}

using OfPair = void (*)(const Witness&, const Shape&, const SE3d&, const Shape&, const SE3d&, WitnessJacobian&);

template <int cell>
constexpr OfPair of_cell() {
  constexpr ShapeType a = static_cast<ShapeType>(cell / n_shape_types), b = static_cast<ShapeType>(cell % n_shape_types);
  if constexpr (pair_factors::as_a_whole(a, b)) return of_pair<a, b>;
  else return of_any;
}

template <int... cells>
constexpr std::array<OfPair, sizeof...(cells)> pair_table(std::integer_sequence<int, cells...>) {
  return {of_cell<cells>()...};
}

}  // namespace

void witness_jacobian(const WitnessFactors& factors, const SE3d& X_WA, const SE3d& X_WB, WitnessJacobian& out) {
  multiply_out(factors, X_WA, X_WB, out);
}

void witness_jacobian(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB, WitnessJacobian& out) {
  static constexpr auto table = pair_table(std::make_integer_sequence<int, n_shape_types * n_shape_types>());
  table[static_cast<std::size_t>(static_cast<int>(A.type) * n_shape_types + static_cast<int>(B.type))](witness, A, X_WA, B, X_WB, out);
}

}  // namespace robosim
