#include "step/constraints/normal_law.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "step/constraints/constraint_kinds.h"
#include "step/constraints/contact.h"
#include "step/constraints/recovery.h"

namespace robosim {
namespace {

// Of what two rows are by themselves: what they may seem to feel of each other.
constexpr double rounding_of_coupling = 1e-12;

double along(const ConstraintRow& row, const double* channels, int width) {
  double sum = 0;
  for (int c = 0; c < width; ++c) sum += row.d[c] * channels[c];
  return sum;
}

// Friction of a point that is met within the step acts where the two meet: on what moves, if the other is of the world, else half way. The
// manifold's plane is on the one or the other before the step, a ball that comes fast a way above it.
void meet(const StepData& step, StepIsland& island, std::size_t b, int i) {
  StepIsland::Row& source = island.rows[at(i)];
  if (!is_friction(source) || source.lever != 0) return;  // a recovery's rows have it already
  const StepIsland::Block& block = island.blocks[b];
  const Manifold& m = step.manifolds[at(source.manifold)].manifold;
  const double met = block.a == 0 ? 1 : block.b == 0 ? 0 : 0.5, plane = m.reference < 0 ? 0.5 : m.reference;
  source.lever = met - plane;
  ConstraintRow& row = island.problem.rows[at(i)];
  const Vec3d u{row.d[3], row.d[4], row.d[5]}, more = (source.lever * m.points[source.point].gap / block.size) * cross(m.normal(), u);
  for (int k = 0; k < 3; ++k) row.d[k] += more[k];
}

}  // namespace

// What a point along whose normal things are apart by `gap` and approach at the speed `approach`, without rows at `closing` in the end, asks for.
NormalLaw law_of(const StepData& step, double gap, double approach, double closing, const PairMaterial& material) {
  const StepOptions& options = step.options;
  if (material.compliance > 0) return NormalLaw::soft;
  const double restitution = material.restitution;
  const bool is_fast = approach > options.restitution_threshold, meets = gap <= 0 || gap < options.dt * closing;
  const bool in_time = options.bounce == BounceId("time_of_impact");
  if (is_fast && !meets && (in_time || restitution > 0)) return NormalLaw::ahead;
  if (in_time && gap > 0) {
    if (is_fast) return NormalLaw::impact;
    if (gap > options.margin) return NormalLaw::ahead;
  }
  const double back = restitution * approach;
  return is_fast && back > 0 && back > keep_apart(step, gap, options.margin).target ? NormalLaw::bounce : NormalLaw::rest;
}

void set_normal_target(const StepData& step, StepIsland& island, std::size_t b, int i) {
  ConstraintRow& row = island.problem.rows[at(i)];
  StepIsland::Row& source = island.rows[at(i)];
  const SceneQuery::PairManifold& pair = step.manifolds[at(source.manifold)];
  const std::size_t first = at(island.problem.blocks[b].first_channel);
  const PairMaterial& material = step.world->material(pair.a, pair.b);
  const double dt = step.options.dt, restitution = material.restitution, gap = pair.manifold.points[source.point].gap;
  const int width = island.problem.blocks[b].width;
  const double before = along(row, &island.before[first], width), free = along(row, &island.problem.y_free[first], width);
  if (step.takes_back) source.law = source.law == NormalLaw::bounce ? NormalLaw::rest : source.law;
  else source.law = law_of(step, gap, -before, -free, material), source.impact = 0;
  const Recovery kept = keep_apart(step, gap, step.options.margin);
  source.keeping = source.law == NormalLaw::rest || source.law == NormalLaw::bounce ? kept.keeping : Keeping::none;
  switch (source.law) {
    case NormalLaw::rest:
      row.target = kept.target;
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
      row.target = -gap / time_to_give(step.options, material);
      row.compliance = material.compliance / (dt * time_to_give(step.options, material));
  }
}

void follow_normal(const StepData& step, StepIsland& island, std::size_t b, int i) {
  StepIsland::Row& own = island.rows[at(i)];
  const StepIsland::Row& normal = island.rows[at(island.problem.rows[at(i)].normal)];
  own.law = normal.law, own.impact = normal.impact;
  if (own.law == NormalLaw::impact || own.law == NormalLaw::landing) meet(step, island, b, i);
}

// How far apart two things may be and yet meet within the step.
double reach(const StepData& step) {
  const Model& m = step.world->model();
  double fastest = 0;
  for (int i = 1; i < m.n_bodies(); ++i) {
    const double radius = step.world->scene().body_ball(i).radius;
    if (radius < 0) continue;
    const Motion<double>& V = step.V_free[at(i)];
    fastest = std::max(fastest, norm(at_point(V, step.query.body_centre(i) - step.dynamics.X_WB[1].p).linear) + radius * norm(V.angular));
  }
  return 2 * step.options.dt * fastest;
}

// Whether two things are within the margin of each other, or will be within the step.
bool is_met(const StepData& step, const SceneQuery::PairManifold& pair) {
  const Manifold& m = pair.manifold;
  const Motion<double>&V_a = step.V_free[at(step.object(pair.a).body)], &V_b = step.V_free[at(step.object(pair.b).body)];
  const Motion<double> V{V_b.angular - V_a.angular, V_b.linear - V_a.linear};
  for (int i = 0; i < m.n_points; ++i) {
    const double closing = -dot(m.normal(), at_point(V, m.points[i].p_W - step.dynamics.X_WB[1].p).linear);
    if (m.points[i].gap <= std::max(step.options.margin, step.options.dt * closing)) return true;
  }
  return false;
}


void fill_way(StepData& step) {
  step.way = step.has_recovery() ? step.u_recovered : step.u;
  for (int i = 0; i < step.n_islands; ++i) {
    StepIsland& island = step.islands[at(i)];
    if (!island.has_impacts) continue;
    const std::size_t k = at(island.problem.channels);
    island.z_late.assign(k, 0.0);
    for (const RowBlock& block : island.problem.blocks)
      for (int r = block.first_row; r < block.last_row; ++r)
        for (int c = 0; c < block.width; ++c)
          island.z_late[at(block.first_channel + c)] += island.rows[at(r)].impact * island.solution.f[at(r)] * island.problem.rows[at(r)].d[c];
    for (std::size_t r = 0; r < step.way.size(); ++r)
      for (std::size_t c = 0; c < k; ++c) step.way[r] -= island.Y[r * k + c] * island.z_late[c];
  }
}

// How many normals that bounce push while another pushes that feels them.
int coupled_bounces(const StepIsland& island) {
  const RowProblem& problem = island.problem;
  const auto pushes = [&](int i) { return is_of<Contact>(island.rows[at(i)], Contact::normal) && island.solution.f[at(i)] > 0; };
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

// Of impulses that act late, for the loss's way_bar: f_bar, and in the island what is of their rows and of when they act.
void add_late_vjp(StepIsland& island, const std::vector<double>& way_bar, std::vector<double>& late_bar, std::vector<double>& f_bar) {
  const RowProblem& problem = island.problem;
  const std::size_t k = at(problem.channels);
  late_bar.assign(k, 0.0);
  for (std::size_t r = 0; r < way_bar.size(); ++r)
    for (std::size_t c = 0; c < k; ++c) late_bar[c] -= island.Y[r * k + c] * way_bar[r];
  for (const RowBlock& block : problem.blocks) {
    const double* const bar = &late_bar[at(block.first_channel)];
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
      f_bar[at(i)] = source.impact * along;
      island.share_bar[at(is_of<Contact>(source, Contact::normal) ? i : row.normal)] += f * along;
    }
  }
}

// From a normal's target, and the time of its impact, to its gap, its coefficients and the velocities before and without rows.
void add_normal_vjp(const StepData& step, StepIsland& island, std::size_t b, int i, StepGradient& gradient) {
  const SceneQuery::PairManifold& pair = step.manifolds[at(island.rows[at(i)].manifold)];
  const PairMaterial& material = step.world->material(pair.a, pair.b);
  const int of_pair = step.world->pair(pair.a, pair.b);
  const double dt = step.options.dt, restitution = material.restitution;
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
    case NormalLaw::rest: {
      const Recovery kept = keep_apart(step, gap, step.options.margin);
      gap_bar = kept.rate * target_bar, dt_bar += kept.by_dt * target_bar;
      break;
    }
    case NormalLaw::ahead:
      gap_bar = -target_bar / dt;
      dt_bar += gap / (dt * dt) * target_bar;
      break;
    case NormalLaw::soft: {
      const double time = time_to_give(step.options, material), give_bar = island.gradient.compliance[at(i)];
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

}  // namespace robosim
