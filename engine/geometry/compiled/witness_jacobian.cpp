// Kernels of witness_jacobian.h for one instruction set. The columns of one side are eight numbers:
// linear x, y, z and a padding number, angular x, y, z and a padding number.
#include "geometry/witness_jacobian.h"

#include "base/lane_memory.h"
#include "base/lanes.h"

namespace robosim::detail {
namespace {

// N numbers in as few registers as possible.
template <int N, Isa isa, bool in_one = N <= lanes_of(isa)>
struct Pack {
  using Half = Pack<N / 2, isa>;
  Half low, high;

  ROBOSIM_INLINE Pack(double x) : low(x), high(x) {}  // NOLINT: constants convert silently
  ROBOSIM_INLINE Pack(const Half& low_, const Half& high_) : low(low_), high(high_) {}
  static ROBOSIM_INLINE Pack load(const double* x) {
    return {Half::load(x), Half::load(x + N / 2)};
  }
  ROBOSIM_INLINE void store(double* x) const {
    low.store(x);
    high.store(x + N / 2);
  }

  friend ROBOSIM_INLINE Pack operator+(const Pack& a, const Pack& b) {
    return {a.low + b.low, a.high + b.high};
  }
  friend ROBOSIM_INLINE Pack operator-(const Pack& a, const Pack& b) {
    return {a.low - b.low, a.high - b.high};
  }
  friend ROBOSIM_INLINE Pack operator*(const Pack& a, const Pack& b) {
    return {a.low * b.low, a.high * b.high};
  }
  friend ROBOSIM_INLINE Pack operator-(const Pack& a) { return {-a.low, -a.high}; }
  friend ROBOSIM_INLINE Pack mul_add(const Pack& a, const Pack& b, const Pack& c) {
    return {mul_add(a.low, b.low, c.low), mul_add(a.high, b.high, c.high)};
  }
  friend ROBOSIM_INLINE Pack nmul_add(const Pack& a, const Pack& b, const Pack& c) {
    return {nmul_add(a.low, b.low, c.low), nmul_add(a.high, b.high, c.high)};
  }
};
template <int N, Isa isa>
struct Pack<N, isa, true> {
  using Half = Pack<N / 2, isa>;
  Lanes<N, isa> x;

  ROBOSIM_INLINE Pack(double x_) : x(x_) {}  // NOLINT: constants convert silently
  ROBOSIM_INLINE Pack(const Lanes<N, isa>& x_) : x(x_) {}
  ROBOSIM_INLINE Pack(const Half& low, const Half& high)
      : x(Lanes<N, isa>::from(__builtin_shufflevector(low.x.v, high.x.v, 0, 1, 2, 3, 4, 5, 6, 7))) {
  }
  static ROBOSIM_INLINE Pack load(const double* from) { return load_lanes<Lanes<N, isa>>(from); }
  ROBOSIM_INLINE void store(double* to) const { store_lanes(x, to); }

  friend ROBOSIM_INLINE Pack operator+(const Pack& a, const Pack& b) { return a.x + b.x; }
  friend ROBOSIM_INLINE Pack operator-(const Pack& a, const Pack& b) { return a.x - b.x; }
  friend ROBOSIM_INLINE Pack operator*(const Pack& a, const Pack& b) { return a.x * b.x; }
  friend ROBOSIM_INLINE Pack operator-(const Pack& a) { return -a.x; }
  friend ROBOSIM_INLINE Pack mul_add(const Pack& a, const Pack& b, const Pack& c) {
    return mul_add(a.x, b.x, c.x);
  }
  friend ROBOSIM_INLINE Pack nmul_add(const Pack& a, const Pack& b, const Pack& c) {
    return nmul_add(a.x, b.x, c.x);
  }
};

}  // namespace

template <Isa isa>
class CompiledJacobianKernels final : public JacobianKernels {
  using Mat2 = tangent_plane::Mat2;
  using J = WitnessJacobian;
  using Four = Pack<4, isa>;
  using Eight = Pack<8, isa>;

