// The generic pairs with convex meshes and triangles, compiled in a file of their own: with all others they would be what every build
// waits for. `linkage` is `extern` where they are declared, and nothing where they are compiled.
#pragma once

#include "geometry/pairs/generic.h"

#define ROBOSIM_MESH_PAIRS(linkage)                                              \
  linkage template struct GenericPair<ShapeType::sphere, ShapeType::convex>;     \
  linkage template struct GenericPair<ShapeType::box, ShapeType::convex>;        \
  linkage template struct GenericPair<ShapeType::capsule, ShapeType::convex>;    \
  linkage template struct GenericPair<ShapeType::cylinder, ShapeType::convex>;   \
  linkage template struct GenericPair<ShapeType::convex, ShapeType::convex>;     \
  linkage template struct GenericPair<ShapeType::convex, ShapeType::ellipsoid>;  \
  linkage template struct GenericPair<ShapeType::convex, ShapeType::cone>;       \
  linkage template struct GenericPair<ShapeType::convex, ShapeType::triangle>;   \
  linkage template struct GenericPair<ShapeType::sphere, ShapeType::triangle>;   \
  linkage template struct GenericPair<ShapeType::box, ShapeType::triangle>;      \
  linkage template struct GenericPair<ShapeType::capsule, ShapeType::triangle>;  \
  linkage template struct GenericPair<ShapeType::cylinder, ShapeType::triangle>; \
  linkage template struct GenericPair<ShapeType::ellipsoid, ShapeType::triangle>; \
  linkage template struct GenericPair<ShapeType::cone, ShapeType::triangle>;     \
  linkage template struct GenericPair<ShapeType::triangle, ShapeType::triangle>;
