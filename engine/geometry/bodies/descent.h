// Simultaneous descent of two trees of boxes, which finds the pairs of pieces of two bodies that
// may be near each other.
//
// All boxes are in the frame of one body that is a compound. A shape alone is a tree of one box;
// for a half-space, the distance of a box from its plane counts. Bounds are lower bounds on signed
// distances and monotone: the contents of a box are at least as far away, and at most as deep
// inside, as the box. One-sided triangles have no bound once the boxes overlap. Larger nodes are
// opened first, nearer children are visited first. The gap along any direction is at most the
// distance. The direction of the closest pair so far, which the visitor passes to look_along,
// excludes most other pairs.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "geometry/bodies/compound_query.h"

namespace robosim {

inline double largest_coordinate(const Aabb& box) {
  double largest = 0;
  for (const Vec3d& corner : {box.lower, box.upper})
    for (int i = 0; i < 3; ++i)
      if (std::isfinite(corner[i])) largest = std::max(largest, std::fabs(corner[i]));
  return largest;
}

// Slack relative to the coordinates: covers the rounding of boxes and the error of distances.
inline constexpr double relative_slack = 1e-11;

// Descent of two bodies. F, a compound, provides the frame of the boxes, and M moves in it.
class Descent {
 public:
  Descent(const Body& A, const SE3d& X_WA, const Body& B, const SE3d& X_WB)
      : fixed_is_A_(!B.compound()), F_(*(fixed_is_A_ ? A : B).compound()), M_(fixed_is_A_ ? B : A) {
    X_WF_ = fixed_is_A_ ? X_WA : X_WB;
    X_FM_ = X_WF_.inverse() * (fixed_is_A_ ? X_WB : X_WA);
    double scale = norm(X_WA.p) + norm(X_WB.p);
    scale += largest_coordinate(F_.tree().node(0).box);
    if (const Compound* compound = M_.compound()) {
      scale += largest_coordinate(compound->tree().node(0).box);
    } else if (!is_half_space()) {
      box_M_ = bounding_box(*M_.shape(), X_FM_);
      scale += largest_coordinate(box_M_);
    }
    slack_ = relative_slack * scale;
    unbounded_ = F_.has_surface() || (M_.compound() && M_.compound()->has_surface());
    if (is_half_space()) unbounded_ = false;
  }

  // Call visit(piece_A, piece_B) for pairs whose boxes are at most limit() apart, nearer pairs
  // first where that is cheap. Stop and return true when visit returns true.
  template <class Limit, class Visit>
  bool operator()(Limit&& limit, Visit&& visit) const {
    struct Pair {
      int m, f;
      double bound;
    };
    // A tree of 2^31 items is 32 deep, and each level of either tree leaves one pair on the stack.
    Pair stack[128];
    int depth = 0;
    stack[depth++] = {0, 0, bound(node_box(0), F_.tree().node(0).box)};
    while (depth > 0) {
      const auto [m, f, least] = stack[--depth];
      if (least > limit()) continue;
      const AabbTree::Node& node = F_.tree().node(f);
      const bool leaf_M = is_leaf(m);
      const Aabb box = node_box(m);
      if (leaf_M && node.is_leaf()) {
        if (visit_leaves(m, box, node, limit, visit)) return true;
        continue;
      }
      // Open the larger node, and visit its nearer child first.
      Pair child[2];
      if (!node.is_leaf() && (leaf_M || squared_norm(node.box.upper - node.box.lower) >=
                                            squared_norm(box.upper - box.lower))) {
        for (int i = 0; i < 2; ++i)
          child[i] = {m, node.first + i, bound(box, F_.tree().node(node.first + i).box)};
      } else {
        const int first = M_.compound()->tree().node(m).first;
        for (int i = 0; i < 2; ++i) child[i] = {first + i, f, bound(node_box(first + i), node.box)};
      }
      if (child[0].bound < child[1].bound) std::swap(child[0], child[1]);
      stack[depth++] = child[0];
      stack[depth++] = child[1];
    }
    return false;
  }

