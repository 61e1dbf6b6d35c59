// Kernel of closest_descent.h for one instruction set.
#include "geometry/bodies/closest_descent.h"

#include "geometry/bodies/near_lanes.h"

namespace robosim::detail {
namespace {

template <Isa isa>
class ClosestDescent : NearLanes<isa> {
  using Common = NearLanes<isa>;
  using typename Common::L, typename Common::M, typename Common::Pose, typename Common::V;
  using Common::all_lanes, Common::W, Common::width;
  using Common::corner, Common::cross, Common::difference, Common::dot, Common::exceeds,
      Common::greatest;
  using Common::least, Common::load, Common::moved, Common::near_box, Common::set_poses,
      Common::size;
  using Kind = PackedTree::Kind;

 public:
  ClosestDescent(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack,
                 NearestSoFar& known, FunctionRef<bool(int, int)>& visit)
      : A_(A), B_(B), slack_(slack), known_(known), visit_(visit) {
    set_poses(X_AB, AB_, BA_);
  }

  bool run() {
    bool stops = false;
    const bool is_done = !known_.is_alone_B && has_direction() && compare_farthest(stops);
    if (stops) return true;
    if (!is_done) {
      n_candidates_ = n_waiting_ = 0;
      if (descend(0, 0)) return true;
    }
    return measure_all() || visit_candidates();
  }

 private:
  // Pairs whose lower bound exceeds this do not matter. Rounding may have raised the bounds by the
  // slack.
  double reach() const { return known_.limit + slack_; }
  double squared_reach() const { return reach() * reach(); }

  bool has_direction() const { return known_.n.x != 0 || known_.n.y != 0 || known_.n.z != 0; }

  // Leaf that reaches far along a direction of its body's frame.
  struct Reach {
    int child;
    double at;
  };
  static constexpr int max_reaching = 64, max_steps = 4;
  struct Reaching {
    Reach leaf[max_reaching];
    int n = 0;
  };

  // Compute the largest coordinates along n of the children of a node.
  static ROBOSIM_INLINE void reach_of_boxes(const PackedTree::Node& node, const double (&n)[3],
                                            double* out) {
    for (int from = 0; from < node.n; from += W) {
      L reaches(0.0);
      for (int i = 0; i < 3; ++i) {
        reaches = mul_add(L(__builtin_fabs(n[i])), load(node.half[i] + from), reaches);
        reaches = mul_add(L(n[i]), load(node.center[i] + from), reaches);
      }
      store_lanes(reaches, out + from);
    }
  }
  // Return the largest coordinate along n of a leaf's triangles, and the corner that has it.
  static double reach_of_triangles(const PackedTree::Triangles& leaf, const double (&n)[3],
                                   double (&corner_out)[3]) {
    double best = -__builtin_inf();
    for (int k = 0; k < 3; ++k) {
      alignas(64) double reaches[width];
      for (int from = 0; from < leaf.n; from += W) {
        const V p = corner(leaf.corner[k], from);
        store_lanes(mul_add(L(n[2]), p[2], mul_add(L(n[1]), p[1], L(n[0]) * p[0])), reaches + from);
      }
      for (int l = 0; l < leaf.n; ++l) {
        if (!(reaches[l] > best)) continue;
        best = reaches[l];
        for (int i = 0; i < 3; ++i) corner_out[i] = leaf.corner[k][i][l];
      }
    }
    return best;
  }

  // Find the corner of a body that is farthest along n, and its leaf. Return false if the body has
  // pieces other than triangles there.
  static bool farthest(const PackedBody& body, const double (&n)[3], Reach& out,
                       double (&corner_out)[3]) {
    struct Child {
      int at;
      double reaches;
    } stack[256];
    int depth = 0;
    out = {0, -__builtin_inf()};
    stack[depth++] = {0, __builtin_inf()};
    while (depth > 0) {
      const Child child = stack[--depth];
      if (child.reaches <= out.at) continue;
      const PackedTree::Node& node = body.nodes[child.at / width];
      const int lane = child.at % width, number = node.child[lane];
      if (node.kind[lane] == Kind::piece) return false;
      if (node.kind[lane] == Kind::triangles) {
        double p[3] = {};
        const double at = reach_of_triangles(body.triangles[number], n, p);
        if (!(at > out.at)) continue;
        out = {child.at, at};
        for (int i = 0; i < 3; ++i) corner_out[i] = p[i];
        continue;
      }
      // Sort the children so that the farthest is last, and is taken first.
      const PackedTree::Node& opened = body.nodes[number];
      alignas(64) double reaches[width];
      reach_of_boxes(opened, n, reaches);
      const int bottom = depth;
      for (int l = 0; l < opened.n; ++l) {
        if (!(reaches[l] > out.at)) continue;
        int at = depth++;
        for (; at > bottom && stack[at - 1].reaches > reaches[l]; --at) stack[at] = stack[at - 1];
        stack[at] = {width * number + l, reaches[l]};
      }
    }
    return true;
  }

