#include "geometry/contact_factors.h"

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "geometry/directions.h"
#include "geometry/pair_factors.h"

namespace robosim {
namespace {

using namespace pair_factors;

using FactorsOfPair = WitnessFactors (*)(const Witness&, const Shape&, const SE3d&, const Shape&,
                                         const SE3d&);
using Look = Side<Radii> (*)(const Shape&, const SE3d&, const Vec3d&, const Vec3d&, const Vec3d&,
                             const Vec3d&);

template <ShapeType a, ShapeType b>
WitnessFactors of_pair(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B,
                       const SE3d& X_WB) {
  Vec3d t0, t1;
  tangents(witness.normal, t0, t1);
  return over<a, b>(witness, t0, t1, A, X_WA, B, X_WB);
}

template <ShapeType T>
Side<Radii> look(const Shape& shape, const SE3d& X_WS, const Vec3d& p_W, const Vec3d& n_W,
                 const Vec3d& t0, const Vec3d& t1) {
  return look_at_core<T, true>(shape, X_WS, p_W, n_W, t0, t1);
}

template <int... types>
constexpr std::array<Look, sizeof...(types)> look_table(std::integer_sequence<int, types...>) {
  return {look<static_cast<ShapeType>(types)>...};
}

WitnessFactors any_factors(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B,
                           const SE3d& X_WB) {
  static constexpr auto looks = look_table(std::make_integer_sequence<int, n_shape_types>());
  const Vec3d& n = witness.normal;
  Vec3d t0, t1;
  tangents(n, t0, t1);
  return factors(witness, t0, t1,
                 looks[static_cast<std::size_t>(A.type)](A, X_WA, witness.p_WA, n, t0, t1),
                 looks[static_cast<std::size_t>(B.type)](B, X_WB, witness.p_WB, -n, t0, t1));
}

template <int cell>
constexpr FactorsOfPair cell_factors() {
  constexpr ShapeType a = static_cast<ShapeType>(cell / n_shape_types),
                      b = static_cast<ShapeType>(cell % n_shape_types);
  if constexpr (as_a_whole(a, b))
    return of_pair<a, b>;
  else
    return any_factors;
}

template <int... cells>
constexpr std::array<FactorsOfPair, sizeof...(cells)> pair_table(
    std::integer_sequence<int, cells...>) {
  return {cell_factors<cells>()...};
}

// Linear map from one side's velocity u and turn w of its normal to a WitnessRate, as columns of
// ten numbers. The arguments are the components of u and w along t0, t1 and n.
struct Effect {
  static constexpr int n = 10;
  static_assert(sizeof(WitnessRate) == n * sizeof(double) &&
                std::is_trivially_copyable_v<WitnessRate>);
  double u0[n], u1[n], u_n[n], w0[n], w1[n];

  Effect(const WitnessFactors& f, int side) {
    const Vec3d &t0 = f.tangent[0], &t1 = f.tangent[1], &normal = f.witness.normal;
    const double phi = f.witness.distance;
    const WitnessFactors::Blocks b = f.blocks(side);
    const auto fill = [&](double* out, double n0, double n1, double p0, double p1) {
      const Vec3d dn = n0 * t0 + n1 * t1, dp = p0 * t0 + p1 * t1;
      write(out, 0, dn, dp, dp + phi * dn);
    };
    fill(u0, b.normal_u.row[0].x, b.normal_u.row[1].x, b.point_u.row[0].x, b.point_u.row[1].x);
    fill(u1, b.normal_u.row[0].y, b.normal_u.row[1].y, b.point_u.row[0].y, b.point_u.row[1].y);
    fill(w0, b.normal_w.row[0].x, b.normal_w.row[1].x, b.point_w.row[0].x, b.point_w.row[1].x);
    fill(w1, b.normal_w.row[0].y, b.normal_w.row[1].y, b.point_w.row[0].y, b.point_w.row[1].y);
    write(u_n, side ? 1 : -1, Vec3d(), side ? Vec3d() : normal, side ? normal : Vec3d());
  }
  // Rate for the velocity u = (a, b, c) along t0, t1 and n, without and with a turn w = (d, e)
  // along t0 and t1.
  ROBOSIM_INLINE void moves(double a, double b, double c, WitnessRate& out) const {
    double x[n];
    for (int i = 0; i < n; ++i) x[i] = a * u0[i] + b * u1[i] + c * u_n[i];
    std::memcpy(&out, x, sizeof x);
  }
  ROBOSIM_INLINE void moves_and_turns(double a, double b, double c, double d, double e,
                                      WitnessRate& out) const {
    double x[n];
    for (int i = 0; i < n; ++i) x[i] = a * u0[i] + b * u1[i] + c * u_n[i] + d * w0[i] + e * w1[i];
    std::memcpy(&out, x, sizeof x);
  }

