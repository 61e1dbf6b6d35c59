// Comparison of eight boxes or triangles of a packed tree (packed_tree.h) with one of another, for
// one instruction set; shared by the descents of compiled/.
#pragma once

#include "base/isa.h"
#include "base/lane_memory.h"
#include "base/lane_order.h"
#include "base/lanes.h"
#include "geometry/bodies/packed_tree.h"
#include "spatial/se3.h"

namespace robosim::detail {

template <Isa isa>
struct NearLanes {
  static constexpr int width = PackedTree::width;
  using L = Lanes<lanes_of(isa), isa>;
  using M = Mask<lanes_of(isa), isa>;
  static constexpr int W = L::width;
  static constexpr unsigned all_lanes = (1u << W) - 1;

  template <class S>
  struct Vector {
    S x[3];
    ROBOSIM_INLINE const S& operator[](int i) const { return x[i]; }
    ROBOSIM_INLINE S& operator[](int i) { return x[i]; }
  };
  using V = Vector<L>;

  // Pose of one body in the frame of the other, with the magnitudes of the matrix.
  struct Pose {
    double R[3][3], size[3][3], p[3];
  };
  // Set AB to X_AB and BA to its inverse.
  static void set_poses(const SE3d& X_AB, Pose& AB, Pose& BA) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        const double r = (&X_AB.R.row[i].x)[j];
        AB.R[i][j] = BA.R[j][i] = r;
        AB.size[i][j] = BA.size[j][i] = __builtin_fabs(r);
      }
      AB.p[i] = (&X_AB.p.x)[i];
    }
    for (int i = 0; i < 3; ++i)
      BA.p[i] = -(BA.R[i][0] * AB.p[0] + BA.R[i][1] * AB.p[1] + BA.R[i][2] * AB.p[2]);
  }

  static ROBOSIM_INLINE L load(const double* from) { return load_lanes<L>(from); }
  static ROBOSIM_INLINE L dot(const V& a, const V& b) {
    return mul_add(a[2], b[2], mul_add(a[1], b[1], a[0] * b[0]));
  }
  static ROBOSIM_INLINE V cross(const V& a, const V& b) {
    return {{nmul_add(a[2], b[1], a[1] * b[2]), nmul_add(a[0], b[2], a[2] * b[0]),
             nmul_add(a[1], b[0], a[0] * b[1])}};
  }
  static ROBOSIM_INLINE V difference(const V& a, const V& b) {
    return {{a[0] - b[0], a[1] - b[1], a[2] - b[2]}};
  }
  static ROBOSIM_INLINE double size(const PackedTree::Node& node, int lane) {
    const double x = node.half[0][lane], y = node.half[1][lane], z = node.half[2][lane];
    return x * x + y * y + z * z;
  }

  static ROBOSIM_INLINE V corner(const double (&c)[3][width], int from) {
    return {{load(c[0] + from), load(c[1] + from), load(c[2] + from)}};
  }
  static ROBOSIM_INLINE V moved(const Pose& X, const V& p) {
    V out;
    for (int i = 0; i < 3; ++i) {
      out[i] = mul_add(L(X.R[i][2]), p[2],
                       mul_add(L(X.R[i][1]), p[1], mul_add(L(X.R[i][0]), p[0], L(X.p[i]))));
    }
    return out;
  }
  static ROBOSIM_INLINE L least(const L& a, const L& b, const L& c) {
    return smaller(smaller(a, b), c);
  }
  static ROBOSIM_INLINE L greatest(const L& a, const L& b, const L& c) {
    return larger(larger(a, b), c);
  }
  // True where a gap along n, times the length of n, exceeds `reach` times that length.
  static ROBOSIM_INLINE M exceeds(const L& gap, const V& n, const L& reach) {
    return (gap > L(0.0)) & (gap * gap > reach * reach * dot(n, n));
  }

  // Bit mask of the triangles of S that may be within `reach` of a box of T.
  static unsigned near_box(const PackedTree::Triangles& leaf, const Pose& X_TS,
                           const PackedTree::Node& other, int lane, double reach) {
    unsigned bits = 0;
    for (int from = 0; from < leaf.n; from += W) {
      // Corners relative to the center of the box.
      V v[3], h;
      for (int i = 0; i < 3; ++i) h[i] = L(other.half[i][lane]);
      for (int k = 0; k < 3; ++k) {
        v[k] = moved(X_TS, corner(leaf.corner[k], from));
        for (int i = 0; i < 3; ++i) v[k][i] -= L(other.center[i][lane]);
      }
      // Distance from the box along its own axes.
      L squared(0.0);
      for (int i = 0; i < 3; ++i) {
        const L nearest =
            larger(least(v[0][i], v[1][i], v[2][i]), -greatest(v[0][i], v[1][i], v[2][i]));
        const L apart = larger(nearest - h[i], L(0.0));
        squared = mul_add(apart, apart, squared);
      }
      M far = squared > L(reach * reach);
      if (bits_of(far) == all_lanes) continue;
      // Normal of the triangle, and products of its edges with the axes of the box.
      const V e[3] = {difference(v[1], v[0]), difference(v[2], v[1]), difference(v[0], v[2])};
      const auto try_axis = [&](const V& n) __attribute__((always_inline)) {
        const L x = dot(n, v[0]), y = dot(n, v[1]), z = dot(n, v[2]);
        const L own =
            mul_add(absolute(n[2]), h[2], mul_add(absolute(n[1]), h[1], absolute(n[0]) * h[0]));
        far = far | exceeds(larger(least(x, y, z), -greatest(x, y, z)) - own, n, L(reach));
      };
      try_axis(cross(e[0], e[1]));
      for (int k = 0; k < 3; ++k) {
        try_axis({{L(0.0), -e[k][2], e[k][1]}});
        try_axis({{e[k][2], L(0.0), -e[k][0]}});
        try_axis({{-e[k][1], e[k][0], L(0.0)}});
      }
      bits |= (~bits_of(far) & all_lanes) << from;
    }
    return bits & ((1u << leaf.n) - 1);
  }
};

}  // namespace robosim::detail
