// Kernel of near_descent.h for one instruction set.
#include "geometry/bodies/near_descent.h"

#include "geometry/bodies/near_lanes.h"

namespace robosim::detail {
namespace {

using Kind = PackedTree::Kind;

template <Isa isa>
class NearDescent : NearLanes<isa> {
  using Common = NearLanes<isa>;
  using typename Common::L, typename Common::M, typename Common::Pose, typename Common::V;
  using Common::all_lanes, Common::W, Common::width;
  using Common::corner, Common::cross, Common::difference, Common::dot, Common::exceeds,
      Common::greatest, Common::least, Common::load, Common::moved, Common::near_box,
      Common::set_poses, Common::size;

 public:
  NearDescent(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack,
              const double& limit, FunctionRef<bool(int, int)>& visit)
      : A_(A), B_(B), slack_(slack), limit_(limit), visit_(visit) {
    set_poses(X_AB, AB_, BA_);
  }

  bool run() {
    struct Pair {
      int a, b;  // child `lane` of node n at width * n + lane
    };
    // Each level of either tree, at most 30, leaves seven pairs on the stack.
    Pair stack[512];
    int depth = 0;
    if (near(A_.nodes[0], B_.nodes[0], 0, AB_) == 0) return false;
    stack[depth++] = {0, 0};
    while (depth > 0) {
      const auto [a, b] = stack[--depth];
      const PackedTree::Node &node_A = A_.nodes[a / width], &node_B = B_.nodes[b / width];
      const int lane_A = a % width, lane_B = b % width;
      const Kind kind_A = node_A.kind[lane_A], kind_B = node_B.kind[lane_B];
      if (kind_A != Kind::node && kind_B != Kind::node) {
        if (visit_leaves(node_A, lane_A, node_B, lane_B)) return true;
        continue;
      }
      const bool is_larger_A = size(node_A, lane_A) >= size(node_B, lane_B);
      // Large triangles leave most of their box empty: compare them with the other box before the
      // other node is opened.
      if (kind_A == Kind::triangles && is_larger_A &&
          near_box(A_.triangles[node_A.child[lane_A]], BA_, node_B, lane_B, reach()) == 0)
        continue;
      if (kind_B == Kind::triangles && !is_larger_A &&
          near_box(B_.triangles[node_B.child[lane_B]], AB_, node_A, lane_A, reach()) == 0)
        continue;
      // Open the larger child.
      const bool opens_A = kind_B != Kind::node || (kind_A == Kind::node && is_larger_A);
      const int number = opens_A ? node_A.child[lane_A] : node_B.child[lane_B];
      const PackedTree::Node& opened = opens_A ? A_.nodes[number] : B_.nodes[number];
      unsigned left =
          opens_A ? near(opened, node_B, lane_B, AB_) : near(opened, node_A, lane_A, BA_);
      // Sort the children so that the deepest is last, and is taken first.
      const int bottom = depth;
      for (; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        int at = depth++;
        for (; at > bottom && order_[lanes_[at - 1 - bottom]] > order_[lane]; --at) {
          stack[at] = stack[at - 1];
          lanes_[at - bottom] = lanes_[at - 1 - bottom];
        }
        stack[at] = opens_A ? Pair{width * number + lane, b} : Pair{a, width * number + lane};
        lanes_[at - bottom] = lane;
      }
    }
    return false;
  }

 private:
  // Limit for gaps that rounding may have widened by the slack.
  double reach() const { return limit_ + slack_; }

  // Bit mask of the children of a node of S whose boxes may be near a box of T; sets order_.
  unsigned near(const PackedTree::Node& node, const PackedTree::Node& other, int lane,
                const Pose& X_ST) {
    // Box of T in the frame of S.
    double middle[3], across[3], h[3];
    for (int i = 0; i < 3; ++i) {
      h[i] = other.half[i][lane];
      middle[i] = X_ST.p[i];
      across[i] = 0;
    }
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        middle[i] += X_ST.R[i][j] * other.center[j][lane];
        across[i] += X_ST.size[i][j] * h[j];
      }
    const L zero(0.0), squared_reach(reach() * reach());
    unsigned bits = 0;
    for (int from = 0; from < node.n; from += W) {
      V t, half;
      // The gaps along the axes of one frame are components of the distance.
      L gap(-__builtin_inf()), squared(0.0), squared_T(0.0);
      for (int i = 0; i < 3; ++i) {
        t[i] = L(middle[i]) - load(node.center[i] + from);
        half[i] = load(node.half[i] + from);
        const L along = absolute(t[i]) - half[i] - L(across[i]), apart = larger(along, zero);
        gap = larger(gap, along);
        squared = mul_add(apart, apart, squared);
      }
      if (bits_of(squared > squared_reach) == all_lanes) continue;
      // Gaps along the axes of T.
      for (int j = 0; j < 3; ++j) {
        const L shift =
            mul_add(L(X_ST.R[2][j]), t[2], mul_add(L(X_ST.R[1][j]), t[1], L(X_ST.R[0][j]) * t[0]));
        L own(h[j]);
        for (int i = 0; i < 3; ++i) own = mul_add(L(X_ST.size[i][j]), half[i], own);
        const L along = absolute(shift) - own, apart = larger(along, zero);
        gap = larger(gap, along);
        squared_T = mul_add(apart, apart, squared_T);
      }
      squared = larger(squared, squared_T);
      store_lanes(select(gap > zero, -squared, gap * gap / (dot(t, t) + dot(half, half))),
                  order_ + from);
      bits |= (~bits_of(squared > squared_reach) & all_lanes) << from;
    }
    return bits & ((1u << node.n) - 1);
  }

