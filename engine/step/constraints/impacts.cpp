#include "step/constraints/impacts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/index.h"
#include "base/linalg/small_sums.h"
#include "base/linalg/zeros.h"
#include "step/constraints/constraint_kinds.h"
#include "step/constraints/contact.h"
#include "step/constraints/recovery.h"
#include "step/one_motion.h"

namespace robosim {
namespace {

// Coupling of two rows below which they count as uncoupled, relative to their own admittances.
constexpr double rounding_of_coupling = 1e-12;
// Work of an impact below which it counts as zero, relative to the terms of its sum.
constexpr double rounding_of_work = 1e-12;

bool is_normal(const StepIsland& island, int i) {
  return is_of<Contact>(island.rows[i], Contact::normal);
}
// True if a row of an impact, or its point's normal, collides and is not merely held.
bool is_met(NormalLaw law) { return law == NormalLaw::impact || law == NormalLaw::landing; }

// Copy the rows for which takes(i) is true from one island to another, block by block.
template <class Takes>
void take_rows(const StepIsland& from, StepIsland& to, const Takes& takes) {
  to.problem.blocks = from.problem.blocks;
  to.rows.clear();
  to.problem.rows.clear();
  for (RowBlock& block : to.problem.blocks) {
    const int first = to.problem.size();
    int normal = -1;  // of the current point, as a row of `to`
    for (int i = block.first_row; i < block.last_row; ++i) {
      if (!takes(i)) continue;
      if (is_normal(from, i)) normal = to.problem.size();
      to.rows.push_back(from.rows[i]);
      to.problem.rows.push_back(from.problem.rows[i]);
      if (to.problem.rows.back().kind == RowKind::friction) to.problem.rows.back().normal = normal;
    }
    block.first_row = first;
    block.last_row = to.problem.size();
  }
}

// Move the friction rows of a colliding point to where its two surfaces touch: onto the moving body
// if the other is the world, otherwise halfway. Before the step the manifold's plane lies on one of
// the two bodies, and a fast ball is some distance above it. A friction row without its other axis
// belongs to a point that can move along one direction only. It takes the direction of this motion
// at the new point.
void meet(const StepData& step, StepIsland& island, std::size_t b, int i) {
  StepIsland::Row& source = island.rows[i];
  if (!is_friction(source) || source.lever != 0) return;
  const StepIsland::Block& block = island.blocks[b];
  const RowBlock& rows = island.problem.blocks[b];
  const Manifold& m = step.manifolds[source.manifold].manifold;
  // Shift of the point along the normal, per gap.
  const double met = block.a == 0   ? 1
                     : block.b == 0 ? 0
                                    : 0.5,
               plane = m.reference < 0 ? 0.5 : m.reference;
  source.lever = met - plane;
  ConstraintRow& row = island.problem.rows[i];
  const Vec3d n = m.normal(),
              arm = (1 / block.size) *
                    (m.points[source.point].p_W + (source.lever * m.points[source.point].gap) * n -
                     block.center);
  const auto look_along = [&](const Vec3d& u, ConstraintRow& to) {
    const Vec3d turning = cross(arm, u);
    for (int k = 0; k < 3; ++k) {
      to.d[k] = turning[k];
      to.d[3 + k] = u[k];
    }
  };
  const Vec3d u{row.d[3], row.d[4], row.d[5]};
  look_along(u, row);
  // A single axis: direct it along the only possible motion.
  const auto is_other_axis = [&](int other) {
    if (other < rows.first_row || other >= rows.last_row) return false;
    const StepIsland::Row& x = island.rows[other];
    return x.manifold == source.manifold && x.point == source.point && is_friction(x);
  };
  if (is_other_axis(i - 1) || is_other_axis(i + 1)) return;
  ConstraintRow across;
  look_along(cross(n, u), across);
  const std::optional<OneMotion> motion = one_motion(island.problem, b, row, across);
  if (!motion) return;
  for (int k = 0; k < rows.width; ++k) row.d[k] = motion->x * row.d[k] + motion->y * across.d[k];
  const double along[2] = {source.on[0], source.on[1]};  // across it: (-along[1], along[0])
  source.on[0] = motion->x * along[0] - motion->y * along[1];
  source.on[1] = motion->x * along[1] + motion->y * along[0];
}

// Gap and closing speed of a contact at the current s, and the s at which it touches.
struct Approach {
  double gap = 0;      // [m] at the current s
  double closing = 0;  // [m/s] as the integrator has it
  double share = 0;    // share of the step after which it touches
  // Touches at a time of its own, not at the current s; approaches faster than the threshold.
  bool is_timed = false, is_fast = false;
};
Approach approach_of(const StepData& step, const Impacts& impacts, std::size_t b, int i) {
  const RowBlock& block = impacts.all.problem.blocks[b];
  const ConstraintRow& row = impacts.all.problem.rows[i];
  const StepIsland::Row& source = impacts.all.rows[i];
  const auto along = [&](const std::vector<double>& channels) {
    return dot(row.d, &channels[block.first_channel], block.width);
  };
  const double dt = step.options.dt, w = along(impacts.y);
  Approach a;
  a.closing = -w;
  a.gap = step.manifolds[source.manifold].manifold.points[source.point].gap +
          dt * (impacts.share * w - along(impacts.late));
  const double touches = touching_distance(step.options.margin), later = a.gap / (dt * a.closing);
  a.is_timed = impacts.n > 0 ? a.gap > touches : a.gap > -touches && later > -1;
  a.share = impacts.share + (a.is_timed ? later : 0);
  const double change = along(impacts.rested) - along(impacts.all.before);
  a.is_fast = a.closing + (0.5 - a.share) * change > step.options.restitution_threshold;
  return a;
}

double restitution_of(const StepData& step, const StepIsland::Row& source) {
  const SceneQuery::PairManifold& pair = step.manifolds[source.manifold];
  return step.world->material(pair.a, pair.b).restitution;
}

}  // namespace

void set_apart(StepIsland& island, Impacts& impacts) {
  impacts.n = 0;
  impacts.share = 0;
  impacts.all.rows.clear();
  const auto is_of_met = [&](const StepIsland::Row& row) {
    return is_of<Contact>(row) && is_met(row.law);
  };
  if (std::none_of(island.rows.begin(), island.rows.end(), is_of_met)) return;
  StepIsland& all = impacts.all;
  all.take_channels(island);
  all.problem.y_free = island.problem.y_free;
  take_rows(island, all, [](int) { return true; });
  take_rows(all, island, [&](int i) { return !is_of_met(all.rows[i]); });
  all.sizes.measure(all.problem);
  impacts.still = tied_velocity * all.sizes.still;
}

void begin_impacts(const StepIsland& island, Impacts& impacts) {
  impacts.y = impacts.rested = island.solution.y;
  make_zeros(impacts.late, impacts.y.size());
}

Impact* next_impact(const StepData& step, Impacts& impacts) {
  StepIsland& all = impacts.all;
  if (all.rows.empty() || impacts.n == most_impacts) return nullptr;
  const double dt = step.options.dt, touches = touching_distance(step.options.margin),
               still = impacts.still;
  const bool is_last = impacts.n + 1 == most_impacts;
  const auto for_each_normal = [&](const auto& use) {
    for (std::size_t b = 0; b < all.blocks.size(); ++b)
      for (int i = all.problem.blocks[b].first_row; i < all.problem.blocks[b].last_row; ++i)
        if (is_normal(all, i) && all.problem.rows[i].compliance == 0)
          use(b, i, approach_of(step, impacts, b, i));
  };

  // Time of the first fast contact, and whether a slow contact touches before the end of the step.
  double first = 1;
  bool any = false, any_slow = false;
  for_each_normal([&](std::size_t, int, const Approach& a) {
    if (!(a.closing > still) || !(a.share < 1)) return;
    if (a.is_fast) {
      first = std::min(first, a.share);
      any = true;
    } else
      any_slow = true;
  });
  if (!any && !any_slow) return nullptr;
  if (!any || is_last) first = impacts.share;

  // Mark the contacts that collide at that time and those that are held.
  if (impacts.each.size() == at(impacts.n)) impacts.each.emplace_back();
  Impact& met = impacts.each[impacts.n];
  double sum = 0;
  int count = 0;
  for (int i = 0; i < all.problem.size(); ++i)
    if (is_of<Contact>(all.rows[i])) all.rows[i].law = NormalLaw::rest;
  for_each_normal([&](std::size_t b, int i, const Approach& a) {
    const bool comes = a.closing > still, is_due = comes && a.share < 1,
               touches_then = a.gap - dt * a.closing * (first - impacts.share) <= touches;
    StepIsland::Row& source = all.rows[i];
    if (any && comes && a.is_fast && (touches_then || (is_last && is_due))) {
      source.law = NormalLaw::impact;
      source.impact = is_last ? first : a.share;
      source.is_timed = a.is_timed && !is_last;
      sum += source.impact;
      ++count;
      for (int r = i + 1; r < all.problem.blocks[b].last_row && !is_normal(all, r); ++r)
        meet(step, all, b, r);
    } else if (touches_then ? (comes || restitution_of(step, source) == 0 || !any || is_last)
                            : (is_due && (!any || is_last))) {
      source.law = NormalLaw::held;
      source.impact = 0;
      source.is_timed = false;
    }
  });
  // Rows of the impact: the marked contacts, limits and closures.
  ++impacts.n;
  met.share = count > 0 ? sum / count : first;
  met.take_channels(all);
  NormalLaw law = NormalLaw::rest;  // of the current point
  take_rows(all, met, [&](int i) {
    const ConstraintRow& row = all.problem.rows[i];
    if (!is_of<Contact>(all.rows[i]))
      return row.compliance == 0 &&
             (row.kind == RowKind::unilateral || row.kind == RowKind::equality);
    if (is_normal(all, i)) law = all.rows[i].law;
    all.rows[i].law = law;
    return law != NormalLaw::rest;
  });
  met.problem.y_free = impacts.y;
  met.problem.at_play = all.sizes.still;
  met.late = impacts.late;
  met.rested = impacts.rested;
  met.restored = 1;

  // Targets of contacts. The other rows have theirs already.
  for (const RowBlock& block : met.problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i) {
      StepIsland::Row& source = met.rows[i];
      if (!is_of<Contact>(source)) continue;
      ConstraintRow& row = met.problem.rows[i];
      if (source.role != Contact::normal) {
        source.law = met.rows[row.normal].law;
        source.impact = met.rows[row.normal].impact;
        continue;
      }
      row.target = 0;
      source.keeping = Keeping::none;
      if (source.law != NormalLaw::impact) continue;
      const auto along = [&](const std::vector<double>& channels) {
        return dot(row.d, &channels[block.first_channel], block.width);
      };
      const double restitution = restitution_of(step, source),
                   c = (0.5 - met.share) * (along(met.rested) - along(met.before));
      row.target = -restitution * (along(met.problem.y_free) - c) + c;
      if (!(restitution > 0 && row.target > 0)) {
        source.law = NormalLaw::landing;
        row.target = 0;
      }
    }
  return &met;
}

// Velocity of a row in the integrator's scheme minus its velocity at the impact: the part of the
// velocity change that forces cause between the two times.
double until_impact(const Impact& met, const RowBlock& block, int i) {
  double change = 0;
  for (int k = 0; k < block.width; ++k) {
    const std::size_t c = at(block.first_channel + k);
    change += met.problem.rows[i].d[k] * (met.rested[c] - met.before[c]);
  }
  return (0.5 - met.share) * change;
}

// Call use(block, row) for each normal that bounces, in an impact whose restitution may be limited.
template <class Use>
void for_each_bounce(const Impact& met, const Use& use) {
  for (const RowBlock& block : met.problem.blocks)
    for (int i = block.first_row; i < block.last_row; ++i)
      if (is_normal(met, i) && met.rows[i].law == NormalLaw::impact) use(block, i);
}

double gained(const Impact& met) {
  double work = 0, size = 0;
  for (std::size_t c = 0; c < met.rested.size(); ++c) {
    work += 0.5 * met.solution.z[c] * (met.problem.y_free[c] + met.solution.y[c]);
    size += std::abs(met.solution.z[c]) *
            (std::abs(met.problem.y_free[c]) + std::abs(met.solution.y[c]));
  }
  for_each_bounce(met, [&](const RowBlock& block, int i) {
    work -= met.solution.f[i] * until_impact(met, block, i);
  });
  return work > rounding_of_work * size ? work : 0;
}

StepIsland& divide(Impact& met) {
  met.parts.resize(2);
  for (StepIsland& part : met.parts) {
    part.take_channels(met);
    part.rows = met.rows;
    part.problem.rows = met.problem.rows;
    part.problem.blocks = met.problem.blocks;
    part.problem.y_free = met.problem.y_free;
    part.problem.at_play = met.problem.at_play;
  }
  StepIsland &bounced = met.parts[0], &landed = met.parts[1];
  bounced.solution = met.solution;
  bounced.sizes = met.sizes;
  bounced.is_relaxed = met.is_relaxed;
  std::swap(bounced.solved, met.solved);
  std::swap(bounced.other_solved, met.other_solved);
  for (std::size_t i = 0; i < landed.rows.size(); ++i) {
    if (landed.rows[i].law != NormalLaw::impact) continue;
    landed.rows[i].law = NormalLaw::landing;
    if (landed.rows[i].role == Contact::normal) landed.problem.rows[i].target = 0;
  }
  return landed;
}

// W(r) is a + b r + c r^2, where a is at most zero up to rounding. Find the root at which W becomes
// positive, and interpolate the impulses there.
void limit(Impact& met) {
  const RowSolution &bounced = met.parts[0].solution, &landed = met.parts[1].solution;
  double a = 0, b = 0, c = 0;
  for (std::size_t k = 0; k < met.rested.size(); ++k) {
    const double mean = 0.5 * (met.problem.y_free[k] + landed.y[k]), z = bounced.z[k] - landed.z[k],
                 y = bounced.y[k] - landed.y[k];
    a += landed.z[k] * mean;
    b += z * mean + 0.5 * landed.z[k] * y;
    c += 0.5 * z * y;
  }
  for_each_bounce(met, [&](const RowBlock& block, int i) {
    const double until = until_impact(met, block, i);
    b -= landed.f[i] * until;
    c -= (bounced.f[i] - landed.f[i]) * until;
  });
  const double root = std::sqrt(std::max(b * b - 4 * a * c, 0.0)),
               share = b > 0   ? -2 * a / (b + root)
                       : c > 0 ? (root - b) / (2 * c)
                               : 0;
  met.restored = std::clamp(share, 0.0, std::nextafter(1.0, 0.0));
  const auto mix = [&](const std::vector<double>& with, const std::vector<double>& without,
                       std::vector<double>& to) {
    for (std::size_t k = 0; k < to.size(); ++k)
      to[k] = met.restored * with[k] + (1 - met.restored) * without[k];
  };
  mix(bounced.f, landed.f, met.solution.f);
  mix(bounced.w, landed.w, met.solution.w);
  mix(bounced.z, landed.z, met.solution.z);
  mix(bounced.y, landed.y, met.solution.y);
}

void take_impact(const Impact& met, Impacts& impacts) {
  for (std::size_t c = 0; c < impacts.y.size(); ++c)
    impacts.late[c] += met.share * (met.solution.y[c] - impacts.y[c]);
  impacts.y = met.solution.y;
  impacts.share = met.share;
}

int coupled_bounces(const StepIsland& met) {
  const RowProblem& problem = met.problem;
  const auto is_hit = [&](int i) {
    return is_normal(met, i) && is_met(met.rows[i].law) && met.solution.f[i] > 0;
  };
  const auto product = [&](std::size_t a, int i, std::size_t b, int j) {
    return row_product(problem, a, problem.rows[i], b, problem.rows[j]);
  };
  const auto is_felt = [&](std::size_t a, int i) {
    for (std::size_t b = 0; b < problem.blocks.size(); ++b)
      for (int j = problem.blocks[b].first_row; j < problem.blocks[b].last_row; ++j)
        if (j != i && is_hit(j) &&
            std::abs(product(a, i, b, j)) >
                rounding_of_coupling * std::sqrt(product(a, i, a, i) * product(b, j, b, j)))
          return true;
    return false;
  };
  int count = 0;
  for (std::size_t a = 0; a < problem.blocks.size(); ++a)
    for (int i = problem.blocks[a].first_row; i < problem.blocks[a].last_row; ++i)
      count += met.rows[i].law == NormalLaw::impact && is_hit(i) && is_felt(a, i);
  return count;
}

double work_bar(const Impact& met, const std::vector<double>& impulse_bar) {
  if (!met.is_limited() || met.restored == 0) return 0;
  const RowSolution &bounced = met.parts[0].solution, &landed = met.parts[1].solution;
  double restored_bar = 0, slope = 0;  // dW/dr
  for (std::size_t c = 0; c < met.rested.size(); ++c) {
    const double z = bounced.z[c] - landed.z[c];
    restored_bar += impulse_bar[c] * z;
    slope += 0.5 * (z * (met.problem.y_free[c] + met.solution.y[c]) +
                    met.solution.z[c] * (bounced.y[c] - landed.y[c]));
  }
  for_each_bounce(met, [&](const RowBlock& block, int i) {
    slope -= (met.solution.f[i] + met.restored * (bounced.f[i] - landed.f[i])) *
             until_impact(met, block, i);
  });
  return slope > 0 ? -restored_bar / slope : 0;
}

void fill_work_rates(const Impact& met, std::vector<double>& rates) {
  make_zeros(rates, met.rows.size());
  for_each_bounce(met, [&](const RowBlock& block, int i) {
    rates[i] = -met.restored * until_impact(met, block, i);
  });
}

double add_impact_vjp(const StepData& step, Impact& impact, double share_bar, double work_bar,
                      StepGradient& gradient) {
  StepIsland& met = impact.is_limited() ? impact.parts[0] : impact;
  const RowProblem& problem = met.problem;
  const double dt = step.options.dt, part = 0.5 - impact.share;
  double& dt_bar = *gradient.parameters.of("dt");
  for (auto* x : {&impact.seen_bar, &impact.late_bar, &impact.rested_bar})
    make_zeros(*x, at(problem.channels));
  const auto for_each_met = [&](const auto& use) {
    for (const RowBlock& block : problem.blocks)
      for (int i = block.first_row; i < block.last_row; ++i)
        if (is_normal(met, i) && is_met(met.rows[i].law))
          use(at(block.first_channel), block.width, i);
  };

  // Work of the impact: gradients with respect to the velocity before it, and to the velocity
  // change that forces cause until it. Its impulses have the rest of the gradient (step_vjp.cpp).
  for (std::size_t c = 0; c < impact.rested.size(); ++c)
    impact.seen_bar[c] += 0.5 * work_bar * impact.solution.z[c];
  if (work_bar != 0)
    for_each_bounce(impact, [&](const RowBlock& block, int i) {
      const double bar = -work_bar * impact.restored * impact.solution.f[i];
      for (int k = 0; k < block.width; ++k) {
        const std::size_t c = at(block.first_channel + k);
        const double d = problem.rows[i].d[k], change = impact.rested[c] - met.before[c];
        met.gradient.d[i * most_block_channels + k] += bar * part * change;
        impact.rested_bar[c] += bar * part * d;
        met.before_bar[c] -= bar * part * d;
        share_bar -= bar * d * change;
      }
    });

  // Targets of normals that bounce.
  int count = 0;
  for_each_met([&](std::size_t first, int width, int i) {
    ++count;
    const ConstraintRow& row = problem.rows[i];
    const StepIsland::Row& source = met.rows[i];
    if (source.law != NormalLaw::impact || (met.is_relaxed && row.target == 0)) return;
    const SceneQuery::PairManifold& pair = step.manifolds[source.manifold];
    const double restitution = restitution_of(step, source), bar = met.gradient.target[i],
                 of_change = (1 + restitution) * part;
    double& restitution_bar =
        *gradient.parameters.of("restitution", step.world->pair(pair.a, pair.b));
    double* const d_bar = &met.gradient.d[i * most_block_channels];
    for (int k = 0; k < width; ++k) {
      const std::size_t c = first + at(k);
      const double y = problem.y_free[c], change = impact.rested[c] - met.before[c];
      restitution_bar += bar * row.d[k] * (part * change - y);
      share_bar -= bar * (1 + restitution) * row.d[k] * change;
      d_bar[k] += bar * (of_change * change - restitution * y);
      impact.seen_bar[c] -= bar * restitution * row.d[k];
      impact.rested_bar[c] += bar * of_change * row.d[k];
      met.before_bar[c] -= bar * of_change * row.d[k];
    }
  });
  if (count == 0) return share_bar;  // it happens at the time of the previous impact

  // Shares: s = (gap/dt - d . late) / -(d . y), or the share of the previous impact if the contact
  // touches already.
  double before_bar = 0;
  for_each_met([&](std::size_t first, int width, int i) {
    const StepIsland::Row& source = met.rows[i];
    const ConstraintRow& row = problem.rows[i];
    const double bar = share_bar / count;
    if (!source.is_timed) return void(before_bar += bar);
    double closing = 0;
    for (int k = 0; k < width; ++k) closing -= row.d[k] * problem.y_free[first + at(k)];
    const double rate = bar / closing,
                 gap = step.manifolds[source.manifold].manifold.points[source.point].gap;
    met.gap_bar[i] += rate / dt;
    dt_bar -= rate * gap / (dt * dt);
    double* const d_bar = &met.gradient.d[i * most_block_channels];
    for (int k = 0; k < width; ++k) {
      const std::size_t c = first + at(k);
      impact.late_bar[c] -= rate * row.d[k];
      impact.seen_bar[c] += rate * source.impact * row.d[k];
      d_bar[k] += rate * (source.impact * problem.y_free[c] - impact.late[c]);
    }
  });
  return before_bar;
}

}  // namespace robosim
