// What contacts add to the gradient of a step (step_vjp.cpp): through the columns of their channels, and through their geometry.
//
// With the channels' columns J_c a covector F on a block's channels (a force on a body, held in the world) meets the velocities V of the
// bodies as F . V_b, and
//
//   d(F . V_b)/dq_c = F . (J_c x (V_b - V_p)) = J_c . ((V_b - V_p) x* F)      c of a joint on the way to body b, p the joint's parent
//
// Per joint these forces are summed, and what the shapes' own motion adds over all behind it; gather_turned puts both on the columns and, where it is
// asked for, on the joints' placement, which moves the same bodies.
#include <algorithm>

#include "base/index.h"
#include "dynamics/kinematics.h"
#include "dynamics/parameter_derivatives.h"
#include "step/contact_axes.h"
#include "step/step.h"

namespace robosim {
namespace {

// What covectors on a manifold's normal, gaps and points are on the vertices of one side's shape, the first of which has this row. The normal is that of
// its first point, which knows all vertices that turn it.
void add_vertices(const ManifoldDerivatives& rates, int side, int first_row, const Vec3d& n_bar, const double* gap_bar, const Vec3d* p_bar,
                  VertexGradient& to) {
  for (int i = 0; i < rates.n_points; ++i) {
    const ManifoldPointDerivatives& point = rates.points[i];
    for (int c = 0; c < point.n_corners[side]; ++c) {
      Vec3d bar;
      for (int k = 0; k < 3; ++k) {
        const ManifoldRate& r = point.corner[side][c][k];
        bar[k] = gap_bar[i] * r.distance + dot(p_bar[i], r.p_W) + (i == 0 ? dot(n_bar, r.normal) : 0);
      }
      to.add(first_row + point.vertex[side][c], bar);
    }
  }
}

}  // namespace

// A covector on the channels of a block, as a force about O on the one body, and its opposite on the other.
Force<double> Stepper::channel_force(const StepIsland& island, std::size_t b, const double* covector) const {
  const StepIsland::Block& block = island.blocks[b];
  const Vec3d linear = vec3_at(covector + block.linear());
  return {(block.turns ? block.size * vec3_at(covector) : Vec3d()) + cross(block.centre - data_.X_WB[1].p, linear), linear};
}

// V of the joints' rates; returns the body's angular velocity.
Vec3d Stepper::add_turned_twist(int body, const Force<double>& F, const double* rates) {
  const Model& m = world_->model();
  Motion<double> V;  // of the body against joint i's parent
  for (int i = body; i > 0; i = m.joints[at(i)].parent) {
    V = V + joint_motion(data_, m.joints[at(i)], rates + m.joints[at(i)].v_index);
    turned_[at(i)] += cross(V, F);
  }
  return V.angular;
}

// Of a covector on the channels of a block that meets the velocities of the joints' rates. Channels of joints do not turn. Those of a single point
// go where it goes: F . (v + omega x dp). Where there are angular ones rows tell what a point does beside the centre, which is held.
void Stepper::add_turned_channels(const StepIsland& island, std::size_t b, const double* covector, const double* rates) {
  const StepIsland::Block& block = island.blocks[b];
  if (!block.is_of_bodies()) return;
  if (std::all_of(covector, covector + block.width(), [](double x) { return x == 0; })) return;
  const Force<double> F = channel_force(island, b, covector);
  const Vec3d omega = add_turned_twist(block.b, F, rates) - add_turned_twist(block.a, Force<double>{-F.angular, -F.linear}, rates);
  if (!block.turns) centre_bar_[b] += cross(F.linear, omega);
}

// What a covector on the motion of a frame, a force and its moment about the origin of W, is on the frame's own twist [linear; angular] and on the
// body that carries it.
void Stepper::add_frame_motion(int body, const SE3d& X_WF, const Vec3d& linear, const Vec3d& about_W, double* pose_bar) {
  const Vec3d own_linear = transpose_times(X_WF.R, linear), own_angular = transpose_times(X_WF.R, about_W - cross(X_WF.p, linear));
  for (int k = 0; k < 3; ++k) pose_bar[k] += own_linear[k], pose_bar[3 + k] += own_angular[k];
  if (body > 0) carried_[at(body)] += Force<double>{about_W - cross(data_.X_WB[1].p, linear), linear};
}

// What a covector on the twist of an object's piece, [linear; angular] in its own frame, is on the object and on what carries it.
void Stepper::add_shape_motion(int object, int piece, const double* twist_bar, StepGradient& gradient) {
  const SceneObject& o = world_->scene().object(object);
  const SE3d &X_WO = query_.X_WO(object), X = o.geometry.body().with_piece(piece, [&](const Compound::Piece& p) { return X_WO * p.X_BP; });
  const Vec3d linear = X.R * vec3_at(twist_bar), about_W = X.R * vec3_at(twist_bar + 3) + cross(X.p, linear);
  add_frame_motion(o.body, X_WO, linear, about_W, gradient.parameters.of("pose", object));
}

// Of the rows of one manifold.
void Stepper::add_contact_vjp(const StepIsland& island, std::size_t b, int first_row, int last_row, StepGradient& gradient) {
  const StepIsland::Block& block = island.blocks[b];
  const int manifold = island.rows[at(first_row)].manifold;
  const SceneQuery::PairManifold& pair = manifolds_[at(manifold)];
  const Manifold& m = pair.manifold;
  const SceneObject &A = world_->scene().object(pair.a), &B = world_->scene().object(pair.b);
  const int of_pair = world_->pair(pair.a, pair.b);

  // From the rows to the points, the normal and the axes.
  Vec3d p_bar[Manifold::max_points], n_bar;
  if (!block.turns) p_bar[0] = centre_bar_[b];
  double gap_bar[Manifold::max_points] = {};
  ContactAxes t_bar;
  const Vec3d n = m.normal();
  const ContactAxes axes = contact_axes(n);
  for (int i = first_row; i < last_row; ++i) {
    const RowSource source = island.rows[at(i)].source;
    const int point = island.rows[at(i)].point;
    const double* const d_bar = &island.gradient.d[at(i * most_block_channels)];
    const double mu_bar = island.gradient.mu[at(i)];
    const double* const on = island.rows[at(i)].on;
    Vec3d axis_bar;  // of friction or rolling
    gap_bar[point] += island.gap_bar[at(i)];
    const double lever = island.rows[at(i)].lever, gap = m.points[point].gap;
    const Vec3d arm = m.points[point].p_W + (lever * gap) * n - block.centre;
    const double scale = 1 / block.size;
    const auto along = [&](const Vec3d& u, Vec3d& u_bar) {
      u_bar += vec3_at(d_bar + block.linear());
      if (!block.turns) return;
      u_bar += scale * cross(vec3_at(d_bar), arm);
      const Vec3d arm_bar = scale * cross(u, vec3_at(d_bar));
      p_bar[point] += arm_bar;
      gap_bar[point] += lever * dot(n, arm_bar), n_bar += (lever * gap) * arm_bar;
    };
    const auto about = [&](Vec3d& u_bar) { u_bar += scale * vec3_at(d_bar); };
    switch (source) {
      case RowSource::normal: along(n, n_bar); break;
      case RowSource::friction_1:
      case RowSource::friction_2: along(on[0] * axes.t[0] + on[1] * axes.t[1], axis_bar), *gradient.parameters.of("friction", of_pair) += mu_bar; break;
      case RowSource::torsion: about(n_bar), *gradient.parameters.of("torsional_friction", of_pair) += mu_bar; break;
      default: about(axis_bar), *gradient.parameters.of("rolling_friction", of_pair) += mu_bar;
    }
    for (int k = 0; k < 2; ++k) t_bar.t[k] += on[k] * axis_bar;
  }
  n_bar += contact_axes_pulled_back(n, t_bar);

  // From these to the motions of both shapes.
  double twist_bar[12];
  const ManifoldDerivatives& rates = manifold_rates_[at(manifold)];
  const auto change = [&](const auto& rate_of) {
    double sum = dot(n_bar, rate_of(rates.points[0]).normal);
    for (int i = 0; i < m.n_points; ++i) {
      const ManifoldRate& r = rate_of(rates.points[i]);
      sum += gap_bar[i] * r.distance + dot(p_bar[i], r.p_W);
    }
    return sum;
  };
  for (int k = 0; k < 12; ++k) twist_bar[k] = change([k](const ManifoldPointDerivatives& p) -> const ManifoldRate& { return p.twist[k]; });
  for (const int side : {0, 1}) {
    const int object = side ? pair.b : pair.a;
    if (gradient.wants_vertices && rates.points[0].n_corners[side] > 0)
      if (const int row = world_->vertices().first(object, side ? pair.piece_b : pair.piece_a); row >= 0)
        add_vertices(rates, side, row, n_bar, gap_bar, p_bar, gradient.parameters.vertices);
    if ((side ? B : A).geometry.compound) continue;
    for (int k = 0; k < rates.n_sizes[side]; ++k)
      gradient.parameters.of("sizes", object)[k] += change([=](const ManifoldPointDerivatives& p) -> const ManifoldRate& { return p.size[side][k]; });
    *gradient.parameters.of("scale", object) += change([=](const ManifoldPointDerivatives& p) -> const ManifoldRate& { return p.scale[side]; });
  }
  add_shape_motion(pair.a, pair.piece_a, twist_bar, gradient);
  add_shape_motion(pair.b, pair.piece_b, twist_bar + 6, gradient);
}

void Stepper::gather_turned(double* q_bar, double* placement_bar) {
  const Model& m = world_->model();
  for (int i = m.n_bodies() - 1; i > 0; --i) {
    const Joint& joint = m.joints[at(i)];
    const Force<double> X = turned_[at(i)] + carried_[at(i)];
    if (joint.parent > 0) carried_[at(joint.parent)] += carried_[at(i)];
    for (int k = 0; k < joint.n_v; ++k) q_bar[joint.v_index + k] += dot(data_.J[at(joint.column + k)], X);
    if (!placement_bar) continue;
    double along[6];
    detail::along_placement(m, data_, i, X, along);
    for (int k = 0; k < 6; ++k) placement_bar[6 * (i - 1) + k] += along[k];
  }
}

// The sweeps of pgs see L itself, not only what is left of it at a solution. With G what they add beyond that,
//   sum G_ac dL_ac,   L = X M^^-1 X^T:   2 dX_a . p_a - Y_a . dM^ p_a,   p_a = sum_c G_ac Y_c,   Y = M^^-1 X^T
// for each channel a, the second in mass_vjp.cpp.
void Stepper::add_admittance_vjp(const StepIsland& island, StepGradient& gradient) {
  const RowProblem& problem = island.problem;
  const std::size_t n = virtual_.size(), k = at(problem.channels);
  const RowGradient& bar = island.gradient;
  beyond_.resize(k * k);
  bool any = false;
  for (std::size_t a = 0; a < k; ++a)
    for (std::size_t c = 0; c <= a; ++c) {
      const double G = 0.5 * (bar.L[a * k + c] + bar.L[c * k + a] - bar.y_free[a] * island.solution.z[c] - bar.y_free[c] * island.solution.z[a]);
      beyond_[a * k + c] = beyond_[c * k + a] = G;
      any |= G != 0;
    }
  if (!any) return;
  responses_.assign(n * k, 0.0);  // of each channel a in its column: p_a
  for (std::size_t r = 0; r < n; ++r)
    for (std::size_t c = 0; c < k; ++c) {
      const double Y = island.Y[r * k + c];
      if (Y == 0) continue;
      for (std::size_t a = 0; a < k; ++a) responses_[r * k + a] += Y * beyond_[c * k + a];
    }
  for (std::size_t b = 0; b < island.blocks.size(); ++b) {
    if (!island.blocks[b].is_of_bodies()) continue;
    for (int channel = 0; channel < problem.blocks[b].width; ++channel) {
      const std::size_t a = at(problem.blocks[b].first_channel + channel);
      for (std::size_t r = 0; r < n; ++r) pushed_[r] = responses_[r * k + a];
      double unit[most_block_channels] = {};
      unit[channel] = 2;
      add_turned_channels(island, b, unit, pushed_.data());
    }
  }
  // The sum over channels of Y_a . dM^ p_a is that over coordinates of unit vectors and  sum_a Y_a p_a^T: whichever are fewer.
  if (k <= n) return add_mass_vjp(island.Y.data(), responses_.data(), k, gradient);
  units_.assign(n * n, 0.0), by_coordinate_.assign(n * n, 0.0);
  for (std::size_t r = 0; r < n; ++r) {
    units_[r * n + r] = 1;
    for (std::size_t s = 0; s <= r; ++s) {  // it is symmetric
      double sum[2] = {};
      for (std::size_t a = 0; a < k; ++a) sum[a % 2] += island.Y[r * k + a] * responses_[s * k + a];
      by_coordinate_[s * n + r] = by_coordinate_[r * n + s] = sum[0] + sum[1];
    }
  }
  add_mass_vjp(units_.data(), by_coordinate_.data(), n, gradient);
}

}  // namespace robosim
