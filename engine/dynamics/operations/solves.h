// Operations: sparse factor of the mass matrix, and solves with it. A vector is a matrix of
// one column.
#pragma once

#include "dynamics/crba.h"
#include "dynamics/mass_factor.h"
#include "dynamics/operations/arguments.h"

namespace robosim {
namespace operations {

namespace detail {

inline constexpr Argument columns{"B", 2, {dim_v, dim_columns, 0}};

template <class S>
void copy(const S* from, int n, S* to) {
  for (int k = 0; k < n; ++k) to[k] = from[k];
}

}  // namespace detail

struct MassFactor {
  static constexpr const char* name = "mass_factor";
  static constexpr Argument inputs[] = {q}, outputs[] = {square("L")};
  static constexpr bool solves = true;
  template <class S>
  static void run(const Model& model, Data<S>& data, const Call<S>& call) {
    const int n = model.n_v;
    S *L = data.take_L(model), *out = call.out[0];
    crba_lower(model, data, call.in[0], L);
    mass_factor(model, L);
    std::fill_n(out, n * n, S(0));
    for (int i = 0; i < n; ++i) {
      out[i * n + i] = L[i * n + i];
      for (int r = model.row_begin[i]; r < model.row_begin[i + 1]; ++r)
        out[i * n + model.rows[r]] = L[i * n + model.rows[r]];
    }
  }
};

struct MassSolve {
  static constexpr const char* name = "mass_solve";
  static constexpr Argument inputs[] = {square("L"), detail::columns},
                            outputs[] = {detail::columns};
  template <class S>
  static void run(const Model& model, Data<S>&, const Call<S>& call) {
    detail::copy(call.in[1], model.n_v * call.options.columns, call.out[0]);
    mass_solve(model, call.in[0], call.out[0], call.options.columns);
  }
};

}  // namespace operations

using SolveOperations = OperationList<operations::MassFactor, operations::MassSolve>;

}  // namespace robosim
