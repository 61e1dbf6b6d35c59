// What overlap_descent.h offers, for one instruction set.
#include "geometry/bodies/overlap_descent.h"

#include "base/lane_memory.h"
#include "base/lane_order.h"
#include "base/lanes.h"

namespace robosim::detail {
namespace {

constexpr int width = PackedTree::width;
using Kind = PackedTree::Kind;

// What is done to one axis of three is done to all: unrolled, so that indices are constants.
constexpr int next(int i) { return i == 2 ? 0 : i + 1; }

template <Isa isa>
class OverlapDescent {
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

  // From the frame of one body to that of the other, with the magnitudes of the matrix.
  struct Pose {
    double R[3][3], size[3][3], p[3];
  };

 public:
  OverlapDescent(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack, FunctionRef<bool(int, int)>& meet)
      : A_(A), B_(B), slack_(slack), meet_(meet) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        const double r = (&X_AB.R.row[i].x)[j];
        AB_.R[i][j] = BA_.R[j][i] = r;
        AB_.size[i][j] = BA_.size[j][i] = __builtin_fabs(r);
      }
      AB_.p[i] = (&X_AB.p.x)[i];
    }
    for (int i = 0; i < 3; ++i) BA_.p[i] = -(BA_.R[i][0] * AB_.p[0] + BA_.R[i][1] * AB_.p[1] + BA_.R[i][2] * AB_.p[2]);
  }

  bool run() {
    struct Pair {
      int a, b;  // child `lane` of node n at width * n + lane
    };
    // Each level of either tree, at most 30, leaves seven pairs here.
    Pair stack[512];
    int depth = 0;
    if (near(A_.nodes[0], 0, 1, B_.nodes[0], 0, AB_) == 0) return false;
    stack[depth++] = {0, 0};
    while (depth > 0) {
      const auto [a, b] = stack[--depth];
      const PackedTree::Node &node_A = A_.nodes[a / width], &node_B = B_.nodes[b / width];
      const int lane_A = a % width, lane_B = b % width;
      const Kind kind_A = node_A.kind[lane_A], kind_B = node_B.kind[lane_B];
      if (kind_A != Kind::node && kind_B != Kind::node) {
        if (leaves_meet(node_A, lane_A, node_B, lane_B)) return true;
        continue;
      }
      // Open the larger one.
      const bool opens_A = kind_B != Kind::node || (kind_A == Kind::node && size(node_A, lane_A) >= size(node_B, lane_B));
      const int number = opens_A ? node_A.child[lane_A] : node_B.child[lane_B];
      const PackedTree::Node& opened = opens_A ? A_.nodes[number] : B_.nodes[number];
      unsigned left = opens_A ? near(opened, 0, opened.n, node_B, lane_B, AB_) : near(opened, 0, opened.n, node_A, lane_A, BA_);
      // The farthest first: the last one put there is taken first.
      const int bottom = depth;
      for (; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        int at = depth++;
        for (; at > bottom && squared_[lanes_[at - 1 - bottom]] < squared_[lane]; --at) {
          stack[at] = stack[at - 1], lanes_[at - bottom] = lanes_[at - 1 - bottom];
        }
        stack[at] = opens_A ? Pair{width * number + lane, b} : Pair{a, width * number + lane};
        lanes_[at - bottom] = lane;
      }
    }
    return false;
  }

 private:
  static ROBOSIM_INLINE L load(const double* from) { return load_lanes<L>(from); }
  static ROBOSIM_INLINE L dot(const V& a, const V& b) { return mul_add(a[2], b[2], mul_add(a[1], b[1], a[0] * b[0])); }
  static ROBOSIM_INLINE V cross(const V& a, const V& b) {
    return {{nmul_add(a[2], b[1], a[1] * b[2]), nmul_add(a[0], b[2], a[2] * b[0]), nmul_add(a[1], b[0], a[0] * b[1])}};
  }
  static ROBOSIM_INLINE V difference(const V& a, const V& b) { return {{a[0] - b[0], a[1] - b[1], a[2] - b[2]}}; }
  static ROBOSIM_INLINE L sum_of_sides(const V& a) { return absolute(a[0]) + absolute(a[1]) + absolute(a[2]); }
  static ROBOSIM_INLINE double size(const PackedTree::Node& node, int lane) {
    return node.half[0][lane] * node.half[0][lane] + node.half[1][lane] * node.half[1][lane] + node.half[2][lane] * node.half[2][lane];
  }

  // Bits of the children [first, end) of a node of S whose boxes may overlap a box of T; of their registers' the squared distances of the middles.
  unsigned near(const PackedTree::Node& node, int first, int end, const PackedTree::Node& other, int lane, const Pose& X_ST) {
    double middle[3], reach[3], h[3], across[3][3];
    for (int i = 0; i < 3; ++i) h[i] = other.half[i][lane];
    for (int i = 0; i < 3; ++i) {
      middle[i] = X_ST.p[i] + (X_ST.R[i][0] * other.centre[0][lane] + X_ST.R[i][1] * other.centre[1][lane] + X_ST.R[i][2] * other.centre[2][lane]);
      reach[i] = slack_ + (X_ST.size[i][0] * h[0] + X_ST.size[i][1] * h[1] + X_ST.size[i][2] * h[2]);
      for (int j = 0; j < 3; ++j) across[i][j] = slack_ + (h[next(j)] * X_ST.size[i][next(next(j))] + h[next(next(j))] * X_ST.size[i][next(j)]);
    }
    unsigned bits = 0;
    for (int from = first; from < end; from += W) {
      V t, half;
      M far{};
      for (int i = 0; i < 3; ++i) {
        t[i] = L(middle[i]) - load(node.centre[i] + from), half[i] = load(node.half[i] + from);
        far = far | (absolute(t[i]) > half[i] + L(reach[i]));
      }
      for (int j = 0; j < 3; ++j) {
        const L along = mul_add(L(X_ST.R[2][j]), t[2], mul_add(L(X_ST.R[1][j]), t[1], L(X_ST.R[0][j]) * t[0]));
        const L own = mul_add(L(X_ST.size[2][j]), half[2], mul_add(L(X_ST.size[1][j]), half[1], mul_add(L(X_ST.size[0][j]), half[0], L(h[j] + slack_))));
        far = far | (absolute(along) > own);
      }
      if (bits_of(far) == all_lanes) continue;
      for (int i = 0; i < 3; ++i) {
        const int i1 = next(i), i2 = next(i1);
        for (int j = 0; j < 3; ++j) {
          const L along = nmul_add(L(X_ST.R[i2][j]), t[i1], L(X_ST.R[i1][j]) * t[i2]);
          const L own = mul_add(L(X_ST.size[i2][j]), half[i1], mul_add(L(X_ST.size[i1][j]), half[i2], L(across[i][j])));
          far = far | (absolute(along) > own);
        }
      }
      store_lanes(dot(t, t), squared_ + from);
      bits |= (~bits_of(far) & all_lanes) << from;
    }
    return bits & ((1u << end) - 1);
  }

  bool leaves_meet(const PackedTree::Node& node_A, int lane_A, const PackedTree::Node& node_B, int lane_B) {
    const int a = node_A.child[lane_A], b = node_B.child[lane_B];
    const bool triangles_A = node_A.kind[lane_A] == Kind::triangles, triangles_B = node_B.kind[lane_B] == Kind::triangles;
    if (triangles_A && triangles_B) return triangles_meet(A_.triangles[a], node_A, lane_A, B_.triangles[b]);
    if (triangles_A) {
      const PackedTree::Triangles& leaf = A_.triangles[a];
      for (unsigned left = near_box(leaf, BA_, node_B, lane_B); left != 0; left &= left - 1)
        if (meet_(leaf.piece[__builtin_ctz(left)], b)) return true;
      return false;
    }
    if (triangles_B) {
      const PackedTree::Triangles& leaf = B_.triangles[b];
      for (unsigned left = near_box(leaf, AB_, node_A, lane_A); left != 0; left &= left - 1)
        if (meet_(a, leaf.piece[__builtin_ctz(left)])) return true;
      return false;
    }
    return meet_(a, b);
  }

  static ROBOSIM_INLINE V corner(const double (&c)[3][width], int from) { return {{load(c[0] + from), load(c[1] + from), load(c[2] + from)}}; }
  static ROBOSIM_INLINE V moved(const Pose& X, const V& p) {
    V out;
    for (int i = 0; i < 3; ++i) out[i] = mul_add(L(X.R[i][2]), p[2], mul_add(L(X.R[i][1]), p[1], mul_add(L(X.R[i][0]), p[0], L(X.p[i]))));
    return out;
  }
  static ROBOSIM_INLINE L least(const L& a, const L& b, const L& c) { return smaller(smaller(a, b), c); }
  static ROBOSIM_INLINE L greatest(const L& a, const L& b, const L& c) { return larger(larger(a, b), c); }

  // Bits of the triangles, of S, that may meet a box of T.
  unsigned near_box(const PackedTree::Triangles& leaf, const Pose& X_TS, const PackedTree::Node& other, int lane) {
    unsigned bits = 0;
    for (int from = 0; from < leaf.n; from += W) {
      // About the box' middle.
      V v[3], h;
      for (int i = 0; i < 3; ++i) h[i] = L(other.half[i][lane] + slack_);
      for (int k = 0; k < 3; ++k) {
        v[k] = moved(X_TS, corner(leaf.corner[k], from));
        for (int i = 0; i < 3; ++i) v[k][i] -= L(other.centre[i][lane]);
      }
      M far{};
      for (int i = 0; i < 3; ++i) far = far | (least(v[0][i], v[1][i], v[2][i]) > h[i]) | (-greatest(v[0][i], v[1][i], v[2][i]) > h[i]);
      if (bits_of(far) == all_lanes) continue;
      const V e[3] = {difference(v[1], v[0]), difference(v[2], v[1]), difference(v[0], v[2])};
      const auto try_axis = [&](const V& n) __attribute__((always_inline)) {
        const L x = dot(n, v[0]), y = dot(n, v[1]), z = dot(n, v[2]);
        const L reach = mul_add(absolute(n[2]), h[2], mul_add(absolute(n[1]), h[1], absolute(n[0]) * h[0]));
        far = far | (least(x, y, z) > reach) | (-greatest(x, y, z) > reach);
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

  // Triangles in A's frame, what they reach along its axes, and their normals with what they reach along these, which is made larger by the slack.
  struct Placed {
    double corner[3][3][width], lower[3][width], upper[3][width], normal[3][width], low[width], high[width];
  };
  ROBOSIM_INLINE void place(const V (&v)[3], int from, Placed& out) const {
    for (int k = 0; k < 3; ++k)
      for (int i = 0; i < 3; ++i) store_lanes(v[k][i], out.corner[k][i] + from);
    for (int i = 0; i < 3; ++i) {
      store_lanes(least(v[0][i], v[1][i], v[2][i]) - L(slack_), out.lower[i] + from);
      store_lanes(greatest(v[0][i], v[1][i], v[2][i]) + L(slack_), out.upper[i] + from);
    }
    const V n = cross(difference(v[1], v[0]), difference(v[2], v[1]));
    const L x = dot(n, v[0]), y = dot(n, v[1]), z = dot(n, v[2]), wide = L(slack_) * sum_of_sides(n);
    for (int i = 0; i < 3; ++i) store_lanes(n[i], out.normal[i] + from);
    store_lanes(least(x, y, z) - wide, out.low + from), store_lanes(greatest(x, y, z) + wide, out.high + from);
  }

  // Triangles of two leaves, in A's frame.
  bool triangles_meet(const PackedTree::Triangles& leaf_A, const PackedTree::Node& node_A, int lane_A, const PackedTree::Triangles& leaf_B) {
    // Of B those that are near the box of A's.
    Placed b;
    unsigned left = 0;
    for (int from = 0; from < leaf_B.n; from += W) {
      V v[3];
      for (int k = 0; k < 3; ++k) v[k] = moved(AB_, corner(leaf_B.corner[k], from));
      place(v, from, b);
      M far{};
      for (int i = 0; i < 3; ++i) {
        const L centre(node_A.centre[i][lane_A]), half(node_A.half[i][lane_A]);
        far = far | (load(b.lower[i] + from) > centre + half) | (centre - half > load(b.upper[i] + from));
      }
      left |= (~bits_of(far) & all_lanes) << from;
    }
    left &= (1u << leaf_B.n) - 1;
    if (left == 0) return false;

    // Each of them with all of A, by the axes of A's frame and the normals of both.
    struct {
      unsigned char a, b;
    } pairs[width * width];
    int n_pairs = 0;
    for (int from = 0; from < leaf_A.n; from += W) {
      const V v[3] = {corner(leaf_A.corner[0], from), corner(leaf_A.corner[1], from), corner(leaf_A.corner[2], from)};
      V lower, upper;
      for (int i = 0; i < 3; ++i) lower[i] = least(v[0][i], v[1][i], v[2][i]), upper[i] = greatest(v[0][i], v[1][i], v[2][i]);
      const V n = cross(difference(v[1], v[0]), difference(v[2], v[1]));
      const L x = dot(n, v[0]), y = dot(n, v[1]), z = dot(n, v[2]), wide = L(slack_) * sum_of_sides(n);
      const L low = least(x, y, z) - wide, high = greatest(x, y, z) + wide;
      const unsigned own = from + W <= leaf_A.n ? all_lanes : (1u << (leaf_A.n - from)) - 1;
      for (unsigned rest = left; rest != 0; rest &= rest - 1) {
        const int j = __builtin_ctz(rest);
        M far{};
        for (int i = 0; i < 3; ++i) far = far | (L(b.lower[i][j]) > upper[i]) | (lower[i] > L(b.upper[i][j]));
        if ((~bits_of(far) & own) == 0) continue;
        const auto at = [&](int k) __attribute__((always_inline)) { return V{{L(b.corner[k][0][j]), L(b.corner[k][1][j]), L(b.corner[k][2][j])}}; };
        const L x_B = dot(n, at(0)), y_B = dot(n, at(1)), z_B = dot(n, at(2));
        far = far | (least(x_B, y_B, z_B) > high) | (low > greatest(x_B, y_B, z_B));
        const V n_B = {{L(b.normal[0][j]), L(b.normal[1][j]), L(b.normal[2][j])}};
        const L x_A = dot(n_B, v[0]), y_A = dot(n_B, v[1]), z_A = dot(n_B, v[2]);
        far = far | (least(x_A, y_A, z_A) > L(b.high[j])) | (L(b.low[j]) > greatest(x_A, y_A, z_A));
        for (unsigned near_ones = ~bits_of(far) & own; near_ones != 0; near_ones &= near_ones - 1)
          pairs[n_pairs++] = {static_cast<unsigned char>(from + __builtin_ctz(near_ones)), static_cast<unsigned char>(j)};
      }
    }

    // Those that are left by the products of their edges, pair by pair in the lanes.
    for (int first = 0; first < n_pairs; first += W) {
      alignas(64) double from_A[3][3][W], from_B[3][3][W];
      for (int l = 0; l < W; ++l) {
        const auto [i, j] = pairs[first + l < n_pairs ? first + l : n_pairs - 1];
        for (int k = 0; k < 3; ++k)
          for (int c = 0; c < 3; ++c) from_A[k][c][l] = leaf_A.corner[k][c][i], from_B[k][c][l] = b.corner[k][c][j];
      }
      V v[3], w[3];
      for (int k = 0; k < 3; ++k)
        for (int c = 0; c < 3; ++c) v[k][c] = load(from_A[k][c]), w[k][c] = load(from_B[k][c]);
      const V e[3] = {difference(v[1], v[0]), difference(v[2], v[1]), difference(v[0], v[2])};
      const V f[3] = {difference(w[1], w[0]), difference(w[2], w[1]), difference(w[0], w[2])};
      M far{};
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          const V n = cross(e[i], f[j]);
          const L x = dot(n, v[0]), y = dot(n, v[1]), z = dot(n, v[2]), r = dot(n, w[0]), s = dot(n, w[1]), t = dot(n, w[2]);
          const L wide = L(slack_) * sum_of_sides(n);
          far = far | (least(x, y, z) - greatest(r, s, t) > wide) | (least(r, s, t) - greatest(x, y, z) > wide);
        }
      for (unsigned near_ones = ~bits_of(far) & all_lanes; near_ones != 0; near_ones &= near_ones - 1) {
        const int l = first + __builtin_ctz(near_ones);
        if (l < n_pairs && meet_(leaf_A.piece[pairs[l].a], leaf_B.piece[pairs[l].b])) return true;
      }
    }
    return false;
  }

  const PackedBody &A_, &B_;
  Pose AB_, BA_;
  double slack_;
  FunctionRef<bool(int, int)>& meet_;
  alignas(64) double squared_[width];
  int lanes_[width];  // of the children put on the stack last
};

template <Isa isa>
bool compiled_any_pieces_meet(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack, FunctionRef<bool(int, int)> meet) {
  return OverlapDescent<isa>(A, B, X_AB, slack, meet).run();
}

}  // namespace

template <>
AnyPiecesMeet& any_pieces_meet<own_isa>() {
  return compiled_any_pieces_meet<own_isa>;
}

}  // namespace robosim::detail
