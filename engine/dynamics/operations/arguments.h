// Arguments that many operations share.
#pragma once

#include "dynamics/operation.h"

namespace robosim::operations {

inline constexpr Argument q{"q", 1, {dim_q, 0, 0}}, v{"v", 1, {dim_v, 0, 0}},
    a{"a", 1, {dim_v, 0, 0}}, tau{"tau", 1, {dim_v, 0, 0}};

constexpr Argument vector(const char* name) { return {name, 1, {dim_v, 0, 0}}; }
constexpr Argument square(const char* name, Pattern pattern = Pattern::full) {
  return {name, 2, {dim_v, dim_v, 0}, pattern};
}

}  // namespace robosim::operations