 public:
  void any(const WitnessFactors& f, const SE3d& X_WA, const SE3d& X_WB,
           double* out) const override {
    any_side<false>(f, X_WA, out);
    any_side<true>(f, X_WB, out + 8);
  }

  void on_half_space(const Witness& w, const Mat2& H, bool is_B, bool is_centered, const SE3d& X_WH,
                     const SE3d& X_WO, double* out) const override {
    if (is_B) {
      half_space<true>(w, H, X_WH, out + 8);
      on_it<false>(w, H, is_centered, X_WH, X_WO, out);
    } else {
      half_space<false>(w, H, X_WH, out);
      on_it<true>(w, H, is_centered, X_WH, X_WO, out + 8);
    }
  }

  void about_sphere(const Witness& w, const Vec3d& t0, const Vec3d& t1, double P00, double P01,
                    double P11, double radius, bool is_B, const SE3d& X_WS, const SE3d& X_WO,
                    double* out) const override {
    if (is_B)
      sphere<true>(w, t0, t1, P00, P01, P11, radius, X_WS, out + 8),
          beside_it<false>(w, t0, t1, P00, P01, P11, radius, X_WS, X_WO, out);
    else
      sphere<false>(w, t0, t1, P00, P01, P11, radius, X_WS, out),
          beside_it<true>(w, t0, t1, P00, P01, P11, radius, X_WS, X_WO, out + 8);
  }

  void spheres(const Witness& w, double by_normal, double by_A, double by_B, const SE3d& X_WA,
               const SE3d& X_WB, double* out) const override {
    one_of_two_spheres<false>(w, -by_normal, 1 - by_A, 1 - by_B, X_WA, out),
        one_of_two_spheres<true>(w, by_normal, by_A, by_B, X_WB, out + 8);
  }

 private:
  // a b + c d.
  template <class P>
  static ROBOSIM_INLINE P sum(const P& a, const P& b, const P& c, const P& d) {
    return mul_add(a, b, c * d);
  }
  // a b - c d.
  template <class P>
  static ROBOSIM_INLINE P difference(const P& a, const P& b, const P& c, const P& d) {
    return nmul_add(c, d, a * b);
  }
  // Functions of Vec3 are not compiled for this instruction set, and copies of them must not be
  // compiled here: see engine/README.md.
  static ROBOSIM_INLINE double entry(const Vec3d& a, int i) {
    return i == 0 ? a.x : (i == 1 ? a.y : a.z);
  }
  struct Arm {
    double x, y, z;
    ROBOSIM_INLINE Arm(const Vec3d& to, const Vec3d& from)
        : x(to.x - from.x), y(to.y - from.y), z(to.z - from.z) {}
    ROBOSIM_INLINE double along(const Vec3d& d) const { return x * d.x + y * d.y + z * d.z; }
  };
  // Vector from the origin of a side's frame to its point.
  template <bool is_B>
  static ROBOSIM_INLINE Arm arm(const Witness& w, const SE3d& X) {
    return {is_B ? w.p_WB : w.p_WA, X.p};
  }
  template <bool is_B>
  static constexpr int own = is_B ? J::p_WB : J::p_WA;
  template <bool is_B>
  static constexpr int other = is_B ? J::p_WA : J::p_WB;

  // Axes of the body: component i in W of each axis, and a padding number.
  struct Axes {
    Four row[3];
    explicit ROBOSIM_INLINE Axes(const SE3d& X)
        : row{Four::load(&X.R.row[0].x), Four::load(&X.R.row[1].x), Four::load(&X.R.row[2].x)} {}
    ROBOSIM_INLINE Four along(const Vec3d& d) const {
      return mul_add(d.z, row[2], sum<Four>(d.y, row[1], d.x, row[0]));
    }
  };
  // Constants in memory that is never written: otherwise gcc 12 assembles such vectors on the stack
  // by halves, and the load has to wait for them.
  static constexpr double units[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};

  static ROBOSIM_INLINE void write(double* out, int row, const Eight& x) {
    x.store(out + J::stride * row);
  }
  static ROBOSIM_INLINE void write(double* out, int row, const Four& linear, const Four& angular) {
    linear.store(out + J::stride * row);
    angular.store(out + J::stride * row + 4);
  }

