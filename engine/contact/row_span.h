// Linear dependence of rows: a basis of the span of rows, orthonormal in the metric of L. A linear
// function of rows is extended from the rows in the span to their combinations.
#pragma once

#include <vector>

#include "contact/rows.h"

namespace robosim {

class RowSpan {
 public:
  void clear(int channels);

  // Return the part of the row's admittance d . L d outside the span.
  double rest(const RowProblem& problem, const RowBlock& block, const ConstraintRow& row);
  // Value of the linear function at the row last passed to `rest`, if it is in the span.
  double value() const { return value_; }
  // Add that row to the span, unless its part outside is rounding error relative to `admittance`.
  bool add(double admittance, double value = 0);
  // Return true if `rest` is more than rounding error relative to `admittance`.
  static bool is_new(double rest, double admittance);

 private:
  std::size_t channels_ = 0;
  std::vector<double> basis_, weighted_;  // one vector of channels each; L times it
  std::vector<double> rest_, product_, moved_;
  std::vector<double> values_;  // of the basis vectors
  double square_ = 0, value_ = 0;
};

}  // namespace robosim
