// Errors of the derivatives of a witness, from Ridders differences of the query itself, for one
// pair of posed shapes.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "geometry/contact_derivatives.h"
#include "ridders.h"
#include "spatial/lie.h"
#include "varied_shapes.h"

namespace robosim::testing {

inline SE3d moved(const SE3d& X, int k, double t) {
  Motion<double> V;
  (k < 3 ? V.linear[k] : V.angular[k - 3]) = t;
  return X * exp_motion(V);
}

// Flatten a witness: distance, normal, p_WA, p_WB.
inline Numbers flat(const Witness& w) {
  Numbers x{w.distance};
  for (const Vec3d& v : {w.normal, w.p_WA, w.p_WB})
    for (int i = 0; i < 3; ++i) x.push_back(v[i]);
  return x;
}
inline Numbers flat(const WitnessRate& r) {
  return flat(Witness{r.distance, r.p_WA, r.p_WB, r.normal});
}

// True if no vertex of the mesh is in front of any face.
inline bool is_convex(const ConvexMesh& mesh) {
  for (const auto& face : mesh.faces) {
    const auto at = [&](std::size_t k) { return mesh.vertices[face[k]]; };
    const Vec3d n = cross(at(1) - at(0), at(2) - at(0));
    const double room = 1e-15 * norm(n) * mesh.ball.radius;
    for (const Vec3d& v : mesh.vertices)
      if (dot(n, v - at(0)) > room) return false;
  }
  return true;
}

// Worst error of an entry by kind of derivative, relative to the largest entry of its column (or
// 1).
//
// Steps of the differences keep the touching features. A pair is not compared in these cases:
// - the features change within 0.01 (m or rad);
// - the derivatives are one-sided;
// - the normal reaches the next feature within 1e-6 (between two corners, or a corner and an edge,
//   the normal turns by 1 rad as they move by their gap).
//
// Overlapping shapes may have other features of equal depth, and the query may switch to them. A
// jump of the normal detects this and ends the comparison. A moved vertex soon flips the edge
// between two nearly parallel faces to the other diagonal, so that vertices have shorter steps. A
// coordinate whose steps are still too long is left out.
struct DerivativeErrors {
  enum Kind { twist, sizes, scale, vertices, n_kinds };
  static constexpr double switch_distance = 0.01;

  Witness witness;
  WitnessDerivatives rates;
  double worst[n_kinds] = {-1, -1, -1, -1};  // -1 if the pair has none of the kind
  bool near_a_switch = false, jumped = false;
  int passed_over = 0;  // coordinates of vertices left out

  DerivativeErrors(const Shape& A, const SE3d& X_WA, const Shape& B, const SE3d& X_WB)
      : witness(signed_distance(A, X_WA, B, X_WB)),
        rates(witness_derivatives(witness, A, X_WA, B, X_WB)) {
    const double room = std::min({rates.A.slide, rates.A.tilt(), rates.B.slide, rates.B.tilt()});
    double turn = 0;
    for (const WitnessRate& rate : rates.twist) turn = std::max(turn, norm(rate.normal));
    near_a_switch = rates.one_sided || room < switch_distance ||
                    std::min(rates.A.tilt(), rates.B.tilt()) < 1e-6 * turn;
    if (near_a_switch) return;
    const double step = std::min(1e-3, 0.05 * room);
    for (int k = 0; k < 6; ++k) {
      compare(twist, rates.twist[k], step,
              [&](double t) { return signed_distance(A, moved(X_WA, k, t), B, X_WB); });
      compare(twist, rates.twist[6 + k], step,
              [&](double t) { return signed_distance(A, X_WA, B, moved(X_WB, k, t)); });
    }
    for (int side = 0; side < 2; ++side) {
      const Shape& shape = side ? B : A;
      const auto query = [&, side](const Shape& s) {
        return side ? signed_distance(A, X_WA, s, X_WB) : signed_distance(s, X_WA, B, X_WB);
      };
      for (int k = 0; k < rates.n_sizes[side]; ++k)
        compare(sizes, rates.size[side][k], step,
                [&](double t) { return query(with_size(shape, k, t)); });
      compare(scale, rates.scale[side], step,
              [&](double t) { return query(with_scale(shape, 1 + t)); });
      const LocalSurface& surface = side ? rates.B : rates.A;
      for (int i = 0; i < surface.n_corners; ++i)
        for (int k = 0; k < 3; ++k) {
          const auto changed = [&](double t) {
            return with_vertex(shape, surface.corner[i].vertex, k, t);
          };
          const double shorter = 0.03 * step;
          if (!shape.mesh ||
              (is_convex(*changed(shorter).mesh) && is_convex(*changed(-shorter).mesh)))
            compare(vertices, rates.corner[side][i][k], shorter,
                    [&](double t) { return query(changed(t)); });
          else
            ++passed_over;
        }
    }
  }

 private:
  template <class F>
  void compare(Kind kind, const WitnessRate& rate, double step, F&& query) {
    if (jumped) return;
    const Numbers got = flat(rate), expected = ridders(
                                        [&](double t) {
                                          const Witness x = query(t);
                                          jumped |= norm(x.normal - witness.normal) > 0.1;
                                          return flat(x);
                                        },
                                        step);
    if (jumped) return;
    // No derivative is found if a NaN occurs on the way.
    double largest = 1, error = expected.size() == got.size() ? 0 : INFINITY;
    for (const double x : expected) largest = std::max(largest, std::fabs(x));
    for (std::size_t k = 0; k < expected.size(); ++k)
      error = std::max(error, std::fabs(got[k] - expected[k]));
    worst[kind] = std::max(worst[kind], error / largest);
  }
};

}  // namespace robosim::testing
