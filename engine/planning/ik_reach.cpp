#include "planning/ik_reach.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/constants.h"
#include "base/index.h"
#include "model/joints.h"

namespace robosim {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-9;  // of lengths, relative to their size plus a meter
constexpr int most_sliding = 8;    // most joints between two axes to compute all corners
constexpr int rounds = 50;         // of coordinate descent

struct Range {
  double low = 0, high = 0;
};

// Sliding motion along a direction.
struct Slide {
  Vec3d direction;  // unit
  Range range;
};

// Range of the length of one section.
struct Section {
  double least = 0, most = 0;
};

// Turning axis, and the slides up to the next axis.
struct Axis {
  std::string name;
  Range angle{-inf, inf};
  std::vector<Slide> slides;  // between this axis and the next, in axes of the child body
  // Point and direction of the axis, in axes of the previous axis' child body, with slides in the
  // middle.
  Vec3d point, direction;
  // Direction in axes of its own child body, through whose origin the axis goes.
  Vec3d own_direction;
  SE3d X;  // from the previous axis' child body to its own, at angle zero
};

double reach_of(double x) { return rounding * (1 + x); }

// Range of the length of v plus slides about the middle of their ranges.
Section section(const Vec3d& v, const std::vector<Slide>& slides) {
  Section out{norm(v), norm(v)};
  if (slides.empty()) return out;
  double total = 0;
  for (const Slide& slide : slides) total += 0.5 * (slide.range.high - slide.range.low);
  out.least = std::max(0.0, out.least - total);
  if (!(total < inf)) return {0, inf};
  if (slides.size() > most_sliding) return {out.least, out.most + total};
  out.most = 0;
  for (unsigned corner = 0; corner < 1u << slides.size(); ++corner) {
    Vec3d end = v;
    for (std::size_t i = 0; i < slides.size(); ++i) {
      const double half = 0.5 * (slides[i].range.high - slides[i].range.low);
      end += (corner >> i & 1 ? half : -half) * slides[i].direction;
    }
    out.most = std::max(out.most, norm(end));
  }
  return out;
}

// Range of the distance between the ends of u and w, where w turns about the axis a by an angle of
// the range.
Section elbow(const Vec3d& u, const Vec3d& w, const Vec3d& a, const Range& angle) {
  const double along = dot(u, a) * dot(w, a), cosine = dot(u, w) - along,
               sine = dot(u, cross(a, w));
  const double middle = dot(u, u) + dot(w, w) + 2 * along, swing = 2 * std::hypot(cosine, sine);
  const double phase = std::atan2(sine, cosine);
  const auto contains = [&](double x) {
    return x + 2 * pi * std::ceil((angle.low - x) / (2 * pi)) <= angle.high;
  };
  double least = middle - swing, most = middle + swing;
  if (angle.high - angle.low < 2 * pi) {
    const double at_low = middle + swing * std::cos(angle.low - phase);
    const double at_high = middle + swing * std::cos(angle.high - phase);
    if (!contains(phase)) most = std::max(at_low, at_high);
    if (!contains(phase + pi)) least = std::min(at_low, at_high);
  }
  return {std::sqrt(std::max(least, 0.0)), std::sqrt(std::max(most, 0.0))};
}

// Parameter s of the point p + s d with the least sum of distances to a and b.
double nearest_between(const Vec3d& p, const Vec3d& d, const Vec3d& a, const Vec3d& b) {
  const double sa = dot(a - p, d), sb = dot(b - p, d);
  const double da = norm(a - p - sa * d), db = norm(b - p - sb * d);
  // Unroll the line: a and b are on opposite sides of it.
  return da + db > 0 ? (sa * db + sb * da) / (da + db) : 0.5 * (sa + sb);
}

// Chain from the world to frame E, as turning axes.
class Chain {
 public:
  Chain(const Model& model, const Frame& frame, const SE3d& X_FE, const IkOptions& options,
        const double* reference) {
    std::vector<int> path;
    for (int i = frame.body; i > 0; i = model.joints[i].parent) path.push_back(i);
    std::reverse(path.begin(), path.end());
    // X: from the last axis' child body to the current body, slides in the middle of their ranges.
    SE3d X;
    for (const int i : path) {
      const Joint& joint = model.joints[i];
      // Range of each coordinate of the joint; entries that are not columns keep their reference.
      Range range[3];
      bool moves = false;
      for (int k = 0; k < std::max(joint.n_q, 1) && joint.type != JointType::floating; ++k) {
        const double rest = reference[joint.q_index + k];
        range[k] = {rest, rest};
        const auto column =
            std::find(options.columns.begin(), options.columns.end(), joint.q_index + k);
        if (column == options.columns.end()) continue;
        moves = true;
        const std::size_t j = static_cast<std::size_t>(column - options.columns.begin());
        range[k] = {options.lower[j], options.upper[j]};
      }
      if (!moves) {
        X = X * joint_placement(joint, reference + joint.q_index);
        continue;
      }
      if (joint.type != JointType::planar) {
        const double a = joint.ratio * range[0].low + joint.offset,
                     b = joint.ratio * range[0].high + joint.offset;
        range[0] = {std::min(a, b), std::max(a, b)};
      }
      // Split the joint into slides and turns.
      X = X * joint.X_PJ;
      switch (joint.type) {
        case JointType::revolute:
          turn(joint, X, range[0]);
          break;
        case JointType::prismatic:
          slide(X, joint.axis, range[0]);
          break;
        case JointType::helical:
          slide(X, joint.axis,
                {std::min(joint.pitch * range[0].low, joint.pitch * range[0].high),
                 std::max(joint.pitch * range[0].low, joint.pitch * range[0].high)});
          turn(joint, X, range[0]);
          break;
        case JointType::planar: {
          const Mat3d e = PlanarJoint::plane_axes(joint.axis);
          slide(X, e.row[0], range[0]);
          slide(X, e.row[1], range[1]);
          turn(joint, X, range[2]);
          break;
        }
        case JointType::floating:
          break;  // has no columns that move
      }
    }
    end = X * frame.X_BF * X_FE;
  }

