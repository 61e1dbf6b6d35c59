// coal's side of pair_loop.h: one functor per pair of shapes, as the fastest caller would use coal,
// with coal's own tolerances (1e-6). Its distance functor does not support triangles. Their
// distances call the underlying function for shapes, as coal's queries of meshes do.
//
// Queries start from coal's default guess (0), from the centers of the bounding volumes (1), or
// from the pair's last answer (2), including the vertices of the last supports. This is a plain C
// interface, compiled when a benchmark first needs it (see pair_loop.py).
#include "pair_loop.h"

#include <memory>
#include <optional>
#include <vector>

#include <coal/collision.h>
#include <coal/distance.h>
#include <coal/internal/shape_shape_func.h>

#include "coal_shapes.h"

namespace {

using pair_loop::Answer;
using pair_loop::ShapeData;

coal::Transform3s pose_from(const double* X) {
  coal::Matrix3s R;
  coal::Vec3s p;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) R(i, j) = X[4 * i + j];
    p[i] = X[4 * i + 3];
  }
  return {R, p};
}

using Distance = coal::CoalScalar (*)(const coal::CollisionGeometry*, const coal::Transform3s&,
                                      const coal::CollisionGeometry*, const coal::Transform3s&,
                                      const coal::GJKSolver*, const coal::DistanceRequest&,
                                      coal::DistanceResult&);

// Distance function of a shape and a triangle.
Distance to_triangle(coal::NODE_TYPE type) {
  using coal::ShapeShapeDistance;
  using coal::TriangleP;
  switch (type) {
    case coal::GEOM_SPHERE:
      return ShapeShapeDistance<coal::Sphere, TriangleP>;
    case coal::GEOM_BOX:
      return ShapeShapeDistance<coal::Box, TriangleP>;
    case coal::GEOM_CAPSULE:
      return ShapeShapeDistance<coal::Capsule, TriangleP>;
    case coal::GEOM_CYLINDER:
      return ShapeShapeDistance<coal::Cylinder, TriangleP>;
    case coal::GEOM_CONE:
      return ShapeShapeDistance<coal::Cone, TriangleP>;
    case coal::GEOM_ELLIPSOID:
      return ShapeShapeDistance<coal::Ellipsoid, TriangleP>;
    case coal::GEOM_CONVEX:
      return ShapeShapeDistance<coal::ConvexBase, TriangleP>;
    case coal::GEOM_HALFSPACE:
      return ShapeShapeDistance<coal::Halfspace, TriangleP>;
    default:
      return ShapeShapeDistance<TriangleP, TriangleP>;
  }
}

// Counterpart of coal's distance functor that also supports triangles.
class Distancer {
 public:
  Distancer(const coal::ShapeBase* A, const coal::ShapeBase* B) : A_(A), B_(B) {
    if (B->getNodeType() == coal::GEOM_TRIANGLE)
      own_ = to_triangle(A->getNodeType());
    else
      functor_.emplace(A, B);
  }
  void operator()(const coal::Transform3s& X_WA, const coal::Transform3s& X_WB,
                  const coal::DistanceRequest& request, coal::DistanceResult& result) {
    if (!own_) {
      (*functor_)(X_WA, X_WB, request, result);
      return;
    }
    solver_.set(request);
    own_(A_, X_WA, B_, X_WB, &solver_, request, result);
    result.cached_gjk_guess = solver_.cached_guess;
    result.cached_support_func_guess = solver_.support_func_cached_guess;
  }

 private:
  const coal::ShapeBase *A_, *B_;
  std::optional<coal::ComputeDistance> functor_;
  Distance own_ = nullptr;
  coal::GJKSolver solver_;
};

struct Pair {
  std::shared_ptr<coal::ShapeBase> A, B;
  Distancer distance;
  coal::ComputeCollision collide;
  coal::DistanceRequest distance_request{true, true};  // with nearest points, signed
  coal::CollisionRequest collision_request{coal::NO_REQUEST, 1};

