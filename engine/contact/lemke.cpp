#include "contact/lemke.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"
#include "base/linalg/zeros.h"

namespace robosim {

namespace {

// Threshold below which an entry of the table, or the difference of two quotients, counts as zero.
constexpr double rounding = 1e-9;

}  // namespace

bool Lemke::solve(const RowProblem& problem, RowSolution& s, double& work_left) {
  const int m = problem.size(), k = problem.channels;
  s.resize(problem);
  pivots_ = 0;
  // List the complementary variables.
  variables_.clear();
  for (int i = 0; i < m; ++i) {
    const ConstraintRow& row = problem.rows[i];
    if (row.kind == RowKind::friction && !(row.mu > 0)) continue;
    variables_.push_back({i, Part::plus});
    if (row.kind == RowKind::friction || row.kind == RowKind::equality)
      variables_.push_back({i, Part::minus});
    if (row.kind == RowKind::friction || row.kind == RowKind::box)
      variables_.push_back({i, Part::slack});
  }
  const int n = static_cast<int>(variables_.size()), width = 2 * n + 2, cover = 2 * n,
            constant = 2 * n + 1;
  const double entries = static_cast<double>(n) * width;
  if (n * entries > work_left) {
    work_left = -1;
    return false;
  }

  // Velocities w with boxes at their lower bounds and all other impulses zero; the impulse of a box
  // is relative to its lower bound.
  for (int i = 0; i < m; ++i)
    s.f[i] = problem.rows[i].kind == RowKind::box ? problem.rows[i].lower : 0.0;
  apply_impulses(problem, s);
  make_zeros(pushed_, at(m * k));  // L d_i
  for (const RowBlock& block : problem.blocks) {
    for (int i = block.first_row; i < block.last_row; ++i) {
      for (int r = 0; r < k; ++r) {
        for (int c = 0; c < block.width; ++c)
          pushed_[i * k + r] += problem.L[r * k + block.first_channel + c] * problem.rows[i].d[c];
      }
    }
  }
  const auto block_of = [&](int i) -> const RowBlock& {
    return *std::find_if(problem.blocks.begin(), problem.blocks.end(),
                         [&](const RowBlock& b) { return i < b.last_row; });
  };

  // Scale to like units, f = unit f', w' = unit w, s = s' / unit. Equal factors of complementary
  // variables keep N copositive.
  unit_.resize(m);
  for (std::size_t b = 0; b < problem.blocks.size(); ++b) {
    for (int i = problem.blocks[b].first_row; i < problem.blocks[b].last_row; ++i) {
      const double a = row_admittance(problem, b, problem.rows[i]);
      unit_[i] = a > 0 ? 1 / std::sqrt(a) : 1.0;
    }
  }
  // Fill the table of w - N x - cover = q.
  make_zeros(table_, at(n * width));
  basis_.resize(n);
  const auto entry = [&](int r, int c) -> double& { return table_[at(r) * at(width) + at(c)]; };
  for (int a = 0; a < n; ++a) {
    const Variable& u = variables_[a];
    const ConstraintRow& row = problem.rows[u.row];
    const RowBlock& block = block_of(u.row);
    const double unit = unit_[u.row];
    const double sign = u.part == Part::minus ? -1 : 1;
    for (int b = 0; b < n; ++b) {
      const Variable& x = variables_[b];
      double N = 0;
      if (u.part == Part::slack) {  // bound - f
        if (x.row == u.row && x.part != Part::slack) N = -1;
        if (row.kind == RowKind::friction && x.row == row.normal && x.part == Part::plus)
          N = row.mu * unit_[x.row] / unit;
      } else if (x.part == Part::slack) {
        if (x.row == u.row) N = 1;
      } else {
        for (int c = 0; c < block.width; ++c)
          N += row.d[c] * pushed_[x.row * k + block.first_channel + c];
        if (x.row == u.row) N += row.compliance;
        N *= sign * (x.part == Part::minus ? -1 : 1) * unit * unit_[x.row];
      }
      entry(a, n + b) = -N;  // w - N x - cover = q
    }
    entry(a, a) = 1;
    entry(a, cover) = -1;
    entry(a, constant) = u.part != Part::slack
                             ? sign * s.w[u.row] * unit
                             : (row.kind == RowKind::box ? (row.upper - row.lower) / unit : 0.0);
    basis_[a] = a;
  }

  // Normalize q; impulses scale with q.
  double size = 0;
  for (int a = 0; a < n; ++a) size = std::max(size, std::abs(entry(a, constant)));
  for (int a = 0; a < n && size > 0; ++a) entry(a, constant) /= size;

  const auto complement = [n](int v) { return v < n ? v + n : v - n; };
  // Return true if row a of the table leaves the basis before row b: lexicographic order of the
  // rows, each divided by its entry in the entering column.
  const auto before = [&](int a, int b, int entering) {
    const double ea = entry(a, entering), eb = entry(b, entering);
    const auto compare = [&](int c) {
      const double x = std::abs(entry(a, c)) > rounding ? entry(a, c) / ea : 0,
                   y = std::abs(entry(b, c)) > rounding ? entry(b, c) / eb : 0;
      return std::abs(x - y) <= rounding * (std::abs(x) + std::abs(y)) ? 0 : (x < y ? -1 : 1);
    };
    if (const int q = compare(constant)) return q < 0;
    if (basis_[a] == cover || basis_[b] == cover) return basis_[a] == cover;
    for (int c = 0; c < n; ++c) {
      if (const int q = compare(c)) return q < 0;
    }
    return a < b;
  };
  const auto pivot = [&](int r, int c) {
    const double p = entry(r, c);
    for (int j = 0; j < width; ++j) entry(r, j) /= p;
    entry(r, c) = 1;
    for (int i = 0; i < n; ++i) {
      const double factor = entry(i, c);
      if (i == r || factor == 0) continue;
      for (int j = 0; j < width; ++j) entry(i, j) -= factor * entry(r, j);
      entry(i, c) = 0;
    }
    basis_[r] = c;
    ++pivots_;
  };

  // The covering variable enters where q is smallest.
  int leaving = -1;
  for (int a = 0; a < n; ++a) {
    if (entry(a, constant) < 0 && (leaving < 0 || before(leaving, a, cover))) leaving = a;
  }
  const int limit = 4 * n + 100;  // three times the pivots of solved problems
  for (int entering = cover; leaving >= 0;) {
    const int left = basis_[leaving];
    pivot(leaving, entering);
    if (left == cover) break;
    if ((work_left -= entries) < 0 || pivots_ >= limit) return false;
    entering = complement(left);
    double largest = 0;
    for (int a = 0; a < n; ++a) largest = std::max(largest, std::abs(entry(a, entering)));
    leaving = -1;
    for (int a = 0; a < n; ++a) {
      if (entry(a, entering) > rounding * largest && (leaving < 0 || before(a, leaving, entering)))
        leaving = a;
    }
    if (leaving < 0) return false;  // a ray
  }

  // Copy impulses and modes.
  for (int a = 0; a < n; ++a) {
    if (basis_[a] < n || basis_[a] == cover) continue;
    const Variable& x = variables_[basis_[a] - n];
    if (x.part != Part::slack)
      s.f[x.row] += (x.part == Part::minus ? -1 : 1) * unit_[x.row] * size * entry(a, constant);
  }
  apply_impulses(problem, s);
  std::fill(s.classes.begin(), s.classes.end(), RowClass::separating);
  // An impulse in the basis is within its bounds, unless its slip speed is in the basis as well.
  for (int a = 0; a < n; ++a) {
    if (basis_[a] < n || basis_[a] == cover) continue;
    const Variable& x = variables_[basis_[a] - n];
    RowClass& c = s.classes[x.row];
    if (x.part != Part::slack && c == RowClass::separating) c = RowClass::clamping;
    if (x.part == Part::slack) c = s.w[x.row] < 0 ? RowClass::upper : RowClass::lower;
  }
  for (int i = 0; i < m; ++i) {
    const ConstraintRow& row = problem.rows[i];
    if (row.kind == RowKind::equality) s.classes[i] = RowClass::clamping;
    if (row.kind == RowKind::box && s.classes[i] == RowClass::separating)
      s.classes[i] = s.w[i] < 0 ? RowClass::upper : RowClass::lower;
  }
  return true;
}

}  // namespace robosim