  // Columns as in WitnessFactors::blocks. u is the velocity of the side's point, w the turn of n
  // over its surface, v = -u of A and u of B:
  //   dn = P v + Q w,   dp_A = u + Q_A^T (v - phi w) - H w of A,   Q_A^T v + H w of B (tangential).
  template <bool is_B>
  static ROBOSIM_INLINE void any_side(const WitnessFactors& f, const SE3d& X, double* out) {
    const Vec3d &t0 = f.tangent[0], &t1 = f.tangent[1], &n = f.witness.normal;
    const Arm r = arm<is_B>(f.witness, X);
    const Mat2 &P = f.P, &Q = is_B ? f.Q_B : f.Q_A, &Q_A = f.Q_A, &H = f.H;
    const Axes axes(X);
    // Components of u, w and v along the tangents and n.
    const Four at_0 = axes.along(t0), at_1 = axes.along(t1), at_n = axes.along(n), r_0(r.along(t0)),
               r_1(r.along(t1)), r_n(r.along(n)), zero(0.0);
    const Eight u0(at_0, difference(r_n, at_1, r_1, at_n)),
        u1(at_1, difference(r_0, at_n, r_n, at_0)), u_n(at_n, difference(r_1, at_0, r_0, at_1));
    const Eight w0(zero, at_1), w1(zero, -at_0), phi(f.witness.distance);
    const Eight v0 = is_B ? u0 : -u0, v1 = is_B ? u1 : -u1;
    // Turn of the normal.
    const Eight n0 = mul_add(P.row[0].x, v0,
                             mul_add(P.row[0].y, v1, sum<Eight>(Q.row[0].x, w0, Q.row[0].y, w1)));
    const Eight n1 = mul_add(P.row[1].x, v0,
                             mul_add(P.row[1].y, v1, sum<Eight>(Q.row[1].x, w0, Q.row[1].y, w1)));
    // Tangential motion of the points.
    const Eight x0 = is_B ? v0 : nmul_add(phi, w0, v0), x1 = is_B ? v1 : nmul_add(phi, w1, v1);
    const auto point = [&](const Eight& u, double Q_0, double Q_1, double H_0, double H_1)
        __attribute__((always_inline)) {
      const Eight H_w = sum<Eight>(H_0, w0, H_1, w1), Q_x = sum<Eight>(Q_0, x0, Q_1, x1);
      return is_B ? Q_x + H_w : u + Q_x - H_w;
    };
    const Eight p0 = point(u0, Q_A.row[0].x, Q_A.row[1].x, H.row[0].x, H.row[0].y),
                p1 = point(u1, Q_A.row[0].y, Q_A.row[1].y, H.row[1].x, H.row[1].y);
    write(out, J::distance, is_B ? u_n : -u_n);
    for (int i = 0; i < 3; ++i) {
      const Eight dn = sum<Eight>(entry(t0, i), n0, entry(t1, i), n1),
                  dp = sum<Eight>(entry(t0, i), p0, entry(t1, i), p1);
      const Eight outward = mul_add(entry(n, i), u_n, dp);
      write(out, J::normal + i, dn);
      write(out, J::p_WA + i, is_B ? dp : outward);
      write(out, J::p_WB + i, mul_add(phi, dn, is_B ? outward : dp));
    }
  }

