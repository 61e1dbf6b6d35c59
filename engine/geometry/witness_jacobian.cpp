#include "geometry/witness_jacobian.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "base/cpu.h"
#include "geometry/pair_factors.h"

namespace robosim {
namespace {

// Kernels for this machine, chosen once. Reading them is one atomic load: the guard of a static
// variable would take as long as a pair of spheres.
std::atomic<const detail::JacobianKernels*> chosen = nullptr;

[[gnu::noinline]] const detail::JacobianKernels& choose() {
  const auto& found = for_kernel_isa(
      [](auto isa) -> const detail::JacobianKernels& { return detail::jacobian_kernels<isa>(); });
  chosen.store(&found, std::memory_order_release);
  return found;
}

ROBOSIM_INLINE const detail::JacobianKernels& kernels() {
  const detail::JacobianKernels* found = chosen.load(std::memory_order_acquire);
  return found ? *found : choose();
}

ROBOSIM_INLINE void multiply_out(const WitnessFactors& f, const SE3d& X_WA, const SE3d& X_WB,
                                 WitnessJacobian& out) {
  out.one_sided = f.one_sided;
  if (f.finite)
    kernels().any(f, X_WA, X_WB, out.row[0]);
  else
    std::fill_n(out.row[0], WitnessJacobian::n_rows * WitnessJacobian::stride, 0.0);
}

// The three functions below omit the terms that are zero for a sphere or on a half-space. Each
// returns false if the general form is required, which is rare.
bool of_spheres(const Witness& w, double radius_A, const SE3d& X_WA, double radius_B,
                const SE3d& X_WB, WitnessJacobian& out) {
  const double m = w.distance + radius_A + radius_B, size = std::max(radius_A, radius_B);
  if (!(m * m > tangent_plane::singular * size * size)) return false;
  const double p = 1 / m;
  out.one_sided = false;
  kernels().spheres(w, p, p * radius_A, p * (w.distance + radius_A), X_WA, X_WB, out.row[0]);
  return true;
}

// O is the other shape; the half-space is B if is_B, otherwise A.
template <ShapeType o, bool is_B>
ROBOSIM_INLINE bool on_half_space(const Witness& w, const SE3d& X_WH, const Shape& O,
                                  const SE3d& X_WO, WitnessJacobian& out) {
  if constexpr (o == ShapeType::sphere) {
    out.one_sided = false;
    kernels().on_half_space(w, tangent_plane::diagonal(O.radius), is_B, true, X_WH, X_WO,
                            out.row[0]);
  } else {
    const Vec3d x = X_WH.R.col(0), y = X_WH.R.col(1);
    auto side = pair_factors::look_at<o, ShapeType::half_space>(
        O, X_WO, is_B ? w.p_WA : w.p_WB, is_B ? w.normal : -w.normal, x, is_B ? -y : y);
    tangent_plane::Radii& radii = side.radii;
    // The half-space's point is held, and n turns with the face.
    if (is_B && radii.n_straight == 2) return false;
    out.one_sided = side.at_switch || radii.n_straight > 0;
    radii.hold();
    kernels().on_half_space(w, radii.finite, is_B, false, X_WH, X_WO, out.row[0]);
  }
  return true;
}

template <ShapeType a, ShapeType b>
ROBOSIM_INLINE bool about_sphere(const Witness& w, const Shape& A, const SE3d& X_WA, const Shape& B,
                                 const SE3d& X_WB, WitnessJacobian& out) {
  constexpr bool is_B = b == ShapeType::sphere;
  Vec3d t0, t1;
  tangents(w.normal, t0, t1);
  bool one_sided;
  const tangent_plane::Response r = pair_factors::answer(
      w.distance, pair_factors::look_at<a, b>(A, X_WA, w.p_WA, w.normal, t0, t1),
      pair_factors::look_at<b, a>(B, X_WB, w.p_WB, -w.normal, t0, t1), one_sided);
  if (!r.regular) return false;
  out.one_sided = one_sided;
  const tangent_plane::Mat2& P = r.P;
  kernels().about_sphere(w, t0, t1, P.row[0].x, P.row[0].y, P.row[1].y, (is_B ? B : A).radius, is_B,
                         is_B ? X_WB : X_WA, is_B ? X_WA : X_WB, out.row[0]);
  return true;
}

void of_any(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B,
            const SE3d& X_WB, WitnessJacobian& out) {
  multiply_out(witness_factors(witness, A, X_WA, B, X_WB), X_WA, X_WB, out);
}

template <ShapeType a, ShapeType b>
void of_pair(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B,
             const SE3d& X_WB, WitnessJacobian& out) {
  using enum ShapeType;
  if constexpr (pair_factors::is_simple(a) || pair_factors::is_simple(b)) {
    bool done = false;
    if constexpr (a == sphere && b == sphere)
      done = of_spheres(witness, A.radius, X_WA, B.radius, X_WB, out);
    else if constexpr (a == half_space && b != a)
      done = on_half_space<b, false>(witness, X_WA, B, X_WB, out);
    else if constexpr (b == half_space && b != a)
      done = on_half_space<a, true>(witness, X_WB, A, X_WA, out);
    else if constexpr (a == sphere || b == sphere)
      done = about_sphere<a, b>(witness, A, X_WA, B, X_WB, out);
    if (!done) of_any(witness, A, X_WA, B, X_WB, out);
  } else {
    Vec3d t0, t1;
    tangents(witness.normal, t0, t1);
    multiply_out(pair_factors::over<a, b>(witness, t0, t1, A, X_WA, B, X_WB), X_WA, X_WB, out);
  }
}

using OfPair = void (*)(const Witness&, const Shape&, const SE3d&, const Shape&, const SE3d&,
                        WitnessJacobian&);

template <int cell>
constexpr OfPair of_cell() {
  constexpr ShapeType a = static_cast<ShapeType>(cell / n_shape_types),
                      b = static_cast<ShapeType>(cell % n_shape_types);
  if constexpr (pair_factors::as_a_whole(a, b))
    return of_pair<a, b>;
  else
    return of_any;
}

template <int... cells>
constexpr std::array<OfPair, sizeof...(cells)> table_of_pairs(
    std::integer_sequence<int, cells...>) {
  return {of_cell<cells>()...};
}

}  // namespace

void witness_jacobian(const WitnessFactors& factors, const SE3d& X_WA, const SE3d& X_WB,
                      WitnessJacobian& out) {
  multiply_out(factors, X_WA, X_WB, out);
}

void witness_jacobian(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B,
                      const SE3d& X_WB, WitnessJacobian& out) {
  static constexpr auto table =
      table_of_pairs(std::make_integer_sequence<int, n_shape_types * n_shape_types>());
  table[static_cast<int>(A.type) * n_shape_types + static_cast<int>(B.type)](witness, A, X_WA, B,
                                                                             X_WB, out);
}

}  // namespace robosim
