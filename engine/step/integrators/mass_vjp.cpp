#include "step/integrators/mass_vjp.h"

#include <algorithm>

#include "base/index.h"
#include "dynamics/kinematics.h"

namespace robosim {
namespace {

using Spatial = MassVjp::Spatial;

template <class T>  // Motion or Force
Spatial spatial(const T& x) {
  return {x.angular.x, x.angular.y, x.angular.z, x.linear.x, x.linear.y, x.linear.z};
}

// Sum of products, sum_a p_a w_a^T.
struct Products {
  double x[6][6] = {};

  void add(const Spatial* p, const Spatial* w, std::size_t count) {
    for (std::size_t i = 0; i < 6; i += 2) {  // two rows fit in registers
      double sum[2][6] = {};
      for (std::size_t a = 0; a < count; ++a)
        for (std::size_t j = 0; j < 6; ++j) {
          sum[0][j] += p[a][i] * w[a][j];
          sum[1][j] += p[a][i + 1] * w[a][j];
        }
      for (std::size_t j = 0; j < 6; ++j) {
        x[i][j] += sum[0][j];
        x[i + 1][j] += sum[1][j];
      }
    }
  }

  // sum_a p x w of the 3-vectors that begin at these rows and columns.
  Vec3d cross(int row, int column) const {
    const auto of = [&](int i, int j) { return x[row + i][column + j] - x[row + j][column + i]; };
    return {of(1, 2), of(2, 0), of(0, 1)};
  }
  Mat3d part(int row, int column) const {
    const auto of = [&](int i) {
      return Vec3d{x[row + i][column], x[row + i][column + 1], x[row + i][column + 2]};
    };
    return {of(0), of(1), of(2)};
  }
};

// Motions of the bodies for `count` columns of joint velocities. The columns of a body are
// contiguous.
void joint_motions(const Model& m, const Data<double>& data, const double* rates, std::size_t count,
                   std::vector<Spatial>& V) {
  V.resize(at(m.n_bodies()) * count);
  std::fill_n(V.begin(), count, Spatial());
  for (int i = 1; i < m.n_bodies(); ++i) {
    const Joint& joint = m.joints[i];
    Spatial* const own = &V[at(i) * count];
    std::copy_n(&V[at(joint.parent) * count], count, own);
    for (int k = 0; k < joint.n_v; ++k) {
      const Spatial J = spatial(data.J[joint.column + k]);
      const double* const rate = rates + at(joint.v_index + k) * count;
      for (std::size_t a = 0; a < count; ++a)
        for (std::size_t j = 0; j < 6; ++j) own[a][j] += rate[a] * J[j];
    }
  }
}

Spatial times(const CompositeInertia<double>& I, const Spatial& V) {
  return spatial(I * Motion<double>{{V[0], V[1], V[2]}, {V[3], V[4], V[5]}});
}

}  // namespace

void MassVjp::add(const StepData& step, const double* x, const double* y, std::size_t count,
                  MotionAdjoint& bodies, StepGradient& gradient) {
  const Model& m = step.model();
  double *const mass_bar = gradient.parameters.of("mass"),
                *const com_bar = gradient.parameters.of("com"),
                *const moments_bar = gradient.parameters.of("inertia");
  // Diagonal of M^, and motions and forces of all bodies for both factors.
  for (std::size_t r = 0; r < at(m.n_v); ++r)
    for (std::size_t a = 0; a < count; ++a) inertia_bar[r] -= x[r * count + a] * y[r * count + a];
  joint_motions(m, step.dynamics, x, count, V_virtual_);
  joint_motions(m, step.dynamics, y, count, V_pushed_);
  for (auto* forces : {&subtree_force_, &subtree_bar_}) forces->resize(V_virtual_.size());
  for (int i = 1; i < m.n_bodies(); ++i) {
    const std::size_t first = at(i) * count;
    for (std::size_t a = first; a < first + count; ++a) {
      subtree_force_[a] = times(step.dynamics.I[i], V_pushed_[a]);
      subtree_bar_[a] = times(step.dynamics.I[i], V_virtual_[a]);
    }
    // Gradients with respect to mass, center of mass and moments of the body.
    Products C;
    C.add(&V_pushed_[first], &V_virtual_[first], count);
    const Inertia& body = m.inertias[i];
    const Mat3d& R = step.dynamics.X_WB[i].R;
    const Vec3d c = R * body.com + step.dynamics.p_OB[i];
    // At the center of mass c: V_lin + V_ang x c.
    const Mat3d shift = skew(c), angular = C.part(0, 0);
    const Mat3d linear_by_angular = C.part(3, 0) - shift * angular,
                angular_by_linear = C.part(0, 3) + angular * shift;
    const Mat3d linear = C.part(3, 3) - shift * C.part(0, 3) + linear_by_angular * shift;
    mass_bar[i - 1] -= linear(0, 0) + linear(1, 1) + linear(2, 2);
    const auto crossed = [](const Mat3d& A) {
      return Vec3d{A(1, 2) - A(2, 1), A(2, 0) - A(0, 2), A(0, 1) - A(1, 0)};
    };
    const Vec3d moment =
        transpose_times(R, crossed(linear_by_angular) - crossed(angular_by_linear));
    for (int k = 0; k < 3; ++k) com_bar[3 * (i - 1) + k] -= body.mass * moment[k];
    const Mat3d turned = transpose(R) * angular * R;
    constexpr int entries[6][2] = {{0, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}, {2, 2}};
    for (int k = 0; k < 6; ++k) {
      const auto [r, s] = entries[k];
      moments_bar[6 * (i - 1) + k] -= r == s ? turned(r, r) : turned(r, s) + turned(s, r);
    }
  }
  // From the leaves to the root: rotation with joint i, and forces of the subtree.
  for (int i = m.n_bodies() - 1; i > 0; --i) {
    const int p = m.joints[i].parent;
    if (p == 0) continue;
    const Spatial *const F = &subtree_force_[at(i) * count], *const G =
                                                                 &subtree_bar_[at(i) * count];
    Products both;
    both.add(&V_pushed_[at(p) * count], G, count);
    both.add(&V_virtual_[at(p) * count], F, count);
    bodies.turned[i] += Force<double>{both.cross(0, 0) + both.cross(3, 3), both.cross(0, 3)};
    Spatial *const F_p = &subtree_force_[at(p) * count], *const G_p = &subtree_bar_[at(p) * count];
    for (std::size_t a = 0; a < count; ++a)
      for (std::size_t j = 0; j < 6; ++j) {
        F_p[a][j] += F[a][j];
        G_p[a][j] += G[a][j];
      }
  }
}

}  // namespace robosim