  Pair(std::shared_ptr<coal::ShapeBase> A_, std::shared_ptr<coal::ShapeBase> B_)
      : A(std::move(A_)), B(std::move(B_)), distance(A.get(), B.get()), collide(A.get(), B.get()) {}
};

struct CoalSide {
  std::vector<std::unique_ptr<Pair>> pairs;
  std::vector<coal::Transform3s> X_WA, X_WB;
  coal::DistanceResult distance_result;
  coal::CollisionResult collision_result;

  void add(const ShapeData& A, const ShapeData& B) {
    const auto make = [](const ShapeData& s) {
      auto shape = coal_shape(s.type, s.size, s.n_vertices, s.vertices, s.n_faces, s.faces);
      shape->computeLocalAABB();
      return shape;
    };
    pairs.push_back(std::make_unique<Pair>(make(A), make(B)));
  }
  void place(std::size_t n, const double* A, const double* B) {
    X_WA.clear();
    X_WB.clear();
    for (std::size_t k = 0; k < n; ++k) {
      X_WA.push_back(pose_from(A + 16 * k));
      X_WB.push_back(pose_from(B + 16 * k));
    }
  }
  void guess(int kind) {
    const coal::GJKInitialGuess kinds[] = {coal::GJKInitialGuess::DefaultGuess,
                                           coal::GJKInitialGuess::BoundingVolumeGuess,
                                           coal::GJKInitialGuess::CachedGuess};
    for (auto& pair : pairs) {
      // Triangles are moved within coal's queries and have no bounding volume there, so they use
      // the default guess.
      const int own = pair->B->getNodeType() == coal::GEOM_TRIANGLE && kind == 1 ? 0 : kind;
      pair->distance_request.gjk_initial_guess = pair->collision_request.gjk_initial_guess =
          kinds[own];
    }
  }
  struct Memory {
    coal::Vec3s guess[2] = {{1, 0, 0}, {1, 0, 0}};  // of distance and collision
    coal::support_func_guess_t support[2] = {{0, 0}, {0, 0}};
  };
  coal::QueryRequest& request(std::size_t i, int which) {
    if (which == 0) return pairs[i]->distance_request;
    return pairs[i]->collision_request;
  }
  Memory memory(std::size_t i) {
    Memory m;
    for (int k = 0; k < 2; ++k) {
      m.guess[k] = request(i, k).cached_gjk_guess;
      m.support[k] = request(i, k).cached_support_func_guess;
    }
    return m;
  }
  void restore(std::size_t i, const Memory& m) {
    for (int k = 0; k < 2; ++k) {
      request(i, k).cached_gjk_guess = m.guess[k];
      request(i, k).cached_support_func_guess = m.support[k];
    }
  }
  Answer distance(std::size_t i, std::size_t k) {
    Pair& pair = *pairs[i];
    distance_result.clear();
    pair.distance(X_WA[k], X_WB[k], pair.distance_request, distance_result);
    pair.distance_request.updateGuess(distance_result);
    const coal::DistanceResult& r = distance_result;
    return {r.min_distance,
            {r.nearest_points[0][0], r.nearest_points[0][1], r.nearest_points[0][2]},
            {r.nearest_points[1][0], r.nearest_points[1][1], r.nearest_points[1][2]},
            {r.normal[0], r.normal[1], r.normal[2]}};
  }
  bool overlap(std::size_t i, std::size_t k) {
    Pair& pair = *pairs[i];
    collision_result.clear();
    pair.collide(X_WA[k], X_WB[k], pair.collision_request, collision_result);
    pair.collision_request.updateGuess(collision_result);
    return collision_result.isCollision();
  }
  double factors(std::size_t, std::size_t) { return 0; }  // coal has no such factors
  double dense(std::size_t, std::size_t) { return 0; }
  double plane(std::size_t, std::size_t, const double*) { return 0; }
};

}  // namespace

PAIR_LOOP_OF(CoalSide)
