// Derivatives of the closest points of two shapes by both poses, as one dense matrix: the factors
// of contact_factors.h multiplied out. Compiled for each instruction set, as 120 numbers take
// longer to write by twos than most pairs of primitives take to compare.
#pragma once

#include "base/isa.h"
#include "geometry/contact_factors.h"

namespace robosim {

// By A's twist, then by B's, each [linear; angular] in the moving frame, so that the columns of
struct alignas(64) WitnessJacobian {
  static constexpr int n_rows = 10, stride = 16;
  // of the distance, of the normal's components, of p_WA's and p_WB's. Every third column is
  // followed by a number that means nothing.
  double row[n_rows][stride];
  bool one_sided;  // see WitnessFactors

  enum Row { distance = 0, normal = 1, p_WA = 4, p_WB = 7 };
  static constexpr int column(int k) { return k + k / 3; }  // of entry k of the twelve

  WitnessRate rate(int k) const {
    const int c = column(k);
    const auto vector = [&](int r) { return Vec3d(row[r][c], row[r + 1][c], row[r + 2][c]); };
    return {row[distance][c], vector(normal), vector(p_WA), vector(p_WB)};
  }
};

// Of a witness that signed_distance gave for these shapes and poses.
void witness_jacobian(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B,
                      const SE3d& X_WB, WitnessJacobian& out);
// Of factors that are known.
void witness_jacobian(const WitnessFactors& factors, const SE3d& X_WA, const SE3d& X_WB,
                      WitnessJacobian& out);

namespace detail {

// What is compiled for each instruction set. `centerd`: turns about the origin of its frame do not
// change the shape (spheres), so that their columns are zero.
class JacobianKernels {
 public:
  // Of finite factors.
  virtual void any(const WitnessFactors& factors, const SE3d& X_WA, const SE3d& X_WB,
                   double* out) const = 0;
  // Of a half-space, B or A, that n turns with, and another shape O. H over t0 = x of the
  // half-space's frame and t1 = n x t0.
  virtual void on_half_space(const Witness& witness, const tangent_plane::Mat2& H, bool is_B,
                             bool is_centerd, const SE3d& X_WH, const SE3d& X_WO,
                             double* out) const = 0;
  // Of a sphere, B or A, and another shape O whose radii are not singular with it. P over t0 and
  // t1, symmetric.
  virtual void about_sphere(const Witness& witness, const Vec3d& t0, const Vec3d& t1, double P00,
                            double P01, double P11, double radius, bool is_B, const SE3d& X_WS,
                            const SE3d& X_WO, double* out) const = 0;
  // Of two spheres, by what the tangential part of the distance of their centers is multiplied by.
  virtual void spheres(const Witness& witness, double by_normal, double by_A, double by_B,
                       const SE3d& X_WA, const SE3d& X_WB, double* out) const = 0;

 protected:
  ~JacobianKernels() = default;
};

template <Isa isa>
const JacobianKernels& jacobian_kernels();

}  // namespace detail

}  // namespace robosim