  // Find the leaves that reach at least as far as `enough`. Return false if they are too many.
  static bool find_reaching(const PackedBody& body, const double (&n)[3], double enough,
                            Reaching& out) {
    out.n = 0;
    int stack[256], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
      const int child = stack[--depth];
      const PackedTree::Node& node = body.nodes[child / width];
      const int lane = child % width, number = node.child[lane];
      if (node.kind[lane] != Kind::node) {
        double p[3] = {};
        if (node.kind[lane] == Kind::piece) return false;
        const double at = reach_of_triangles(body.triangles[number], n, p);
        if (at < enough) continue;
        if (out.n == max_reaching) return false;
        // Sort by reach, the farthest first.
        int place = out.n++;
        for (; place > 0 && out.leaf[place - 1].at < at; --place)
          out.leaf[place] = out.leaf[place - 1];
        out.leaf[place] = {child, at};
        continue;
      }
      const PackedTree::Node& opened = body.nodes[number];
      alignas(64) double reaches[width];
      reach_of_boxes(opened, n, reaches);
      for (int l = 0; l < opened.n; ++l)
        if (!(reaches[l] < enough)) stack[depth++] = width * number + l;
    }
    return true;
  }

  // Compare what reaches far along the known direction. Return true if that was enough.
  bool compare_farthest(bool& stops) {
    const double n_A[3] = {known_.n.x, known_.n.y, known_.n.z};
    double n_B[3], start = 0;  // coordinate of B's frame along n
    for (int i = 0; i < 3; ++i) {
      n_B[i] = -(BA_.R[i][0] * n_A[0] + BA_.R[i][1] * n_A[1] + BA_.R[i][2] * n_A[2]);
      start += n_A[i] * AB_.p[i];
    }
    Reach top_A, top_B;
    double p[3] = {}, q[3] = {}, squared = 0;
    // The farthest corners of both bodies are an upper bound on the distance.
    if (!farthest(A_, n_A, top_A, p) || !farthest(B_, n_B, top_B, q)) return false;
    for (int i = 0; i < 3; ++i) {
      const double d =
          AB_.p[i] + AB_.R[i][0] * q[0] + AB_.R[i][1] * q[1] + AB_.R[i][2] * q[2] - p[i];
      squared += d * d;
    }
    const double apart = __builtin_sqrt(squared);
    if (apart < known_.limit) known_.limit = apart;
    const double gap = start - top_B.at - top_A.at;  // between the supporting planes
    nearest_A_ = top_A.child;
    nearest_B_ = top_B.child;
    if (apart > gap + slack_ && (visit_leaves(top_A.child, top_B.child) || measure_all()))
      return stops = true;
    // Find the leaves that may be within the limit along the direction.
    const auto find_all = [&] {
      n_candidates_ = 0;  // they are found again
      const double deepest = reach() - gap;
      return find_reaching(A_, n_A, top_A.at - deepest, reaching_A_) &&
             find_reaching(B_, n_B, top_B.at - deepest, reaching_B_);
    };
    if (!find_all()) {
      const double size_A = size(A_.nodes[0], 0), size_B = size(B_.nodes[0], 0);
      // The planes say little about bodies that are near.
      if (!(gap > 0) || 16 * gap * gap < (size_A < size_B ? size_A : size_B)) return false;
      // The bodies are not nearest at the planes, as across a hollow. Go from leaf to leaf: each is
      // the nearest to the previous leaf of the other body.
      for (int step = 0; step < max_steps; ++step) {
        const double before = known_.limit;
        if ((step % 2 == 0 ? descend(nearest_A_, 0) : descend(0, nearest_B_)) || measure_all())
          return stops = true;
        if (step > 0 && !(known_.limit < before)) break;
      }
      if (!find_all()) return false;
    }
    return (stops = compare_reaching(start)) || true;
  }
  // Compare each far-reaching leaf of A with those of B, eight boxes at a time.
  bool compare_reaching(double start) {
    const Reaching &of_A = reaching_A_, &of_B = reaching_B_;
    for (int first = 0; first < of_B.n; first += width) {
      PackedTree::Node& node = together_;
      node.n = of_B.n - first < width ? of_B.n - first : width;
      for (int l = 0; l < width; ++l) {
        const int child = of_B.leaf[l < node.n ? first + l : of_B.n - 1].child;
        const PackedTree::Node& own = B_.nodes[child / width];
        const int lane = child % width;
        for (int i = 0; i < 3; ++i) {
          node.center[i][l] = own.center[i][lane];
          node.half[i][l] = own.half[i][lane];
        }
      }
      for (int k = 0; k < of_A.n && start - of_B.leaf[first].at - of_A.leaf[k].at <= reach(); ++k) {
        const int child = of_A.leaf[k].child;
        unsigned left = compare<false>(node, A_.nodes[child / width], child % width);
        for (; left != 0; left &= left - 1) {
          const Reach& other = of_B.leaf[first + __builtin_ctz(left)];
          if (start - other.at - of_A.leaf[k].at <= reach() && visit_leaves(child, other.child))
            return true;
        }
      }
    }
    return false;
  }