  // Columns of the half-space. In its own frame n = s z, t0 = x, t1 = s y, with s = -1 for B. The
  // turn w of n moves the other shape's point by -s H w.
  template <bool is_B>
  static ROBOSIM_INLINE void half_space(const Witness& w, const Mat2& H, const SE3d& X,
                                        double* out) {
    constexpr double s = is_B ? -1 : 1;
    const Arm r = arm<is_B>(w, X);
    const Vec3d* const R = X.R.row;
    const double r_x = r.x * R[0].x + r.y * R[1].x + r.z * R[2].x,
                 r_y = r.x * R[0].y + r.y * R[1].y + r.z * R[2].y;
    const Four x = Four::load(units[0]), y = Four::load(units[1]), z = Four::load(units[2]),
               zero(0.0);
    const Four lever = difference<Four>(r_y, x, r_x, y), turn_x = Four(s) * y,
               turn_y = Four(-s) * x;
    const Four moved_x = difference<Four>(s * H.row[0].y, x, H.row[0].x, y),
               moved_y = difference<Four>(H.row[1].y, x, s * H.row[1].x, y);
    const Four phi(s * w.distance);
    write(out, J::distance, -z, -lever);
    for (int i = 0; i < 3; ++i) {
      const Four X_i(R[i].x), Y_i(R[i].y), Z_i(R[i].z), dn = sum(X_i, turn_x, Y_i, turn_y),
                                                        moved = sum(X_i, moved_x, Y_i, moved_y);
      write(out, J::normal + i, zero, dn);
      write(out, own<is_B> + i, Z_i * z, mul_add(Z_i, lever, nmul_add(phi, dn, moved)));
      write(out, other<is_B> + i, zero, moved);
    }
  }

  // Columns of the shape on the half-space: n is fixed, and the point moves with the shape's lowest
  // point, u + s H w with s = -1 for A.
  template <bool is_B>
  static ROBOSIM_INLINE void on_it(const Witness& w, const Mat2& H, bool is_centered,
                                   const SE3d& X_WH, const SE3d& X, double* out) {
    const Vec3d& n = w.normal;
    const Axes axes(X);
    const Four *const R = axes.row, zero(0.0), at_n = axes.along(n);
    Four u[3] = {zero, zero, zero}, u_n = zero;  // as the shape turns
    if (!is_centered) {
      const Arm r = arm<is_B>(w, X);
      const Four r_x(r.x), r_y(r.y), r_z(r.z);
      u[0] = difference(r_z, R[1], r_y, R[2]);
      u[1] = difference(r_x, R[2], r_z, R[0]);
      u[2] = difference(r_y, R[0], r_x, R[1]);
      u_n = mul_add(n.z, u[2], sum<Four>(n.y, u[1], n.x, u[0]));
      if (H.row[0].x != 0 || H.row[1].y != 0) {
        // Add H w. n lies along the half-space's z axis, and its x and y axes are t0 and n x t0.
        constexpr double sign = is_B ? 1 : -1;
        const Vec3d* const R_WH = X_WH.R.row;
        const auto along = [&](double x, double y, double z) __attribute__((always_inline)) {
          return mul_add(z, R[2], sum<Four>(y, R[1], x, R[0]));
        };
        const Four w0 = along(R_WH[0].y, R_WH[1].y, R_WH[2].y),
                   w1 = Four(-sign) * along(R_WH[0].x, R_WH[1].x, R_WH[2].x);
        const Four m0 = sum<Four>(H.row[0].x, w0, H.row[0].y, w1),
                   m1 = Four(sign) * sum<Four>(H.row[1].x, w0, H.row[1].y, w1);
        for (int i = 0; i < 3; ++i) u[i] = mul_add(R_WH[i].x, m0, mul_add(R_WH[i].y, m1, u[i]));
      }
    }
    write(out, J::distance, is_B ? at_n : -at_n, is_B ? u_n : -u_n);
    for (int i = 0; i < 3; ++i) {
      write(out, J::normal + i, zero, zero);
      write(out, own<is_B> + i, R[i], u[i]);
      write(out, other<is_B> + i, nmul_add(entry(n, i), at_n, R[i]),
            nmul_add(entry(n, i), u_n, u[i]));
    }
  }

