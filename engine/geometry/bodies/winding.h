// Generalized winding number of a point about the surfaces of a body: Jacobson, Kavan and
// Sorkine-Hornung, "Robust inside-outside segmentation using generalized winding numbers" (2013).
//
// w(p) is the sum of the solid angles of the triangles as seen from p, over 4 pi. It is 1 in the
// solid of a closed surface and 0 outside. Around a surface with holes, as most exported meshes
// have, w is in between, and |w| > 1/2 counts as inside. Distant triangles are summed as the dipole
// of their areas (Barill, Dickson, Schmidt, Levin and Jacobson, "Fast winding numbers for soups and
// clouds", 2018, first order): O(log n) per point, accurate to about 1e-2.
#pragma once

#include <vector>

#include "geometry/bodies/compound.h"

namespace robosim {

class WindingNumber {
 public:
  // Prepare the surfaces of a body, closed and open; no reference to the body is kept. O(n log n),
  // 64 bytes per node of its tree.
  explicit WindingNumber(const Compound& body);

  // Winding number at p_B, in the body's frame; `body` must be that of the constructor.
  double at(const Compound& body, const Vec3d& p_B) const;

 private:
  // Dipole of the triangles below a node of the body's tree.
  struct Dipole {
    Vec3d area;         // sum of the areas, along the normals [m^2]
    Vec3d center;       // mean of the triangles' centers, weighted by area
    double radius = 0;  // of a ball about `center` that contains the triangles
  };
  std::vector<Dipole> dipoles_;  // by node
};

}  // namespace robosim