  // Visit the pairs of pieces of two leaves that may be near.
  bool visit_leaves(const PackedTree::Node& node_A, int lane_A, const PackedTree::Node& node_B,
                    int lane_B) {
    const int a = node_A.child[lane_A], b = node_B.child[lane_B];
    const bool triangles_A = node_A.kind[lane_A] == Kind::triangles,
               triangles_B = node_B.kind[lane_B] == Kind::triangles;
    if (triangles_A && triangles_B)
      return visit_triangles(A_.triangles[a], node_A, lane_A, B_.triangles[b]);
    if (triangles_A) {
      const PackedTree::Triangles& leaf = A_.triangles[a];
      for (unsigned left = near_box(leaf, BA_, node_B, lane_B, reach()); left != 0;
           left &= left - 1)
        if (visit_(leaf.piece[__builtin_ctz(left)], b)) return true;
      return false;
    }
    if (triangles_B) {
      const PackedTree::Triangles& leaf = B_.triangles[b];
      for (unsigned left = near_box(leaf, AB_, node_A, lane_A, reach()); left != 0;
           left &= left - 1)
        if (visit_(a, leaf.piece[__builtin_ctz(left)])) return true;
      return false;
    }
    return visit_(a, b);
  }

  // Triangles in A's frame with their intervals along its axes, and their normals with their
  // intervals along these. All intervals are widened by the reach.
  struct Placed {
    double corner[3][3][width], lower[3][width], upper[3][width], normal[3][width], low[width],
        high[width];
  };
  struct Normal {
    V n;
    L low, high;
  };
  ROBOSIM_INLINE Normal normal(const V (&v)[3]) const {
    const V n = cross(difference(v[1], v[0]), difference(v[2], v[1]));
    const L x = dot(n, v[0]), y = dot(n, v[1]), z = dot(n, v[2]),
            wide = L(reach()) * sqrt(dot(n, n));
    return {n, least(x, y, z) - wide, greatest(x, y, z) + wide};
  }

  // Compare the triangles of two leaves, in A's frame.
  bool visit_triangles(const PackedTree::Triangles& leaf_A, const PackedTree::Node& node_A,
                       int lane_A, const PackedTree::Triangles& leaf_B) {
    // Find the triangles of B near the box of A's leaf.
    Placed b;
    unsigned left = 0;
    for (int from = 0; from < leaf_B.n; from += W) {
      V v[3];
      for (int k = 0; k < 3; ++k) v[k] = moved(AB_, corner(leaf_B.corner[k], from));
      V lower, upper;
      M far{};
      for (int i = 0; i < 3; ++i) {
        lower[i] = least(v[0][i], v[1][i], v[2][i]) - L(reach());
        upper[i] = greatest(v[0][i], v[1][i], v[2][i]) + L(reach());
        const double middle = node_A.center[i][lane_A], half = node_A.half[i][lane_A];
        far = far | (lower[i] > L(middle + half)) | (L(middle - half) > upper[i]);
      }
      const unsigned near_ones = ~bits_of(far) & all_lanes;
      if (near_ones == 0) continue;
      left |= near_ones << from;
      const Normal m = normal(v);
      for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 3; ++k) store_lanes(v[k][i], b.corner[k][i] + from);
        store_lanes(lower[i], b.lower[i] + from);
        store_lanes(upper[i], b.upper[i] + from);
        store_lanes(m.n[i], b.normal[i] + from);
      }
      store_lanes(m.low, b.low + from);
      store_lanes(m.high, b.high + from);
    }
    left &= (1u << leaf_B.n) - 1;
    if (left == 0) return false;

