// Derivatives of inverse dynamics, for one instruction set.
//
// For column c of body i and each column l on the path to it (rnea_derivatives.h), with entries
// (row, column),
//   (c, l) by q:  I_i J_c . J_ddot_l + B_c . J_dot_l
//   (l, c) by q:  J_l . (2 B_i J_dot_c + I_i J_ddot_c + J_c x F_i)
//   (c, l) by v:  I_i J_c . J_sum_l  + B_c . J_l
//   (l, c) by v:  J_l . (2 B_i J_c     + I_i J_sum_c)
// These are four sums of products, with B_c = (2 B_i)^T J_c. The factors of each column l are laid
// out once in that order. The factors of column c are computed four at once as well.
#include "step/inverse_dynamics_rates.h"

#include <algorithm>

#include "base/lane_memory.h"
#include "base/lanes.h"
#include "dynamics/rnea_derivatives.h"

namespace robosim::detail {

template <Isa isa>
class CompiledInverseDynamicsRates final : public InverseDynamicsRates {
 public:
  void fill(const Model& model, Data<double>& data, double scale, double* by_q, double* by_v,
            int stride) const override {
    if (model.has_mimic)
      fill<true>(model, data, scale, by_q, by_v, stride);
    else
      fill<false>(model, data, scale, by_q, by_v, stride);
  }

 private:
  // Four numbers side by side, in as few registers as possible. Nothing is fused.
  struct Four {
    static constexpr int width = std::min(lanes_of(isa), 4), parts = 4 / width;
    using Register = Lanes<width, isa>;
    Register x[parts];

    Four() = default;
    ROBOSIM_INLINE Four(double all) {  // NOLINT: constants convert silently
      for (Register& part : x) part = Register(all);
    }
    static ROBOSIM_INLINE Four of(double a, double b, double c, double d) {
      using Vector = typename Register::Vector;
      Four to;
      if constexpr (parts == 2) {
        to.x[0] = Register::from(Vector{a, b});
        to.x[1] = Register::from(Vector{c, d});
      } else
        to.x[0] = Register::from(Vector{a, b, c, d});
      return to;
    }
    static ROBOSIM_INLINE Four load(const double* from) {
      Four to;
      for (int k = 0; k < parts; ++k) to.x[k] = load_lanes<Register>(from + k * width);
      return to;
    }
    ROBOSIM_INLINE void store(double* to) const {
      for (int k = 0; k < parts; ++k) store_lanes(x[k], to + k * width);
    }
    ROBOSIM_INLINE double operator[](int i) const { return x[i / width][i % width]; }
    // Exchange the two halves.
    ROBOSIM_INLINE Four exchanged() const {
      Four to;
      if constexpr (parts == 2) {
        to.x[0] = x[1];
        to.x[1] = x[0];
      } else
        to.x[0].v = __builtin_shufflevector(x[0].v, x[0].v, 2, 3, 0, 1);
      return to;
    }

    ROBOSIM_INLINE Four& operator+=(const Four& o) {
      for (int k = 0; k < parts; ++k) x[k] += o.x[k];
      return *this;
    }
    ROBOSIM_INLINE Four& operator-=(const Four& o) {
      for (int k = 0; k < parts; ++k) x[k] -= o.x[k];
      return *this;
    }
    ROBOSIM_INLINE Four& operator*=(const Four& o) {
      for (int k = 0; k < parts; ++k) x[k] *= o.x[k];
      return *this;
    }
    friend ROBOSIM_INLINE Four operator+(Four a, const Four& b) { return a += b; }
    friend ROBOSIM_INLINE Four operator-(Four a, const Four& b) { return a -= b; }
    friend ROBOSIM_INLINE Four operator*(Four a, const Four& b) { return a *= b; }
    friend ROBOSIM_INLINE Four mul_add(const Four& a, const Four& b, const Four& c) {
      return a * b + c;
    }
    friend ROBOSIM_INLINE Four nmul_add(const Four& a, const Four& b, const Four& c) {
      return c - a * b;
    }
  };

  // Factors of a column in the sums with columns behind it: per component [J_ddot, J_sum, J, J],
  // then per angular component [J_dot, J, 0, 0].
  static constexpr int angular = 6, brought = 9;

