#include "geometry/shapes/orientation.h"

#include <array>
#include <cmath>

namespace robosim {
namespace {

// Exact sum of doubles that do not overlap, smallest first. The sign of the sum is that of the last
// term.
struct Expansion {
  std::array<double, 200> term;
  int n = 0;

  void add(double b) {
    double sum = b;
    int kept = 0;
    for (int i = 0; i < n; ++i) {
      const double a = term[i], s = sum + a, virtual_a = s - sum;
      const double error = (sum - (s - virtual_a)) + (a - virtual_a);
      sum = s;
      if (error != 0) term[kept++] = error;
    }
    if (sum != 0) term[kept++] = sum;
    n = kept;
  }
  // Add a b c exactly.
  void add_product(double a, double b, double c) {
    const double ab = a * b, low = std::fma(a, b, -ab);
    const double high_c = ab * c, low_c = low * c;
    add(std::fma(low, c, -low_c));
    add(low_c);
    add(std::fma(ab, c, -high_c));
    add(high_c);
  }
};

// p - q as two doubles whose sum is exact.
struct Difference {
  double high, low;
  Difference(double p, double q) : high(p - q) {
    const double virtual_q = p - high;
    low = (p - (high + virtual_q)) + (virtual_q - q);
  }
};

}  // namespace

int orientation(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  const Vec3d u = b - a, v = c - a, w = d - a;
  const double yz = u.y * v.z, zy = u.z * v.y, zx = u.z * v.x, xz = u.x * v.z, xy = u.x * v.y,
               yx = u.y * v.x;
  const double det = (yz - zy) * w.x + (zx - xz) * w.y + (xy - yx) * w.z;
  const double permanent = (std::fabs(yz) + std::fabs(zy)) * std::fabs(w.x) +
                           (std::fabs(zx) + std::fabs(xz)) * std::fabs(w.y) +
                           (std::fabs(xy) + std::fabs(yx)) * std::fabs(w.z);
  const double error = 8e-16 * permanent;
  if (det > error) return 1;
  if (det < -error) return -1;

  // Six products of the determinant, with every difference as two doubles.
  const Difference U[3] = {{b.x, a.x}, {b.y, a.y}, {b.z, a.z}};
  const Difference V[3] = {{c.x, a.x}, {c.y, a.y}, {c.z, a.z}};
  const Difference W[3] = {{d.x, a.x}, {d.y, a.y}, {d.z, a.z}};
  Expansion sum;
  const auto add = [&](double sign, const Difference& p, const Difference& q, const Difference& r) {
    for (double x : {p.high, p.low})
      for (double y : {q.high, q.low})
        for (double z : {r.high, r.low})
          if (x != 0 && y != 0 && z != 0) sum.add_product(sign * x, y, z);
  };
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    add(1, U[j], V[k], W[i]);
    add(-1, U[k], V[j], W[i]);
  }
  if (sum.n == 0) return 0;
  return sum.term[sum.n - 1] > 0 ? 1 : -1;
}

}  // namespace robosim
