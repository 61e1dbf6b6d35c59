// Derivatives of the witness points of two shapes with respect to both poses, as one dense matrix:
// the expanded factors of contact_factors.h. Compiled for each instruction set, because writing 120
// numbers in pairs takes longer than computing most pairs of primitives.
#pragma once

#include "base/isa.h"
#include "geometry/contact_factors.h"

namespace robosim {

// Dense Jacobian of a witness. Columns: the twist of A, then of B, each [linear; angular] in the
// moving frame.
struct alignas(64) WitnessJacobian {
  static constexpr int n_rows = 10, stride = 16;
  // Rows: the distance, the components of the normal, of p_WA and of p_WB. Every third column is
  // followed by an unused number.
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

// Jacobian of a witness that signed_distance returned for these shapes and poses.
void witness_jacobian(const Witness& witness, const Shape& A, const SE3d& X_WA, const Shape& B,
                      const SE3d& X_WB, WitnessJacobian& out);
// Jacobian from factors that are known.
void witness_jacobian(const WitnessFactors& factors, const SE3d& X_WA, const SE3d& X_WB,
                      WitnessJacobian& out);

namespace detail {

// Kernels that are compiled for each instruction set. `is_centered`: rotations about the origin of
// its frame do not change the shape (spheres), so the columns of these rotations are zero.
class JacobianKernels {
 public:
  // Jacobian of finite factors.
  virtual void any(const WitnessFactors& factors, const SE3d& X_WA, const SE3d& X_WB,
                   double* out) const = 0;
  // Jacobian of a half-space (B or A), which n turns with, and another shape O. H is given over
  // t0 = x of the half-space's frame and t1 = n x t0.
  virtual void on_half_space(const Witness& witness, const tangent_plane::Mat2& H, bool is_B,
                             bool is_centered, const SE3d& X_WH, const SE3d& X_WO,
                             double* out) const = 0;
  // Jacobian of a sphere (B or A) and another shape O, with regular response. P is given over t0
  // and t1, and is symmetric.
  virtual void about_sphere(const Witness& witness, const Vec3d& t0, const Vec3d& t1, double P00,
                            double P01, double P11, double radius, bool is_B, const SE3d& X_WS,
                            const SE3d& X_WO, double* out) const = 0;
  // Jacobian of two spheres. The tangential part of a change of the vector between the centers is
  // multiplied by by_normal, by_A and by_B.
  virtual void spheres(const Witness& witness, double by_normal, double by_A, double by_B,
                       const SE3d& X_WA, const SE3d& X_WB, double* out) const = 0;

 protected:
  ~JacobianKernels() = default;
};

template <Isa isa>
const JacobianKernels& jacobian_kernels();

}  // namespace detail

}  // namespace robosim
