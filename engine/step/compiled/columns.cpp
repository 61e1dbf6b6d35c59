// Solves for one instruction set.
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
};

template <>
const Columns& columns<own_isa>() {
  static const CompiledColumns<own_isa> own;
  return own;
}

}  // namespace robosim::detail
