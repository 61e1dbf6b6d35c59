// SceneQuery: questions to a CollisionScene at one configuration, and the workspace that they need
// (one per thread).
//
// place(q) runs the forward kinematics, unless it is told the poses, and moves the balls' centers;
// the full placement of an object is worked out on first use. Every question first takes lower
// bounds from balls and covers, then asks for exact shapes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "dynamics/kinematics.h"
#include "geometry/bodies/compound_manifolds.h"
#include "scene/collision_scene.h"

namespace robosim {

class SceneQuery {
 public:
  // Two objects and how they lie. a < 0 when there is none.
  struct Contact {
    int a = -1, b = -1;
    Witness witness;
    int piece_a = 0, piece_b = 0;  // of bodies of many pieces: which ones
  };

  explicit SceneQuery(const CollisionScene& scene);

  const CollisionScene& scene() const { return *scene_; }

  // Moves everything to q (n_q entries).
  void place(const double* q);
  // The same where the bodies' poses are known.
  void place(const double* q, const std::vector<SE3d>& X_WB);

  // What follows is at the configuration placed last.
  // Whether any pair overlaps; one that does goes to a and b. Pairs whose balls overlap most are
  // asked first.
  bool collides(int* a = nullptr, int* b = nullptr);
  // All pairs closer than `margin` (0: overlapping), each by its closest pieces, in the order of
  // the scene's pair list except for grouped ones.
  void contacts(double margin, std::vector<Contact>& out);
  // The contact manifolds of all moving pairs closer than `margin`, for bodies of many pieces one
  // per pair of pieces; in an order that the placement alone decides, whatever was asked before, to
  // the bit.
  struct PairManifold {
    int a, b;
    int piece_a, piece_b;
    Manifold manifold;  // its normal points from a to b

    // As an aggregate it would be cleared first, points included.
    PairManifold(int a_, int b_, int piece_a_, int piece_b_, const Manifold& manifold_)
        : a(a_), b(b_), piece_a(piece_a_), piece_b(piece_b_), manifold(manifold_) {}
  };
  void manifolds(double margin, std::vector<PairManifold>& out);
  // The same, each pair of bodies within a distance of its own, within(body_a, body_b), where that
  // is above `least`. It is asked of bodies that are nearer than reach[body_a] + reach[body_b], or
  // `least`.
  void manifolds(double least, const std::vector<double>& reach,
                 FunctionRef<double(int, int)> within, std::vector<PairManifold>& out);
  // The closest pair, exact signed distance; a < 0 when the scene has no pair.
  Contact closest();
  // Signed distance of every pair of scene().pairs(), in that order.
  void distances(double* out);

