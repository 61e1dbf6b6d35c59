// Generalized winding number of a point about the surfaces of a body: Jacobson, Kavan and
// Sorkine-Hornung, "Robust inside-outside segmentation using generalized winding numbers" (2013).
//
// w(p) is the sum of the solid angles by which p sees the triangles, over 4 pi: 1 in the solid of a
// closed surface, 0 outside, and in between about one with holes, where |w| > 1/2 is inside: as
// most exported meshes have some. Triangles far away count together, as the dipole of their areas
// (Barill, Dickson, Schmidt, Levin and Jacobson, "Fast winding numbers for soups and clouds", 2018,
// of first order): O(log n) per point, to about 1e-2.
#pragma once

#include <vector>

#include "geometry/bodies/compound.h"

namespace robosim {

class WindingNumber {
 public:
  // Of the surfaces of a body, closed and open ones; keeps no reference to it. O(n log n), 64 bytes
  // per node of its tree.
  explicit WindingNumber(const Compound& body);

  // At p, in the body's frame. The same body as before.
  double at(const Compound& body, const Vec3d& p_B) const;

 private:
  // Of the triangles below a node of the body's tree.
  struct Dipole {
    Vec3d area;         // sum of the areas, along the normals [m^2]
    Vec3d center;       // mean of their middles, weighted by area
    double radius = 0;  // of a ball about it that holds them
  };
  std::vector<Dipole> dipoles_;  // by node
};

}  // namespace robosim