    // Compare each of these with all triangles of A, along the axes of A's frame and both normals.
    struct {
      unsigned char a, b;
    } pairs[width * width];
    int n_pairs = 0;
    for (int from = 0; from < leaf_A.n; from += W) {
      const V v[3] = {corner(leaf_A.corner[0], from), corner(leaf_A.corner[1], from),
                      corner(leaf_A.corner[2], from)};
      V lower, upper;
      for (int i = 0; i < 3; ++i) {
        lower[i] = least(v[0][i], v[1][i], v[2][i]);
        upper[i] = greatest(v[0][i], v[1][i], v[2][i]);
      }
      const Normal m = normal(v);
      const unsigned own = from + W <= leaf_A.n ? all_lanes : (1u << (leaf_A.n - from)) - 1;
      for (unsigned rest = left; rest != 0; rest &= rest - 1) {
        const int j = __builtin_ctz(rest);
        M far{};
        for (int i = 0; i < 3; ++i)
          far = far | (L(b.lower[i][j]) > upper[i]) | (lower[i] > L(b.upper[i][j]));
        if ((~bits_of(far) & own) == 0) continue;
        const auto at = [&](const double(&p)[3][width]) __attribute__((always_inline)) {
          return V{{L(p[0][j]), L(p[1][j]), L(p[2][j])}};
        };
        const L x_B = dot(m.n, at(b.corner[0])), y_B = dot(m.n, at(b.corner[1])),
                z_B = dot(m.n, at(b.corner[2]));
        far = far | (least(x_B, y_B, z_B) > m.high) | (m.low > greatest(x_B, y_B, z_B));
        const V n_B = at(b.normal);
        const L x_A = dot(n_B, v[0]), y_A = dot(n_B, v[1]), z_A = dot(n_B, v[2]);
        far = far | (least(x_A, y_A, z_A) > L(b.high[j])) | (L(b.low[j]) > greatest(x_A, y_A, z_A));
        for (unsigned near_ones = ~bits_of(far) & own; near_ones != 0; near_ones &= near_ones - 1)
          pairs[n_pairs++] = {static_cast<unsigned char>(from + __builtin_ctz(near_ones)),
                              static_cast<unsigned char>(j)};
      }
    }

    // Compare the remaining pairs along the products of their edges, one pair per lane.
    for (int first = 0; first < n_pairs; first += W) {
      alignas(64) double from_A[3][3][W], from_B[3][3][W];
      for (int l = 0; l < W; ++l) {
        const auto [i, j] = pairs[first + l < n_pairs ? first + l : n_pairs - 1];
        for (int k = 0; k < 3; ++k)
          for (int c = 0; c < 3; ++c) {
            from_A[k][c][l] = leaf_A.corner[k][c][i];
            from_B[k][c][l] = b.corner[k][c][j];
          }
      }
      V v[3], w[3];
      for (int k = 0; k < 3; ++k)
        for (int c = 0; c < 3; ++c) {
          v[k][c] = load(from_A[k][c]);
          w[k][c] = load(from_B[k][c]);
        }
      const V e[3] = {difference(v[1], v[0]), difference(v[2], v[1]), difference(v[0], v[2])};
      const V f[3] = {difference(w[1], w[0]), difference(w[2], w[1]), difference(w[0], w[2])};
      M far{};
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          const V n = cross(e[i], f[j]);
          const L x = dot(n, v[0]), y = dot(n, v[1]), z = dot(n, v[2]), r = dot(n, w[0]),
                  s = dot(n, w[1]), t = dot(n, w[2]);
          far = far | exceeds(larger(least(x, y, z) - greatest(r, s, t),
                                     least(r, s, t) - greatest(x, y, z)),
                              n, L(reach()));
        }
      for (unsigned near_ones = ~bits_of(far) & all_lanes; near_ones != 0;
           near_ones &= near_ones - 1) {
        const int l = first + __builtin_ctz(near_ones);
        if (l < n_pairs && visit_(leaf_A.piece[pairs[l].a], leaf_B.piece[pairs[l].b])) return true;
      }
    }
    return false;
  }

  const PackedBody &A_, &B_;
  Pose AB_, BA_;
  double slack_;
  const double& limit_;
  FunctionRef<bool(int, int)>& visit_;
  alignas(64) double order_[width];  // order of the children compared last: larger values first
  int lanes_[width];                 // lanes of the children pushed last
};

template <Isa isa>
bool run(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack,
         const double& limit, FunctionRef<bool(int, int)> visit) {
  return NearDescent<isa>(A, B, X_AB, slack, limit, visit).run();
}

}  // namespace

template <>
DescendNear& compiled_descend_near<own_isa>() {
  return run<own_isa>;
}

}  // namespace robosim::detail