  // Bound on the rounding of coordinates and the errors of distances [m].
  double slack() const { return slack_; }
  // Use n, a unit vector from A to B in W, as a candidate of a separating direction.
  void look_along(const Vec3d& n_WAB) {
    if (is_half_space()) return;  // the half-space's own direction is as good as any
    n_ = transpose_times(X_WF_.R, fixed_is_A_ ? -n_WAB : n_WAB);
    if (M_.shape()) reach_ = dot(n_, X_FM_ * support(*M_.shape(), transpose_times(X_FM_.R, n_)));
    has_direction_ = true;
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  bool is_half_space() const { return M_.shape() && M_.shape()->type == ShapeType::half_space; }
  bool is_leaf(int m) const { return !M_.compound() || M_.compound()->tree().node(m).is_leaf(); }
  // Box of M's node m, in F.
  Aabb node_box(int m) const {
    return M_.compound() ? bounding_box(M_.compound()->tree().node(m).box, X_FM_) : box_M_;
  }

  // Least coordinate of a box along n.
  static double lowest(const Aabb& box, const Vec3d& n) {
    double sum = 0;
    for (int i = 0; i < 3; ++i) sum += n[i] == 0 ? 0 : n[i] * (n[i] > 0 ? box.lower : box.upper)[i];
    return sum;
  }
  static double highest(const Aabb& box, const Vec3d& n) { return -lowest(box, -n); }

  // Lower bound on the signed distance of the contents of two boxes.
  double bound(const Aabb& box_M, const Aabb& box_F) const {
    if (is_half_space()) {
      const Vec3d n = X_FM_.R.col(2);
      return lowest(box_F, n) - dot(n, X_FM_.p) - slack_;
    }
    double d = signed_distance(box_M, box_F);
    if (has_direction_)
      d = std::max(d, lowest(box_F, n_) - (M_.shape() ? reach_ : highest(box_M, n_)));
    return allowed(d);
  }
  // Lower bound on the distance of two pieces, by the direction alone.
  double piece_bound(int piece_M, int piece_F) const {
    if (!has_direction_) return -infinity;
    double reach = reach_;
    if (M_.compound())
      reach = dot(n_, X_FM_.p) - M_.compound()->lowest(piece_M, -transpose_times(X_FM_.R, n_));
    return allowed(F_.lowest(piece_F, n_) - reach);
  }
  // Reduce a bound by the rounding. It does not bound the depth of one-sided triangles.
  double allowed(double d) const { return unbounded_ && d < slack_ ? -infinity : d - slack_; }

  // Visit the pairs of pieces of two leaves that may be within the limit.
  template <class Limit, class Visit>
  bool visit_leaves(int m, const Aabb& box, const AabbTree::Node& node, Limit& limit,
                    Visit& visit) const {
    const auto against = [&](int piece_M, const Aabb& box_M) {
      for (int place = node.first; place < node.first + node.count; ++place) {
        const int piece_F = F_.tree().item(place);
        if (piece_bound(piece_M, piece_F) > limit()) continue;
        if (node.count > 1 && bound(box_M, F_.piece_box(piece_F)) > limit()) continue;
        if (fixed_is_A_ ? visit(piece_F, piece_M) : visit(piece_M, piece_F)) return true;
      }
      return false;
    };
    if (!M_.compound()) return against(0, box);
    const AabbTree& tree = M_.compound()->tree();
    const AabbTree::Node& leaf = tree.node(m);
    for (int place = leaf.first; place < leaf.first + leaf.count; ++place) {
      const int piece = tree.item(place);
      const Aabb box_M = bounding_box(M_.compound()->piece_box(piece), X_FM_);
      if (bound(box_M, node.box) <= limit() && against(piece, box_M)) return true;
    }
    return false;
  }

  bool fixed_is_A_;
  const Compound& F_;
  const Body& M_;
  SE3d X_WF_, X_FM_;
  Aabb box_M_;              // of a shape that is no half-space, in F
  double slack_ = 0;        // [m]
  bool unbounded_ = false;  // one-sided triangles take part
  bool has_direction_ = false;
  Vec3d n_;           // in F, from M to F; unit
  double reach_ = 0;  // largest coordinate of a shape M along n_
};

}  // namespace robosim
