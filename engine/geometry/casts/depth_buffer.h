// Depth buffers: the triangle or ball that each pixel of a picture sees, and the lights that each
// point of a surface sees.
//
// Pixel (row i, column j) is sampled at its center (j + 1/2, i + 1/2); rows run downwards. Nearness
// w is 1 / depth in perspective projection, and -depth + const in parallel projection. It is
// positive, larger for nearer points, and affine over a triangle in pixel coordinates. A triangle
// is split into rows of pixels, and a row into the run between its edges, in double precision. Both
// sides are visible, and of equally near objects the first one. Balls are exact if they are larger
// than a pixel; otherwise they cover the pixel at their center.
//
// Light: each direction towards a light has its own parallel buffer. A point sees the light if
// nothing in the buffer is nearer by more than the size of a pixel (Williams, "Casting curved
// shadows on curved surfaces", 1978). Cost: some 30 ns for a small triangle or ball, 0.5 ns for a
// pixel that it covers, and 3 ns for a point that is lit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spatial/vec3.h"

namespace robosim {

inline constexpr int max_picture_side = 1 << 15;

// Nearest object in each pixel, row by row.
struct DepthBuffer {
  int width = 0, height = 0;
  std::vector<float> nearness;       // 0 if empty
  std::vector<std::int32_t> number;  // of the visible object, -1 if empty

  DepthBuffer(int width, int height);
};

// Corners of a triangle in pixel coordinates with their nearness.
struct PixelTriangle {
  Vec3d corner[3];
};

// Balls about `centers` [m], with a radius each.
struct Balls {
  std::span<const Vec3d> centers;
  std::span<const double> radii;
};

// Draw triangles into a buffer, numbered from `first` on.
void draw_triangles(std::span<const PixelTriangle> triangles, int first, DepthBuffer& buffer);

// Draw balls, numbered from `first` on, in the frame of a camera at the origin. The camera looks
// along z, with x to the right and y down. `focal` is in pixels, and the line of sight is in the
// middle of the picture. Balls that extend nearer than `near` [m] are omitted.
void draw_balls(const Balls& balls, double focal, double near, int first, DepthBuffer& buffer);

// Objects that cast shadows, in W: triangles by their corners, three each, and balls.
struct Shadowing {
  std::span<const Vec3d> corners;
  Balls balls;
};

// Points of surfaces and their unit normals, in W, three numbers each.
struct LitPoints {
  std::span<const float> position, normal;
  std::span<const std::uint8_t> group;  // of each point
};

// For each point, sum (max(n . l, 0), l_z max(n . l, 0), 1) over the lights that the point sees,
// where l is the unit direction towards the light. Points of group g use the lights g,
// g + n_groups, g + 2 n_groups, ... `side`: side length of a light's buffer [pixels]. Uses at most
// `threads` threads; their number does not change the result.
void gather_light(const Shadowing& things, const LitPoints& points, std::span<const Vec3d> lights,
                  int n_groups, int side, int threads, float* out);

}  // namespace robosim
