// Search of arrays for numbers that are infinite or NaN.
#pragma once

#include <cstddef>

namespace robosim {

// True if none of the n numbers is infinite or NaN.
bool all_finite(const double* x, std::ptrdiff_t n);

// Index of the first that is; n if none is.
std::ptrdiff_t first_not_finite(const double* x, std::ptrdiff_t n);

}  // namespace robosim