  // Descend from a child of either tree; children are numbered width * node + lane.
  bool descend(int from_A, int from_B) {
    struct Children {
      int a, b;
      double least;  // squared lower bound
    };
    // Each level of either tree, at most 30, leaves seven pairs on the stack.
    Children stack[512];
    int depth = 0;
    stack[depth++] = {from_A, from_B, 0};
    while (depth > 0) {
      const auto [a, b, bound] = stack[--depth];
      if (bound > squared_reach()) continue;
      const PackedTree::Node &node_A = A_.nodes[a / width], &node_B = B_.nodes[b / width];
      const int lane_A = a % width, lane_B = b % width;
      const Kind kind_A = node_A.kind[lane_A], kind_B = node_B.kind[lane_B];
      if (kind_A != Kind::node && kind_B != Kind::node) {
        if (visit_leaves(a, b)) return true;
        continue;
      }
      const bool is_larger_A = size(node_A, lane_A) >= size(node_B, lane_B);
      // Large triangles leave most of their box empty: compare them with the other box before the
      // other node is opened.
      const bool by_A = kind_A == Kind::triangles && is_larger_A,
                 by_B = kind_B == Kind::triangles && !is_larger_A;
      if (by_A && near_box(leaf_of(A_, a), BA_, node_B, lane_B, reach()) == 0) continue;
      if (by_B && near_box(leaf_of(B_, b), AB_, node_A, lane_A, reach()) == 0) continue;
      // Open the larger child.
      const bool opens_A = kind_B != Kind::node || (kind_A == Kind::node && is_larger_A);
      const int number = opens_A ? node_A.child[lane_A] : node_B.child[lane_B];
      unsigned left = opens_A ? compare<true>(A_.nodes[number], node_B, lane_B)
                              : compare<false>(B_.nodes[number], node_A, lane_A);
      // Sort the children so that the nearest is last, and is taken first.
      const int bottom = depth;
      for (; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        int at = depth++;
        for (; at > bottom && order_[lanes_[at - 1 - bottom]] > order_[lane]; --at) {
          stack[at] = stack[at - 1];
          lanes_[at - bottom] = lanes_[at - 1 - bottom];
        }
        const int child = width * number + lane;
        stack[at] = opens_A ? Children{child, b, bounds_[lane]} : Children{a, child, bounds_[lane]};
        lanes_[at - bottom] = lane;
      }
    }
    return false;
  }

  // Direction in the frame of one body, and where the other body begins along it.
  struct Direction {
    double n[3];
    double other;  // least coordinate of the other body's box along it
  };
  // Direction in the frame of S, A or B, with the box of a child of the other body, T.
  template <bool S_is_A>
  Direction direction(const PackedTree::Node& other, int lane) const {
    const Pose& X_ST = S_is_A ? AB_ : BA_;
    Direction d;
    const double n_A[3] = {known_.n.x, known_.n.y, known_.n.z};
    for (int i = 0; i < 3; ++i) {
      d.n[i] =
          S_is_A ? n_A[i] : -(BA_.R[i][0] * n_A[0] + BA_.R[i][1] * n_A[1] + BA_.R[i][2] * n_A[2]);
    }
    if (S_is_A && known_.is_alone_B) {
      d.other = known_.lowest_B;
      return d;
    }
    d.other = d.n[0] * X_ST.p[0] + d.n[1] * X_ST.p[1] + d.n[2] * X_ST.p[2];
    for (int j = 0; j < 3; ++j) {
      const double n = X_ST.R[0][j] * d.n[0] + X_ST.R[1][j] * d.n[1] + X_ST.R[2][j] * d.n[2];
      d.other += n * other.center[j][lane] - __builtin_fabs(n) * other.half[j][lane];
    }
    return d;
  }

