// Kinds of random rows on which solvers and derivatives of rows are tested.
#pragma once

#include <doctest/doctest.h>

#include "random_rows.h"

namespace robosim::testing {

struct Case {
  const char* name;
  RowsSpec spec;
};

// All kinds of random rows.
inline const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"one point", {.bodies = 1, .pairs = 1}},
      {"points", {.bodies = 3, .pairs = 5}},
      {"a foot", {.bodies = 1, .pairs = 1, .points = 4}},
      {"two feet", {.bodies = 2, .pairs = 2, .points = 4}},
      {"torsion", {.bodies = 2, .pairs = 3, .points = 2, .torsion = true}},
      {"bounded rows", {.bodies = 2, .pairs = 2, .points = 2, .boxes = 3}},
      {"loops", {.bodies = 3, .pairs = 2, .points = 2, .boxes = 1, .equalities = 2}},
      {"compliant",
       {.bodies = 2, .pairs = 2, .points = 4, .boxes = 1, .equalities = 1, .compliance = 1e-3}},
      {"plates", {.bodies = 2, .pairs = 2, .points = 4, .mu = 0}},
      {"frictionless", {.bodies = 3, .pairs = 5, .points = 4, .mu = 0}},
      {"light on heavy", {.bodies = 2, .pairs = 3, .points = 3, .mass_ratio = 1e3}},
      {"stack", {.bodies = 5, .pairs = 5, .points = 4}},
      {"much friction", {.bodies = 2, .pairs = 2, .points = 2, .mu = 2}},
      {"belts", {.bodies = 2, .pairs = 3, .belts = 1}},
      {"a belt under a foot", {.bodies = 1, .pairs = 1, .points = 4, .belts = 1}},
      {"hard normals",
       {.bodies = 2, .pairs = 2, .compliance = 1e-3, .hard_normals = true, .belts = 0.3}},
      {"soft normals",
       {.bodies = 2, .pairs = 2, .points = 4, .compliance = 1e-3, .hard_friction = true}},
      {"many points", {.bodies = 2, .pairs = 2, .points = 12}},
  };
  return all;
}

// Call check(case, problem) for `seeds` random problems of each kind, with friction within squares
// or discs.
template <class Check>
void for_each_problem(bool discs, int seeds, Check&& check) {
  for (Case c : cases()) {
    c.spec.discs = discs;
    CAPTURE(c.name);
    for (int seed = 0; seed < seeds; ++seed) {
      CAPTURE(seed);
      Rng rng(static_cast<std::uint64_t>(seed));
      check(c, random_rows(rng, c.spec));
    }
  }
}

}  // namespace robosim::testing
