#include "contact/row_span.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"

namespace robosim {
namespace {

constexpr double rounding_of_span = 1e-9;

}  // namespace

void RowSpan::clear(int channels) {
  channels_ = at(channels);
  basis_.clear();
  weighted_.clear();
  values_.clear();
  rest_.resize(channels_);
  product_.resize(channels_);
}

double RowSpan::rest(const RowProblem& problem, const RowBlock& block, const ConstraintRow& row) {
  const std::size_t k = channels_;
  std::fill(rest_.begin(), rest_.end(), 0.0);
  std::copy_n(row.d, block.width, &rest_[block.first_channel]);
  value_ = 0;
  for (std::size_t b = 0; b < values_.size(); ++b) {
    double along = 0;
    for (std::size_t c = 0; c < k; ++c) along += weighted_[b * k + c] * rest_[c];
    for (std::size_t c = 0; c < k; ++c) rest_[c] -= along * basis_[b * k + c];
    value_ += along * values_[b];
  }
  square_ = 0;
  std::fill(product_.begin(), product_.end(), 0.0);
  add_motion(problem, rest_.data(), product_.data(), moved_);
  for (std::size_t r = 0; r < k; ++r) square_ += rest_[r] * product_[r];
  return square_;
}

bool RowSpan::is_new(double rest, double admittance) {
  return rest > rounding_of_span * admittance;
}

bool RowSpan::add(double admittance, double value) {
  if (!is_new(square_, admittance)) return false;
  const double scale = 1 / std::sqrt(square_);
  values_.push_back(scale * (value - value_));
  for (std::size_t c = 0; c < channels_; ++c) {
    basis_.push_back(scale * rest_[c]);
    weighted_.push_back(scale * product_[c]);
  }
  return true;
}

}  // namespace robosim
