// Products and solves for one instruction set.
#include "step/columns.h"

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "base/lanes.h"
#include "dynamics/mass_factor.h"

namespace robosim::detail {

template <Isa isa>
class CompiledColumns final : public Columns {
 public:
  void add_product(const double* A, int by_row, int by_column, int rows, int inner, const double* B, double* C, int stride) const override {
    for (; rows >= most_rows; rows -= most_rows, A += std::ptrdiff_t{most_rows} * by_row, C += std::ptrdiff_t{most_rows} * stride)
      add_rows<most_rows>(A, by_row, by_column, inner, B, C, stride);
    switch (rows) {
      case 3: return add_rows<3>(A, by_row, by_column, inner, B, C, stride);
      case 2: return add_rows<2>(A, by_row, by_column, inner, B, C, stride);
      case 1: return add_rows<1>(A, by_row, by_column, inner, B, C, stride);
      default: return;
    }
  }

  void mass_solve(const Model& model, const double* factor, double* B, int stride) const override {
    constexpr int packs = solve_block / Register::width;
    int begin = 0;
    const auto solve = [&](auto many) {
      constexpr int N = decltype(many)::value;
      for (; begin + N * Register::width <= stride; begin += N * Register::width)
        solve_columns<Unfused, N>(model, factor, B, stride, begin, false, model.n_v - 1);
    };
    solve(std::integral_constant<int, 4 * packs>()), solve(std::integral_constant<int, 2 * packs>()), solve(std::integral_constant<int, packs>());
  }

 private:
  using Register = Lanes<lanes_of(isa), isa>;
  static constexpr int most_rows = 4;

  // Neighbouring columns of numbers, for solve_columns.
  struct Unfused {
    struct Type {
      Register x;
      friend Type nmul_add(const Type& a, const Type& b, const Type& c) { return {c.x - a.x * b.x}; }
      friend Type operator*(const Type& a, const Type& b) { return {a.x * b.x}; }
      friend Type operator+(const Type& a, const Type& b) { return {a.x + b.x}; }
    };
    static constexpr int width = Register::width;
    static Type load(const double* from) { return {CompiledColumns::load(from)}; }
    static void store(const Type& x, double* to) { CompiledColumns::store(x.x, to); }
    static Type all(double x) { return {Register(x)}; }
  };

  static Register load(const double* from) {
    Register x;
    std::memcpy(&x, from, sizeof(x));
    return x;
  }
  static void store(const Register& x, double* to) { std::memcpy(to, &x, sizeof(x)); }

  template <int R>
  static void add_rows(const double* A, std::ptrdiff_t by_row, std::ptrdiff_t by_column, int inner, const double* B, double* C, std::ptrdiff_t stride) {
    std::ptrdiff_t begin = 0;
    for (; begin + 2 * Register::width <= stride; begin += 2 * Register::width) add_block<R, 2>(A, by_row, by_column, inner, B + begin, C + begin, stride);
    for (; begin + Register::width <= stride; begin += Register::width) add_block<R, 1>(A, by_row, by_column, inner, B + begin, C + begin, stride);
  }

  // R rows of N registers, kept there over the sum. Rows of B whose factors are zero, as those of joints that move neither body, are passed over.
  template <int R, int N>
  static void add_block(const double* A, std::ptrdiff_t by_row, std::ptrdiff_t by_column, int inner, const double* B, double* C, std::ptrdiff_t stride) {
    Register sum[R][N];
    for (int r = 0; r < R; ++r)
      for (int k = 0; k < N; ++k) sum[r][k] = load(C + r * stride + k * Register::width);
    for (int i = 0; i < inner; ++i, A += by_column, B += stride) {
      bool any = false;
      for (int r = 0; r < R; ++r) any |= A[r * by_row] != 0;
      if (!any) continue;
      Register row[N];
      for (int k = 0; k < N; ++k) row[k] = load(B + k * Register::width);
      for (int r = 0; r < R; ++r) {
        const Register a(A[r * by_row]);
        for (int k = 0; k < N; ++k) sum[r][k] += a * row[k];
      }
    }
    for (int r = 0; r < R; ++r)
      for (int k = 0; k < N; ++k) store(sum[r][k], C + r * stride + k * Register::width);
  }
};

template <>
const Columns& columns<own_isa>() {
  static const CompiledColumns<own_isa> own;
  return own;
}

}  // namespace robosim::detail
