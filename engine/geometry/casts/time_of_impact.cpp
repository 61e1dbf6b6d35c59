#include "geometry/casts/time_of_impact.h"

#include <algorithm>
#include <cmath>

#include "geometry/contact_factors.h"
#include "spatial/lie.h"

namespace robosim {
namespace {

constexpr int max_rounds = 1024;

bool unbounded(const Shape& s) { return s.type == ShapeType::half_space; }

// Farthest point of the shape in direction n of W.
Vec3d farthest(const Shape& shape, const SE3d& X, const Vec3d& n) {
  return X * support(shape, transpose_times(X.R, n));
}

// Frame that carries the axis along which the separation is measured.
enum Carrier { world = -1, by_A = 0, by_B = 1 };

// Both shapes and bounds on their motion.
struct Pair {
  const Shape &A, &B;
  const Sweep &sweep_A, &sweep_B;
  double r_A, r_B;  // farthest point from the frame's origin

  Pair(const Shape& A_, const Sweep& a, const Shape& B_, const Sweep& b)
      : A(A_),
        B(B_),
        sweep_A(a),
        sweep_B(b),
        r_A(farthest_from(A_, Vec3d())),
        r_B(farthest_from(B_, Vec3d())) {}

  // The support of a half-space is finite only along its own normal, so the half-space carries the
  // axis.
  bool may_carry(Carrier carrier) const {
    if (unbounded(A)) return carrier == by_A;
    if (unbounded(B)) return carrier == by_B;
    return carrier == world ||
           squared_norm((carrier == by_A ? sweep_A : sweep_B).angular_velocity) > 0;
  }
  // The axis n after it is carried for `time`.
  Vec3d carried(Carrier carrier, const Vec3d& n, double time) const {
    if (carrier == world) return n;
    return exp_motion(Motion<double>{time * (carrier == by_A ? sweep_A : sweep_B).angular_velocity,
                                     Vec3d()})
               .R *
           n;
  }
  // Separation g along n at time t.
  double separation(const Vec3d& n, double t) const {
    const SE3d X_A = sweep_A.at(t), X_B = sweep_B.at(t);
    return dot(n, (unbounded(B) ? X_B.p : farthest(B, X_B, -n)) -
                      (unbounded(A) ? X_A.p : farthest(A, X_A, n)));
  }

