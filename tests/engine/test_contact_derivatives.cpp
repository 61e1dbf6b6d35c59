// Derivatives of closest points against Ridders differences of the query itself, and what holds of them exactly.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstdio>

#include "geometry/contact_derivatives.h"
#include "random_shapes.h"
#include "ridders.h"
#include "spatial/lie.h"

using namespace robosim;
using namespace robosim::testing;

namespace {

SE3d moved(const SE3d& X, int k, double t) {
  Motion<double> V;
  (k < 3 ? V.linear[k] : V.angular[k - 3]) = t;
  return X * exp_motion(V);
}

// distance, normal, p_WA, p_WB.
Numbers flat(const Witness& w) {
  Numbers x{w.distance};
  for (const Vec3d& v : {w.normal, w.p_WA, w.p_WB})
    for (int i = 0; i < 3; ++i) x.push_back(v[i]);
  return x;
}
Numbers column(const WitnessDerivatives& d, int c) {
  Numbers x{d.distance[c]};
  for (const Vec3d& v : {d.normal[c], d.p_WA[c], d.p_WB[c]})
    for (int i = 0; i < 3; ++i) x.push_back(v[i]);
  return x;
}

}  // namespace

TEST_CASE("derivatives are those of the query") {
  RandomShapes random;
  for_all_pairs([&](ShapeType a, ShapeType b) {
    int compared = 0, skipped = 0;
    double worst = 0;
    for (int i = 0; i < 60; ++i) {
      const Shape A = random.shape(a), B = random.shape(b);
      const SE3d X_WA = random.pose(0.6), X_WB = random.pose(0.6);
      const Witness w = signed_distance(A, X_WA, B, X_WB);
      if (!std::isfinite(w.distance)) continue;
      const WitnessDerivatives d = witness_derivatives(w, A, X_WA, B, X_WB);
      const double room = std::fmin(std::fmin(d.A.slide, d.A.tilt), std::fmin(d.B.slide, d.B.tilt));
      if (d.one_sided || room < 0.02) { ++skipped; continue; }
      for (int c = 0; c < 12; ++c) {
        const Numbers expected = ridders(
            [&](double t) {
              return flat(c < 6 ? signed_distance(A, moved(X_WA, c, t), B, X_WB) : signed_distance(A, X_WA, B, moved(X_WB, c - 6, t)));
            },
            1e-3);
        const Numbers got = column(d, c);
        for (std::size_t k = 0; k < got.size(); ++k) {
          const double e = std::fabs(got[k] - expected[k]);
          if (e > worst) worst = e;
          if (e > 1e-5 && std::getenv("SHOW")) std::printf("  %s %s phi %.3g c %d k %zu got %.9g expected %.9g kinds %d %d room %.3g\n", name_of(a), name_of(b), w.distance, c, k, got[k], expected[k], (int)d.A.kind, (int)d.B.kind, room);
        }
      }
      ++compared;
    }
    std::printf("%-12s %-12s compared %d skipped %d worst %.2g\n", name_of(a), name_of(b), compared, skipped, worst);
  });
}
