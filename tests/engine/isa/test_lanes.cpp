// Lanes and their elementary functions, compiled and run for one instruction set. Every operation
// on different numbers in each lane is compared with the same operation on doubles, and sine and
// cosine with a double-double reference. A number must have the same bits alone and in any lane of
// any width.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>

#include "base/lanes.h"
#include "double_double.h"

using namespace robosim;

namespace {

template <int W>
using L = Lanes<W, own_isa>;

constexpr double inf = std::numeric_limits<double>::infinity(),
                 not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double denormal = std::numeric_limits<double>::denorm_min(),
                 largest = std::numeric_limits<double>::max();
constexpr double far = 0x1p20 * std::numbers::pi / 2;  // larger arguments are left to the library

// Call f.operator()<W>() for each width of this instruction set's registers.
template <class F>
void for_each_width(F&& f) {
  f.template operator()<1>();
  f.template operator()<2>();
  if constexpr (lanes_of(own_isa) >= 4) f.template operator()<4>();
  if constexpr (lanes_of(own_isa) >= 8) f.template operator()<8>();
}

template <int W, class Draw>
L<W> lanes(Draw&& draw) {
  L<W> x(0.0);
  for (int i = 0; i < W; ++i) x.set(i, draw());
  return x;
}

// True if equal as bits; all NaN count as equal.
bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

// Ordinary numbers; every tenth is special, every tenth has random bits.
struct AnyNumber {
  std::mt19937_64 random;
  double operator()() {
    constexpr double special[] = {0.0,       -0.0,    1.0,      -1.0,         0.5,
                                  2.5,       inf,     -inf,     not_a_number, denormal,
                                  -denormal, largest, -largest, 0x1p52};
    const auto kind = random() % 10;
    if (kind == 0) return special[random() % std::size(special)];
    if (kind == 1) return std::bit_cast<double>(random());
    return std::uniform_real_distribution<double>(-10, 10)(random);
  }
};

double neighbor(double x, int steps) {
  for (; steps > 0; --steps) x = std::nextafter(x, inf);
  for (; steps < 0; ++steps) x = std::nextafter(x, -inf);
  return x;
}

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
constexpr bool fused = true;
#else
constexpr bool fused = false;
#endif

}  // namespace

TEST_CASE("the instruction set decides whether products are fused") {
  if (own_isa != Isa::baseline) CHECK(fused);
}

