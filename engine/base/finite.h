// Checks of arrays for infinities and NaN.
#pragma once

#include <cstddef>

namespace robosim {

// Return true if all n numbers are finite.
bool all_finite(const double* x, std::ptrdiff_t n);

// Return the index of the first number that is infinite or NaN, or n if there is none.
std::ptrdiff_t first_not_finite(const double* x, std::ptrdiff_t n);

}  // namespace robosim