  // Building blocks of the edge check.
  const Data<double>& data() const { return data_; }
  // Fills the motion subspaces of data() at the configuration placed last, for derivatives.
  void place_motions() { motion_subspaces(scene_->model(), data_); }
  // Center of the ball about a body's objects, in W.
  const Vec3d& body_center(int body) const { return body_centers_[static_cast<std::size_t>(body)]; }
  // Center of an object's ball, in W.
  const Vec3d& center(int object) const { return centers_[static_cast<std::size_t>(object)]; }
  const SE3d& X_WO(int object);
  // Lower bounds on distances; negative or zero says nothing. Of all pairs of a cluster, from the
  // balls about whole bodies; of two objects, from their balls and covers, and closer from the rows
  // of balls.
  double cluster_distance(const CollisionScene::Cluster& cluster);
  double coarse_distance(int a, int b);
  double finer_distance(int a, int b);
  // Lower bound up to `enough` on the distance of two objects, 0 when they overlap (see
  // geometry/query.h). `single`: place in scene().single_pairs(), whose cache it uses, or -1.
  double distance_bound(double enough, int a, int b, int single) {
    return distance_bound(enough, a, X_WO(a), b, X_WO(b), single);
  }
  // The same of the objects placed there.
  double distance_bound(double enough, int a, const SE3d& X_WA, int b, const SE3d& X_WB,
                        int single);
  // True if shapes of this pair stand for bodies and decide, or the bodies do; the bodies' distance
  // bound may exceed that of the shapes.
  bool shapes_decide(int a, int b) const {
    return by_shapes_ && has_exact(a, b) && is_by_shapes(a, b);
  }
  bool stands_for_more(int a, int b) const {
    return has_exact(a, b) && !(by_shapes_ && is_by_shapes(a, b));
  }
  double exact_distance_bound(double enough, int a, const SE3d& X_WA, int b, const SE3d& X_WB,
                              int single) {
    return exact_distance_lower_bound(enough, scene_->object(a).geometry, X_WA,
                                      scene_->object(b).geometry, X_WB, cache_of(single));
  }
  // Whether two objects overlap, by their exact shapes.
  bool overlaps(int a, int b) { return overlaps(a, X_WO(a), b, X_WO(b), -1); }
  // The same of the objects placed there; `single` as in distance_bound.
  bool overlaps(int a, const SE3d& X_WA, int b, const SE3d& X_WB, int single) {
    const CollisionGeometry &A = scene_->object(a).geometry, &B = scene_->object(b).geometry;
    if (by_shapes_ && is_by_shapes(a, b))
      return shapes_closer_than(0, A, X_WA, B, X_WB, cache_of(single));
    return closer_than(0, A, X_WA, B, X_WB, cache_of(single));
  }
  // The same of the bodies, whatever decides.
  bool bodies_overlap(int a, int b) {
    return closer_than(0, scene_->object(a).geometry, X_WO(a), scene_->object(b).geometry, X_WO(b));
  }
  // Where shapes stand for bodies (collision_geometry.h), the bodies decide. From here on the
  // shapes do, for which overlaps and distances cost a tenth, and which are larger.
  void decide_by_shapes();
  // The bodies of this pair decide again; false if they did already. Of all pairs.
  bool decide_by_bodies(int a, int b);
  void decide_by_bodies() { by_shapes_ = false; }
  // The normal of the plane, from a to b, by which distance_bound last bounded the distance of this
  // single pair; zero when there is none, as for bodies of many pieces.
  Vec3d separating_axis(int single) { return single < 0 ? Vec3d() : cache_of(single)->axis; }
  // Empties the caches, which change the time of a query and the last digits of a distance.
  void forget();

 private:
  void place_objects(const double* q);
  bool has_exact(int a, int b) const {
    return scene_->object(a).geometry.exact || scene_->object(b).geometry.exact;
  }
  // Of a pair, while shapes decide.
  bool is_by_shapes(int a, int b) const {
    return std::find(by_bodies_.begin(), by_bodies_.end(),
                     std::pair<int, int>(std::minmax(a, b))) == by_bodies_.end();
  }
  // Of a single pair; null for -1.
  PairCache* cache_of(int single) {
    if (single < 0) return nullptr;
    Remembered& r = caches_[static_cast<std::size_t>(single)];
    if (r.age != age_) r = {{}, age_};
    return &r.cache;
  }
  double row_distance(int a, int b);
  Contact measured(int a, int b, PairCache* cache);
  // Adds the manifolds of a pair.
  void add_manifolds(int a, int b, double margin, std::vector<PairManifold>& out);
  // Calls visit(a, b, single) for every pair that may be closer than margin(body_a, body_b); stops
  // when it returns true, and says so.
  template <class Margin, class Visit>
  bool visit_near(Margin&& margin, Visit&& visit);
  // Of these, the pairs that go through trees: visit(a, b).
  template <class Margin, class Visit>
  bool visit_groups(Margin&& margin, Visit&& visit);

