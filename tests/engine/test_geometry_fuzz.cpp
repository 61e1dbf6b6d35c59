// Hostile scenes in every pair of shapes, certified one by one; `python
// benchmarks/fuzz_geometry.py` runs ten million of them.
#include <doctest/doctest.h>

#include <string>

#include "manifold_certificate.h"
#include "scale.h"

using namespace robosim;
using namespace robosim::testing;

TEST_CASE("hostile scenes have finite, certified answers") {
  const HostileScenes scenes(1, 10000);
  RandomShapes random;
  const auto n = static_cast<std::uint64_t>(repeats(8000, 40000));
  for (std::uint64_t i = 0; i < n; ++i) {
    const Scene s = scenes.scene(i);
    random.engine.seed(i);  // a scene fails or passes by itself
    const Verdict verdict = certify_all(s, random);
    if (!verdict.broken) continue;
    INFO("scene ", i, ", ", std::string(name_of(s.A.type)), " and ", std::string(name_of(s.B.type)),
         ", ", std::string(Scene::names[static_cast<int>(s.kind)]), ": ",
         std::string(verdict.broken), " by ", verdict.by);
    CHECK(verdict.broken == nullptr);
  }
}