  // Bit mask of a node's children, of S, whose boxes may be near a box of T. Sets bounds_, order_.
  template <bool S_is_A>
  unsigned compare(const PackedTree::Node& node, const PackedTree::Node& other, int lane) {
    const Pose& X_ST = S_is_A ? AB_ : BA_;
    // Box of T in the frame of S.
    double middle[3], across[3], h[3];
    for (int i = 0; i < 3; ++i) {
      h[i] = other.half[i][lane];
      middle[i] = X_ST.p[i];
      across[i] = 0;
    }
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        middle[i] += X_ST.R[i][j] * other.center[j][lane];
        across[i] += X_ST.size[i][j] * h[j];
      }
    }
    const Direction d = direction<S_is_A>(other, lane);
    const L zero(0.0), enough(squared_reach());
    unsigned bits = 0;
    for (int from = 0; from < node.n; from += W) {
      V t, half;
      // The gaps along the axes of one frame are components of the distance.
      L gap(-__builtin_inf()), squared(0.0), squared_T(0.0);
      L ahead(d.other);
      for (int i = 0; i < 3; ++i) {
        const L center = load(node.center[i] + from);
        t[i] = L(middle[i]) - center;
        half[i] = load(node.half[i] + from);
        ahead = nmul_add(L(d.n[i]), center, nmul_add(L(__builtin_fabs(d.n[i])), half[i], ahead));
        const L along = absolute(t[i]) - half[i] - L(across[i]), apart = larger(along, zero);
        gap = larger(gap, along);
        squared = mul_add(apart, apart, squared);
      }
      ahead = larger(ahead, zero);
      squared = larger(squared, ahead * ahead);
      if (bits_of(squared > enough) == all_lanes) continue;
      // Gaps along the axes of T.
      for (int j = 0; j < 3; ++j) {
        const L in_plane = mul_add(L(X_ST.R[1][j]), t[1], L(X_ST.R[0][j]) * t[0]);
        const L shift = mul_add(L(X_ST.R[2][j]), t[2], in_plane);
        L own(h[j]);
        for (int i = 0; i < 3; ++i) own = mul_add(L(X_ST.size[i][j]), half[i], own);
        const L along = absolute(shift) - own, apart = larger(along, zero);
        gap = larger(gap, along);
        squared_T = mul_add(apart, apart, squared_T);
      }
      squared = larger(squared, squared_T);
      store_lanes(squared, bounds_ + from);
      store_lanes(select(gap > zero, -squared, gap * gap / (dot(t, t) + dot(half, half))),
                  order_ + from);
      bits |= (~bits_of(squared > enough) & all_lanes) << from;
    }
    return bits & ((1u << node.n) - 1);
  }

  // Compare the pieces of two leaves.
  bool visit_leaves(int child_A, int child_B) {
    const PackedTree::Node &node_A = A_.nodes[child_A / width], &node_B = B_.nodes[child_B / width];
    const int lane_A = child_A % width, lane_B = child_B % width;
    const int a = node_A.child[lane_A], b = node_B.child[lane_B];
    const bool triangles_A = node_A.kind[lane_A] == Kind::triangles;
    const bool triangles_B = node_B.kind[lane_B] == Kind::triangles;
    if (triangles_A && triangles_B) return compare_triangles(child_A, child_B);
    if (triangles_A) return visit_beside<true>(A_.triangles[a], node_B, lane_B, b);
    if (triangles_B) return visit_beside<false>(B_.triangles[b], node_A, lane_A, a);
    return visit_(a, b);
  }

  // Visit the triangles of S that may be near a piece of T.
  template <bool S_is_A>
  bool visit_beside(const PackedTree::Triangles& leaf, const PackedTree::Node& other, int lane,
                    int piece) {
    for (unsigned left = near_box(leaf, S_is_A ? BA_ : AB_, other, lane, reach()); left != 0;
         left &= left - 1) {
      const int at = __builtin_ctz(left);
      const Direction d = direction<S_is_A>(other, lane);
      double highest = -__builtin_inf();
      for (int k = 0; k < 3; ++k) {
        double x = 0;
        for (int i = 0; i < 3; ++i) x += d.n[i] * leaf.corner[k][i][at];
        highest = x > highest ? x : highest;
      }
      if (d.other - highest > reach()) continue;
      if (S_is_A ? visit_(leaf.piece[at], piece) : visit_(piece, leaf.piece[at])) return true;
    }
    return false;
  }

  // Leaf of B in A's frame: intervals of its triangles along the axes, and their normals.
  struct Placed {
    int leaf = -1;
    double corner[3][3][width], lower[3][width], upper[3][width];
    double normal[3][width], low[width], high[width], nn[width];
  };
  void place(int number) {
    if (placed_.leaf == number) return;
    placed_.leaf = number;
    const PackedTree::Triangles& leaf = B_.triangles[number];
    for (int from = 0; from < leaf.n; from += W) {
      V v[3];
      for (int k = 0; k < 3; ++k) {
        v[k] = moved(AB_, corner(leaf.corner[k], from));
        for (int i = 0; i < 3; ++i) store_lanes(v[k][i], placed_.corner[k][i] + from);
      }
      const V n = cross(difference(v[1], v[0]), difference(v[2], v[1]));
      const L x = dot(n, v[0]), y = dot(n, v[1]), z = dot(n, v[2]);
      for (int i = 0; i < 3; ++i) {
        store_lanes(least(v[0][i], v[1][i], v[2][i]), placed_.lower[i] + from);
        store_lanes(greatest(v[0][i], v[1][i], v[2][i]), placed_.upper[i] + from);
        store_lanes(n[i], placed_.normal[i] + from);
      }
      store_lanes(least(x, y, z), placed_.low + from);
      store_lanes(greatest(x, y, z), placed_.high + from);
      store_lanes(dot(n, n), placed_.nn + from);
    }
  }

  // Compare the triangles of two leaves, in A's frame.
  bool compare_triangles(int child_A, int child_B) {
    const PackedTree::Node& node_A = A_.nodes[child_A / width];
    const int lane_A = child_A % width, number_B = B_.nodes[child_B / width].child[child_B % width];
    const PackedTree::Triangles& leaf_A = A_.triangles[node_A.child[lane_A]];
    place(number_B);
    const Placed& b = placed_;
    const PackedTree::Triangles& leaf_B = B_.triangles[number_B];
    const V direction{{L(known_.n.x), L(known_.n.y), L(known_.n.z)}};
    const L zero(0.0), r(reach()), enough(squared_reach());

    // Find the triangles of B near the box of A's leaf.
    alignas(64) double ahead[width];  // least coordinates along the direction
    unsigned left = 0;
    double highest = 0;
    for (int i = 0; i < 3; ++i) {
      const double n = i == 0 ? known_.n.x : i == 1 ? known_.n.y : known_.n.z;
      highest += n * node_A.center[i][lane_A] + __builtin_fabs(n) * node_A.half[i][lane_A];
    }
    for (int from = 0; from < leaf_B.n; from += W) {
      L squared(0.0);
      for (int i = 0; i < 3; ++i) {
        const L middle(node_A.center[i][lane_A]), half(node_A.half[i][lane_A]);
        const L apart = larger(
            larger(load(b.lower[i] + from) - middle, middle - load(b.upper[i] + from)) - half,
            zero);
        squared = mul_add(apart, apart, squared);
      }
      const V w[3] = {corner(b.corner[0], from), corner(b.corner[1], from),
                      corner(b.corner[2], from)};
      const L lowest = least(dot(direction, w[0]), dot(direction, w[1]), dot(direction, w[2]));
      store_lanes(lowest, ahead + from);
      left |= (~bits_of((squared > enough) | (lowest - L(highest) > r)) & all_lanes) << from;
    }
    left &= (1u << leaf_B.n) - 1;
    if (left == 0) return false;

    // Compare each of these with all triangles of A, along the axes of A's frame, both normals and
    // the direction.
    for (int from = 0; from < leaf_A.n; from += W) {
      const V v[3] = {corner(leaf_A.corner[0], from), corner(leaf_A.corner[1], from),
                      corner(leaf_A.corner[2], from)};
      V lower, upper;
      for (int i = 0; i < 3; ++i) {
        lower[i] = least(v[0][i], v[1][i], v[2][i]);
        upper[i] = greatest(v[0][i], v[1][i], v[2][i]);
      }
      const V n_A = cross(difference(v[1], v[0]), difference(v[2], v[1]));
      const L x = dot(n_A, v[0]), y = dot(n_A, v[1]), z = dot(n_A, v[2]);
      const L low_A = least(x, y, z), high_A = greatest(x, y, z);
      const L nn_A = dot(n_A, n_A) * enough;
      const L top = greatest(dot(direction, v[0]), dot(direction, v[1]), dot(direction, v[2]));
      const unsigned own = from + W <= leaf_A.n ? all_lanes : (1u << (leaf_A.n - from)) - 1;
      for (unsigned rest = left; rest != 0; rest &= rest - 1) {
        const int j = __builtin_ctz(rest);
        L squared(0.0);
        for (int i = 0; i < 3; ++i) {
          const L apart =
              larger(larger(L(b.lower[i][j]) - upper[i], lower[i] - L(b.upper[i][j])), zero);
          squared = mul_add(apart, apart, squared);
        }
        M far = (squared > enough) | (L(ahead[j]) - top > r);
        if ((~bits_of(far) & own) == 0) continue;
        const auto at = [&](const double(&p)[3][width]) __attribute__((always_inline)) {
          return V{{L(p[0][j]), L(p[1][j]), L(p[2][j])}};
        };
        // Separation along the line between the triangles' centers.
        const V w[3] = {at(b.corner[0]), at(b.corner[1]), at(b.corner[2])};
        V m;
        for (int i = 0; i < 3; ++i)
          m[i] = (w[0][i] + w[1][i] + w[2][i]) - (v[0][i] + v[1][i] + v[2][i]);
        const L low_m = least(dot(m, w[0]), dot(m, w[1]), dot(m, w[2]));
        const L high_m = greatest(dot(m, v[0]), dot(m, v[1]), dot(m, v[2]));
        far = far | exceeds(low_m - high_m, m, r);
        // Separation along both normals.
        if ((~bits_of(far) & own) == 0) continue;
        const L x_B = dot(n_A, w[0]), y_B = dot(n_A, w[1]), z_B = dot(n_A, w[2]);
        const L beyond_A = least(x_B, y_B, z_B) - high_A,
                before_A = low_A - greatest(x_B, y_B, z_B);
        const L gap_A = larger(larger(beyond_A, before_A), zero);
        far = far | (gap_A * gap_A > nn_A);
        const V n_B = at(b.normal);
        const L x_A = dot(n_B, v[0]), y_A = dot(n_B, v[1]), z_A = dot(n_B, v[2]);
        const L beyond_B = least(x_A, y_A, z_A) - L(b.high[j]),
                before_B = L(b.low[j]) - greatest(x_A, y_A, z_A);
        const L gap_B = larger(larger(beyond_B, before_B), zero);
        far = far | (gap_B * gap_B > L(b.nn[j] * squared_reach()));
        for (unsigned near_ones = ~bits_of(far) & own; near_ones != 0; near_ones &= near_ones - 1)
          waiting_[n_waiting_++] = {child_A, child_B, from + __builtin_ctz(near_ones), j};
      }
    }
    return known_.limit < __builtin_inf() ? measure_full() : measure_all();
  }

  // Two triangles, by their leaves and lanes.
  struct Pair {
    int leaf_A, leaf_B;  // children
    int a, b;
  };
  static const PackedTree::Triangles& leaf_of(const PackedBody& body, int child) {
    return body.triangles[body.nodes[child / width].child[child % width]];
  }
  // Measure as many of the waiting pairs as fill registers.
  bool measure_full() {
    int first = 0;
    for (; first + W <= n_waiting_; first += W)
      if (measure(waiting_ + first, W)) return true;
    n_waiting_ -= first;
    for (int i = 0; i < n_waiting_; ++i) waiting_[i] = waiting_[first + i];
    return false;
  }
  // Measure all waiting pairs.
  bool measure_all() {
    if (measure_full()) return true;
    const int n = n_waiting_;
    n_waiting_ = 0;
    return n > 0 && measure(waiting_, n);
  }
  // Measure up to W pairs. Update the limit, and remember or visit the pairs within it.
  bool measure(const Pair* pairs, int n) {
    alignas(64) double from_A[3][3][W], from_B[3][3][W];
    for (int l = 0; l < W; ++l) {
      const Pair& pair = pairs[l < n ? l : n - 1];
      const PackedTree::Triangles &leaf_A = leaf_of(A_, pair.leaf_A),
                                  &leaf_B = leaf_of(B_, pair.leaf_B);
      for (int k = 0; k < 3; ++k) {
        for (int c = 0; c < 3; ++c) {
          from_A[k][c][l] = leaf_A.corner[k][c][pair.a];
          from_B[k][c][l] = leaf_B.corner[k][c][pair.b];
        }
      }
    }
    V v[3], w[3];
    for (int k = 0; k < 3; ++k) {
      for (int c = 0; c < 3; ++c) {
        v[k][c] = load(from_A[k][c]);
        w[k][c] = load(from_B[k][c]);
      }
      w[k] = moved(AB_, w[k]);
    }
    alignas(64) double lower[W], upper[W], way[3][W];
    bounds(v, w, slack_, lower, upper, way);
    for (int l = 0; l < n; ++l) {
      if (lower[l] > reach()) continue;
      const int p = leaf_of(A_, pairs[l].leaf_A).piece[pairs[l].a];
      const int q = leaf_of(B_, pairs[l].leaf_B).piece[pairs[l].b];
      if (upper[l] < known_.limit) {
        known_.limit = upper[l];
        nearest_A_ = pairs[l].leaf_A;
        nearest_B_ = pairs[l].leaf_B;
        if (upper[l] > slack_) known_.n = {way[0][l], way[1][l], way[2][l]};
      }
      if (!(lower[l] > 0)) {  // the triangles may overlap
        if (visit_(p, q)) return true;
      } else if (remember({p, q, lower[l], upper[l]})) {
        return true;
      }
    }
    return false;
  }

  // Bounds on the distance of pairs of triangles: upper, the distance of their nearest points;
  // lower, the separation along the direction `way` between these points.
  static ROBOSIM_INLINE void bounds(const V (&v)[3], const V (&w)[3], double slack, double* lower,
                                    double* upper, double (&way)[3][W]) {
    const L zero(0.0), one(1.0);
    const V e[3] = {difference(v[1], v[0]), difference(v[2], v[1]), difference(v[0], v[2])};
    const V f[3] = {difference(w[1], w[0]), difference(w[2], w[1]), difference(w[0], w[2])};
    L best(__builtin_inf());
    V from_A_to_B{{zero, zero, zero}};
    const auto consider = [&](const V& d, const L& squared) __attribute__((always_inline)) {
      const M nearer = squared < best;
      best = select(nearer, squared, best);
      for (int i = 0; i < 3; ++i) from_A_to_B[i] = select(nearer, d[i], from_A_to_B[i]);
    };

    // Pairs of edges: the nearest point of one line to the other, clamped to its edge; then the
    // nearest point of the other edge, clamped; then the nearest point of the first edge again.
    L ff[3], by_ff[3];
    for (int j = 0; j < 3; ++j) {
      ff[j] = dot(f[j], f[j]);
      by_ff[j] = one / ff[j];
    }
    for (int i = 0; i < 3; ++i) {
      const L ee = dot(e[i], e[i]), by_ee = one / ee;
      for (int j = 0; j < 3; ++j) {
        const V r = difference(w[j], v[i]);
        const L ef = dot(e[i], f[j]), er = dot(e[i], r), fr = dot(f[j], r);
        const L det = nmul_add(ef, ef, ee * ff[j]);
        const auto held = [&](const L& x) __attribute__((always_inline)) {
          return smaller(larger(x, zero), one);
        };
        L s = held(select(det > zero, nmul_add(ef, fr, er * ff[j]) / det, zero));
        const L u = held((ef * s - fr) * by_ff[j]);
        s = held(mul_add(ef, u, er) * by_ee);
        V d;
        for (int c = 0; c < 3; ++c) d[c] = mul_add(f[j][c], u, nmul_add(e[i][c], s, r[c]));
        consider(d, dot(d, d));
      }
    }

    // Corners over faces.
    const auto over_face = [&](const V(&p)[3], const V(&t)[3], const V(&edge)[3], double sign)
        __attribute__((always_inline)) {
      const V n = cross(edge[0], edge[1]);
      const L nn = dot(n, n), by_nn = one / nn;
      // The plane of a needle is unknown, but its edges are sufficient.
      const M is_needle = nn < L(1e-10) * dot(edge[0], edge[0]) * dot(edge[1], edge[1]);
      const V inwards[3] = {cross(n, edge[0]), cross(n, edge[1]), cross(n, edge[2])};
      const L inner[3] = {dot(inwards[0], t[0]), dot(inwards[1], t[1]), dot(inwards[2], t[2])};
      const L level = dot(n, t[0]);
      for (int k = 0; k < 3; ++k) {
        const L height = (dot(n, p[k]) - level) * by_nn;
        M beside = is_needle;
        for (int i = 0; i < 3; ++i) beside = beside | (dot(inwards[i], p[k]) < inner[i]);
        V d;
        for (int c = 0; c < 3; ++c) d[c] = L(sign) * height * n[c];
        consider(d, select(beside, L(__builtin_inf()), dot(d, d)));
      }
    };
    over_face(v, w, f, -1.0);
    over_face(w, v, e, 1.0);

    // Separation along the direction between the nearest points.
    const L distance = sqrt(best), scale = one / distance;
    for (int c = 0; c < 3; ++c) from_A_to_B[c] *= scale;
    const L low = least(dot(from_A_to_B, w[0]), dot(from_A_to_B, w[1]), dot(from_A_to_B, w[2]));
    const L high = greatest(dot(from_A_to_B, v[0]), dot(from_A_to_B, v[1]), dot(from_A_to_B, v[2]));
    store_lanes(distance, upper);
    store_lanes(select(distance > L(slack), low - high, zero), lower);
    for (int c = 0; c < 3; ++c) store_lanes(from_A_to_B[c], way[c]);
  }

  struct Candidate {
    int a, b;
    double lower, upper;
  };
  // Parts of the slack, which is 1e-11 of the coordinates. tied: distances that differ by rounding.
  // tight: lower and upper bounds that count as equal.
  static constexpr double tied = 1e-3, tight = 1e-2;
  bool is_known(const Candidate& x) const { return x.upper - x.lower <= tight * slack_; }
  bool counts(const Candidate& x) const {
    return is_known(x) ? x.upper <= known_.limit + tied * slack_ : x.lower <= reach();
  }

  // Keep a pair until the descent ends.
  bool remember(const Candidate& pair) {
    if (!counts(pair)) return false;
    if (n_candidates_ == max_candidates && make_room()) return true;
    candidates_[n_candidates_++] = pair;
    return false;
  }
  // Keep one of the pairs that share the least distance. If that is not enough, visit the pairs
  // whose bounds are not tight.
  bool make_room() {
    const Candidate* first = first_known();
    const Candidate one = first ? *first : Candidate{};
    const bool has_one = first != nullptr;
    int n = 0;
    for (int i = 0; i < n_candidates_; ++i)
      if (counts(candidates_[i]) && !is_known(candidates_[i])) candidates_[n++] = candidates_[i];
    n_candidates_ = n;
    if (2 * n > max_candidates && visit_unknown()) return true;
    if (has_one) candidates_[n_candidates_++] = one;
    return false;
  }
  // Among the pairs that are nearest up to rounding, the one with the lowest numbers.
  const Candidate* first_known() const {
    const Candidate* first = nullptr;
    for (int i = 0; i < n_candidates_; ++i) {
      const Candidate& x = candidates_[i];
      if (counts(x) && is_known(x) && (!first || known_.comes_first(x.a, x.b, first->a, first->b)))
        first = &x;
    }
    return first;
  }
  bool visit_unknown() {
    const int n = n_candidates_;
    n_candidates_ = 0;
    for (int i = 0; i < n; ++i)
      if (const Candidate& x = candidates_[i]; counts(x) && !is_known(x) && visit_(x.a, x.b))
        return true;
    return false;
  }
  bool visit_candidates() {
    if (const Candidate* first = first_known(); first && visit_(first->a, first->b)) return true;
    return visit_unknown();
  }

  const PackedBody &A_, &B_;
  Pose AB_, BA_;
  double slack_;
  NearestSoFar& known_;
  FunctionRef<bool(int, int)>& visit_;
  // Order and squared bounds of the children compared last. Nearer children come first; among those
  // that overlap, larger ones.
  alignas(64) double order_[width];
  alignas(64) double bounds_[width];
  int lanes_[width];  // lanes of the children pushed last
  alignas(64) Placed placed_;
  static constexpr int max_candidates = 128;
  Candidate candidates_[max_candidates];
  int n_candidates_ = 0;
  Pair waiting_[width * width + W];
  int n_waiting_ = 0;
  Reaching reaching_A_, reaching_B_;
  PackedTree::Node together_;          // leaves of B
  int nearest_A_ = 0, nearest_B_ = 0;  // leaves of the nearest pair so far
};

template <Isa isa>
bool run_closest(const PackedBody& A, const PackedBody& B, const SE3d& X_AB, double slack,
                 NearestSoFar& known, FunctionRef<bool(int, int)> visit) {
  return ClosestDescent<isa>(A, B, X_AB, slack, known, visit).run();
}

}  // namespace

template <>
DescendClosest& compiled_descend_closest<own_isa>() {
  return run_closest<own_isa>;
}

}  // namespace robosim::detail
