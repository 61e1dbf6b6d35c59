// Which rows are combinations of others: orthonormal vectors of channels, in the metric of L, that
// span those of the rows taken in. And what a linear function of rows is for combinations, by its
// values for the rows taken in.
#pragma once

#include <vector>

#include "contact/rows.h"

namespace robosim {

class RowSpan {
 public:
  void clear(int channels);

  // What is left of the row's admittance d . L d beside the rows that are in.
  double rest(const RowProblem& problem, const RowBlock& block, const ConstraintRow& row);
  // Of the row that `rest` was last asked of, as far as it is a combination.
  double value() const { return value_; }
  // Takes that row in, unless it is a combination: what is left beside `admittance` of it is
  // rounding.
  bool add(double admittance, double value = 0);
  // Whether what is left beside `admittance` is more than rounding.
  static bool is_new(double rest, double admittance);

 private:
  std::size_t channels_ = 0;
  std::vector<double> basis_, weighted_;  // a vector of channels each; L times it
  std::vector<double> rest_, product_, moved_;
  std::vector<double> values_;  // of the vectors
  double square_ = 0, value_ = 0;
};

}  // namespace robosim
