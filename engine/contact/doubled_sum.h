// A sum of products as if in twice the precision of a double, rounded once: Dot2 of Ogita, Rump and Oishi, "Accurate sum and dot product",
// SIAM J. Sci. Comput. 26 (2005).
#pragma once

#include <cmath>

namespace robosim {

class DoubledSum {
 public:
  explicit DoubledSum(double first) : high_(first) {}

  void add_product(double a, double b) {
    const double product = a * b, sum = high_ + product, of_product = sum - high_;
    low_ += ((high_ - (sum - of_product)) + (product - of_product)) + std::fma(a, b, -product);
    high_ = sum;
  }
  double value() const { return high_ + low_; }

 private:
  double high_, low_ = 0;
};

}  // namespace robosim
