#include "geometry/bodies/packed_tree.h"

#include <utility>
#include <vector>

#include "geometry/bodies/compound.h"

namespace robosim {
namespace {

using Kind = PackedTree::Kind;

class Packer {
 public:
  Packer(const Compound& body, PackedTree& out)
      : body_(body), tree_(body.tree()), out_(out), sizes_(tree_.nodes().size()) {
    // Go backwards: children come after their parents.
    for (int i = static_cast<int>(sizes_.size()); i-- > 0;) {
      const AabbTree::Node& node = tree_.node(i);
      Size& size = at(i);
      if (!node.is_leaf()) {
        const Size &left = at(node.first), &right = at(node.first + 1);
        size = {left.n + right.n, left.all_triangles && right.all_triangles};
        continue;
      }
      size = {node.count, true};
      for (int place = node.first; place < node.first + node.count; ++place)
        size.all_triangles &= is_triangle(tree_.item(place));
    }
  }

  void run() {
    out_.nodes.emplace_back();
    const auto [kind, child] = child_of(0);
    out_.nodes[0].set(0, tree_.node(0).box, kind, child);
    fill(0, 1);
  }

 private:
  struct Size {
    int n = 0;  // number of pieces below a node
    bool all_triangles = false;
  };
  Size& at(int node) { return sizes_[node]; }

  bool is_triangle(int piece) const { return body_.part_of(piece).geometry.index() == 2; }

  // Child that a node of the binary tree becomes.
  std::pair<Kind, int> child_of(int i) {
    if (at(i).all_triangles && at(i).n <= PackedTree::width) return {Kind::triangles, leaf_of(i)};
    if (at(i).n == 1) return {Kind::piece, tree_.item(tree_.node(i).first)};
    return {Kind::node, node_of(i)};
  }

  // Call f(piece) for all pieces below a node.
  template <class F>
  void each_piece(int i, F&& f) const {
    const AabbTree::Node& node = tree_.node(i);
    if (node.is_leaf())
      for (int place = node.first; place < node.first + node.count; ++place) f(tree_.item(place));
    else {
      each_piece(node.first, f);
      each_piece(node.first + 1, f);
    }
  }

  // Make the leaf of the triangles below node i.
  int leaf_of(int i) {
    const int number = static_cast<int>(out_.triangles.size());
    PackedTree::Triangles& leaf = out_.triangles.emplace_back();
    each_piece(i, [&](int piece) {
      leaf.piece[leaf.n] = piece;
      body_.with_piece(piece, [&](const Compound::Piece& P) {
        for (int k = 0; k < 3; ++k) {
          const Vec3d p = P.X_BP * P.shape.vertex[k];
          for (int c = 0; c < 3; ++c) leaf.corner[k][c][leaf.n] = p[c];
        }
      });
      ++leaf.n;
    });
    for (int lane = leaf.n; lane < PackedTree::width; ++lane) {
      for (auto& corner : leaf.corner)
        for (auto& coordinate : corner) coordinate[lane] = coordinate[leaf.n - 1];
      leaf.piece[lane] = leaf.piece[leaf.n - 1];
    }
    return number;
  }

  // Make the node for i. Few pieces become its children. Otherwise, the largest child is opened
  // until there are eight.
  int node_of(int i) {
    const int number = static_cast<int>(out_.nodes.size());
    out_.nodes.emplace_back();
    if (at(i).n <= PackedTree::width) {
      int n_pieces = 0;
      each_piece(i, [&](int piece) {
        out_.nodes.back().set(n_pieces++, body_.piece_box(piece), Kind::piece, piece);
      });
      fill(number, n_pieces);
      return number;
    }
    const AabbTree::Node& node = tree_.node(i);
    int open[PackedTree::width] = {node.first, node.first + 1}, n = 2;
    while (n < PackedTree::width) {
      int largest = -1;
      for (int k = 0; k < n; ++k)
        if (at(open[k]).n > PackedTree::width &&
            (largest < 0 || area(open[k]) > area(open[largest])))
          largest = k;
      if (largest < 0) break;
      const int first = tree_.node(open[largest]).first;
      open[largest] = first;
      open[n++] = first + 1;
    }
    for (int k = 0; k < n; ++k) {
      const auto [kind, child] = child_of(open[k]);  // may reallocate the nodes
      out_.nodes[number].set(k, tree_.node(open[k]).box, kind, child);
    }
    fill(number, n);
    return number;
  }
  double area(int i) const {
    const Vec3d s = tree_.node(i).box.upper - tree_.node(i).box.lower;
    return s.x * s.y + s.y * s.z + s.z * s.x;
  }
  // Set the number of children, and repeat the last child in the lanes beyond.
  void fill(int number, int n) {
    PackedTree::Node& node = out_.nodes[number];
    node.n = n;
    for (int lane = n; lane < PackedTree::width; ++lane) {
      for (int c = 0; c < 3; ++c) {
        node.center[c][lane] = node.center[c][n - 1];
        node.half[c][lane] = node.half[c][n - 1];
      }
      node.child[lane] = node.child[n - 1];
      node.kind[lane] = node.kind[n - 1];
    }
  }

  const Compound& body_;
  const AabbTree& tree_;
  PackedTree& out_;
  std::vector<Size> sizes_;  // by node of the binary tree
};

}  // namespace

PackedTree::Node PackedTree::Node::of_piece(const Aabb& box) {
  Node node;
  for (int lane = 0; lane < width; ++lane) node.set(lane, box, Kind::piece, 0);
  node.n = 1;
  return node;
}

void PackedTree::Node::set(int lane, const Aabb& box, Kind kind_, int child_) {
  const Vec3d middle = 0.5 * (box.lower + box.upper), reach = 0.5 * (box.upper - box.lower);
  for (int c = 0; c < 3; ++c) {
    center[c][lane] = middle[c];
    half[c][lane] = reach[c];
  }
  kind[lane] = kind_;
  child[lane] = child_;
}

PackedTree::PackedTree(const Compound& body) {
  Packer(body, *this).run();
  nodes.shrink_to_fit();
  triangles.shrink_to_fit();
}

}  // namespace robosim
