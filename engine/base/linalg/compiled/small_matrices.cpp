// Products and solves of many columns for one instruction set.
#include "base/linalg/small_matrices.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "base/lane_memory.h"
#include "base/lanes.h"
#include "base/linalg/small_sums.h"

namespace robosim::detail {

template <Isa isa>
class CompiledSmallMatrices final : public SmallMatrices {
 public:
  void add_product(const LeftFactor& A, const double* B, int B_stride, double* C, int C_stride,
                   int width) const override {
    add<false>(A, B, B_stride, C, C_stride, width);
  }
  void add_sparse_product(const LeftFactor& A, const double* B, int B_stride, double* C,
                          int C_stride, int width) const override {
    add<true>(A, B, B_stride, C, C_stride, width);
  }

  void solve_transposed(const double* LU, int n, const int* pivots, double* B,
                        int width) const override {
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
        for (int j = n - 1; j > i; --j)
          x.take(entry(j, i), Block(first + std::ptrdiff_t{j} * width));
        x.store(first + std::ptrdiff_t{i} * width);
      }
      for (int i = n - 1; i >= 0; --i) {
        if (pivots[i] == i) continue;
        double *const one = first + std::ptrdiff_t{i} * width, *const other =
                                                                   first +
                                                                   std::ptrdiff_t{pivots[i]} *
                                                                       width;
        const Block x(one), y(other);
        x.store(other);
        y.store(one);
      }
    });
  }

  void solve_transposed(const QrFactors& S, double* B, double* X, int width) const override {
    const int n = S.n, rank = S.rank;
    std::fill_n(X, std::ptrdiff_t{n} * width, 0.0);
    for_each_register<lanes_of(isa)>(width, 0, [&](auto columns, int begin) {
      using Block = decltype(columns);
      const auto row = [&](int i) { return B + std::ptrdiff_t{i} * width + begin; };
      const auto entry = [&](int i, int j) { return S.A[std::ptrdiff_t{i} * n + j]; };
      for (int k = 0; k < rank; ++k) {  // reflections
        const Block own(row(k));
        Block along = own;
        for (int i = k + 1; i < n; ++i) along.add(entry(i, k), Block(row(i)));
        along.multiply(S.beta[k]);
        Block left = own;
        left.take(1, along);
        left.store(row(k));
        for (int i = k + 1; i < n; ++i) {
          Block x(row(i));
          x.take(entry(i, k), along);
          x.store(row(i));
        }
      }
      for (int i = rank - 1; i >= 0; --i) {
        Block x(row(i));
        for (int j = i + 1; j < rank; ++j) x.take(entry(i, j), Block(row(j)));
        x.divide(entry(i, i));
        x.store(row(i));
        const int place = S.order[i];
        x.divide(S.scale[place]);
        x.store(X + std::ptrdiff_t{place} * width + begin);
      }
    });
  }

  void subtract_doubled(const double* S, int n, const double* X, int width, double* high,
                        double* low) const override {
    for_each_register<lanes_of(isa)>(width, 0, [&](auto columns, int begin) {
      using Block = decltype(columns);
      for (int i = 0; i < n; ++i) {
        const std::ptrdiff_t at = std::ptrdiff_t{i} * width + begin;
        Block h(high + at), l(low + at);
        for (int j = 0; j < n; ++j)
          Block::take_doubled(S[std::ptrdiff_t{j} * n + i],
                              Block(X + std::ptrdiff_t{j} * width + begin), h, l);
        h.store(high + at);
        l.store(low + at);
      }
    });
  }

  void add_dot_doubled(const double* a, const double* x, int n, double& sum,
                       double& low) const override {
    constexpr int parts = 8;  // as many on each instruction set, so that the sum is the same
    using Parts = Registers<lanes_of(isa), parts / lanes_of(isa)>;
    double highs[parts] = {}, lows[parts] = {};
    Parts h(highs), l(lows);
    int i = 0;
    for (; i + parts <= n; i += parts) Parts::add_doubled(Parts(a + i), Parts(x + i), h, l);
    if (i < n) {
      double rest[2][parts] = {};
      for (int j = 0; i + j < n; ++j) {
        rest[0][j] = a[i + j];
        rest[1][j] = x[i + j];
      }
      Parts::add_doubled(Parts(rest[0]), Parts(rest[1]), h, l);
    }
    h.store(highs);
    l.store(lows);
    for (int half = parts / 2; half > 0; half /= 2)
      for (int j = 0; j < half; ++j) {
        add_exactly(highs[j + half], highs[j], lows[j]);
        lows[j] += lows[j + half];
      }
    add_exactly(highs[0], sum, low);
    low += lows[0];
  }

  void add_doubled(const double* A, int n, int width, const double* x, double* high,
                   double* low) const override {
    for_each_register<lanes_of(isa)>(width, 0, [&](auto columns, int begin) {
      using Block = decltype(columns);
      Block h(high + begin), l(low + begin);
      for (int i = 0; i < n; ++i)
        Block::take_doubled(-x[i], Block(A + std::ptrdiff_t{i} * width + begin), h, l);
      h.store(high + begin);
      l.store(low + begin);
    });
  }

 private:
  template <bool is_sparse>
  static void add(const LeftFactor& left, const double* B, std::ptrdiff_t B_stride, double* C,
                  std::ptrdiff_t C_stride, int width) {
    int r = 0;
    const auto add_next = [&](auto many) {
      const double* const A = left.A + r * left.by_row;
      if constexpr (is_sparse) {
        for (int first = 0; first < left.inner; first += most_taken)
          add_taken<many>(left, A, first, B, B_stride, C + r * C_stride, C_stride, width);
      } else {
        add_rows<many>(
            left, C + r * C_stride, C_stride,
            width, [&](auto&& take) __attribute__((always_inline)) {
              for (int i = 0; i < left.inner; ++i) take(A + i * left.by_column, B + i * B_stride);
            });
      }
      r += many;
    };
    while (r + 4 <= left.rows) add_next(std::integral_constant<int, 4>());
    if (r + 2 <= left.rows) add_next(std::integral_constant<int, 2>());
    if (r < left.rows) add_next(std::integral_constant<int, 1>());
  }

  // Add products with up to most_taken rows of B, except those whose factors are zero, such as
  // those of joints that move neither body.
  static constexpr int most_taken = 64;
  template <int R>
  static void add_taken(const LeftFactor& left, const double* A, int first, const double* B,
                        std::ptrdiff_t B_stride, double* C, std::ptrdiff_t C_stride, int width) {
    int taken[most_taken], count = 0;
    for (int i = first, end = std::min(left.inner, first + most_taken); i < end; ++i) {
      bool any = false;
      for (int r = 0; r < R; ++r) any |= A[i * left.by_column + r * left.by_row] != 0;
      taken[count] = i;
      count += any;
    }
    add_rows<R>(
        left, C, C_stride, width, [&](auto&& take) __attribute__((always_inline)) {
          for (int i = 0; i < count; ++i)
            take(A + taken[i] * left.by_column, B + taken[i] * B_stride);
        });
  }

  // Compute R rows of C, whose sums stay in registers while for_each calls take(their factors, row
  // of B).
  template <int R, class ForEach>
  static ROBOSIM_INLINE void add_rows(const LeftFactor& left, double* C, std::ptrdiff_t C_stride,
                                      int width, const ForEach& for_each) {
    for_each_register<lanes_of(isa)>(
        width, 0, [&]<int W, int N>(Registers<W, N>, int begin) __attribute__((always_inline)) {
          Registers<W, N> sum[R];
          for_each_of<R>([&](auto r) { sum[r] = Registers<W, N>(C + r * C_stride + begin); });
          for_each([&](const double* factors, const double* row) __attribute__((always_inline)) {
            const Registers<W, N> right(row + begin);
            for_each_of<R>([&](auto r) { sum[r].add(factors[r * left.by_row], right); });
          });
          for_each_of<R>([&](auto r) { sum[r].store(C + r * C_stride + begin); });
        });
  }

  // Call use(0), ..., use(N - 1) with constants: gcc 12 keeps arrays of registers in memory if a
  // loop runs over them.
  template <int N, class Use>
  static ROBOSIM_INLINE void for_each_of(Use&& use) {
    [&]<int... k>(std::integer_sequence<int, k...>) __attribute__((always_inline)) {
      (use(std::integral_constant<int, k>()), ...);
    }
    (std::make_integer_sequence<int, N>());
  }

  // N neighboring registers of W columns.
  template <int W, int N>
  struct Registers {
    using Register = Lanes<W, isa>;
    Register x[N];

    Registers() = default;
    ROBOSIM_INLINE explicit Registers(const double* from) {
      for_each_of<N>([&](auto k) { x[k] = load_lanes<Register>(from + k * W); });
    }
    ROBOSIM_INLINE void store(double* to) const {
      for_each_of<N>([&](auto k) { store_lanes(x[k], to + k * W); });
    }

    // Products are not fused, as everywhere else in a step.
    ROBOSIM_INLINE void add(double factor, const Registers& other) {
      for_each_of<N>([&](auto k) { x[k] += Register(factor) * other.x[k]; });
    }
    ROBOSIM_INLINE void take(double factor, const Registers& other) {
      for_each_of<N>([&](auto k) { x[k] -= Register(factor) * other.x[k]; });
    }
    ROBOSIM_INLINE void multiply(double by) {
      for_each_of<N>([&](auto k) { x[k] *= Register(by); });
    }
    ROBOSIM_INLINE void divide(double by) {
      for (int k = 0; k < N; ++k) x[k] /= Register(by);
    }
    static ROBOSIM_INLINE void take_doubled(double factor, const Registers& other, Registers& high,
                                            Registers& low) {
      for (int k = 0; k < N; ++k) add_doubled(Register(-factor), other.x[k], high.x[k], low.x[k]);
    }
    // high + low += a b, number by number.
    static ROBOSIM_INLINE void add_doubled(const Registers& a, const Registers& b, Registers& high,
                                           Registers& low) {
      for (int k = 0; k < N; ++k) add_doubled(a.x[k], b.x[k], high.x[k], low.x[k]);
    }
    static ROBOSIM_INLINE void add_doubled(const Register& a, const Register& b, Register& high,
                                           Register& low) {
      const Register product = a * b;
      add_exactly(product, high, low);
      low += rounding(a, b, product);
    }

    // Exact rounding error a b - product: by one fused product, or by Dekker's halves ("A
    // floating-point technique for extending the available precision", Numer. Math. 18, 1971).
    static ROBOSIM_INLINE Register rounding(const Register& a, const Register& b,
                                            const Register& product) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
      return mul_add(a, b, -product);
#else
      const Register splitter(134217729.0), A = splitter * a, B = splitter * b;  // 2^27 + 1
      const Register a_high = A - (A - a), a_low = a - a_high, b_high = B - (B - b),
                     b_low = b - b_high;
      return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
#endif
    }
  };

  // Call f(registers, first column) over `width` columns, two registers at once while possible, and
  // narrower ones at the end.
  template <int W, class F>
  static ROBOSIM_INLINE void for_each_register(int width, int begin, F&& f) {
    for (; begin + 2 * W <= width; begin += 2 * W) f(Registers<W, 2>(), begin);
    for (; begin + W <= width; begin += W) f(Registers<W, 1>(), begin);
    if constexpr (W > 1) for_each_register<W / 2>(width, begin, f);
  }
};

template <>
const SmallMatrices& small_matrices<own_isa>() {
  static const CompiledSmallMatrices<own_isa> own;
  return own;
}

}  // namespace robosim::detail
