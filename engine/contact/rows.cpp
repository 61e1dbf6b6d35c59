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
  f.resize(m);
  w.resize(m);
  classes.resize(m);
  z.resize(k);
  y.resize(k);
}

void add_motion(const RowProblem& problem, const double* z, double* y, std::vector<double>& moved) {
  const int k = problem.channels;
  if (problem.L.empty()) {
    problem.F.gather(problem.blocks, z, moved);
    return problem.F.add_motion(problem.blocks, moved.data(), y);
  }
  for (int r = 0; r < k; ++r)  // L is symmetric; z is zero across the plane of a flat robot
    if (z[r] != 0) add_scaled(z[r], problem.L.data() + static_cast<std::ptrdiff_t>(r) * k, k, y);
}

void apply_impulses(const RowProblem& problem, RowSolution& s) {
  std::fill(s.z.begin(), s.z.end(), 0.0);
  for (const RowBlock& block : problem.blocks) {
    with_width(block.width, [&](auto width) {
      double z[width] = {};
      for (int i = block.first_row; i < block.last_row; ++i)
        for (int c = 0; c < width; ++c) z[c] += problem.rows[i].d[c] * s.f[i];
      std::copy_n(z, +width, s.z.data() + block.first_channel);
    });
  }
  std::copy(problem.y_free.begin(), problem.y_free.end(), s.y.begin());
  add_motion(problem, s.z.data(), s.y.data(), s.moved);
  for (const RowBlock& block : problem.blocks) {
    const double* y = s.y.data() + block.first_channel;
    with_width(block.width, [&](auto width) {
      for (int i = block.first_row; i < block.last_row; ++i) {
        const ConstraintRow& row = problem.rows[i];
        double w = row.compliance * s.f[i] - row.target;
        for (int c = 0; c < width; ++c) w += row.d[c] * y[c];
        s.w[i] = w;
      }
    });
  }
}

namespace {

// d . F_p, where p is the k-th column of F in which block b has entries.
double along_column(const RowProblem& problem, std::size_t b, const ConstraintRow& row, int k) {
  const int width = problem.blocks[b].width;
  return dot(row.d, problem.F.values_of(b) + k * width, width);
}

}  // namespace

double row_product(const RowProblem& problem, std::size_t a, const ConstraintRow& row,
                   std::size_t b, const ConstraintRow& other) {
  const RowBlock &A = problem.blocks[a], &B = problem.blocks[b];
  double sum = 0;
  if (problem.L.empty()) {  // over the columns in which both have entries
    const int *of_a = problem.F.places_of(a), *of_b = problem.F.places_of(b);
    for (int i = 0, k = 0; i < problem.F.parts[a].count && k < problem.F.parts[b].count;) {
      if (of_a[i] == of_b[k])
        sum += along_column(problem, a, row, i++) * along_column(problem, b, other, k++);
      else
        ++(of_a[i] < of_b[k] ? i : k);
    }
    return sum;
  }
  for (int r = 0; r < A.width; ++r) {
    const std::ptrdiff_t first = std::ptrdiff_t{A.first_channel + r} * problem.channels;
    for (int c = 0; c < B.width; ++c)
      sum += row.d[r] * problem.L[first + B.first_channel + c] * other.d[c];
  }
  return sum;
}

// Sum of |F^T d|^2 and R; from L, as the sweeps compute it (projected_gauss_seidel.h).
double row_admittance(const RowProblem& problem, std::size_t block, const ConstraintRow& row) {
  if (problem.L.empty()) {
    double sum = 0;
    with_width(problem.blocks[block].width, [&](auto width) {
      const double* column = problem.F.values_of(block);
      for (int k = 0; k < problem.F.parts[block].count; ++k, column += width) {
        const double along = dot(row.d, column, width);
        sum += along * along;
      }
    });
    return sum + row.compliance;
  }
  const RowBlock& own = problem.blocks[block];
  double found = 0;
  with_width(own.width, [&](auto width) {
    double moved[width];
    const std::ptrdiff_t first =
        static_cast<std::ptrdiff_t>(own.first_channel) * (problem.channels + 1);
    dots<width>(row.d, problem.L.data() + first, problem.channels, width, moved);
    found = dot(row.d, moved, width);
  });
  return found + row.compliance;
}

void RowSizes::measure(const RowProblem& problem) {
  const double free = size(problem, problem.y_free.data());
  still = problem.at_play;
  admittance.resize(problem.rows.size());
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    const RowBlock& block = problem.blocks[b];
    for (int i = block.first_row; i < block.last_row; ++i) {
      const ConstraintRow& row = problem.rows[i];
      double d = 0;
      for (int c = 0; c < block.width; ++c) d += std::abs(row.d[c]);
      still = std::max({still, d * free, std::abs(row.target)});
      admittance[i] = row_admittance(problem, b, row);
    }
  }
}

double row_scale(const RowSizes& sizes, const RowSolution& s) {
  double scale = sizes.still;
  for (std::size_t i = 0; i < s.f.size(); ++i)
    scale = std::max(scale, sizes.admittance[i] * std::abs(s.f[i]));
  return scale;
}

double row_scale(const RowProblem& problem, const RowSolution& s) {
  RowSizes sizes;
  sizes.measure(problem);
  return row_scale(sizes, s);
}

namespace {

// Violation a (f - clamp(f - w / a, bounds)) of a row. It equals w for an unbounded row that its
// own impulse does not move (a = 0).
double breach(double a, double f, double w, const RowBounds& bounds) {
  const double low = a * (f - bounds.lower), high = a * (f - bounds.upper);
  return std::abs(std::min(std::max(w, std::isnan(high) ? w : high), std::isnan(low) ? w : low));
}

// Violation of a disc around zero.
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
      r = disc_breach(std::max(sizes.admittance[at], sizes.admittance[at + 1]), &s.f[at], &s.w[at],
                      bounds.upper);
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