  static void lay_out(const Data<double>& data, int c, double* to) {
    const Motion<double>&J = data.J[c], &J_dot = data.J_dot[c], &J_ddot = data.J_ddot[c],
          &J_sum = data.J_sum[c];
    for (int k = 0; k < 3; ++k) {
      Four::of(J_ddot.angular[k], J_sum.angular[k], J.angular[k], J.angular[k]).store(to + 4 * k);
      Four::of(J_ddot.linear[k], J_sum.linear[k], J.linear[k], J.linear[k]).store(to + 4 * (3 + k));
      Four::of(J_dot.angular[k], J.angular[k], 0.0, 0.0).store(to + 4 * (angular + k));
    }
  }

  template <bool mimic>
  static void fill(const Model& model, Data<double>& data, double scale, double* by_q, double* by_v,
                   int stride) {
    double* const laid_out =
        data.matrix_a.take(static_cast<std::size_t>(model.n_columns()) * 4 * brought);
    for (int c = 0; c < model.n_columns(); ++c) lay_out(data, c, laid_out + c * 4 * brought);
    const Four of_both = scale, of_rows = Four::of(scale, scale, 0.0, 0.0);
    for (int i = model.n_bodies() - 1; i > 0; --i) {
      const Joint& joint = model.joints[i];
      // Inertias and force of the subtree of body i.
      const CompositeInertia<Four> I(data.I_c[i]);
      const Sym3<Four> K(data.K_c[i]);
      const Force<double>& F = data.F[i];
      const auto first = [](double x) { return Four::of(x, 0.0, 0.0, 0.0); };
      const Force<Four> h{Vec3<Four>(data.h_c[i].angular), Vec3<Four>(data.h_c[i].linear)};
      const Force<Four> F_first{{first(F.angular.x), first(F.angular.y), first(F.angular.z)},
                                {first(F.linear.x), first(F.linear.y), first(F.linear.z)}};
      // Factors of column c, then its sums with the columns of its joint and of all joints before
      // it.
      for (int c = joint.column; c < joint.column + joint.n_v; ++c) {
        const double* const own = laid_out + c * 4 * brought;
        const auto component = [own](int k) { return Four::load(own + 4 * k); };
        const Motion<Four> J{Vec3<Four>(data.J[c].angular), Vec3<Four>(data.J[c].linear)};
        const Motion<Four> moved{{component(0), component(1), component(2)},
                                 {component(3), component(4), component(5)}};
        const Force<Four> above = I * moved +
                                  twice_B(K, h,
                                          Vec3<Four>(component(angular), component(angular + 1),
                                                     component(angular + 2))) +
                                  cross(J, F_first);
        const Vec3<Four> B = of_rows * twice_B_transposed(K, h, J);
        const Four factors[brought] = {of_both * above.angular.x.exchanged(),
                                       of_both * above.angular.y.exchanged(),
                                       of_both * above.angular.z.exchanged(),
                                       of_both * above.linear.x.exchanged(),
                                       of_both * above.linear.y.exchanged(),
                                       of_both * above.linear.z.exchanged(),
                                       B.x,
                                       B.y,
                                       B.z};
        const int row = model.column_v[c];
        const auto sums_with = [&](int l) __attribute__((always_inline)) {
          const double* const other = laid_out + l * 4 * brought;
          Four sums = factors[0] * Four::load(other);
          for (int k = 1; k < brought; ++k) sums += factors[k] * Four::load(other + 4 * k);
          return sums;
        };
        // Entries are zero before, unless mimic joints share them.
        const auto add = [](double& entry, double x) __attribute__((always_inline)) {
          if constexpr (mimic)
            entry += x;
          else
            entry = x;
        };
        for (int l = joint.column; l < joint.column + joint.n_v; ++l) {
          const Four sums = sums_with(l);
          const int at = row * stride + model.column_v[l];
          add(by_q[at], sums[0]);
          add(by_v[at], sums[1]);
        }
        for_each_on_path(
            model, joint.parent, [&](int l) __attribute__((always_inline)) {
              const Four sums = sums_with(l);
              const int v = mimic ? model.column_v[l] : l, at = row * stride + v,
                        across = v * stride + row;
              add(by_q[at], sums[0]);
              add(by_v[at], sums[1]);
              add(by_q[across], sums[2]);
              add(by_v[across], sums[3]);
            });
      }
      // Add the subtree to the parent.
      if (const int parent = joint.parent; parent > 0) {
        data.K_c[parent] += data.K_c[i];
        data.h_c[parent] += data.h_c[i];
        data.F[parent] += F;
      }
    }
  }
};

template <>
const InverseDynamicsRates& inverse_dynamics_rates<own_isa>() {
  static const CompiledInverseDynamicsRates<own_isa> own;
  return own;
}

}  // namespace robosim::detail
