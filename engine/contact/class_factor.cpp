#include "contact/class_factor.h"

#include <algorithm>
#include <cmath>

#include "contact/lu.h"

namespace robosim {

namespace {

// Columns whose part outside the span of the others is smaller than this times the largest depend on them.
constexpr double rank_tolerance = 1e-8;
constexpr double singular_tolerance = 1e-13;

double bound_sign(RowClass c) { return c == RowClass::upper ? 1.0 : -1.0; }

bool at_bound(RowClass c) { return c == RowClass::upper || c == RowClass::lower; }

}  // namespace

bool ClassFactor::factor(const RowProblem& problem, const RowClass* classes) {
  classes_.assign(classes, classes + problem.size());
  clamping_.clear(), bases_.clear(), numbers_.clear();
  unknowns_ = 0;
  for (const RowBlock& block : problem.blocks) {
    Basis basis;
    basis.first_row = static_cast<int>(clamping_.size());
    basis.first_unknown = unknowns_;
    for (int i = block.first_row; i < block.last_row; ++i) {
      const ConstraintRow& row = problem.rows[static_cast<std::size_t>(i)];
      RowClass& c = classes_[static_cast<std::size_t>(i)];
      if (row.kind == RowKind::friction && row_class(row.normal) != RowClass::clamping) c = RowClass::separating;
      if (c == RowClass::clamping) clamping_.push_back(i);
    }
    basis.rows = static_cast<int>(clamping_.size()) - basis.first_row;
    make_basis(problem, block, basis);
    unknowns_ += basis.columns;
    bases_.push_back(basis);
  }
  assemble(problem);
  pivots_.resize(static_cast<std::size_t>(unknowns_));
  row_sizes_.resize(static_cast<std::size_t>(unknowns_));
  return lu_factor(S_.data(), unknowns_, pivots_.data(), row_sizes_.data()) > singular_tolerance;
}

void ClassFactor::make_basis(const RowProblem& problem, const RowBlock& block, Basis& basis) {
  const int* rows = clamping_.data() + basis.first_row;
  const int n = basis.rows, width = block.width;
  const auto row = [&](int i) -> const ConstraintRow& { return problem.rows[static_cast<std::size_t>(i)]; };

  // Columns of D, and of the identity that become those of Q: pivoted Gram-Schmidt, each projection done twice.
  scratch_.assign(static_cast<std::size_t>((n + width) * width), 0.0);
  const auto column = [&](int c) { return scratch_.data() + static_cast<std::ptrdiff_t>(c) * (n + width); };
  for (int c = 0; c < width; ++c) {
    for (int i = 0; i < n; ++i) column(c)[i] = row(rows[i]).compliance > 0 ? 0.0 : row(rows[i]).d[c];
    column(c)[n + c] = 1;
  }
  int rank = 0;
  double largest = 0;
  for (; rank < width; ++rank) {
    int best = rank;
    double most = 0;
    for (int c = rank; c < width; ++c) {
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += column(c)[i] * column(c)[i];
      if (sum > most) most = sum, best = c;
    }
    most = std::sqrt(most);
    if (rank == 0) largest = most;
    if (!(most > rank_tolerance * largest)) break;
    if (best != rank) std::swap_ranges(column(rank), column(rank) + n + width, column(best));
    double* p = column(rank);
    for (int pass = 0; pass < 2; ++pass) {
      for (int c = 0; pass == 1 && c < rank; ++c) {
        double along = 0;
        for (int i = 0; i < n; ++i) along += column(c)[i] * p[i];
        for (int i = 0; i < n + width; ++i) p[i] -= along * column(c)[i];
      }
      double norm = 0;
      for (int i = 0; i < n; ++i) norm += p[i] * p[i];
      norm = std::sqrt(norm);
      for (int i = 0; i < n + width; ++i) p[i] /= norm;
    }
    for (int c = rank + 1; c < width; ++c) {
      double along = 0;
      for (int i = 0; i < n; ++i) along += p[i] * column(c)[i];
      for (int i = 0; i < n + width; ++i) column(c)[i] -= along * p[i];
    }
  }
  int compliant = 0;
  for (int i = 0; i < n; ++i) compliant += row(rows[i]).compliance > 0;
  basis.columns = rank + compliant;

  const auto reserve = [&](int entries) {
    const std::size_t begin = numbers_.size();
    numbers_.resize(begin + static_cast<std::size_t>(entries), 0.0);
    return begin;
  };
  basis.P = reserve(n * basis.columns);
  basis.Q = reserve(width * basis.columns);
  basis.N = reserve(width * basis.columns);
  basis.KP = reserve(width * basis.columns);
  double* P = numbers(basis.P);
  for (int c = 0; c < rank; ++c) {
    for (int i = 0; i < n; ++i) P[i * basis.columns + c] = column(c)[i];
    for (int k = 0; k < width; ++k) numbers(basis.Q)[k * basis.columns + c] = column(c)[n + k];
  }
  int own = rank;
  for (int i = 0; i < n; ++i) {
    if (row(rows[i]).compliance > 0) P[i * basis.columns + own++] = 1;
  }

  // N = D_C^T P; K P = N and the friction at its bound, which follows its normal.
  const auto add_outer = [&](std::size_t begin, const double* d, double factor, const double* p) {
    double* out = numbers(begin);
    for (int k = 0; k < width; ++k) {
      for (int c = 0; c < basis.columns; ++c) out[k * basis.columns + c] += factor * d[k] * p[c];
    }
  };
  for (int i = 0; i < n; ++i) {
    add_outer(basis.N, row(rows[i]).d, 1, P + i * basis.columns);
    add_outer(basis.KP, row(rows[i]).d, 1, P + i * basis.columns);
  }
  for (int j = block.first_row; j < block.last_row; ++j) {
    const ConstraintRow& friction = row(j);
    if (friction.kind != RowKind::friction || !at_bound(row_class(j))) continue;
    const int i = static_cast<int>(std::find(rows, rows + n, friction.normal) - rows);
    add_outer(basis.KP, friction.d, bound_sign(row_class(j)) * friction.mu, P + i * basis.columns);
  }
}

void ClassFactor::assemble(const RowProblem& problem) {
  const int r = unknowns_;
  S_.assign(static_cast<std::size_t>(r) * static_cast<std::size_t>(r), 0.0);
  double product[most_block_channels];
  for (std::size_t b = 0; b < bases_.size(); ++b) {
    const RowBlock& right = problem.blocks[b];
    const Basis& from = bases_[b];
    for (int c = 0; c < from.columns; ++c) {
      for (std::size_t a = 0; a < bases_.size(); ++a) {
        const RowBlock& left = problem.blocks[a];
        const Basis& to = bases_[a];
        if (to.columns == 0) continue;
        for (int k = 0; k < left.width; ++k) {
          const double* L = problem.L.data() + static_cast<std::ptrdiff_t>(left.first_channel + k) * problem.channels + right.first_channel;
          product[k] = 0;
          for (int j = 0; j < right.width; ++j) product[k] += L[j] * numbers(from.KP)[j * from.columns + c];
        }
        for (int e = 0; e < to.columns; ++e) {
          double sum = 0;
          for (int k = 0; k < left.width; ++k) sum += numbers(to.N)[k * to.columns + e] * product[k];
          S_[static_cast<std::size_t>((to.first_unknown + e) * r + from.first_unknown + c)] = sum;
        }
      }
    }
    // P^T R P: compliant rows are unknowns of their own.
    for (int i = 0; i < from.rows; ++i) {
      const double R = problem.rows[static_cast<std::size_t>(clamping_[static_cast<std::size_t>(from.first_row + i)])].compliance;
      for (int c = 0; R > 0 && c < from.columns; ++c) {
        const double p = numbers(from.P)[i * from.columns + c];
        const int u = from.first_unknown + c;
        S_[static_cast<std::size_t>(u * r + u)] += p * R;
      }
    }
  }
}

void ClassFactor::solve(const RowProblem& problem, RowSolution& s) {
  s.resize(problem);
  s.classes = classes_;
  unknown_.assign(static_cast<std::size_t>(unknowns_), 0.0);
  // The second time what rounding has left of w_C.
  for (int pass = 0; pass < 2; ++pass) {
    std::fill(s.f.begin(), s.f.end(), 0.0);
    for (std::size_t b = 0; b < bases_.size(); ++b) {
      const Basis& basis = bases_[b];
      for (int i = 0; i < basis.rows; ++i) {
        double& f = s.f[static_cast<std::size_t>(clamping_[static_cast<std::size_t>(basis.first_row + i)])];
        for (int c = 0; c < basis.columns; ++c) f += numbers(basis.P)[i * basis.columns + c] * unknown_[static_cast<std::size_t>(basis.first_unknown + c)];
      }
    }
    const auto at_bounds = [&] {
      for (int i = 0; i < problem.size(); ++i) {
        const ConstraintRow& row = problem.rows[static_cast<std::size_t>(i)];
        if (!at_bound(row_class(i))) continue;
        s.f[static_cast<std::size_t>(i)] = row.kind == RowKind::friction ? bound_sign(row_class(i)) * row.mu * s.f[static_cast<std::size_t>(row.normal)]
                                           : row_class(i) == RowClass::upper ? row.upper
                                                                             : row.lower;
      }
    };
    at_bounds();
    apply_impulses(problem, s);
    scratch_.assign(static_cast<std::size_t>(unknowns_), 0.0);
    for (const Basis& basis : bases_) {
      for (int i = 0; i < basis.rows; ++i) {
        const double w = s.w[static_cast<std::size_t>(clamping_[static_cast<std::size_t>(basis.first_row + i)])];
        for (int c = 0; c < basis.columns; ++c) scratch_[static_cast<std::size_t>(basis.first_unknown + c)] -= numbers(basis.P)[i * basis.columns + c] * w;
      }
    }
    lu_solve(S_.data(), unknowns_, pivots_.data(), scratch_.data());
    for (int u = 0; u < unknowns_; ++u) unknown_[static_cast<std::size_t>(u)] += scratch_[static_cast<std::size_t>(u)];
    for (std::size_t b = 0; b < bases_.size(); ++b) {
      const Basis& basis = bases_[b];
      for (int i = 0; i < basis.rows; ++i) {
        double& f = s.f[static_cast<std::size_t>(clamping_[static_cast<std::size_t>(basis.first_row + i)])];
        for (int c = 0; c < basis.columns; ++c) f += numbers(basis.P)[i * basis.columns + c] * scratch_[static_cast<std::size_t>(basis.first_unknown + c)];
      }
    }
    at_bounds();
  }
  apply_impulses(problem, s);
}

double ClassFactor::defect(const RowProblem& problem, const RowSolution& s) const {
  double worst = 0;
  for (const int i : clamping_) worst = std::max(worst, std::abs(s.w[static_cast<std::size_t>(i)]));
  const double scale = row_scale(problem, s);
  return scale > 0 ? worst / scale : worst;
}

void ClassFactor::add_vjp(const RowProblem& problem, const RowSolution& s, const double* f_bar, const double* z_bar, RowGradient& g) {
  const int m = problem.size(), k = problem.channels;
  const auto row = [&](int i) -> const ConstraintRow& { return problem.rows[static_cast<std::size_t>(i)]; };
  const auto own = [&](const std::vector<double>& v, int i) { return v[static_cast<std::size_t>(i)]; };

  // What the loss changes by with f while z follows it, carried from the rows at their bounds to their normals, and from there to b.
  f_bar_.assign(f_bar, f_bar + m);
  for (const RowBlock& block : problem.blocks) {
    for (int i = block.first_row; i < block.last_row; ++i) {
      for (int c = 0; c < block.width; ++c) f_bar_[static_cast<std::size_t>(i)] += row(i).d[c] * z_bar[block.first_channel + c];
    }
  }
  const auto carry_to_normals = [&] {
    for (int i = 0; i < m; ++i) {
      if (row(i).kind == RowKind::friction && at_bound(row_class(i)))
        f_bar_[static_cast<std::size_t>(row(i).normal)] += bound_sign(row_class(i)) * row(i).mu * own(f_bar_, i);
    }
  };
  carry_to_normals();
  scratch_.assign(static_cast<std::size_t>(unknowns_), 0.0);
  for (const Basis& basis : bases_) {
    for (int i = 0; i < basis.rows; ++i) {
      const double f = own(f_bar_, clamping_[static_cast<std::size_t>(basis.first_row + i)]);
      for (int c = 0; c < basis.columns; ++c) scratch_[static_cast<std::size_t>(basis.first_unknown + c)] += numbers(basis.P)[i * basis.columns + c] * f;
    }
  }
  lu_solve_transposed(S_.data(), unknowns_, pivots_.data(), scratch_.data());

  // The rows' multipliers omega = P S^-T b_bar: the loss falls by omega_i with each unit that w_i would rise by.
  multiplier_.assign(static_cast<std::size_t>(m), 0.0);
  for (const Basis& basis : bases_) {
    for (int i = 0; i < basis.rows; ++i) {
      double& omega = multiplier_[static_cast<std::size_t>(clamping_[static_cast<std::size_t>(basis.first_row + i)])];
      for (int c = 0; c < basis.columns; ++c) omega += numbers(basis.P)[i * basis.columns + c] * scratch_[static_cast<std::size_t>(basis.first_unknown + c)];
    }
  }
  z_bar_.assign(static_cast<std::size_t>(k), 0.0);  // of y+ at first: -D_C^T omega
  for (const RowBlock& block : problem.blocks) {
    for (int i = block.first_row; i < block.last_row; ++i) {
      const double omega = own(multiplier_, i);
      if (omega == 0) continue;
      g.target[static_cast<std::size_t>(i)] += omega;
      g.compliance[static_cast<std::size_t>(i)] -= omega * own(s.f, i);
      for (int c = 0; c < block.width; ++c) {
        g.d[static_cast<std::size_t>(i * most_block_channels + c)] -= omega * own(s.y, block.first_channel + c);
        z_bar_[static_cast<std::size_t>(block.first_channel + c)] -= omega * row(i).d[c];
      }
    }
  }
  scratch_.assign(static_cast<std::size_t>(k), 0.0);
  for (int a = 0; a < k; ++a) {
    const double y_bar = own(z_bar_, a);
    g.y_free[static_cast<std::size_t>(a)] += y_bar;
    for (int c = 0; c < k; ++c) {
      g.L[static_cast<std::size_t>(a * k + c)] += y_bar * own(s.z, c);
      scratch_[static_cast<std::size_t>(c)] += y_bar * problem.L[static_cast<std::size_t>(a * k + c)];
    }
  }
  for (int c = 0; c < k; ++c) z_bar_[static_cast<std::size_t>(c)] = scratch_[static_cast<std::size_t>(c)] + z_bar[c];

  // At fixed b, impulses still move with P = D_C Q (rows without compliance), with mu and with the bounds.
  for (const RowBlock& block : problem.blocks) {
    for (int i = block.first_row; i < block.last_row; ++i) {
      double& f = f_bar_[static_cast<std::size_t>(i)] = f_bar[i];
      for (int c = 0; c < block.width; ++c) {
        g.d[static_cast<std::size_t>(i * most_block_channels + c)] += own(s.f, i) * own(z_bar_, block.first_channel + c);
        f += row(i).d[c] * own(z_bar_, block.first_channel + c);
      }
    }
  }
  for (int i = 0; i < m; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    if (!at_bound(row_class(i))) continue;
    if (row(i).kind == RowKind::friction)
      g.mu[at] += bound_sign(row_class(i)) * own(s.f, row(i).normal) * f_bar_[at];
    else
      (row_class(i) == RowClass::upper ? g.upper : g.lower)[at] += f_bar_[at];
  }
  carry_to_normals();
  for (std::size_t b = 0; b < bases_.size(); ++b) {
    const Basis& basis = bases_[b];
    double Qb[most_block_channels] = {};
    for (int c = 0; c < problem.blocks[b].width; ++c) {
      for (int e = 0; e < basis.columns; ++e) Qb[c] += numbers(basis.Q)[c * basis.columns + e] * unknown_[static_cast<std::size_t>(basis.first_unknown + e)];
    }
    for (int i = 0; i < basis.rows; ++i) {
      const int at = clamping_[static_cast<std::size_t>(basis.first_row + i)];
      if (row(at).compliance > 0) continue;
      for (int c = 0; c < problem.blocks[b].width; ++c) g.d[static_cast<std::size_t>(at * most_block_channels + c)] += own(f_bar_, at) * Qb[c];
    }
  }
}

}  // namespace robosim
