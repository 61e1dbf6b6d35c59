// VertexRows: one list of all vertices of a scene's shapes. It has the vertices of convex meshes
// and of single triangles, object by object and piece by piece. Triangle meshes and height fields
// are left out, because each of their vertices belongs to several pieces.
#pragma once

#include <vector>

#include "scene/collision_scene.h"

namespace robosim {

class VertexRows {
 public:
  // Piece with vertices. A shape that is not a compound is piece 0 of its object.
  struct Mesh {
    int object = 0, piece = 0;
    int first = 0, count = 0;  // range of rows
  };

  explicit VertexRows(const std::vector<SceneObject>& objects);

  const std::vector<Mesh>& meshes() const { return meshes_; }
  int size() const { return meshes_.empty() ? 0 : meshes_.back().first + meshes_.back().count; }
  // Row of a piece's first vertex; -1 if it has none.
  int first(int object, int piece) const;

 private:
  std::vector<Mesh> meshes_;  // sorted by object, then piece
};

}  // namespace robosim
