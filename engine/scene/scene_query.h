// SceneQuery: queries of a CollisionScene at one configuration, with the workspace that they need
// (one per thread).
//
// place(q) runs the forward kinematics, unless the poses are given, and moves the centers of the
// balls. The full placement of an object is computed at its first use. Every query first takes
// lower bounds from balls and covers, and then uses exact shapes.
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
  // Two objects and their witness; a < 0 if there are none.
  struct Contact {
    int a = -1, b = -1;
    Witness witness;
    int piece_a = 0, piece_b = 0;  // of bodies of many pieces: the closest pieces
  };

  explicit SceneQuery(const CollisionScene& scene);

  const CollisionScene& scene() const { return *scene_; }

  // Move everything to q (n_q entries).
  void place(const double* q);
  // Move everything to q, where the poses of the bodies are known.
  void place(const double* q, const std::vector<SE3d>& X_WB);

  // All queries below are at the configuration placed last.
  //
  // Return true if any pair overlaps; a and b get one such pair. Pairs whose balls overlap most are
  // tested first.
  bool collides(int* a = nullptr, int* b = nullptr);
  // Find all pairs closer than `margin` (0: overlapping), each with its closest pieces, in the
  // order of the scene's pair list except for grouped pairs.
  void contacts(double margin, std::vector<Contact>& out);
  // Compute the contact manifolds of all moving pairs closer than `margin`; for bodies of many
  // pieces, one per pair of pieces. Their order and their bits depend on the placement alone, not
  // on earlier queries.
  struct PairManifold {
    int a, b;
    int piece_a, piece_b;
    Manifold manifold;  // its normal points from a to b

    // An aggregate would be cleared first, including its points.
    PairManifold(int a_, int b_, int piece_a_, int piece_b_, const Manifold& manifold_)
        : a(a_), b(b_), piece_a(piece_a_), piece_b(piece_b_), manifold(manifold_) {}
  };
  void manifolds(double margin, std::vector<PairManifold>& out);
  // Compute the manifolds of each pair of bodies within a distance of its own, within(body_a,
  // body_b), if that exceeds `least`. within is called for bodies that are nearer than
  // reach[body_a] + reach[body_b], or than `least`.
  void manifolds(double least, const std::vector<double>& reach,
                 FunctionRef<double(int, int)> within, std::vector<PairManifold>& out);
  // Find the closest pair and its exact signed distance; a < 0 if the scene has no pair.
  Contact closest();
  // Compute the signed distance of every pair of scene().pairs(), in that order.
  void distances(double* out);

  // Building blocks of the edge check.
  const Data<double>& data() const { return data_; }
  // Compute the motion subspaces of data() at the configuration placed last, for derivatives.
  void place_motions() { motion_subspaces(scene_->model(), data_); }
  // Center of the ball about a body's objects, in W.
  const Vec3d& body_center(int body) const { return body_centers_[body]; }
  // Center of an object's ball, in W.
  const Vec3d& center(int object) const { return centers_[object]; }
  const SE3d& X_WO(int object);
  // Lower bounds on distances; a bound that is negative or zero says nothing. cluster_distance: for
  // all pairs of a cluster, from the balls about whole bodies. coarse_distance: for two objects,
  // from their balls and covers. finer_distance: tighter, from the rows of balls.
  double cluster_distance(const CollisionScene::Cluster& cluster);
  double coarse_distance(int a, int b);
  double finer_distance(int a, int b);
  // Lower bound up to `enough` on the distance of two objects, 0 if they overlap
  // (geometry/query.h). `single`: index in scene().single_pairs(), whose cache is used, or -1.
  double distance_bound(double enough, int a, int b, int single) {
    return distance_bound(enough, a, X_WO(a), b, X_WO(b), single);
  }
  // Lower bound up to `enough` on the distance of two objects at these poses.
  double distance_bound(double enough, int a, const SE3d& X_WA, int b, const SE3d& X_WB,
                        int single);
  // shapes_decide: true if shapes of this pair stand for bodies and decide. stands_for_more: true
  // if the bodies decide; their distance bound may exceed that of the shapes.
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
  // Return true if two objects overlap, by their exact shapes.
  bool overlaps(int a, int b) { return overlaps(a, X_WO(a), b, X_WO(b), -1); }
  // Return true if two objects at these poses overlap; `single` as in distance_bound.
  bool overlaps(int a, const SE3d& X_WA, int b, const SE3d& X_WB, int single) {
    const CollisionGeometry &A = scene_->object(a).geometry, &B = scene_->object(b).geometry;
    if (by_shapes_ && is_by_shapes(a, b))
      return shapes_closer_than(0, A, X_WA, B, X_WB, cache_of(single));
    return closer_than(0, A, X_WA, B, X_WB, cache_of(single));
  }
  // Return true if the bodies overlap, whether shapes or bodies decide.
  bool bodies_overlap(int a, int b) {
    return closer_than(0, scene_->object(a).geometry, X_WO(a), scene_->object(b).geometry, X_WO(b));
  }
  // Let shapes decide instead of the bodies that they stand for (collision_geometry.h). Overlaps
  // and distances of shapes cost a tenth, and shapes are larger than the bodies.
  void decide_by_shapes();
  // Let the bodies of this pair, or of all pairs, decide again; false if they did already.
  bool decide_by_bodies(int a, int b);
  void decide_by_bodies() { by_shapes_ = false; }
  // Normal, from a to b, of the plane by which distance_bound last bounded the distance of this
  // single pair; zero if there is none, as for bodies of many pieces.
  Vec3d separating_axis(int single) { return single < 0 ? Vec3d() : cache_of(single)->axis; }
  // Clear the caches, which change the time of a query and the last digits of a distance.
  void forget();

 private:
  void place_objects(const double* q);
  bool has_exact(int a, int b) const {
    return scene_->object(a).geometry.exact || scene_->object(b).geometry.exact;
  }
  // True if shapes decide for this pair; valid while by_shapes_ is set.
  bool is_by_shapes(int a, int b) const {
    return std::find(by_bodies_.begin(), by_bodies_.end(),
                     std::pair<int, int>(std::minmax(a, b))) == by_bodies_.end();
  }
  // Cache of a single pair; null for -1.
  PairCache* cache_of(int single) {
    if (single < 0) return nullptr;
    Remembered& r = caches_[single];
    if (r.age != age_) r = {{}, age_};
    return &r.cache;
  }
  double row_distance(int a, int b);
  Contact measured(int a, int b, PairCache* cache);
  // Add the manifolds of a pair.
  void add_manifolds(int a, int b, double margin, std::vector<PairManifold>& out);
  // Call visit(a, b, single) for every pair that may be closer than margin(body_a, body_b). Stop
  // and return true when visit returns true.
  template <class Margin, class Visit>
  bool visit_near(Margin&& margin, Visit&& visit);
  // Call visit(a, b) for those of these pairs that are tested through trees.
  template <class Margin, class Visit>
  bool visit_groups(Margin&& margin, Visit&& visit);

  const CollisionScene* scene_;
  Data<double> data_;
  std::vector<double> q_;             // placed last
  std::vector<Vec3d> centers_;        // of the balls, in W, per object
  std::vector<Vec3d> body_centers_;   // of the balls about bodies, in W
  std::vector<SE3d> X_WO_;            // per object
  std::vector<std::uint32_t> stamp_;  // place() call in which X_WO was computed, per object
  struct Remembered {
    PairCache cache;
    std::uint32_t age = 0;  // forget() call since which the cache is valid
  };
  std::vector<Remembered> caches_;  // per single pair
  std::uint32_t age_ = 0;
  std::vector<PairCache> distance_caches_;  // per pair, for distances(); empty until it is called
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
  // Pairs that bodies decide nevertheless, lower number first.
  std::vector<std::pair<int, int>> by_bodies_;
};

