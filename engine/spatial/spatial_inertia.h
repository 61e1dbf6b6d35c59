// Spatial inertias, 6x6 maps from motions to forces, in the forms that the recursions use.
//
//   Inertia             one rigid body (inertia.h), applied without forming the matrix
//   CompositeInertia    several bodies moving as one: mass, first moment h = m c, inertia about the
//                       origin
//   ArticulatedInertia  [ I   H ]  apparent inertia of a body with free joints behind it: any
//                       [ H^T M ]  symmetric 6x6 matrix
// Featherstone, "Rigid Body Dynamics Algorithms" (2008), sections 2.13, 6.2 and 7.1.
#pragma once

#include "spatial/inertia.h"
#include "spatial/motion.h"
#include "spatial/sym3.h"

namespace robosim {

// Momentum of a rigid body moving with V: f = m (v + w x c), n = I_com w + c x f.
template <class S>
ROBOSIM_INLINE Force<S> operator*(const Inertia& inertia, const Motion<S>& V) {
  const Vec3<S> c(inertia.com);
  const Vec3<S> f = S(inertia.mass) * cross_add(V.angular, c, V.linear);
  return {times_add(Mat3<S>(inertia.I_com), V.angular, cross(c, f)), f};
}

// 2 (a.b) 1 - a b^T - b a^T.
template <class S>
ROBOSIM_INLINE Sym3<S> symmetric_shift(const Vec3<S>& a, const Vec3<S>& b) {
  const S x = S(2) * a.x * b.x, y = S(2) * a.y * b.y, z = S(2) * a.z * b.z;
  return {y + z, -(a.x * b.y + a.y * b.x), -(a.x * b.z + a.z * b.x),
          x + z, -(a.y * b.z + a.z * b.y), x + y};
}

// I + m (c.c 1 - c c^T) for h = m c: inertia about the origin, from the inertia I about the center
// of mass c.
template <class S>
ROBOSIM_INLINE Sym3<S> moved_from_com(const Sym3<S>& I, const Vec3<S>& h, const Vec3<S>& c) {
  return {mul_add(h.y, c.y, mul_add(h.z, c.z, I.xx)),
          nmul_add(h.x, c.y, I.xy),
          nmul_add(h.x, c.z, I.xz),
          mul_add(h.x, c.x, mul_add(h.z, c.z, I.yy)),
          nmul_add(h.y, c.z, I.yz),
          mul_add(h.x, c.x, mul_add(h.y, c.y, I.zz))};
}

template <class S>
struct CompositeInertia {
  S mass{};
  Vec3<S> h;    // mass times center of mass [kg m]
  Sym3<S> I_o;  // about the frame's origin [kg m^2]

  CompositeInertia() = default;
  CompositeInertia(const S& mass_, const Vec3<S>& h_, const Sym3<S>& I_o_)
      : mass(mass_), h(h_), I_o(I_o_) {}
  template <class T>
  explicit CompositeInertia(const CompositeInertia<T>& o) : mass(S(o.mass)), h(o.h), I_o(o.I_o) {}
  explicit CompositeInertia(const Inertia& body)
      : mass(body.mass), h(S(body.mass) * Vec3<S>(body.com)) {
    I_o = moved_from_com(Sym3<S>(Mat3<S>(body.I_com)), h, Vec3<S>(body.com));
  }

  CompositeInertia& operator+=(const CompositeInertia& o) {
    mass += o.mass;
    h += o.h;
    I_o += o.I_o;
    return *this;
  }

  // Force of a unit motion along one component: angular 0 to 2, linear 3 to 5.
  ROBOSIM_INLINE Force<S> times_unit(int component) const {
    const S zero(0);
    switch (component) {
      case 0:
        return {I_o.row0(), {zero, -h.z, h.y}};
      case 1:
        return {I_o.row1(), {h.z, zero, -h.x}};
      case 2:
        return {I_o.row2(), {-h.y, h.x, zero}};
      case 3:
        return {{zero, h.z, -h.y}, {mass, zero, zero}};
      case 4:
        return {{-h.z, zero, h.x}, {zero, mass, zero}};
      default:
        return {{h.y, -h.x, zero}, {zero, zero, mass}};
    }
  }
};

// Transform from B to A: with r' = R r + p,  I_A = R I R^T + 2 (g.p) 1 - g p^T - p g^T  where g = R
// h + m p / 2.
template <class S>
ROBOSIM_INLINE CompositeInertia<S> operator*(const SE3<S>& X_AB,
                                             const CompositeInertia<S>& inertia) {
  const Vec3<S> Rh = X_AB.R * inertia.h, mp = inertia.mass * X_AB.p;
  Sym3<S> I_o = rotated(X_AB.R, inertia.I_o);
  I_o += symmetric_shift(Rh + S(0.5) * mp, X_AB.p);
  return {inertia.mass, Rh + mp, I_o};
}

template <class S>
ROBOSIM_INLINE Force<S> operator*(const CompositeInertia<S>& I, const Motion<S>& V) {
  return {cross_add(I.h, V.linear, I.I_o * V.angular),
          mul_add(I.mass, V.linear, cross(V.angular, I.h))};
}
template <class S>
ROBOSIM_INLINE Force<S> operator*(const CompositeInertia<S>& I, const AngularMotion<S>& V) {
  return {I.I_o * V.angular, cross(V.angular, I.h)};
}
template <class S>
ROBOSIM_INLINE Force<S> operator*(const CompositeInertia<S>& I, const LinearMotion<S>& V) {
  return {cross(I.h, V.linear), I.mass * V.linear};
}

template <class S>
struct ArticulatedInertia {
  Sym3<S> I;
  Mat3<S> H;
  Sym3<S> M;