 private:
  static void write(double* out, double distance, const Vec3d& dn, const Vec3d& dp_A,
                    const Vec3d& dp_B) {
    const double x[n] = {distance, dn.x,   dn.y,   dn.z,   dp_A.x,
                         dp_A.y,   dp_A.z, dp_B.x, dp_B.y, dp_B.z};
    std::memcpy(out, x, sizeof x);
  }
};

Vec3d arm(const WitnessFactors& f, int side, const SE3d& X) {
  return (side ? f.witness.p_WB : f.witness.p_WA) - X.p;
}

}  // namespace

WitnessFactors witness_factors(const Witness& witness, const Vec3d& t0, const Vec3d& t1,
                               const SideRadii& A, const SideRadii& B) {
  return factors(witness, t0, t1, Side<Radii>{A.S, A.size, A.at_switch},
                 Side<Radii>{B.S, B.size, B.at_switch});
}

WitnessFactors witness_factors(const Witness& witness, const Shape& A, const SE3d& X_WA,
                               const Shape& B, const SE3d& X_WB) {
  static constexpr auto table =
      pair_table(std::make_integer_sequence<int, n_shape_types * n_shape_types>());
  return table[static_cast<int>(A.type) * n_shape_types + static_cast<int>(B.type)](witness, A,
                                                                                    X_WA, B, X_WB);
}

WitnessFactors::Blocks WitnessFactors::blocks(int side) const {
  const Mat2 Q_At = transpose(Q_A);
  if (side) return {P, Q_B, Q_At, H};
  return {-1.0 * P, Q_A, one - Q_At, -1.0 * (witness.distance * Q_At + H)};
}

WitnessRate WitnessFactors::rate(int side, const SurfaceMotion& motion) const {
  if (!finite) return {};
  const Vec3d &t0 = tangent[0], &t1 = tangent[1], &n = witness.normal;
  const Blocks b = blocks(side);
  const Vec2 u{dot(motion.u, t0), dot(motion.u, t1)}, w{dot(motion.w, t0), dot(motion.w, t1)};
  const Vec2 normal = b.normal_u * u + b.normal_w * w, point = b.point_u * u + b.point_w * w;
  const double out = dot(motion.u, n);
  WitnessRate r;
  r.distance = side ? out : -out;
  r.normal = normal.x * t0 + normal.y * t1;
  const Vec3d along = point.x * t0 + point.y * t1;
  r.p_WA = side ? along : mul_add(out, n, along);
  r.p_WB = mul_add(witness.distance, r.normal, side ? mul_add(out, n, along) : along);
  return r;
}

SurfaceMotion WitnessFactors::pulled_back(int side, const WitnessRate& covector) const {
  if (!finite) return {};
  const Vec3d &t0 = tangent[0], &t1 = tangent[1], &n = witness.normal;
  const Blocks b = blocks(side);
  // p_B follows p_A and the normal.
  const Vec3d of_point = covector.p_WA + covector.p_WB,
              of_normal = mul_add(witness.distance, covector.p_WB, covector.normal);
  const Vec2 point{dot(of_point, t0), dot(of_point, t1)},
      normal{dot(of_normal, t0), dot(of_normal, t1)};
  const Vec2 u = transpose(b.normal_u) * normal + transpose(b.point_u) * point;
  const Vec2 w = transpose(b.normal_w) * normal + transpose(b.point_w) * point;
  const double out =
      side ? covector.distance + dot(n, covector.p_WB) : dot(n, covector.p_WA) - covector.distance;
  return {u.x * t0 + u.y * t1 + out * n, w.x * t0 + w.y * t1};
}

WitnessRate jvp(const WitnessFactors& factors, const SE3d& X_WA, const SE3d& X_WB,
                const double (&twists)[12]) {
  WitnessRate sum;
  for (int side = 0; side < 2; ++side) {
    const SE3d& X = side ? X_WB : X_WA;
    const double* v = twists + 6 * side;
    const Vec3d linear = X.R * Vec3d(v[0], v[1], v[2]), angular = X.R * Vec3d(v[3], v[4], v[5]);
    sum += factors.rate(side, {cross_add(angular, arm(factors, side, X), linear),
                               cross(angular, factors.witness.normal)});
  }
  return sum;
}

void vjp(const WitnessFactors& factors, const SE3d& X_WA, const SE3d& X_WB,
         const WitnessRate& covector, double (&twists)[12]) {
  for (int side = 0; side < 2; ++side) {
    const SE3d& X = side ? X_WB : X_WA;
    const SurfaceMotion f = factors.pulled_back(side, covector);
    const Vec3d linear = transpose_times(X.R, f.u);
    const Vec3d angular = transpose_times(
        X.R, cross_add(arm(factors, side, X), f.u, cross(factors.witness.normal, f.w)));
    double* v = twists + 6 * side;
    for (int k = 0; k < 3; ++k) {
      v[k] = linear[k];
      v[3 + k] = angular[k];
    }
  }
}

void expand(const WitnessFactors& factors, int side, const SE3d& X, WitnessRate* twist) {
  const Vec3d &t0 = factors.tangent[0], &t1 = factors.tangent[1], &n = factors.witness.normal;
  const Effect e(factors, side);
  const Vec3d r = arm(factors, side, X);
  // Components along t0, t1 and n of the body's axes, and of their cross products with the arm and
  // with n. These use t1 = n x t0 and t0 = t1 x n.
  const Vec3d at_0 = transpose_times(X.R, t0), at_1 = transpose_times(X.R, t1),
              at_n = transpose_times(X.R, n);
  const double r_0 = robosim::dot(r, t0), r_1 = robosim::dot(r, t1), r_n = robosim::dot(r, n);
  for (int k = 0; k < 3; ++k) {
    e.moves(at_0[k], at_1[k], at_n[k], twist[k]);
    e.moves_and_turns(r_n * at_1[k] - r_1 * at_n[k], r_0 * at_n[k] - r_n * at_0[k],
                      r_1 * at_0[k] - r_0 * at_1[k], at_1[k], -at_0[k], twist[3 + k]);
  }
}

}  // namespace robosim
