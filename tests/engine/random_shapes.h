// Random shapes and poses, and a loop over all pairs of types.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "shape_sampler.h"

namespace robosim::testing {

// Pairs with the newest type come last, so that they do not change the random numbers of others.
template <class F>
void for_all_pairs(F&& f) {
  constexpr int newest = n_shape_types - 1;
  for (const bool with_newest : {false, true})
    for (int a = 0; a < n_shape_types; ++a)
      for (int b = 0; b < n_shape_types; ++b) {
        if ((a == newest || b == newest) != with_newest) continue;
        CAPTURE(std::string(shape_type_names[a]));
        CAPTURE(std::string(shape_type_names[b]));
        f(static_cast<ShapeType>(a), static_cast<ShapeType>(b));
      }
}

}  // namespace robosim::testing