  ArticulatedInertia() = default;
  explicit ArticulatedInertia(const Inertia& body) {
    const CompositeInertia<S> rigid(body);
    I = rigid.I_o;
    H = skew(rigid.h);
    M = {rigid.mass, S(0), S(0), rigid.mass, S(0), rigid.mass};
  }

  explicit ArticulatedInertia(const CompositeInertia<S>& rigid) : I(rigid.I_o), H(skew(rigid.h)) {
    M = {rigid.mass, S(0), S(0), rigid.mass, S(0), rigid.mass};
  }

  // Subtract the outer product U W^T. Call once for each column of U and W = U D^-1: only the sum
  // over the columns is symmetric.
  void subtract_outer(const Force<S>& U, const Force<S>& W) {
    subtract_upper_outer(U.angular, W.angular, I);
    subtract_upper_outer(U.linear, W.linear, M);
    H.row[0] = nmul_add(U.angular.x, W.linear, H.row[0]);
    H.row[1] = nmul_add(U.angular.y, W.linear, H.row[1]);
    H.row[2] = nmul_add(U.angular.z, W.linear, H.row[2]);
  }

  ArticulatedInertia& operator+=(const ArticulatedInertia& o) {
    I += o.I;
    H += o.H;
    M += o.M;
    return *this;
  }
};

template <class S>
ROBOSIM_INLINE Force<S> operator*(const ArticulatedInertia<S>& A, const Motion<S>& V) {
  return {A.I * V.angular + A.H * V.linear, transpose_times(A.H, V.angular) + A.M * V.linear};
}
template <class S>
ROBOSIM_INLINE Force<S> operator*(const ArticulatedInertia<S>& A, const AngularMotion<S>& V) {
  return {A.I * V.angular, transpose_times(A.H, V.angular)};
}
template <class S>
ROBOSIM_INLINE Force<S> operator*(const ArticulatedInertia<S>& A, const LinearMotion<S>& V) {
  return {A.H * V.linear, A.M * V.linear};
}

// Transform from B to A. First the axes are turned, then the origin is moved by p:
//   M_A = M,  H_A = H + [p] M,  I_A = I - H [p] + [p] H_A^T;  row i of H [p] is h_i x p.
template <class S>
ROBOSIM_INLINE ArticulatedInertia<S> operator*(const SE3<S>& X_AB,
                                               const ArticulatedInertia<S>& inertia) {
  const Mat3<S>& R = X_AB.R;
  const Vec3<S>& p = X_AB.p;
  ArticulatedInertia<S> out;
  out.M = rotated(R, inertia.M);
  const Mat3<S> HR = inertia.H * transpose(R);
  const Mat3<S> H = R * HR;
  const Vec3<S> m0 = cross(p, out.M.row0()), m1 = cross(p, out.M.row1()),
                m2 = cross(p, out.M.row2());
  out.H = {{H.row[0].x + m0.x, H.row[0].y + m1.x, H.row[0].z + m2.x},
           {H.row[1].x + m0.y, H.row[1].y + m1.y, H.row[1].z + m2.y},
           {H.row[2].x + m0.z, H.row[2].y + m1.z, H.row[2].z + m2.z}};
  const Vec3<S> a0 = cross(H.row[0], p), a1 = cross(H.row[1], p), a2 = cross(H.row[2], p);
  const Vec3<S> b0 = cross(out.H.row[0], p), b1 = cross(out.H.row[1], p),
                b2 = cross(out.H.row[2], p);
  out.I = rotated(R, inertia.I);
  out.I += Sym3<S>{-(a0.x + b0.x), -(a0.y + b1.x), -(a0.z + b2.x),
                   -(a1.y + b1.y), -(a1.z + b2.y), -(a2.z + b2.z)};
  return out;
}

}  // namespace robosim
