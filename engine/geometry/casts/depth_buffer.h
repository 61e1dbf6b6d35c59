// Depth buffers: which triangle or ball each pixel of a picture sees, and which lights each point
// of a surface sees.
//
// Pixel (row i, column j) is sampled at its center (j + 1/2, i + 1/2); rows run downwards. Nearness
// w is 1 / depth in perspective and -depth + const in parallel projection: affine over a triangle
// in pixel coordinates, larger is nearer, positive. A triangle is cut into rows of pixels, a row
// into the run between its edges, each in doubles; both sides are seen, and of equally near things
// the first. Balls are exact where they are larger than a pixel, and cover the pixel about their
// center where they are not.
//
// Light: each direction towards a light has a parallel buffer of its own, and a point sees the
// light where nothing in it is nearer by more than its own pixel's size (Williams, "Casting curved
// shadows on curved surfaces", 1978). Cost: some 30 ns for a small triangle or ball and 0.5 ns for
// a pixel that it covers, 3 ns for a point that asks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spatial/vec3.h"

namespace robosim {

inline constexpr int max_picture_side = 1 << 15;

// The nearest thing in each pixel; row by row.
struct DepthBuffer {
  int width = 0, height = 0;
  std::vector<float> nearness;       // 0 where there is nothing
  std::vector<std::int32_t> number;  // of what is seen, -1 where there is nothing

  DepthBuffer(int width, int height);
};

// A triangle's corners in pixel coordinates with their nearness.
struct PixelTriangle {
  Vec3d corner[3];
};

// Balls about `centers` [m], each of its radius.
struct Balls {
  std::span<const Vec3d> centers;
  std::span<const double> radii;
};

// Triangles into a buffer, numbered from `first` on.
void draw_triangles(std::span<const PixelTriangle> triangles, int first, DepthBuffer& buffer);

// Balls in the frame of a camera at the origin, which looks along z with x to the right and y down,
// numbered from `first` on; `focal` in pixels, the middle of the picture on the line of sight.
// Balls that reach nearer than `near` [m] are left out.
void draw_balls(const Balls& balls, double focal, double near, int first, DepthBuffer& buffer);

// Things that cast shadows, in W: triangles by their corners, three each, and balls.
struct Shadowing {
  std::span<const Vec3d> corners;
  Balls balls;
};

// Points of surfaces and unit normals there, in W, three numbers each.
struct LitPoints {
  std::span<const float> position, normal;
  std::span<const std::uint8_t> group;  // of each point
};

// Of each point the sums over the lights that it sees of (max(n . l, 0), l_z max(n . l, 0), 1), l
// the unit direction towards the light. Points of group g ask the lights g, g + n_groups, g + 2
// n_groups, ... `side`: of a light's buffer [pixels]. On at most `threads` threads, which change
// nothing.
void gather_light(const Shadowing& things, const LitPoints& points, std::span<const Vec3d> lights,
                  int n_groups, int side, int threads, float* out);

}  // namespace robosim
