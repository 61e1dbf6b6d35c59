// Solves of many columns for one instruction set.
#include "contact/column_solves.h"

#include <cstddef>
#include <cstring>

#include "base/lanes.h"

namespace robosim::detail {

template <Isa isa>
class CompiledColumnSolves final : public ColumnSolves {
 public:
  void solve_transposed(const double* LU, int n, const int* pivots, double* B, int width) const override {
    for_each_register<lanes_of(isa)>(width, 0, [&](auto columns, int begin) {
      using Block = decltype(columns);
      double* const first = B + begin;
      const auto entry = [&](int i, int j) { return LU[std::ptrdiff_t{i} * n + j]; };
      for (int i = 0; i < n; ++i) {  // U^T
        Block x(first + std::ptrdiff_t{i} * width);
        for (int j = 0; j < i; ++j) x.take(entry(j, i), Block(first + std::ptrdiff_t{j} * width));
        x.divide(entry(i, i));
        x.store(first + std::ptrdiff_t{i} * width);
      }
      for (int i = n - 2; i >= 0; --i) {  // L^T
        Block x(first + std::ptrdiff_t{i} * width);
        for (int j = n - 1; j > i; --j) x.take(entry(j, i), Block(first + std::ptrdiff_t{j} * width));
        x.store(first + std::ptrdiff_t{i} * width);
      }
      for (int i = n - 1; i >= 0; --i) {
        if (pivots[i] == i) continue;
        double *const one = first + std::ptrdiff_t{i} * width, *const other = first + std::ptrdiff_t{pivots[i]} * width;
        const Block x(one), y(other);
        x.store(other), y.store(one);
      }
    });
  }

  void subtract_doubled(const double* S, int n, const double* X, int width, double* high, double* low) const override {
    for_each_register<lanes_of(isa)>(width, 0, [&](auto columns, int begin) {
      using Block = decltype(columns);
      for (int i = 0; i < n; ++i) {
        const std::ptrdiff_t at = std::ptrdiff_t{i} * width + begin;
        Block h(high + at), l(low + at);
        for (int j = 0; j < n; ++j) Block::take_doubled(S[std::ptrdiff_t{j} * n + i], Block(X + std::ptrdiff_t{j} * width + begin), h, l);
        h.store(high + at), l.store(low + at);
      }
    });
  }

 private:
  // N neighbouring registers of W columns.
  template <int W, int N>
  struct Registers {
    using Register = Lanes<W, isa>;
    Register x[N];

    Registers() = default;
    ROBOSIM_INLINE explicit Registers(const double* from) {  // one by one: gcc 12 copies all of them through memory
      for (int k = 0; k < N; ++k) std::memcpy(&x[k], from + k * W, sizeof(Register));
    }
    ROBOSIM_INLINE void store(double* to) const {
      for (int k = 0; k < N; ++k) std::memcpy(to + k * W, &x[k], sizeof(Register));
    }

    // Unfused, as everywhere else in a step.
    ROBOSIM_INLINE void take(double factor, const Registers& other) {
      for (int k = 0; k < N; ++k) x[k] -= Register(factor) * other.x[k];
    }
    ROBOSIM_INLINE void divide(double by) {
      for (int k = 0; k < N; ++k) x[k] /= Register(by);
    }
    static ROBOSIM_INLINE void take_doubled(double factor, const Registers& other, Registers& high, Registers& low) {
      const Register a(-factor);
      for (int k = 0; k < N; ++k) {
        const Register b = other.x[k], product = a * b, h = high.x[k], sum = h + product, of_product = sum - h;
        low.x[k] += ((h - (sum - of_product)) + (product - of_product)) + rounding(a, b, product);
        high.x[k] = sum;
      }
    }

    // a b less its rounded product, exactly: by one fused product, or by Dekker's halves ("A floating-point technique for extending the available
    // precision", Numer. Math. 18, 1971).
    static ROBOSIM_INLINE Register rounding(const Register& a, const Register& b, const Register& product) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
      return mul_add(a, b, -product);
#else
      const Register splitter(134217729.0), A = splitter * a, B = splitter * b;  // 2^27 + 1
      const Register a_high = A - (A - a), a_low = a - a_high, b_high = B - (B - b), b_low = b - b_high;
      return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
#endif
    }
  };

  // f(registers, first column) over `width` columns, by as many at once as there are; at the end by narrower ones.
  template <int W, class F>
  static void for_each_register(int width, int begin, F&& f) {
    for (; begin + 2 * W <= width; begin += 2 * W) f(Registers<W, 2>(), begin);
    for (; begin + W <= width; begin += W) f(Registers<W, 1>(), begin);
    if constexpr (W > 1) for_each_register<W / 2>(width, begin, f);
  }
};

template <>
const ColumnSolves& column_solves<own_isa>() {
  static const CompiledColumnSolves<own_isa> own;
  return own;
}

}  // namespace robosim::detail
