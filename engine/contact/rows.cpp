#include "contact/rows.h"

#include <algorithm>
#include <cmath>

#include "base/linalg/small_sums.h"

namespace robosim {

namespace {

double size(const RowProblem& problem, const double* channels) {
  double s = 0;
  for (int j = 0; j < problem.channels; ++j) s = std::max(s, std::abs(channels[j]));
  return s;
}

}  // namespace

void RowSolution::resize(const RowProblem& problem) {
  const std::size_t m = problem.rows.size(), k = static_cast<std::size_t>(problem.channels);
  f.resize(m), w.resize(m), classes.resize(m), z.resize(k), y.resize(k);
}

void turn_disc(const ConstraintRow* disc, double angle, ConstraintRow* turned) {
  const ConstraintRow &x = disc[0], &y = disc[1];
  const double c = std::cos(angle), s = std::sin(angle);
  for (int k = 0; k < most_block_channels; ++k) turned[0].d[k] = c * x.d[k] + s * y.d[k], turned[1].d[k] = c * y.d[k] - s * x.d[k];
  turned[0].target = c * x.target + s * y.target, turned[1].target = c * y.target - s * x.target;
}

void turn_disc_back(double angle, double& along, double& across) {
  const double c = std::cos(angle), s = std::sin(angle), first = c * along - s * across;
  across = s * along + c * across, along = first;
}

void apply_impulses(const RowProblem& problem, RowSolution& s) {
  const int k = problem.channels;
  std::fill(s.z.begin(), s.z.end(), 0.0);
  for (const RowBlock& block : problem.blocks) {
    with_width(block.width, [&](auto width) {
      double z[width] = {};
      for (int i = block.first_row; i < block.last_row; ++i)
        for (int c = 0; c < width; ++c) z[c] += problem.rows[static_cast<std::size_t>(i)].d[c] * s.f[static_cast<std::size_t>(i)];
      std::copy_n(z, +width, s.z.data() + block.first_channel);
    });
  }
  std::copy(problem.y_free.begin(), problem.y_free.end(), s.y.begin());
  for (int r = 0; r < k; ++r) {  // L is symmetric; across the plane of a flat robot nothing pushes
    const double z = s.z[static_cast<std::size_t>(r)];
    if (z != 0) add_scaled(z, problem.L.data() + static_cast<std::ptrdiff_t>(r) * k, k, s.y.data());
  }
  for (const RowBlock& block : problem.blocks) {
    const double* y = s.y.data() + block.first_channel;
    with_width(block.width, [&](auto width) {
      for (int i = block.first_row; i < block.last_row; ++i) {
        const ConstraintRow& row = problem.rows[static_cast<std::size_t>(i)];
        double w = row.compliance * s.f[static_cast<std::size_t>(i)] - row.target;
        for (int c = 0; c < width; ++c) w += row.d[c] * y[c];
        s.w[static_cast<std::size_t>(i)] = w;
      }
    });
  }
}

namespace {

// d_i . L d_i, as sweeps have it (projected_gauss_seidel.h).
double own_admittance(const RowProblem& problem, const RowBlock& block, const ConstraintRow& row) {
  double found = 0;
  with_width(block.width, [&](auto width) {
    double moved[width];
    dots<width>(row.d, problem.L.data() + static_cast<std::ptrdiff_t>(block.first_channel) * (problem.channels + 1), problem.channels, width, moved);
    found = dot(row.d, moved, width);
  });
  return found;
}

}  // namespace

double row_admittance(const RowProblem& problem, const RowBlock& block, const ConstraintRow& row) { return own_admittance(problem, block, row) + row.compliance; }

void RowSizes::measure(const RowProblem& problem) {
  const double free = size(problem, problem.y_free.data());
  still = problem.at_play;
  admittance.resize(problem.rows.size());
  for (const RowBlock& block : problem.blocks) {
    for (int i = block.first_row; i < block.last_row; ++i) {
      const ConstraintRow& row = problem.rows[static_cast<std::size_t>(i)];
      double d = 0;
      for (int c = 0; c < block.width; ++c) d += std::abs(row.d[c]);
      still = std::max({still, d * free, std::abs(row.target)});
      admittance[static_cast<std::size_t>(i)] = row_admittance(problem, block, row);
    }
  }
}

double row_scale(const RowSizes& sizes, const RowSolution& s) {
  double scale = sizes.still;
  for (std::size_t i = 0; i < s.f.size(); ++i) scale = std::max(scale, sizes.admittance[i] * std::abs(s.f[i]));
  return scale;
}

double row_scale(const RowProblem& problem, const RowSolution& s) {
  RowSizes sizes;
  sizes.measure(problem);
  return row_scale(sizes, s);
}

namespace {

// a (f - clamp(f - w / a, bounds)), which is w where the row's own impulse moves nothing (a = 0) and is unbounded.
double breach(double a, double f, double w, const RowBounds& bounds) {
  const double low = a * (f - bounds.lower), high = a * (f - bounds.upper);
  return std::abs(std::min(std::max(w, std::isnan(high) ? w : high), std::isnan(low) ? w : low));
}

// The same of a disc about zero.
double disc_breach(double a, const double* f, const double* w, double radius) {
  const double x = a * f[0] - w[0], y = a * f[1] - w[1], size = length(x, y);
  const double part = size > a * radius ? a * radius / size : 1;
  return length(a * f[0] - part * x, a * f[1] - part * y);
}

}  // namespace

double row_residual(const RowProblem& problem, const RowSizes& sizes, const RowSolution& s) {
  double worst = 0;
  for (int i = 0; i < problem.size(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    const RowBounds bounds = row_bounds(problem, i, s.f.data());
    double r;
    if (problem.rows[at].is_disc) {
      r = disc_breach(std::max(sizes.admittance[at], sizes.admittance[at + 1]), &s.f[at], &s.w[at], bounds.upper);
      ++i;
    } else {
      r = breach(sizes.admittance[at], s.f[at], s.w[at], bounds);
    }
    if (std::isnan(r)) return r;
    worst = std::max(worst, r);
  }
  const double scale = row_scale(sizes, s);
  return scale > 0 ? worst / scale : worst;
}

double row_residual(const RowProblem& problem, const RowSolution& s) {
  RowSizes sizes;
  sizes.measure(problem);
  return row_residual(problem, sizes, s);
}

}  // namespace robosim
