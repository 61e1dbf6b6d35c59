// Implementation of columns.h for one instruction set.
#include "step/columns.h"

#include <cstddef>
#include <type_traits>

#include "base/lane_memory.h"
#include "base/lanes.h"
#include "dynamics/mass_factor.h"

namespace robosim::detail {

template <Isa isa>
class CompiledColumns final : public Columns {
 public:
  void mass_solve(const Model& model, const double* factor, double* B, int stride) const override {
    constexpr int packs = solve_block / Register::width;
    int begin = 0;
    const auto solve = [&](auto many) {
      constexpr int N = decltype(many)::value;
      for (; begin + N * Register::width <= stride; begin += N * Register::width)
        solve_columns<Unfused, N>(model, factor, B, stride, begin, false, model.n_v - 1);
    };
    solve(std::integral_constant<int, 4 * packs>());
    solve(std::integral_constant<int, 2 * packs>());
    solve(std::integral_constant<int, packs>());
  }

  void advance(const double* u, int stride, int rows, int count, double dt, double* q_next,
               double* v_next) const override {
    for (int r = 0; r < rows; ++r, u += stride, q_next += count, v_next += count)
      for_each_pack(count, [&]<int W>(std::integral_constant<int, W>, int c) {
        const auto x = load_lanes<Lanes<W, isa>>(u + c);
        store_lanes(Lanes<W, isa>(dt) * x, q_next + c);
        store_lanes(x, v_next + c);
      });
  }

  void advance_turning(const double* by_u, int n, const double* u, int stride, int count,
                       double* q_next, double* v_next) const override {
    for_each_pack(count, [&]<int W>(std::integral_constant<int, W>, int c) {
      for (int row = 0; row < 2 * n; ++row) {
        Lanes<W, isa> sum(0.0);
        for (int i = 0; i < n; ++i)
          sum += Lanes<W, isa>(by_u[row * n + i]) *
                 load_lanes<Lanes<W, isa>>(u + std::ptrdiff_t{i} * stride + c);
        store_lanes(sum, (row < n ? q_next + std::ptrdiff_t{row} * count
                                  : v_next + std::ptrdiff_t{row - n} * count) +
                             c);
      }
    });
  }

 private:
  using Register = Lanes<lanes_of(isa), isa>;

  // Call use(width, first column) for all columns, in packs of W, and in narrower packs at the end.
  template <int W = Register::width, class Use>
  static ROBOSIM_INLINE void for_each_pack(int count, const Use& use, int c = 0) {
    for (; c + W <= count; c += W) use(std::integral_constant<int, W>(), c);
    if constexpr (W > 1) for_each_pack<W / 2>(count, use, c);
  }

  // Adjacent columns of numbers, for solve_columns.
  struct Unfused {
    struct Type {
      Register x;
      friend Type nmul_add(const Type& a, const Type& b, const Type& c) {
        return {c.x - a.x * b.x};
      }
      friend Type operator*(const Type& a, const Type& b) { return {a.x * b.x}; }
      friend Type operator+(const Type& a, const Type& b) { return {a.x + b.x}; }
    };
    static constexpr int width = Register::width;
    static Type load(const double* from) { return {load_lanes<Register>(from)}; }
    static void store(Type x, double* to) { store_lanes(x.x, to); }
    static Type all(double x) { return {Register(x)}; }
  };
};

template <>
const Columns& columns<own_isa>() {
  static const CompiledColumns<own_isa> own;
  return own;
}

}  // namespace robosim::detail
