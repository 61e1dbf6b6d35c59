// PackedTree: the tree of a compound with eight children per node and up to eight triangles per
// leaf. It is stored coordinate by coordinate, so that one box or triangle of another body is
// compared with eight at once (near_descent.h).
//
// It is made from the compound's tree and leaves out two of three levels of nodes: O(n). Triangles
// of surfaces are copied, in the body's frame, as gathering them by their numbers takes longer than
// comparing them. Other pieces are not copied, and each is a leaf by itself.
#pragma once

#include <cstdint>

#include "base/aligned.h"
#include "geometry/bounds.h"

namespace robosim {

class Compound;

struct PackedTree {
  static constexpr int width = 8;

  // Kinds of children.
  enum class Kind : std::uint8_t { node, triangles, piece };
  // Boxes of n children; lanes from n on repeat the last child. Boxes are not rounded outwards:
  // queries allow for that.
  struct alignas(64) Node {
    double center[3][width], half[3][width];
    int child[width];  // number of a node, of a leaf of triangles, or of a piece
    Kind kind[width];
    int n = 0;

    // Node with one child, a piece in this box.
    static Node of_piece(const Aabb& box);
    void set(int lane, const Aabb& box, Kind kind_, int child_);
  };
  struct alignas(64) Triangles {
    // Coordinate i of corner k at [k][i]; lanes from n on repeat the last.
    double corner[3][3][width];
    int piece[width];
    int n = 0;
  };

  PackedTree() = default;
  explicit PackedTree(const Compound& body);

  AlignedVector<Node> nodes;  // nodes[0] has one child, the whole body
  AlignedVector<Triangles> triangles;
};

}  // namespace robosim
