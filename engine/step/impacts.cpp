// When and how what approaches is met: the laws of the normals, impacts within a step (step.h), and what both add to its gradient.
//
// An impact at the share s of a step has its impulses act from there on, so that the way is  v+ - M^^-1 X^T z_late,  z_late = sum_i s_i d_i f_i,
// and s and the target see the velocities without rows, y_free. Adjoints go from the way and the targets back to the rows' impulses f_i, to s_i,
// and from these to gaps, coefficients, y_free and the velocities before the step; then through X and M as for all rows (step_vjp.cpp).
#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "step/step.h"

namespace robosim {
namespace {

// Of what two rows are by themselves: what they may seem to feel of each other.
constexpr double rounding_of_coupling = 1e-12;

double along(const ConstraintRow& row, const double* channels, int width) {
  double sum = 0;
  for (int c = 0; c < width; ++c) sum += row.d[c] * channels[c];
  return sum;
}

}  // namespace

// What a point along whose normal things are apart by `gap` and approach at the speed `approach`, without rows at `closing` in the end, asks for.
NormalLaw Stepper::law_of(double gap, double approach, double closing, const PairMaterial& material) const {
  if (material.compliance > 0) return NormalLaw::soft;
  const double restitution = material.restitution;
  const bool is_fast = approach > options_.restitution_threshold, meets = gap <= 0 || gap < options_.dt * closing;
  const bool in_time = options_.bounce == Bounce::time_of_impact;
  if (is_fast && !meets && (in_time || restitution > 0)) return NormalLaw::ahead;
  if (in_time && gap > 0) {
    if (is_fast) return NormalLaw::impact;
    if (gap > options_.margin) return NormalLaw::ahead;
  }
  const double back = restitution * approach;
  return is_fast && back > 0 && back > -options_.erp / options_.dt * gap ? NormalLaw::bounce : NormalLaw::rest;
}

// Friction of a point that is met within the step acts where the two meet: on what moves, if the other is of the world, else half way. The
// manifold's plane is on the one or the other before the step, a ball that comes fast a way above it.
void Stepper::meet(StepIsland& island, std::size_t b, int i) const {
  StepIsland::Row& source = island.rows[at(i)];
  if (source.source != RowSource::friction_1 && source.source != RowSource::friction_2) return;
  const StepIsland::Block& block = island.blocks[b];
  const Manifold& m = manifolds_[at(source.manifold)].manifold;
  const double met = block.a == 0 ? 1 : block.b == 0 ? 0 : 0.5, plane = m.reference < 0 ? 0.5 : m.reference;
  source.lever = met - plane;
  ConstraintRow& row = island.problem.rows[at(i)];
  const Vec3d u{row.d[3], row.d[4], row.d[5]}, more = (source.lever * m.points[source.point].gap / block.size) * cross(m.normal(), u);
  for (int k = 0; k < 3; ++k) row.d[k] += more[k];
}

void Stepper::fill_normal(StepIsland& island, std::size_t b, int i) {
  ConstraintRow& row = island.problem.rows[at(i)];
  StepIsland::Row& source = island.rows[at(i)];
  const SceneQuery::PairManifold& pair = manifolds_[at(source.manifold)];
  const std::size_t first = at(island.problem.blocks[b].first_channel);
  const PairMaterial& material = world_->material(pair.a, pair.b);
  const double dt = options_.dt, restitution = material.restitution, gap = pair.manifold.points[source.point].gap;
  const int width = island.problem.blocks[b].width;
  const double before = along(row, &island.before[first], width), free = along(row, &island.problem.y_free[first], width);
  source.law = law_of(gap, -before, -free, material), source.impact = 0;
  switch (source.law) {
    case NormalLaw::rest:
      row.target = -options_.erp / dt * gap;
      break;
    case NormalLaw::bounce:
      row.target = -restitution * before;
      break;
    case NormalLaw::impact:
    case NormalLaw::landing:
      source.impact = gap / (-dt * free);
      row.target = -restitution * free + (1 + restitution) * (0.5 - source.impact) * (free - before);
      if (!(restitution > 0 && row.target > 0)) source.law = NormalLaw::landing, row.target = 0;
      island.has_impacts = true;
      break;
    case NormalLaw::ahead:
      row.target = -gap / dt;
      break;
    case NormalLaw::soft:
      row.target = -gap / time_to_give(material);
      row.compliance = material.compliance / (dt * time_to_give(material));
  }
}

// How far apart two things may be and yet meet within the step.
double Stepper::reach() const {
  const Model& m = world_->model();
  double fastest = 0;
  for (int i = 1; i < m.n_bodies(); ++i) {
    const double radius = world_->scene().body_ball(i).radius;
    if (radius < 0) continue;
    const Motion<double>& V = V_free_[at(i)];
    fastest = std::max(fastest, norm(at_point(V, query_.body_centre(i) - data_.X_WB[1].p).linear) + radius * norm(V.angular));
  }
  return 2 * options_.dt * fastest;
}

// Whether two things are within the margin of each other, or will be within the step.
bool Stepper::is_met(const SceneQuery::PairManifold& pair) const {
  const Manifold& m = pair.manifold;
  const Motion<double>&V_a = V_free_[at(world_->scene().object(pair.a).body)], &V_b = V_free_[at(world_->scene().object(pair.b).body)];
  const Motion<double> V{V_b.angular - V_a.angular, V_b.linear - V_a.linear};
  for (int i = 0; i < m.n_points; ++i) {
    const double closing = -dot(m.normal(), at_point(V, m.points[i].p_W - data_.X_WB[1].p).linear);
    if (m.points[i].gap <= std::max(options_.margin, options_.dt * closing)) return true;
  }
  return false;
}

// What impulses that act later than at the start take from the way.
void Stepper::add_late_impulses(StepIsland& island) {
  if (!island.has_impacts) return;
  const std::size_t k = at(island.problem.channels);
  island.z_late.assign(k, 0.0);
  for (const RowBlock& block : island.problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i)
      for (int c = 0; c < block.width; ++c)
        island.z_late[at(block.first_channel + c)] += island.rows[at(i)].impact * island.solution.f[at(i)] * island.problem.rows[at(i)].d[c];
  for (std::size_t r = 0; r < way_.size(); ++r)
    for (std::size_t c = 0; c < k; ++c) way_[r] -= island.Y[r * k + c] * island.z_late[c];
}

// How many normals that bounce push while another pushes that feels them.
int Stepper::coupled_bounces(const StepIsland& island) {
  const RowProblem& problem = island.problem;
  const auto pushes = [&](int i) { return island.rows[at(i)].source == RowSource::normal && island.solution.f[at(i)] > 0; };
  const auto product = [&](const RowBlock& A, int i, const RowBlock& B, int j) {
    double sum = 0;
    for (int r = 0; r < A.width; ++r)
      for (int c = 0; c < B.width; ++c)
        sum += problem.rows[at(i)].d[r] * problem.L[at((A.first_channel + r) * problem.channels + B.first_channel + c)] * problem.rows[at(j)].d[c];
    return sum;
  };
  const auto is_felt = [&](const RowBlock& A, int i) {
    for (const RowBlock& B : problem.blocks)
      for (int j = B.first_row; j < B.last_row; ++j)
        if (j != i && pushes(j) && std::abs(product(A, i, B, j)) > rounding_of_coupling * std::sqrt(product(A, i, A, i) * product(B, j, B, j))) return true;
    return false;
  };
  int count = 0;
  for (const RowBlock& A : problem.blocks)
    for (int i = A.first_row; i < A.last_row; ++i) {
      const NormalLaw law = island.rows[at(i)].law;
      count += (law == NormalLaw::bounce || law == NormalLaw::impact) && pushes(i) && is_felt(A, i);
    }
  return count;
}

// Of impulses that act late, for the loss's way_bar_: f_bar_, and in the island what is of their rows and of when they act.
void Stepper::add_late_vjp(StepIsland& island) {
  const RowProblem& problem = island.problem;
  const std::size_t k = at(problem.channels);
  late_bar_.assign(k, 0.0);
  for (std::size_t r = 0; r < way_bar_.size(); ++r)
    for (std::size_t c = 0; c < k; ++c) late_bar_[c] -= island.Y[r * k + c] * way_bar_[r];
  for (const RowBlock& block : problem.blocks) {
    const double* const bar = &late_bar_[at(block.first_channel)];
    for (int i = block.first_row; i < block.last_row; ++i) {
      const StepIsland::Row& source = island.rows[at(i)];
      if (source.impact == 0) continue;
      const ConstraintRow& row = problem.rows[at(i)];
      const double f = island.solution.f[at(i)];
      double along = 0;
      for (int c = 0; c < block.width; ++c) {
        along += row.d[c] * bar[c];
        island.gradient.d[at(i * most_block_channels + c)] += source.impact * f * bar[c];
      }
      f_bar_[at(i)] = source.impact * along;
      island.share_bar[at(source.source == RowSource::normal ? i : row.normal)] += f * along;
    }
  }
}

// From a normal's target, and the time of its impact, to its gap, its coefficients and the velocities before and without rows.
void Stepper::add_normal_vjp(StepIsland& island, std::size_t b, int i, StepGradient& gradient) const {
  const SceneQuery::PairManifold& pair = manifolds_[at(island.rows[at(i)].manifold)];
  const PairMaterial& material = world_->material(pair.a, pair.b);
  const int of_pair = world_->pair(pair.a, pair.b);
  const double dt = options_.dt, restitution = material.restitution;
  double &restitution_bar = *gradient.parameters.of("restitution", of_pair), &dt_bar = *gradient.parameters.of("dt");
  const std::size_t first = at(island.problem.blocks[b].first_channel);
  const int width = island.problem.blocks[b].width;
  const ConstraintRow& row = island.problem.rows[at(i)];
  const StepIsland::Row& source = island.rows[at(i)];
  const double gap = pair.manifold.points[source.point].gap;
  const double target_bar = island.is_relaxed && row.target == 0 && row.compliance == 0 ? 0 : island.gradient.target[at(i)];
  double *const d_bar = &island.gradient.d[at(i * most_block_channels)], *const before_bar = &island.before_bar[first];
  double *const impact_bar = &island.impact_bar[first], &gap_bar = island.gap_bar[at(i)];
  const double *const before = &island.before[first], *const free = &island.problem.y_free[first];
  switch (source.law) {
    case NormalLaw::bounce:
      for (int c = 0; c < width; ++c) {
        restitution_bar -= target_bar * row.d[c] * before[c];
        d_bar[c] -= restitution * target_bar * before[c], before_bar[c] -= restitution * target_bar * row.d[c];
      }
      break;
    case NormalLaw::rest:
      gap_bar = -options_.erp / dt * target_bar;
      dt_bar += options_.erp / (dt * dt) * gap * target_bar;
      break;
    case NormalLaw::ahead:
      gap_bar = -target_bar / dt;
      dt_bar += gap / (dt * dt) * target_bar;
      break;
    case NormalLaw::soft: {
      const double time = time_to_give(material), give_bar = island.gradient.compliance[at(i)];
      const double by_time = (gap / time * target_bar - row.compliance * give_bar) / time;
      gap_bar = -target_bar / time;
      *gradient.parameters.of("compliance", of_pair) += give_bar / (dt * time), *gradient.parameters.of("relaxation_time", of_pair) += by_time;
      dt_bar += by_time - row.compliance / dt * give_bar;
      break;
    }
    case NormalLaw::landing:
    case NormalLaw::impact: {
      const double share = source.impact, law_bar = source.law == NormalLaw::impact ? target_bar : 0, part = 0.5 - share;
      double share_bar = island.share_bar[at(i)], closing = 0;
      for (int c = 0; c < width; ++c) {
        const double change = free[c] - before[c], of_change = (1 + restitution) * part;
        closing -= row.d[c] * free[c];
        restitution_bar += law_bar * row.d[c] * (part * change - free[c]);
        share_bar -= law_bar * (1 + restitution) * row.d[c] * change;
        d_bar[c] += law_bar * (of_change * change - restitution * free[c]);
        before_bar[c] -= law_bar * of_change * row.d[c];
        impact_bar[c] += law_bar * (of_change - restitution) * row.d[c];
      }
      // share = gap / (dt closing)
      gap_bar = share_bar / (dt * closing);
      dt_bar -= share_bar * share / dt;
      const double closing_bar = -share_bar * share / closing;
      for (int c = 0; c < width; ++c) d_bar[c] -= closing_bar * free[c], impact_bar[c] -= closing_bar * row.d[c];
    }
  }
}

// Impacts see the way, which late impulses take  M^^-1 X^T z_late  from, and the velocities without rows, y_free = X u - L z. For
// what the loss changes by with these, way_bar and i_bar,
//   -lambda_way . dX^T z_late + lambda_way . dM^ (Y z_late),   lambda_way = M^^-1 way_bar
//   -i_bar . dL z = -i_bar . dX (Y z) - (Y i_bar) . dX^T z + (Y i_bar) . dM^ (Y z)      (pgs: in its own adjoint of L)
void Stepper::add_impact_vjp(const StepIsland& island, StepGradient& gradient) {
  const std::size_t n = virtual_.size(), k = at(island.problem.channels);
  const auto respond = [&](const std::vector<double>& z, double scale, std::vector<double>& to) {
    for (std::size_t r = 0; r < n; ++r) {
      to[r] = 0;
      for (std::size_t c = 0; c < k; ++c) to[r] += scale * island.Y[r * k + c] * z[c];
    }
  };
  const auto turn = [&](const std::vector<double>& covector, double scale, const std::vector<double>& rates) {
    for (std::size_t b = 0; b < island.blocks.size(); ++b) {
      const RowBlock& block = island.problem.blocks[b];
      double scaled[most_block_channels] = {};
      for (int c = 0; c < block.width; ++c) scaled[c] = scale * covector[at(block.first_channel + c)];
      add_turned_channels(island, b, scaled, rates.data());
    }
  };
  virtual_ = lambda_way_;
  respond(island.z_late, -1, pushed_);
  add_mass_vjp(virtual_.data(), pushed_.data(), 1, gradient);
  turn(island.z_late, -1, virtual_);
  if (options_.solver == RowSolver::pgs) return;
  respond(island.impact_bar, 1, virtual_);
  respond(island.solution.z, -1, pushed_);
  add_mass_vjp(virtual_.data(), pushed_.data(), 1, gradient);
  turn(island.solution.z, -1, virtual_), turn(island.impact_bar, 1, pushed_);
}

}  // namespace robosim
