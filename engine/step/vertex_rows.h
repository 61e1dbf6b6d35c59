// Where the vertices of a scene's shapes are, all in one list: those of convex meshes and of single
// triangles, object by object and piece by piece. Meshes of triangles and height fields have none
// here: their vertices belong to several pieces each.
#pragma once

#include <vector>

#include "scene/collision_scene.h"

namespace robosim {

class VertexRows {
 public:
  // A piece with vertices; a shape by itself is the piece 0 of its object.
  struct Mesh {
    int object = 0, piece = 0;
    int first = 0, count = 0;  // rows
  };

  explicit VertexRows(const std::vector<SceneObject>& objects);

  const std::vector<Mesh>& meshes() const { return meshes_; }
  int size() const { return meshes_.empty() ? 0 : meshes_.back().first + meshes_.back().count; }
  // The row of a piece's first vertex; -1 where it has none.
  int first(int object, int piece) const;

 private:
  std::vector<Mesh> meshes_;  // sorted by object, then piece
};

}  // namespace robosim
