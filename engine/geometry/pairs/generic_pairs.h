// Generic pairs, compiled in two separate files: generic_primitives.cpp, and generic_meshes.cpp for
// pairs with convex meshes and triangles. The formulas of pair_table.cpp are then compiled without
// the generic pairs, and stay within the size up to which a compiler inlines everything it should.
// `linkage` is `extern` where the pairs are declared, and empty where they are compiled.
#pragma once

#include "geometry/pairs/generic.h"

#define ROBOSIM_PRIMITIVE_PAIRS(linkage)                                           \
  linkage template struct GenericPair<ShapeType::sphere, ShapeType::sphere>;       \
  linkage template struct GenericPair<ShapeType::sphere, ShapeType::box>;          \
  linkage template struct GenericPair<ShapeType::sphere, ShapeType::capsule>;      \
  linkage template struct GenericPair<ShapeType::sphere, ShapeType::cylinder>;     \
  linkage template struct GenericPair<ShapeType::sphere, ShapeType::ellipsoid>;    \
  linkage template struct GenericPair<ShapeType::sphere, ShapeType::cone>;         \
  linkage template struct GenericPair<ShapeType::box, ShapeType::box>;             \
  linkage template struct GenericPair<ShapeType::box, ShapeType::capsule>;         \
  linkage template struct GenericPair<ShapeType::box, ShapeType::cylinder>;        \
  linkage template struct GenericPair<ShapeType::box, ShapeType::ellipsoid>;       \
  linkage template struct GenericPair<ShapeType::box, ShapeType::cone>;            \
  linkage template struct GenericPair<ShapeType::capsule, ShapeType::capsule>;     \
  linkage template struct GenericPair<ShapeType::capsule, ShapeType::cylinder>;    \
  linkage template struct GenericPair<ShapeType::capsule, ShapeType::ellipsoid>;   \
  linkage template struct GenericPair<ShapeType::capsule, ShapeType::cone>;        \
  linkage template struct GenericPair<ShapeType::cylinder, ShapeType::cylinder>;   \
  linkage template struct GenericPair<ShapeType::cylinder, ShapeType::ellipsoid>;  \
  linkage template struct GenericPair<ShapeType::cylinder, ShapeType::cone>;       \
  linkage template struct GenericPair<ShapeType::ellipsoid, ShapeType::ellipsoid>; \
  linkage template struct GenericPair<ShapeType::ellipsoid, ShapeType::cone>;      \
  linkage template struct GenericPair<ShapeType::cone, ShapeType::cone>;

#define ROBOSIM_MESH_PAIRS(linkage)                                               \
  linkage template struct GenericPair<ShapeType::sphere, ShapeType::convex>;      \
  linkage template struct GenericPair<ShapeType::box, ShapeType::convex>;         \
  linkage template struct GenericPair<ShapeType::capsule, ShapeType::convex>;     \
  linkage template struct GenericPair<ShapeType::cylinder, ShapeType::convex>;    \
  linkage template struct GenericPair<ShapeType::convex, ShapeType::convex>;      \
  linkage template struct GenericPair<ShapeType::convex, ShapeType::ellipsoid>;   \
  linkage template struct GenericPair<ShapeType::convex, ShapeType::cone>;        \
  linkage template struct GenericPair<ShapeType::convex, ShapeType::triangle>;    \
  linkage template struct GenericPair<ShapeType::sphere, ShapeType::triangle>;    \
  linkage template struct GenericPair<ShapeType::box, ShapeType::triangle>;       \
  linkage template struct GenericPair<ShapeType::capsule, ShapeType::triangle>;   \
  linkage template struct GenericPair<ShapeType::cylinder, ShapeType::triangle>;  \
  linkage template struct GenericPair<ShapeType::ellipsoid, ShapeType::triangle>; \
  linkage template struct GenericPair<ShapeType::cone, ShapeType::triangle>;      \
  linkage template struct GenericPair<ShapeType::triangle, ShapeType::triangle>;