inline const SE3d& SceneQuery::X_WO(int i) {
  const std::size_t k = static_cast<std::size_t>(i);
  if (stamp_[k] != now_) {
    const SceneObject& object = scene_->object(i);
    if (object.body != 0) X_WO_[k] = data_.X_WB[object.body] * object.X_BO;
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

// Amount taken off the computed bounds, which covers their rounding at any sensible scale.
inline constexpr double rounding_slack = 1e-9;  // [m]

inline double SceneQuery::coarse_distance(int a, int b) {
  const SceneObject &A = scene_->object(a), &B = scene_->object(b);
  const double from_b = distance(B.cover, X_WO(b).inverse_times(center(a))) - A.ball_radius;
  const double from_a = distance(A.cover, X_WO(a).inverse_times(center(b))) - B.ball_radius;
  return (from_a > from_b ? from_a : from_b) - rounding_slack;
}

inline double SceneQuery::cluster_distance(const CollisionScene::Cluster& cluster) {
  const Vec3d& p_a = body_centers_[cluster.body_a];
  const double r_a = scene_->body_ball(cluster.body_a).radius;
  if (cluster.b >= 0)
    return distance(scene_->object(cluster.b).cover, X_WO(cluster.b).inverse_times(p_a)) - r_a -
           rounding_slack;
  const Vec3d& p_b = body_centers_[cluster.body_b];
  return norm(p_b - p_a) - r_a - scene_->body_ball(cluster.body_b).radius - rounding_slack;
}

// Lower bound from the row of balls of a to the cover of b.
inline double SceneQuery::row_distance(int a, int b) {
  const SceneObject &A = scene_->object(a), &B = scene_->object(b);
  const SE3d &X_WA = data_.X_WB[A.body], &X_WB = X_WO(b);
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
  // When the counter restarts, no old cache may look valid.
  if (++age_ == 0) std::fill(caches_.begin(), caches_.end(), Remembered());
}

}  // namespace robosim
