#include "step/constraints/normal_law.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "step/constraints/constraint_kinds.h"
#include "step/constraints/contact.h"
#include "step/constraints/recovery.h"

namespace robosim {
namespace {

double along(const ConstraintRow& row, const double* channels, int width) {
  double sum = 0;
  for (int c = 0; c < width; ++c) sum += row.d[c] * channels[c];
  return sum;
}

}  // namespace

NormalLaw law_of(const StepData& step, double gap, double approach, double closing,
                 const PairMaterial& material) {
  const StepOptions& options = step.options;
  if (material.compliance > 0) return NormalLaw::soft;
  const bool is_fast = approach > options.restitution_threshold;
  if (step.times_impacts)
    return is_fast ? NormalLaw::impact : gap > options.margin ? NormalLaw::ahead : NormalLaw::rest;
  if (gap > options.margin) return NormalLaw::ahead;
  if (!is_fast || material.restitution == 0) return NormalLaw::rest;
  if (gap > 0 && !(gap < options.dt * closing)) return NormalLaw::ahead;
  return material.restitution * approach > keep_apart(step, gap, options.margin).target
             ? NormalLaw::bounce
             : NormalLaw::rest;
}

void set_normal_target(const StepData& step, StepIsland& island, std::size_t b, int i) {
  ConstraintRow& row = island.problem.rows[i];
  StepIsland::Row& source = island.rows[i];
  const SceneQuery::PairManifold& pair = step.manifolds[source.manifold];
  const std::size_t first = at(island.problem.blocks[b].first_channel);
  const PairMaterial& material = step.world->material(pair.a, pair.b);
  const double dt = step.options.dt, gap = pair.manifold.points[source.point].gap;
  const int width = island.problem.blocks[b].width;
  const double before = along(row, &island.before[first], width),
               free = along(row, &island.problem.y_free[first], width);
  // Law of the normal. Position targets keep the law of the velocity, but have no bounces.
  if (step.takes_back)
    source.law = source.law == NormalLaw::bounce ? NormalLaw::rest : source.law;
  else {
    source.law = law_of(step, gap, -before, -free, material);
    source.impact = 0;
  }
  const Recovery kept = keep_apart(step, gap, step.options.margin);
  // Branch of the recovery law, then the target.
  source.keeping = source.law == NormalLaw::rest || source.law == NormalLaw::bounce ? kept.keeping
                                                                                    : Keeping::none;
  switch (source.law) {
    case NormalLaw::rest:
      row.target = kept.target;
      break;
    case NormalLaw::bounce:
      row.target = -material.restitution * before;
      break;
    case NormalLaw::ahead:
      row.target = -gap / dt;
      break;
    case NormalLaw::soft:
      row.target = -gap / time_to_give(step.options, material);
      row.compliance = material.compliance / (dt * time_to_give(step.options, material));
      break;
    case NormalLaw::impact:
    case NormalLaw::landing:
    case NormalLaw::held:
      break;  // impacts.h
  }
}

void follow_normal(StepIsland& island, int i) {
  island.rows[i].law = island.rows[island.problem.rows[i].normal].law;
}

// Twice the displacement of the fastest point, because both bodies may approach each other.
double reach(const StepData& step) {
  const Model& m = step.world->model();
  double fastest = 0;
  for (int i = 1; i < m.n_bodies(); ++i) {
    const double radius = step.world->scene().body_ball(i).radius;
    if (radius < 0) continue;
    const Motion<double>& V = step.V_free[i];
    fastest = std::max(
        fastest, norm(at_point(V, step.query.body_center(i) - step.dynamics.X_WB[1].p).linear) +
                     radius * norm(V.angular));
  }
  return 2 * step.options.dt * fastest;
}

void leave_out_far(StepData& step) {
  const auto closing = [&](const SceneQuery::PairManifold& pair, int i) {
    const Manifold& m = pair.manifold;
    const Motion<double>&V_a = step.V_free[step.object(pair.a).body],
          &V_b = step.V_free[step.object(pair.b).body];
    const Motion<double> V{V_b.angular - V_a.angular, V_b.linear - V_a.linear};
    return -dot(m.normal(), at_point(V, m.points[i].p_W - step.dynamics.X_WB[1].p).linear);
  };
  const auto any_point = [](const SceneQuery::PairManifold& pair, const auto& has) {
    for (int i = 0; i < pair.manifold.n_points; ++i)
      if (has(i, pair.manifold.points[i].gap)) return true;
    return false;
  };
  const double dt = step.options.dt, margin = step.options.margin,
               threshold = step.options.restitution_threshold;
  const auto is_fast = [&](const SceneQuery::PairManifold& pair) {
    return any_point(pair, [&](int i, double gap) {
      return closing(pair, i) > threshold && gap <= dt * closing(pair, i);
    });
  };
  if (std::any_of(step.manifolds.begin(), step.manifolds.end(), is_fast)) return;
  std::erase_if(step.manifolds, [&](const SceneQuery::PairManifold& pair) {
    return !any_point(
        pair, [&](int i, double gap) { return gap <= std::max(margin, dt * closing(pair, i)); });
  });
}

void fill_way(StepData& step) {
  step.way = step.has_corrections() ? step.u_corrected : step.u;
  for (int i = 0; i < step.n_islands; ++i)
    for (int n = 0; n < step.impacts[i].n; ++n) {
      const Impact& met = step.impacts[i].each[n];
      met.add_change(-met.share, step.way);
    }
}

// Add the gradient through a normal's target to its gap, its coefficients, the velocity before the
// step, and the parameters of its law.
void add_normal_vjp(const StepData& step, StepIsland& island, std::size_t b, int i,
                    StepGradient& gradient) {
  const SceneQuery::PairManifold& pair = step.manifolds[island.rows[i].manifold];
  const PairMaterial& material = step.world->material(pair.a, pair.b);
  const int of_pair = step.world->pair(pair.a, pair.b);
  const double dt = step.options.dt, restitution = material.restitution;
  double &restitution_bar = *gradient.parameters.of("restitution", of_pair),
         &dt_bar = *gradient.parameters.of("dt");
  const std::size_t first = at(island.problem.blocks[b].first_channel);
  const int width = island.problem.blocks[b].width;
  const ConstraintRow& row = island.problem.rows[i];
  const StepIsland::Row& source = island.rows[i];
  const double gap = pair.manifold.points[source.point].gap;
  const double target_bar =
      island.is_relaxed && row.target == 0 && row.compliance == 0 ? 0 : island.gradient.target[i];
  double *const d_bar = &island.gradient.d[i * most_block_channels],
                *const before_bar = &island.before_bar[first], &gap_bar = island.gap_bar[i];
  const double* const before = &island.before[first];
  switch (source.law) {
    case NormalLaw::bounce:
      for (int c = 0; c < width; ++c) {
        restitution_bar -= target_bar * row.d[c] * before[c];
        d_bar[c] -= restitution * target_bar * before[c];
        before_bar[c] -= restitution * target_bar * row.d[c];
      }
      break;
    case NormalLaw::rest: {
      const Recovery kept = keep_apart(step, gap, step.options.margin);
      gap_bar = kept.rate * target_bar;
      dt_bar += kept.by_dt * target_bar;
      break;
    }
    case NormalLaw::ahead:
      gap_bar = -target_bar / dt;
      dt_bar += gap / (dt * dt) * target_bar;
      break;
    case NormalLaw::soft: {
      const double time = time_to_give(step.options, material),
                   give_bar = island.gradient.compliance[i];
      const double by_time = (gap / time * target_bar - row.compliance * give_bar) / time;
      gap_bar = -target_bar / time;
      *gradient.parameters.of("compliance", of_pair) += give_bar / (dt * time);
      *gradient.parameters.of("relaxation_time", of_pair) += by_time;
      dt_bar += by_time - row.compliance / dt * give_bar;
      break;
    }
    case NormalLaw::impact:
    case NormalLaw::landing:
    case NormalLaw::held:
      break;  // impacts.h
  }
}

}  // namespace robosim
