#include "scene/reach_bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/constants.h"
#include "base/index.h"
#include "model/joints.h"
#include "scene/scene_query.h"

namespace robosim {
namespace {

struct MiddleOfRange {
  SE3d X_PC;
  double turn = 0, slide = 0;
};

// Middle and half ranges of a joint. Coordinates without limits reach any angle and any length;
// free rotations reach any rotation.
MiddleOfRange middle_of_range(const Model& model, const Joint& joint) {
  return visit_joint(joint.type, [&]<class J>(J) {
    double middle[J::n_q] = {}, half[J::n_q] = {};
    bool any_turn = false;
    for (int k = 0; k < J::n_q; ++k) {
      if (J::coordinates[k] == Coordinate::quaternion) {
        middle[k] = k + 1 == J::n_q;  // x y z w, last
        any_turn = true;
        continue;
      }
      const double lower = model.limits.q_lower[joint.q_index + k],
                   upper = model.limits.q_upper[joint.q_index + k];
      const bool bounded = std::isfinite(lower) && std::isfinite(upper);
      middle[k] = bounded ? 0.5 * (lower + upper) : 0;
      half[k] = bounded ? 0.5 * (upper - lower) * std::abs(joint.ratio) : infinity;
    }
    const Travel travel = J::travel(joint, half);
    MiddleOfRange out;
    out.X_PC = joint_placement(joint, middle);
    out.turn = !any_turn && travel.turn < pi ? travel.turn : pi;
    // An unbounded angle times a pitch of 0 is not a number.
    out.slide = travel.slide >= 0 ? travel.slide : infinity;
    return out;
  });
}

// Least component along a unit vector of a vector that turns by up to `turn`. Its component before
// the turn is `along`.
double turned_component(double along, double length, double turn) {
  if (turn >= pi || along <= -length * std::cos(turn)) return -length;
  return along * std::cos(turn) -
         std::sqrt(std::max(length * length - along * along, 0.0)) * std::sin(turn);
}

}  // namespace

ReachBound::ReachBound(const CollisionScene& scene) : scene_(scene) {
  const Model& model = scene.model();
  const std::size_t n = at(model.n_bodies());
  X_WB_.resize(n);
  turn_.assign(n, 0);
  slide_.assign(n, 0);
  for (std::size_t i = 1; i < n; ++i) {
    const Joint& joint = model.joints[i];
    const MiddleOfRange middle = middle_of_range(model, joint);
    X_WB_[i] = X_WB_[joint.parent] * middle.X_PC;
    turn_[i] = middle.turn;
    slide_[i] = middle.slide;
  }
}

void ReachBound::find_path(int body_a, int body_b) {
  const Model& model = scene_.model();
  path_.clear();
  down_.clear();
  total_turn_ = total_slide_ = 0;
  while (body_a != body_b) {
    int& body = body_a > body_b ? body_a : body_b;  // parents come first
    const int parent = model.joints[body].parent;
    if (body_a > body_b) {
      total_turn_ += turn_[body];
      total_slide_ += slide_[body];
      path_.push_back({X_WB_[parent].p - X_WB_[body].p, total_turn_});
    } else {
      down_.push_back(body);
    }
    body = parent;
  }
  for (auto body = down_.rbegin(); body != down_.rend(); ++body) {
    const int parent = model.joints[*body].parent;
    path_.push_back({X_WB_[*body].p - X_WB_[parent].p, total_turn_});
    total_turn_ += turn_[*body];
    total_slide_ += slide_[*body];
  }
}

double ReachBound::least(const Vec3d& n, double turn, std::span<const int> objects,
                         double sign) const {
  double out = infinity;
  for (const int i : objects) {
    const SceneObject& object = scene_.object(i);
    const Mat3d& R = X_WB_[object.body].R;
    for (const double end : {-1.0, 1.0}) {
      const Vec3d v = sign * (R * (object.rod.center + end * object.rod.half));
      out = std::min(out, turned_component(dot(n, v), norm(v), turn) - object.rod.radius);
    }
  }
  return out;
}

double ReachBound::seen_from(double turn, std::span<const int> a, std::span<const int> b) const {
  // Choose n along the segments that turn by less than a quarter turn; the less a segment turns,
  // the more it weighs.
  const auto weight = [&](double at_turn) {
    return std::cos(std::min(std::abs(at_turn - turn), 0.5 * pi));
  };
  Vec3d n;
  for (const Segment& s : path_) n += weight(s.turn) * s.v;
  const auto center = [&](int i) {
    return X_WB_[scene_.object(i).body].R * scene_.object(i).rod.center;
  };
  n += weight(total_turn_) * center(b[0]) - weight(0) * center(a[0]);
  const double length = norm(n);
  if (!(length > 0)) return -infinity;
  n = (1 / length) * n;
  double out = least(n, turn, a, -1) + least(n, total_turn_ - turn, b, 1) - total_slide_, scale = 1;
  for (const Segment& s : path_) {
    const double v = norm(s.v);
    out += turned_component(dot(n, s.v), v, std::abs(s.turn - turn));
    scale += v;
  }
  return out - rounding_slack * scale;
}

double ReachBound::distance(std::span<const int> a, std::span<const int> b) {
  for (const std::span<const int> objects : {a, b})
    for (const int i : objects)
      if (!std::isfinite(scene_.object(i).ball_radius)) return -infinity;
  find_path(scene_.object(a[0]).body, scene_.object(b[0]).body);
  if (!(total_slide_ < infinity)) return -infinity;
  // Try the middle of the turns, and the body of the longest segment.
  double longest = 0, at_longest = 0;
  for (const Segment& s : path_)
    if (const double v = squared_norm(s.v); v > longest) {
      longest = v;
      at_longest = s.turn;
    }
  return std::max(seen_from(0.5 * total_turn_, a, b), seen_from(at_longest, a, b));
}

}  // namespace robosim
