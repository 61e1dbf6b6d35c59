#include "step/contact_search.h"

#include <algorithm>
#include <limits>

#include "base/constants.h"
#include "base/index.h"
#include "dynamics/rnea_products.h"
#include "geometry/manifolds/turned_manifold.h"
#include "spatial/lie.h"
#include "step/constraints/normal_law.h"
#include "step/constraints/recovery.h"

namespace robosim {
namespace {

using PairManifold = SceneQuery::PairManifold;
using Twists = std::vector<Motion<double>>;  // per body

// Change of a displacement that needs no new query, relative to margin.
constexpr double slack_share = 0.5;
// Displacement by a rotation that needs no test of other faces, relative to margin.
constexpr double turning_share = 0.1;
constexpr double most_sizes = 1e3;         // of a body: larger displacements are not searched
constexpr double rounding_of_gaps = 1e-9;  // [m] by which a gap may be overrun

double largest_speed(const Motion<double>& V, const Vec3d& arm, double radius) {
  return norm(at_point(V, arm).linear) + radius * norm(V.angular);
}

// Largest displacement of any point of a body's objects, by a twist about the first body's origin.
double way_by(const StepData& step, int body, const Motion<double>& V) {
  const double radius = step.world->scene().body_ball(body).radius;
  if (body == 0 || radius < 0) return 0;
  return step.options.dt *
         largest_speed(V, step.query.body_center(body) - step.dynamics.X_WB[1].p, radius);
}

Motion<double> difference(const Motion<double>& a, const Motion<double>& b) {
  return {a.angular - b.angular, a.linear - b.linear};
}

// Largest displacement of any point of the smaller body's objects relative to the other body.
double way_between(const StepData& step, const Twists& V, int a, int b) {
  const auto radius = [&](int body) {
    return body == 0 ? std::numeric_limits<double>::infinity()
                     : step.world->scene().body_ball(body).radius;
  };
  const int smaller = radius(a) < radius(b) ? a : b;
  const double way = way_by(step, smaller, difference(V[b], V[a]));
  return way < most_sizes * radius(smaller) ? way : 0;
}

// Gap of a point at the end of the step.
double gap_left(const StepData& step, const Twists& V, const PairManifold& pair, int i) {
  const ManifoldPoint& p = pair.manifold.points[i];
  const Motion<double> rate = difference(V[step.object(pair.b).body], V[step.object(pair.a).body]);
  return p.gap + step.options.dt * dot(pair.manifold.normal(),
                                       at_point(rate, p.p_W - step.dynamics.X_WB[1].p).linear);
}

// True if rows of this pair look beyond the margin.
bool looks_ahead(const StepData& step, const PairManifold& pair) {
  const PairMaterial& material = step.world->material(pair.a, pair.b);
  return material.compliance == 0 && material.restitution == 0;
}

template <class Keeps>
void keep_points(Manifold& m, const Keeps& keeps) {
  int kept = 0;
  for (int i = 0; i < m.n_points; ++i) {
    if (!keeps(i)) continue;
    if (kept != i) m.points[kept] = m.points[i];
    ++kept;
  }
  m.n_points = kept;
  m.deepest = 0;
  for (int i = 1; i < kept; ++i)
    if (m.points[i].gap < m.points[m.deepest].gap) m.deepest = i;
}

bool has_faces(const Shape& shape) {
  return shape.type == ShapeType::box || shape.type == ShapeType::convex;
}

// Rotation of A relative to B in the step.
Vec3d turn_of(const StepData& step, const Twists& V, const PairManifold& pair) {
  const int a = step.object(pair.a).body, b = step.object(pair.b).body;
  return step.options.dt * (V[a].angular - V[b].angular);
}

bool turns(const StepData& step, const Twists& V, const PairManifold& pair) {
  const double size = std::min(step.object(pair.a).ball_radius, step.object(pair.b).ball_radius);
  const double turn = norm(turn_of(step, V, pair));
  return size * turn > turning_share * step.options.margin && turn < pi && looks_ahead(step, pair);
}

// Manifold of the faces that face each other at the end of the step. A box that tips over its edge
// lands on a face that has no points yet.
PairManifold faced_then(StepData& step, const Twists& V, const PairManifold& pair) {
  const SceneObject &A = step.object(pair.a), &B = step.object(pair.b);
  PairManifold turned(pair.a, pair.b, pair.piece_a, pair.piece_b, Manifold());
  const SE3d X = exp_motion(Motion<double>{turn_of(step, V, pair), Vec3d()});
  const Vec3d n = pair.manifold.normal(), facing[2] = {transpose_times(X.R, n), -(X.R * n)};
  const double reach = std::max(step.options.margin, way_between(step, V, A.body, B.body));
  A.geometry.body().with_piece(pair.piece_a, [&](const Compound::Piece& P) {
    B.geometry.body().with_piece(pair.piece_b, [&](const Compound::Piece& Q) {
      if (!has_faces(P.shape) && !has_faces(Q.shape)) return;
      if (P.shape.type == ShapeType::sphere || Q.shape.type == ShapeType::sphere) return;
      turned.manifold =
          turned_manifold(pair.manifold.witness, P.shape, step.query.X_WO(pair.a) * P.X_BP, Q.shape,
                          step.query.X_WO(pair.b) * Q.X_BP, reach, facing);
    });
  });
  // The witness point belongs to the faces at the start of the step.
  keep_points(turned.manifold, [&](int i) {
    return turned.manifold.points[i].anchor != ManifoldPoint::Anchor::witness;
  });
  return turned;
}

bool is_same_pair(const PairManifold& x, const PairManifold& y) {
  return x.a == y.a && x.b == y.b && x.piece_a == y.piece_a && x.piece_b == y.piece_b;
}

bool has_point(const Manifold& m, const ManifoldPoint& p) {
  return std::any_of(m.points, m.points + m.n_points, [&](const ManifoldPoint& x) {
    return x.anchor == p.anchor && x.feature[0] == p.feature[0] && x.feature[1] == p.feature[1];
  });
}

bool has_point(const std::vector<PairManifold>& manifolds, const PairManifold& of_pair,
               const ManifoldPoint& p) {
  return std::any_of(manifolds.begin(), manifolds.end(), [&](const auto& x) {
    return is_same_pair(x, of_pair) && has_point(x.manifold, p);
  });
}

}  // namespace

void ContactSearch::fill_reach(const StepData& step, const Twists& V) {
  reach_.resize(V.size());
  for (std::size_t i = 0; i < V.size(); ++i) {
    const int body = static_cast<int>(i);
    const double way = way_by(step, body, V[i]);
    reach_[i] = way < most_sizes * step.world->scene().body_ball(body).radius ? way : 0;
  }
}

void ContactSearch::find(StepData& step, const StepInput& in) {
  const double margin = step.options.margin, slack = slack_share * margin;
  V_start_.resize(step.model().n_bodies());
  detail::joint_velocities(step.model(), step.dynamics, in.v, V_start_);
  detail::joint_velocities(step.model(), step.dynamics, step.v_free.data(), step.V_free);
  step.query.place(in.q, step.dynamics.X_WB);
  left_out_.clear();
  if (step.times_impacts) {
    step.query.manifolds(std::max(margin, reach(step)), step.manifolds);
    leave_out_far(step);
    return ghosts_.leave_out(step, V_start_, step.manifolds, left_out_);
  }

  // Query with the twists of the free motion.
  V_looked_ = step.V_free;
  fill_reach(step, V_looked_);
  for (double& x : reach_) x += 0.5 * slack;
  step.query.manifolds(
      margin, reach_, [&](int a, int b) { return way_between(step, V_looked_, a, b) + slack; },
      step.manifolds);
  // Remove points beyond the margin that do not touch within the step.
  const auto is_far = [&](const PairManifold& pair, int i) {
    return pair.manifold.points[i].gap > margin;
  };
  for (PairManifold& pair : step.manifolds) {
    Manifold& m = pair.manifold;
    const bool looks = looks_ahead(step, pair);
    const auto keeps = [&](int i) {
      return !is_far(pair, i) ||
             (looks && gap_left(step, V_looked_, pair, i) <= touching_distance(margin));
    };
    bool all = true;
    for (int i = 0; i < m.n_points; ++i) all &= keeps(i);
    if (all) continue;
    if (looks) left_out_.push_back(pair);
    keep_points(m, keeps);
  }
  for (std::size_t k = 0, n = step.manifolds.size(); k < n; ++k) {
    if (!turns(step, V_looked_, step.manifolds[k])) continue;
    PairManifold turned = faced_then(step, V_looked_, step.manifolds[k]);
    keep_points(turned.manifold, [&](int i) {
      return gap_left(step, V_looked_, turned, i) <= touching_distance(margin) &&
             !has_point(step.manifolds, turned, turned.manifold.points[i]);
    });
    if (turned.manifold.n_points > 0) step.manifolds.push_back(turned);
  }
  std::erase_if(step.manifolds,
                [](const PairManifold& pair) { return pair.manifold.n_points == 0; });
  ghosts_.leave_out(step, V_start_, step.manifolds, left_out_);
}

// Add the points of a manifold that are overrun and have no rows.
bool ContactSearch::add(StepData& step, PairManifold pair) {
  if (!looks_ahead(step, pair)) return false;
  if (is_thrown_[step.object(pair.a).body] || is_thrown_[step.object(pair.b).body]) return false;
  keep_points(pair.manifold, [&](int i) {
    const ManifoldPoint& p = pair.manifold.points[i];
    return gap_left(step, V_way_, pair, i) < std::min(p.gap, 0.0) - rounding_of_gaps &&
           !has_point(step.manifolds, pair, p);
  });
  if (pair.manifold.n_points == 0) return false;
  const bool is_known = std::any_of(step.manifolds.begin(), step.manifolds.end(),
                                    [&](const PairManifold& x) { return is_same_pair(x, pair); });
  if (!is_known && ghosts_.is_ghost(step, V_way_, pair)) return false;
  step.manifolds.push_back(pair);
  return true;
}

bool ContactSearch::add_overrun(StepData& step) {
  if (step.times_impacts) return false;
  const std::size_t bodies = V_looked_.size();
  V_way_.resize(bodies);
  is_changed_.resize(bodies);
  is_thrown_.resize(bodies);
  detail::joint_velocities(step.model(), step.dynamics, step.way.data(), V_way_);
  const double margin = step.options.margin, slack = slack_share * margin;
  bool any_changed = false;
  for (std::size_t i = 0; i < bodies; ++i) {
    const int body = static_cast<int>(i);
    const double size = step.world->scene().body_ball(body).radius;
    is_changed_[i] = way_by(step, body, difference(V_way_[i], V_looked_[i])) > 0.5 * slack;
    is_thrown_[i] = is_changed_[i] && way_by(step, body, V_way_[i]) >
                                          std::max(size, way_by(step, body, step.V_free[i]));
    any_changed |= is_changed_[i] != 0;
    if (is_changed_[i]) V_looked_[i] = V_way_[i];
  }
  // Query again around bodies whose motion has changed.
  found_.clear();
  if (any_changed) {
    constexpr double never = -std::numeric_limits<double>::infinity();
    fill_reach(step, V_way_);
    const auto within = [&](int a, int b) {
      if (!is_changed_[a] && !is_changed_[b]) return never;
      const double way = way_between(step, V_way_, a, b);
      return way > margin ? way + slack : never;
    };
    step.query.manifolds(never, reach_, within, found_);
  }
  bool any = false;
  // Add the points that the motion overruns.
  const auto add_turned = [&](const PairManifold& pair) {
    if (turns(step, V_way_, pair)) any |= add(step, faced_then(step, V_way_, pair));
  };
  for (std::size_t k = 0, n = step.manifolds.size(); k < n; ++k) add_turned(step.manifolds[k]);
  for (const std::vector<PairManifold>* all : {&left_out_, &found_})
    for (const PairManifold& pair : *all) {
      any |= add(step, pair);
      add_turned(pair);
    }
  left_out_.insert(left_out_.end(), found_.begin(), found_.end());
  return any;
}

}  // namespace robosim
