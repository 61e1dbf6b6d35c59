// Sums of products as if in twice the precision of a double, several side by side, rounded once: Dot2 of Ogita, Rump and Oishi, "Accurate sum and
// dot product", SIAM J. Sci. Comput. 26 (2005). Products by Dekker's halves ("A floating-point technique for extending the available
// precision", Numer. Math. 18, 1971) rather than std::fma, which is a call where the target need not have it.
#pragma once

namespace robosim {

struct Halves {
  double high, low;

  explicit Halves(double x) {
    const double scaled = 134217729.0 * x;  // 2^27 + 1
    high = scaled - (scaled - x), low = x - high;
  }
};

// high + low += factor * from, entry by entry.
inline void add_scaled_doubled(double factor, const double* __restrict from, int count, double* __restrict high, double* __restrict low) {
  const Halves f(factor);
  for (int i = 0; i < count; ++i) {
    const Halves x(from[i]);
    const double product = factor * from[i], rounding = ((f.high * x.high - product) + f.high * x.low + f.low * x.high) + f.low * x.low;
    const double sum = high[i] + product, of_product = sum - high[i];
    low[i] += ((high[i] - (sum - of_product)) + (product - of_product)) + rounding;
    high[i] = sum;
  }
}

}  // namespace robosim