  // Bounds mu and c of the head comment.
  struct Bounds {
    double mu, c;
  };
  Bounds bounds(Carrier carrier, const Vec3d& n, double t) const {
    const Vec3d &w_A = sweep_A.angular_velocity, &w_B = sweep_B.angular_velocity,
                v = sweep_B.velocity - sweep_A.velocity;
    if (carrier == world) {
      const double turn_A = norm(cross(n, w_A)) * r_A, turn_B = norm(cross(n, w_B)) * r_B;
      return {turn_A + turn_B - dot(n, v), turn_A * norm(w_A) + turn_B * norm(w_B)};
    }
    // y is a point of the other shape relative to the carrier's origin. The carrier's own points
    // keep their distance along n.
    const bool first = carrier == by_A;
    const Vec3d &w = first ? w_A : w_B, &w_other = first ? w_B : w_A;
    const double r = first ? (unbounded(B) ? 0 : r_B) : (unbounded(A) ? 0 : r_A),
                 turn = norm(cross(n, w));
    if (turn == 0) {
      const double own = norm(cross(n, w_other)) * r;
      return {own - dot(n, v), own * norm(w_other)};
    }
    const Vec3d y = (first ? 1.0 : -1.0) * (sweep_B.start.p - sweep_A.start.p),
                rate = (first ? 1.0 : -1.0) * v;
    const double reach = max_number(norm(y + t * rate), norm(y + rate)) + r,
                 speed = norm(v) + norm(w_other) * r;
    return {turn * reach + speed,
            norm(w) * turn * reach + 2 * turn * speed + squared_norm(w_other) * r};
  }
};

// First zero for l in [0, 1] of (1 - l) g0 + l g1 - c l (1 - l) / 2 with g0 > 0, or 1 if there is
// none.
double first_zero(double g0, double g1, double c) {
  const double a = 0.5 * c, b = g1 - g0 - a, square = b * b - 4 * a * g0;
  if (!(b < 0) || !(square >= 0)) return 1;
  return min_number(1.0, 2 * g0 / (-b + std::sqrt(square)));
}

// Duration from time t on for which the separation is certified to stay above `level`. g is the
// separation less `level` at t.
double free_step(const Pair& pair, Carrier carrier, const Vec3d& n, double t, double g,
                 double level) {
  const double left = 1 - t;
  const auto [mu, c] = pair.bounds(carrier, n, t);
  if (!(g < mu * left)) return left;  // (1)
  double free = g / mu;
  for (double h = 2 * free; free < left; h = 4 * free) {  // (2)
    h = min_number(h, left);
    const double end = pair.separation(pair.carried(carrier, n, h), t + h) - level;
    const double certified = h * first_zero(g, end, c * h * h);
    free = max_number(free, certified);
    if (!(certified >= h)) break;
  }
  return free;
}

// Repeat certified steps while the separation along the axis stays above half its first value, as
// for shapes that slide along each other.
double free_until(const Pair& pair, Carrier carrier, Vec3d n, double t, double g, double level) {
  constexpr int max_steps = 32;
  for (int step = 0; step < max_steps; ++step) {
    const double next = t + free_step(pair, carrier, n, t, g, level);
    if (next >= 1 || !(next > t)) return min_number(next, 1.0);
    n = pair.carried(carrier, n, next - t);
    t = next;
    const double left = pair.separation(n, t) - level;
    if (!(left > 0.5 * g)) break;
    g = left;
  }
  return t;
}

Vec3d velocity_at(const Sweep& sweep, double t, const Vec3d& p_W) {
  return sweep.velocity + cross(sweep.angular_velocity, p_W - sweep.start.p - t * sweep.velocity);
}

}  // namespace

SE3d Sweep::at(double t) const {
  return {exp_motion(Motion<double>{t * angular_velocity, Vec3d()}).R * start.R,
          start.p + t * velocity};
}

Sweep Sweep::between(const SE3d& X_W0, const SE3d& X_W1) {
  return {X_W0, X_W1.p - X_W0.p, X_W0.R * log_rotation(transpose(X_W0.R) * X_W1.R)};
}

Impact time_of_impact(const Shape& A, const Sweep& sweep_A, const Shape& B, const Sweep& sweep_B,
                      double margin, double tolerance, PairCache* cache) {
  const Pair pair(A, sweep_A, B, sweep_B);
  PairCache local;
  PairCache& warm = cache ? *cache : local;
  // Tolerance above rounding.
  const double size = (unbounded(A) ? 0 : pair.r_A) + (unbounded(B) ? 0 : pair.r_B);
  const double fastest = norm(sweep_A.velocity - sweep_B.velocity) +
                         norm(sweep_A.angular_velocity) * (unbounded(A) ? 0 : pair.r_A) +
                         norm(sweep_B.angular_velocity) * (unbounded(B) ? 0 : pair.r_B);
  const double enough = max_number(tolerance, 1e-12 * size + 1e-15 * fastest);
  const bool planes_turn = unbounded(A) && unbounded(B) &&
                           squared_norm(sweep_A.angular_velocity - sweep_B.angular_velocity) > 0;
  Impact impact;
  while (impact.rounds < max_rounds) {
    ++impact.rounds;
    const double t = impact.t;
    const SE3d X_A = sweep_A.at(t), X_B = sweep_B.at(t);
    // Exact distance at t.
    Witness& w = impact.witness;
    w = signed_distance(A, X_A, B, X_B, &warm);
    impact.normal_velocity =
        dot(w.normal, velocity_at(sweep_B, t, w.p_WB) - velocity_at(sweep_A, t, w.p_WA));
    const double gap = w.distance - margin;
    if (t == 0 && gap <= 0)
      impact.status = ImpactStatus::overlapping;
    else if (gap <= enough || planes_turn)
      impact.status = ImpactStatus::touching;
    else if (t >= 1)
      impact.status = ImpactStatus::separated;
    if (impact.status != ImpactStatus::unfinished) return impact;
    // Advance as far as any axis certifies.
    double next = t;
    for (const Carrier carrier : {world, by_A, by_B})
      if (next < 1 && pair.may_carry(carrier))
        next = max_number(next, free_until(pair, carrier, w.normal, t, gap - 0.5 * enough,
                                           margin + 0.5 * enough));
    if (!(next > t)) return impact;
    impact.t = next;
  }
  return impact;
}

ImpactDerivatives impact_derivatives(const Impact& impact, const Shape& A, const Sweep& sweep_A,
                                     const Shape& B, const Sweep& sweep_B) {
  ImpactDerivatives d;
  const double t = impact.t;
  const Sweep* sweeps[2] = {&sweep_A, &sweep_B};
  const Witness& w = impact.witness;
  double speed = 0;
  for (const Sweep* s : sweeps) {
    const double turn = norm(s->angular_velocity);
    speed += norm(s->velocity) + turn * norm(w.p_WA - s->at(t).p);
    d.one_sided |= turn > 3.14159265;  // beyond half a turn, the shorter angle switches sides
  }
  d.one_sided |=
      impact.status != ImpactStatus::touching || !(impact.normal_velocity < -1e-9 * speed);
  if (d.one_sided) return d;
  const SE3d X_WA = sweep_A.at(t), X_WB = sweep_B.at(t);
  const WitnessFactors at_t = witness_factors(w, A, X_WA, B, X_WB);
  d.one_sided = at_t.one_sided;
  // Gradient of the distance with respect to the poses at t.
  WitnessRate distance;
  distance.distance = 1;
  double slope[12];
  vjp(at_t, X_WA, X_WB, distance, slope);
  for (int side = 0; side < 2; ++side) {
    const Sweep& s = *sweeps[side];
    const SE3d& X = side ? X_WB : X_WA;
    const Vec3d turn = transpose_times(s.start.R, s.angular_velocity);  // equal in both frames
    const SE3d X_W1 = s.at(1);
    // Twist at t due to a twist of the pose at t = 0 or t = 1: positions and rotation vectors are
    // interpolated.
    const auto rate = [&](const Vec3d& linear, const Vec3d& angular) {
      double sum = 0;
      const Vec3d v = transpose_times(X.R, linear);
      for (int i = 0; i < 3; ++i)
        sum += slope[6 * side + i] * v[i] + slope[6 * side + 3 + i] * angular[i];
      return -sum / impact.normal_velocity;
    };
    const auto right_jacobian = [&](double part, const Vec3d& x) {
      return left_jacobian_times(-part * turn, x);
    };
    for (int k = 0; k < 3; ++k) {
      Vec3d e;
      e[k] = 1;
      d.start[side][k] = rate((1 - t) * s.start.R.col(k), Vec3d());
      d.end[side][k] = rate(t * X_W1.R.col(k), Vec3d());
      const Vec3d turned = transpose_times(exp_motion(Motion<double>{t * turn, Vec3d()}).R, e);
      d.start[side][3 + k] =
          rate(Vec3d(), turned - t * right_jacobian(t, inverse_left_jacobian_times(turn, e)));
      d.end[side][3 + k] =
          rate(Vec3d(), t * right_jacobian(t, inverse_left_jacobian_times(-turn, e)));
    }
  }
  return d;
}

}  // namespace robosim