TEST_CASE("arithmetic, comparisons and choices act on each lane as on doubles") {
  for_each_width([]<int W>() {
    AnyNumber draw{std::mt19937_64(1 + W)};
    int wrong = 0;
    for (int round = 0; round < 20000; ++round) {
      const L<W> a = lanes<W>(draw), b = lanes<W>(draw), c = lanes<W>(draw);
      L<W> added = a, subtracted = a, multiplied = a, divided = a;
      added += b;
      subtracted -= b;
      multiplied *= b;
      divided /= b;
      const auto less = a<b, more = a> b;
      const L<W> chosen = select(less, a, c), both = select((a < b) & (b < c), a, c),
                 either = select(more | (b > c), a, c);
      for (int i = 0; i < W; ++i) {
        const double x = a[i], y = b[i], z = c[i];
        wrong += !same((a + b)[i], x + y) || !same(added[i], x + y) || !same((a - b)[i], x - y) ||
                 !same(subtracted[i], x - y) || !same((a * b)[i], x * y) ||
                 !same(multiplied[i], x * y) || !same((a / b)[i], x / y) ||
                 !same(divided[i], x / y);
        wrong += !same((-a)[i], -x) || !same(absolute(a)[i], std::abs(x)) || !same(L<W>(x)[i], x);
        wrong += less[i] != (x < y) || more[i] != (x > y) || !same(chosen[i], x < y ? x : z) ||
                 !same(both[i], x < y && y < z ? x : z) || !same(either[i], x > y || y > z ? x : z);
      }
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("fused products round once where the processor can, and everywhere alike") {
  for_each_width([]<int W>() {
    AnyNumber draw{std::mt19937_64(10 + W)};
    int wrong = 0, differs = 0;
    for (int round = 0; round < 20000; ++round) {
      const L<W> a = lanes<W>(draw), b = lanes<W>(draw);
      L<W> c = lanes<W>(draw);
      if (round % 2) c = -(a * b);  // leaves the rounding error of the product
      const L<W> sum = mul_add(a, b, c), difference = nmul_add(a, b, -c);
      for (int i = 0; i < W; ++i) {
        const double once = std::fma(a[i], b[i], c[i]), twice = a[i] * b[i] + c[i],
                     once_n = std::fma(-a[i], b[i], -c[i]), twice_n = -c[i] - a[i] * b[i];
        wrong +=
            !same(sum[i], fused ? once : twice) || !same(difference[i], fused ? once_n : twice_n);
        differs += !same(once, twice);
      }
    }
    CHECK(wrong == 0);
    CHECK(differs > 1000 * W);  // the data distinguish both results
  });
}

TEST_CASE("a mask of one lane is found wherever it is") {
  for_each_width([]<int W>() {
    CHECK(!any(L<W>(1.0) < L<W>(0.0)));
    CHECK(!any(L<W>(not_a_number) < L<W>(not_a_number)));
    for (int i = 0; i < W; ++i) {
      L<W> x(1.0);
      x.set(i, -1.0);
      CHECK(any(x < L<W>(0.0)));
    }
  });
}

TEST_CASE("square roots are exactly rounded, whole numbers the nearest, angles of the library") {
  for_each_width([]<int W>() {
    AnyNumber draw{std::mt19937_64(20 + W)};
    std::uniform_real_distribution<double> unit(0, 1);
    int wrong = 0;
    for (int round = 0; round < 20000; ++round) {
      const L<W> x = lanes<W>(draw), y = lanes<W>(draw);
      const L<W> turns =
          lanes<W>([&] { return std::ldexp(unit(draw.random) - 0.5, int(draw.random() % 60)); });
      const L<W> halves = lanes<W>([&] { return double(int(draw.random() % 2001)) / 2 - 500; });
      for (int i = 0; i < W; ++i) {
        wrong +=
            !same(sqrt(x)[i], std::sqrt(x[i])) || !same(atan2(y, x)[i], std::atan2(y[i], x[i]));
        for (const L<W>& number : {x, turns, halves})
          wrong += !same(nearest(number)[i], std::nearbyint(number[i]));
      }
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("the reference knows sines and cosines") {
  // Reference: sin 1 = 0.84147098480789650665250232163030, as two doubles.
  const auto one = reference::sine_cosine(1).sine;
  CHECK(one.hi == 0x1.aed548f090ceep-1);
  CHECK(std::abs(one.lo - 0x1.06374f484e288p-59) < 0x1p-104);
  // s^2 + c^2 = 1 to 2^-100, with k up to the largest that occurs.
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> angle(-far, far);
  double worst = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto [s, c] = reference::sine_cosine(angle(random));
    const auto rest = s * s + c * c + reference::DoubleDouble{-1, 0};
    worst = std::max(worst, std::abs(rest.hi));
  }
  CHECK(worst < 0x1p-100);
}

// The last rounding is half an ulp. Terms after the first are at most a fifth of it and add their
// own rounding.
TEST_CASE("sine and cosine are right to 0.9 units in the last place") {
  constexpr int W = lanes_of(own_isa);
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> unit(-1, 1);
  const auto close_to_multiples = [&](long double unit_angle, int parity) {
    const int k = ((int(random() % (1 << 21)) - (1 << 20)) >> random() % 21) & ~1;
    return neighbor(double((k + parity) * unit_angle), int(random() % 9) - 4);
  };
  const auto worst = [&](auto&& draw) {
    double error = 0;
    for (int round = 0; round < 40000 / W; ++round) {
      const L<W> x = lanes<W>(draw);
      L<W> s, c;
      sin_cos(x, s, c);
      for (int i = 0; i < W; ++i) {
        const auto exact = reference::sine_cosine(x[i]);
        const double here =
            std::max(reference::ulps(s[i], exact.sine), reference::ulps(c[i], exact.cosine));
        if (!(here <= error)) error = here;
      }
    }
    return error;
  };
  constexpr long double half_pi = std::numbers::pi_v<long double> / 2;
  CHECK(worst([&] { return unit(random) * 0.7853981633974483; }) < 0.9);
  CHECK(worst([&] { return unit(random) * 4; }) < 0.9);
  CHECK(worst([&] { return unit(random) * 100; }) < 0.9);
  CHECK(worst([&] { return unit(random) * far; }) < 0.9);
  CHECK(worst([&] { return std::ldexp(unit(random), -int(random() % 1070)); }) < 0.9);
  CHECK(worst([&] { return close_to_multiples(half_pi, 0); }) < 0.9);
  CHECK(worst([&] { return close_to_multiples(half_pi, 1); }) < 0.9);
  // Boundary between the sine's and the cosine's branches.
  CHECK(worst([&] { return close_to_multiples(half_pi / 2, 1); }) < 0.9);
}

TEST_CASE(
    "sine is odd and cosine even, to the bit; zeros keep their sign, tiny numbers are their sine") {
  for_each_width([]<int W>() {
    std::mt19937_64 random(30 + W);
    int wrong = 0;
    const auto any_exponent = [&] { return std::bit_cast<double>(random()); };
    const auto tiny = [&] {
      return std::ldexp(double(random() % 2001) - 1000, -38 - int(random() % 1040));
    };
    for (int round = 0; round < 5000; ++round) {
      const L<W> x = lanes<W>(any_exponent), t = lanes<W>(tiny);
      for (int i = 0; i < W; ++i) {
        wrong += !same(sin(-x)[i], -sin(x)[i]) || !same(cos(-x)[i], cos(x)[i]);
        wrong += !same(sin(t)[i], t[i]) || !same(cos(t)[i], 1.0);
      }
    }
    CHECK(wrong == 0);
    for (int i = 0; i < W; ++i) {
      CHECK(same(sin(L<W>(-0.0))[i], -0.0));
      CHECK(same(sin(L<W>(0.0))[i], 0.0));
      CHECK(same(sin(L<W>(denormal))[i], denormal));
    }
  });
}

TEST_CASE(
    "far angles are the library's, infinities and NaN have none, whatever the neighbors are") {
  for_each_width([]<int W>() {
    std::mt19937_64 random(40 + W);
    std::uniform_real_distribution<double> unit(-1, 1);
    int wrong = 0;
    for (int round = 0; round < 5000; ++round) {
      const L<W> x = lanes<W>([&] {
        switch (random() % 4) {
          case 0:
            return 3 * unit(random);
          case 1:
            return std::copysign(
                std::ldexp(1.7 + std::abs(unit(random)), 20 + int(random() % 1003)), unit(random));
          case 2:
            return random() % 2 ? inf : -inf;
          default:
            return not_a_number;
        }
      });
      for (int i = 0; i < W; ++i) {
        if (!std::isfinite(x[i]))
          wrong += !std::isnan(sin(x)[i]) || !std::isnan(cos(x)[i]);
        else if (std::abs(x[i]) > 4)
          wrong += !same(sin(x)[i], std::sin(x[i])) || !same(cos(x)[i], std::cos(x[i]));
        else
          wrong += !(std::abs(sin(x)[i] - std::sin(x[i])) < 2e-16);
      }
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("a number has the same bits alone and in any lane") {
  // A mixture of all operations, in one expression.
  const auto step = []<int W>(const L<W>& x, const L<W>& y) {
    L<W> s, c;
    sin_cos(x, s, c);
    const L<W> r = sqrt(mul_add(s, s, L<W>(2.0) + y * y)), a = nmul_add(x, c, y) / r;
    return std::array{
        s,          c,     r, a, select(a < r, atan2(s, c), absolute(y)) + nearest(x * L<W>(0.1)),
        sin(x * y), cos(a)};
  };
  std::mt19937_64 random(5);
  for_each_width([&]<int W>() {
    int wrong = 0;
    for (int round = 0; round < 20000; ++round) {
      // Most numbers are ordinary. Some are angles that leave the common branch, and their
      // neighbors with them.
      const auto draw = [&] {
        return std::uniform_real_distribution<double>(-1, 1)(random) *
               (random() % 20 ? 7.0 : std::ldexp(1.0, int(random() % 200)));
      };
      const L<W> x = lanes<W>(draw), y = lanes<W>(draw);
      const auto together = step.template operator()<W>(x, y);
      for (int i = 0; i < W; ++i) {
        const auto alone = step.template operator()<1>(L<1>(x[i]), L<1>(y[i]));
        for (std::size_t k = 0; k < alone.size(); ++k) wrong += !same(together[k][i], alone[k][0]);
      }
    }
    CHECK(wrong == 0);
  });
}