  std::vector<Axis> axes;
  std::vector<Slide> first_slides;  // before the first axis, in W
  SE3d end;  // E in the last axis' child body, slides in the middle of their ranges

 private:
  void turn(const Joint& joint, SE3d& X, const Range& angle) {
    Axis axis;
    axis.name = joint.name;
    axis.angle = angle;
    axis.point = X.p;
    axis.direction = X.R * joint.axis;
    axis.own_direction = joint.axis;
    axis.X = X;
    axes.push_back(std::move(axis));
    X = SE3d();  // now in the child body, at the angle zero
  }

  // Move X to the middle of the range, if the range is finite.
  void slide(SE3d& X, const Vec3d& axis, const Range& range) {
    const Vec3d direction = X.R * axis;
    const bool finite = std::isfinite(range.low) && std::isfinite(range.high);
    if (finite) X.p += 0.5 * (range.low + range.high) * direction;
    if (range.low == range.high) return;
    (axes.empty() ? first_slides : axes.back().slides)
        .push_back({direction, finite ? range : Range{-inf, inf}});
  }
};

}  // namespace

IkReach::IkReach(const Model& model, const IkGoal& goal, const IkOptions& options,
                 const double* reference) {
  const Chain chain(model, model.frames[goal.frame], goal.X_FE, options, reference);
  const std::size_t n = chain.axes.size();
  if (n == 0 && chain.first_slides.empty()) return;
  first_ = n > 0 ? chain.axes.front().name : "";
  last_ = n > 0 ? chain.axes.back().name : "";

  // Points s_k on the axes: each in turn minimizes the distances to its neighbors. The last point
  // is fixed in E, too.
  std::vector<double> s(n, 0.0);
  // Point of axis k in the axes of the child body of k - 1, and in those of its own child body.
  const auto point = [&](std::size_t k) {
    return chain.axes[k].point + s[k] * chain.axes[k].direction;
  };
  const auto own_point = [&](std::size_t k) { return s[k] * chain.axes[k].own_direction; };
  for (int round = 0; round < rounds && n > 1; ++round)
    for (std::size_t k = 0; k < n; ++k) {
      const Axis& axis = chain.axes[k];
      // Neighbors in the axes of this body at angle zero.
      const Vec3d before = k > 0 ? axis.X.inverse() * own_point(k - 1) : Vec3d();
      const Vec3d after = k + 1 < n ? point(k + 1) : Vec3d();
      const Vec3d &a = k > 0 ? before : after, &b = k + 1 < n ? after : before;
      s[k] = nearest_between(Vec3d(), axis.own_direction, a, b);
    }

  // Bound from sections 0 to n: before the first axis (slides), between axes, and from the last
  // axis to a point `last` that is fixed in E.
  const auto bound = [&](const Vec3d& last, bool is_origin) {
    Bound out;
    out.P_W = n > 0 ? point(0) : last;
    std::vector<Vec3d> v(n + 1);
    std::vector<Section> sections(n + 1);
    sections[0] = section(v[0], chain.first_slides);
    for (std::size_t k = 0; k < n; ++k) {
      v[k + 1] = (k + 1 < n ? point(k + 1) : last) - own_point(k);
      sections[k + 1] = section(v[k + 1], chain.axes[k].slides);
    }
    // Pairs of sections joined at axis k, in its own axes at angle zero.
    std::vector<Section> pairs(n + 1, Section{0, inf});
    for (std::size_t k = 1; k < n; ++k)
      if (chain.axes[k - 1].slides.empty() && chain.axes[k].slides.empty()) {
        const Vec3d u = transpose(chain.axes[k].X.R) * v[k];
        pairs[k + 1] = elbow(u, v[k + 1], chain.axes[k].own_direction, chain.axes[k].angle);
      }
    // Least sums of the first k sections, and of the sections from k on.
    std::vector<double> head(n + 2, 0.0), tail(n + 2, 0.0);
    for (std::size_t k = 0; k <= n; ++k) {
      head[k + 1] = head[k] + sections[k].most;
      if (k > 0) head[k + 1] = std::min(head[k + 1], head[k - 1] + pairs[k].most);
    }
    for (std::size_t k = n + 1; k-- > 0;) {
      tail[k] = sections[k].most + tail[k + 1];
      if (k < n) tail[k] = std::min(tail[k], pairs[k + 1].most + tail[k + 2]);
    }
    out.most = head[n + 1];
    for (std::size_t k = 0; k <= n; ++k) {
      out.least = std::max(out.least, sections[k].least - head[k] - tail[k + 1]);
      if (k > 0) out.least = std::max(out.least, pairs[k].least - head[k - 1] - tail[k + 1]);
    }
    out.T_E = is_origin ? Vec3d() : chain.end.inverse() * last;
    out.is_known = out.most < inf;
    return out;
  };

  // Freedom of the box: T moves by half the diagonal of the position ranges, and by its distance
  // from the origin of E times the chord of the widest rotation.
  double slack = 0, turn = 0;
  Vec3d middle;
  for (int i = 0; i < 3; ++i) {
    const double low = goal.lower[i], high = goal.upper[i], a = goal.lower[3 + i],
                 b = goal.upper[3 + i];
    if (!std::isfinite(low) || !std::isfinite(high)) return;
    middle[i] = 0.5 * (low + high);
    slack = std::hypot(slack, 0.5 * (high - low));
    turn += std::max(std::abs(a), std::abs(b));  // the angle of a product is at most the sum
  }
  X_GE_.p = middle;
  const double chord = turn < pi ? 2 * std::sin(0.5 * turn) : 2;
  slack += options.position_tolerance;
  Bound origin = bound(chain.end.p, true);
  origin.freedom = slack;
  if (origin.is_known) bounds_.push_back(origin);
  if (n == 0) return;
  Bound wrist = bound(own_point(n - 1), false);
  wrist.freedom = slack + norm(wrist.T_E) * (chord + options.rotation_tolerance);
  if (wrist.is_known) bounds_.push_back(wrist);
}

IkReach::Answer IkReach::operator()(const SE3d& X_WG) const {
  Answer worst;
  for (const Bound& bound : bounds_) {
    const double distance = norm(X_WG * (X_GE_ * bound.T_E) - bound.P_W);
    const double slack = bound.freedom + reach_of(distance + bound.most);
    const bool is_far = distance > bound.most + slack;
    if (!is_far && !(distance < bound.least - slack)) continue;
    const Answer answer{true, is_far ? distance - bound.freedom : distance + bound.freedom,
                        bound.least, bound.most};
    if (!worst.is_beyond || answer.missing() > worst.missing()) worst = answer;
  }
  return worst;
}

}  // namespace robosim