  const CollisionScene* scene_;
  Data<double> data_;
  std::vector<double> q_;             // as placed last
  std::vector<Vec3d> centers_;        // of the balls, in W, per object
  std::vector<Vec3d> body_centers_;   // of the balls about bodies, in W
  std::vector<SE3d> X_WO_;            // per object
  std::vector<std::uint32_t> stamp_;  // the place() call in which X_WO was worked out, per object
  struct Remembered {
    PairCache cache;
    std::uint32_t age = 0;  // since which forget() call
  };
  std::vector<Remembered> caches_;  // per single pair
  std::uint32_t age_ = 0;
  std::vector<PairCache> distance_caches_;  // per pair, of distances(); none until it is called
  struct Suspect {
    // Squared distance of a ball's center from a cover, in squared radii: at most 1.
    double depth = 0;
    int single = 0;
  };
  std::vector<Suspect> suspects_;
  PieceManifolds finder_;
  std::vector<PieceManifold> pieces_;
  std::uint32_t now_ = 0;
  bool by_shapes_ = false;
  // The pairs that are decided by bodies nevertheless, lower number first.
  std::vector<std::pair<int, int>> by_bodies_;
};

inline const SE3d& SceneQuery::X_WO(int i) {
  const std::size_t k = static_cast<std::size_t>(i);
  if (stamp_[k] != now_) {
    const SceneObject& object = scene_->object(i);
    if (object.body != 0)
      X_WO_[k] = data_.X_WB[static_cast<std::size_t>(object.body)] * object.X_BO;
    stamp_[k] = now_;
  }
  return X_WO_[k];
}

// Squared distance between a point given in O and the box of a cover.
inline double squared_distance(const Cover& cover, const Vec3d& p_O) {
  const double x = std::abs(p_O.x - cover.center.x) - cover.half_extents.x;
  const double y = std::abs(p_O.y - cover.center.y) - cover.half_extents.y;
  const double z = std::abs(p_O.z - cover.center.z) - cover.half_extents.z;
  return squared_norm(Vec3d{x > 0 ? x : 0, y > 0 ? y : 0, z > 0 ? z : 0});
}

// Distance between a point given in O and a cover.
inline double distance(const Cover& cover, const Vec3d& p_O) {
  return std::sqrt(squared_distance(cover, p_O)) - cover.radius;
}

// The bounds are computed in floating point; what is taken off them covers the rounding at any
// sensible scale.
inline constexpr double rounding_slack = 1e-9;  // [m]

inline double SceneQuery::coarse_distance(int a, int b) {
  const SceneObject &A = scene_->object(a), &B = scene_->object(b);
  const double from_b = distance(B.cover, X_WO(b).inverse_times(center(a))) - A.ball_radius;
  const double from_a = distance(A.cover, X_WO(a).inverse_times(center(b))) - B.ball_radius;
  return (from_a > from_b ? from_a : from_b) - rounding_slack;
}

inline double SceneQuery::cluster_distance(const CollisionScene::Cluster& cluster) {
  const Vec3d& p_a = body_centers_[static_cast<std::size_t>(cluster.body_a)];
  const double r_a = scene_->body_ball(cluster.body_a).radius;
  if (cluster.b >= 0)
    return distance(scene_->object(cluster.b).cover, X_WO(cluster.b).inverse_times(p_a)) - r_a -
           rounding_slack;
  const Vec3d& p_b = body_centers_[static_cast<std::size_t>(cluster.body_b)];
  return norm(p_b - p_a) - r_a - scene_->body_ball(cluster.body_b).radius - rounding_slack;
}

// From the row of balls of a to the cover of b.
inline double SceneQuery::row_distance(int a, int b) {
  const SceneObject &A = scene_->object(a), &B = scene_->object(b);
  const SE3d &X_WA = data_.X_WB[static_cast<std::size_t>(A.body)], &X_WB = X_WO(b);
  double least = std::numeric_limits<double>::infinity();
  for (const Ball& ball : A.balls)
    least =
        std::min(least, distance(B.cover, X_WB.inverse_times(X_WA * ball.center)) - ball.radius);
  return least - rounding_slack;
}

inline double SceneQuery::finer_distance(int a, int b) {
  double bound = -std::numeric_limits<double>::infinity();
  if (!scene_->object(a).balls.empty()) bound = row_distance(a, b);
  if (!scene_->object(b).balls.empty() && scene_->object(b).body != 0)
    bound = std::max(bound, row_distance(b, a));
  return bound;
}

inline double SceneQuery::distance_bound(double enough, int a, const SE3d& X_WA, int b,
                                         const SE3d& X_WB, int single) {
  const CollisionGeometry &A = scene_->object(a).geometry, &B = scene_->object(b).geometry;
  if (by_shapes_ && is_by_shapes(a, b))
    return shapes_distance_lower_bound(enough, A, X_WA, B, X_WB, cache_of(single));
  return distance_lower_bound(enough, A, X_WA, B, X_WB, cache_of(single));
}

inline void SceneQuery::forget() {
  // Starts again, and nothing old may look new.
  if (++age_ == 0) std::fill(caches_.begin(), caches_.end(), Remembered());
}

}  // namespace robosim