  // Columns of the sphere with center c. Both points are c minus n times their distance from c,
  // where n points towards c; for A it is -n. As c moves by u beside the other shape, dn = P u.
  template <bool is_B>
  static ROBOSIM_INLINE void sphere(const Witness& w, const Vec3d& t0, const Vec3d& t1, double P00,
                                    double P01, double P11, double radius, const SE3d& X,
                                    double* out) {
    constexpr double s = is_B ? 1 : -1;
    const Vec3d& n = w.normal;
    const Axes axes(X);
    const Four at_0 = Four(s) * axes.along(t0), at_1 = Four(s) * axes.along(t1),
               at_n = axes.along(n), zero(0.0);
    const Four n0 = sum<Four>(P00, at_0, P01, at_1), n1 = sum<Four>(P01, at_0, P11, at_1),
               to_own(s * radius), to_other(s * (w.distance + radius));
    write(out, J::distance, is_B ? at_n : -at_n, zero);
    for (int i = 0; i < 3; ++i) {
      const Four dn = sum<Four>(entry(t0, i), n0, entry(t1, i), n1);
      write(out, J::normal + i, dn, zero);
      write(out, own<is_B> + i, nmul_add(to_own, dn, axes.row[i]), zero);
      write(out, other<is_B> + i, nmul_add(to_other, dn, nmul_add(entry(n, i), at_n, axes.row[i])),
            zero);
    }
  }

  // Columns of the shape beside the sphere: as if c moved by -u and then everything moved with this
  // shape, which turns n by w. With s = -1 for A, the sphere is on the side of n.
  template <bool is_B>
  static ROBOSIM_INLINE void beside_it(const Witness& w, const Vec3d& t0, const Vec3d& t1,
                                       double P00, double P01, double P11, double radius,
                                       const SE3d& X_WS, const SE3d& X, double* out) {
    constexpr double s = is_B ? 1 : -1;
    const Vec3d& n = w.normal;
    const Arm c(X_WS.p, X.p);
    const double c_0 = c.along(t0), c_1 = c.along(t1), c_n = c.along(n);
    const Axes axes(X);
    const Four at_0 = axes.along(t0), at_1 = axes.along(t1), at_n = axes.along(n);
    P00 *= s;
    P01 *= s;
    P11 *= s;
    // s P u + w along t0 and t1, where u = (c_n at_1 - c_1 at_n, c_0 at_n - c_n at_0) and w =
    // (at_1, -at_0) as the shape turns.
    const Eight n0(sum<Four>(P00, at_0, P01, at_1),
                   mul_add(1 + P00 * c_n, at_1,
                           difference<Four>(P01 * c_0 - P00 * c_1, at_n, P01 * c_n, at_0)));
    const Eight n1(sum<Four>(P01, at_0, P11, at_1),
                   mul_add(P01 * c_n, at_1,
                           difference<Four>(P11 * c_0 - P01 * c_1, at_n, 1 + P11 * c_n, at_0)));
    const Eight u_n(at_n, difference<Four>(c_1, at_0, c_0, at_1)),
        to_own(s * (w.distance + radius)), to_other(s * radius);
    write(out, J::distance, is_B ? u_n : -u_n);
    for (int i = 0; i < 3; ++i) {
      const Eight dn = sum<Eight>(entry(t0, i), n0, entry(t1, i), n1);
      write(out, J::normal + i, dn);
      write(out, own<is_B> + i, sum<Eight>(to_own, dn, entry(n, i), u_n));
      write(out, other<is_B> + i, to_other * dn);
    }
  }

  template <bool is_B>
  static ROBOSIM_INLINE void one_of_two_spheres(const Witness& w, double by_normal, double by_A,
                                                double by_B, const SE3d& X, double* out) {
    const Axes axes(X);
    const Four at_n = axes.along(w.normal), zero(0.0);
    write(out, J::distance, is_B ? at_n : -at_n, zero);
    for (int i = 0; i < 3; ++i) {
      const Four outward = Four(entry(w.normal, i)) * at_n, across = axes.row[i] - outward;
      write(out, J::normal + i, Four(by_normal) * across, zero);
      write(out, J::p_WA + i, is_B ? Four(by_A) * across : mul_add(by_A, across, outward), zero);
      write(out, J::p_WB + i, is_B ? mul_add(by_B, across, outward) : Four(by_B) * across, zero);
    }
  }
};

template <>
const JacobianKernels& jacobian_kernels<own_isa>() {
  static const CompiledJacobianKernels<own_isa> kernels;
  return kernels;
}

}  // namespace robosim::detail
