#include "geometry/casts/depth_buffer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/thread_pool.h"

namespace robosim {
namespace {

std::size_t place(int i) { return static_cast<std::size_t>(i); }

// Last pixel, below `count`, whose center is at most x, and first pixel, from 0 on, whose center is
// at least x. x may be any number.
int last_center(double x, int count) {
  return static_cast<int>(std::floor(std::min(std::max(x - 0.5, -1.0), count - 1.0)));
}
int first_center(double x, int count) {
  return static_cast<int>(std::ceil(std::max(std::min(x - 0.5, static_cast<double>(count)), 0.0)));
}

// Call fill(row, first, last, plane at the first pixel, its slope along x, least and largest
// nearness) for each run of pixels that a triangle covers.
template <class Fill>
void each_run(const PixelTriangle& triangle, int width, int height, const Fill& fill) {
  const Vec3d &a = triangle.corner[0], &b = triangle.corner[1], &c = triangle.corner[2];
  const double area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
  if (!(std::abs(area) > 1e-12)) return;  // seen edge-on
  const int top = first_center(std::min({a.y, b.y, c.y}), height),
            bottom = last_center(std::max({a.y, b.y, c.y}), height);
  if (bottom < top || !(std::max({a.x, b.x, c.x}) > 0) || !(std::min({a.x, b.x, c.x}) < width))
    return;
  // Plane w = w_a + wx (x - a.x) + wy (y - a.y). Slivers extrapolate badly, so w is clamped to the
  // values of the corners.
  const double wx = ((b.z - a.z) * (c.y - a.y) - (c.z - a.z) * (b.y - a.y)) / area;
  const double wy = ((c.z - a.z) * (b.x - a.x) - (b.z - a.z) * (c.x - a.x)) / area;
  const float low = static_cast<float>(std::min({a.z, b.z, c.z})),
              high = static_cast<float>(std::max({a.z, b.z, c.z}));
  const double sign = area > 0 ? 1 : -1;
  const Vec3d* const ends[4] = {&a, &b, &c, &a};
  for (int row = top; row <= bottom; ++row) {
    const double y = row + 0.5;
    double left = 0, right = width;
    // A point is inside an edge if sign * (dx * (y - p.y) - dy * (x - p.x)) >= 0.
    for (int k = 0; k < 3; ++k) {
      const Vec3d &p = *ends[k], &q = *ends[k + 1];
      const double dx = sign * (q.x - p.x), dy = sign * (q.y - p.y), offset = dx * (y - p.y);
      if (dy > 0)
        right = std::min(right, p.x + offset / dy);
      else if (dy < 0)
        left = std::max(left, p.x + offset / dy);
      else if (offset < 0)
        right = -1;
    }
    const int first = first_center(left, width), last = last_center(right, width);
    if (first <= last)
      fill(row, first, last, a.z + wx * (first + 0.5 - a.x) + wy * (y - a.y), wx, low, high);
  }
}

// Buffer of nearness only, for lights.
struct Nearness {
  int side;
  std::vector<float>& w;
};

void draw_nearness(const PixelTriangle& triangle, const Nearness& map) {
  each_run(triangle, map.side, map.side,
           [&](int row, int first, int last, double w0, double wx, float low, float high) {
             float* const out = map.w.data() + place(row) * place(map.side) + first;
             const float start = static_cast<float>(w0), slope = static_cast<float>(wx);
             for (int i = 0; i <= last - first; ++i)
               out[i] =
                   std::max(out[i], std::clamp(start + slope * static_cast<float>(i), low, high));
           });
}

// Draw a ball in parallel projection, about (x, y) in pixels with nearness z [m].
void draw_nearness(const Vec3d& center, double radius, double texel, const Nearness& map) {
  const double r = radius / texel;
  const int top = first_center(center.y - r, map.side),
            bottom = last_center(center.y + r, map.side);
  const int left = first_center(center.x - r, map.side),
            right = last_center(center.x + r, map.side);
  // Smaller than a pixel.
  if (r < 1 || bottom < top || right < left) {
    const int i = static_cast<int>(center.y), j = static_cast<int>(center.x);
    if (i < 0 || j < 0 || i >= map.side || j >= map.side) return;
    float& w = map.w[place(i) * place(map.side) + place(j)];
    w = std::max(w, static_cast<float>(center.z + radius));
    return;
  }
  const float square = static_cast<float>(r * r), scale = static_cast<float>(texel),
              w = static_cast<float>(center.z);
  const float x0 = static_cast<float>(left + 0.5 - center.x);
  for (int row = top; row <= bottom; ++row) {
    const float y = static_cast<float>(row + 0.5 - center.y), rest = square - y * y;
    float* const out = map.w.data() + place(row) * place(map.side) + left;
    for (int i = 0; i <= right - left; ++i) {
      const float x = x0 + static_cast<float>(i), depth = rest - x * x;
      const float at = depth >= 0 ? w + scale * std::sqrt(std::max(depth, 0.0f))
                                  : -std::numeric_limits<float>::infinity();
      out[i] = std::max(out[i], at);
    }
  }
}

// Buffer of one light: its axes, and the objects seen from the light. Pixels are
// (axes^T p - low) / texel + 2 in x and y; nearness [m] starts at 1.
class LightMap {
 public:
  explicit LightMap(int side) : side_(side), nearness_(place(side) * place(side)) {}

  void draw(const Shadowing& things, const Vec3d& light) {
    const double x = std::abs(light.x), y = std::abs(light.y), z = std::abs(light.z);
    const Vec3d least =
        x <= y && x <= z ? Vec3d(1, 0, 0) : (y <= z ? Vec3d(0, 1, 0) : Vec3d(0, 0, 1));
    Vec3d side = cross(light, least);
    side *= 1 / norm(side);
    axes_[0] = side;
    axes_[1] = cross(light, side);
    axes_[2] = light;
    bound(things);
    std::fill(nearness_.begin(), nearness_.end(), -std::numeric_limits<float>::infinity());
    const Nearness map{side_, nearness_};
    for (std::size_t i = 0; i + 2 < things.corners.size(); i += 3)
      draw_nearness(
          {{pixel(things.corners[i]), pixel(things.corners[i + 1]), pixel(things.corners[i + 2])}},
          map);
    for (std::size_t i = 0; i < things.balls.centers.size(); ++i)
      draw_nearness(pixel(things.balls.centers[i]), things.balls.radii[i], texel_, map);
  }

  // True if a point sees the light. The point is moved off its own surface by about a pixel, as
  // rounding would otherwise let the surface shadow itself.
  bool reaches(const float* p, const float* n) const {
    float at[3];
    for (int k = 0; k < 3; ++k)
      at[k] = to_map_[k][0] * (p[0] + off_ * n[0]) + to_map_[k][1] * (p[1] + off_ * n[1]) +
              to_map_[k][2] * (p[2] + off_ * n[2]) - origin_[k];
    const float last = static_cast<float>(side_ - 1);
    const int i = static_cast<int>(std::clamp(at[1], 0.0f, last)),
              j = static_cast<int>(std::clamp(at[0], 0.0f, last));
    return at[2] >= nearness_[place(i) * place(side_) + place(j)];
  }

 private:
  Vec3d seen(const Vec3d& p) const {
    return {dot(axes_[0], p), dot(axes_[1], p), dot(axes_[2], p)};
  }
  Vec3d pixel(const Vec3d& p) const {
    const Vec3d s = seen(p);
    return {(s.x - low_.x) / texel_ + 2, (s.y - low_.y) / texel_ + 2, s.z - low_.z + 1};
  }

  // Fit the buffer's frame around all objects.
  void bound(const Shadowing& things) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    low_ = {inf, inf, inf};
    Vec3d high = {-inf, -inf, -inf};
    const auto take = [&](const Vec3d& p, double r) {
      const Vec3d s = seen(p);
      for (int k = 0; k < 3; ++k) {
        low_[k] = std::min(low_[k], s[k] - r);
        high[k] = std::max(high[k], s[k] + r);
      }
    };
    for (const Vec3d& p : things.corners) take(p, 0);
    for (std::size_t i = 0; i < things.balls.centers.size(); ++i)
      take(things.balls.centers[i], things.balls.radii[i]);
    texel_ = std::max({high.x - low_.x, high.y - low_.y, 1e-6}) / std::max(side_ - 4, 1);
    off_ = static_cast<float>(1.6 * texel_);
    for (int k = 0; k < 3; ++k) {
      const double scale = k < 2 ? 1 / texel_ : 1;
      for (int c = 0; c < 3; ++c) to_map_[k][c] = static_cast<float>(scale * axes_[k][c]);
      origin_[k] = static_cast<float>(k < 2 ? low_[k] / texel_ - 2 : low_.z - 1 - 1.2 * texel_);
    }
  }

  int side_;
  std::vector<float> nearness_;
  Vec3d axes_[3], low_;
  double texel_ = 0;
  float to_map_[3][3] = {}, origin_[3] = {}, off_ = 0;
};

// Least and largest pixel coordinates (p - middle) / focal that a ball about (x, z), in the plane
// across the other axis, covers: the tangents from the eye.
std::pair<double, double> tangents(double x, double z, double r) {
  const double along = std::sqrt(std::max(x * x + z * z - r * r, 0.0)), square = z * z - r * r;
  return {(x * z - r * along) / square, (x * z + r * along) / square};
}

}  // namespace

DepthBuffer::DepthBuffer(int width_, int height_) : width(width_), height(height_) {
  if (width < 1 || height < 1 || width > max_picture_side || height > max_picture_side)
    throw InputError(message("a picture of ", width, " x ", height,
                             " pixels: each must lie between 1 and ", max_picture_side));
  nearness.assign(place(width) * place(height), 0.0f);
  number.assign(place(width) * place(height), -1);
}

void draw_triangles(std::span<const PixelTriangle> triangles, int first_number,
                    DepthBuffer& buffer) {
  int number = first_number;
  for (const PixelTriangle& triangle : triangles) {
    each_run(triangle, buffer.width, buffer.height,
             [&](int row, int first, int last, double w0, double wx, float low, float high) {
               const std::size_t at = place(row) * place(buffer.width) + place(first);
               float* const nearness = buffer.nearness.data() + at;
               std::int32_t* const seen = buffer.number.data() + at;
               for (int i = 0; i <= last - first; ++i) {
                 const float w = std::clamp(static_cast<float>(w0 + wx * i), low, high);
                 const bool nearer = w > nearness[i];
                 nearness[i] = nearer ? w : nearness[i];
                 seen[i] = nearer ? number : seen[i];
               }
             });
    ++number;
  }
}

void draw_balls(const Balls& balls, double focal, double near, int first_number,
                DepthBuffer& buffer) {
  const double x_middle = 0.5 * buffer.width, y_middle = 0.5 * buffer.height;
  for (std::size_t k = 0; k < balls.centers.size(); ++k) {
    const Vec3d& c = balls.centers[k];
    const double radius = balls.radii[k];
    if (!(c.z - radius >= near)) continue;
    const int number = first_number + static_cast<int>(k);
    const auto [x_low, x_high] = tangents(c.x, c.z, radius);
    const auto [y_low, y_high] = tangents(c.y, c.z, radius);
    const int left = first_center(focal * x_low + x_middle, buffer.width),
              right = last_center(focal * x_high + x_middle, buffer.width);
    const int top = first_center(focal * y_low + y_middle, buffer.height),
              bottom = last_center(focal * y_high + y_middle, buffer.height);
    if (focal * radius < c.z) {  // smaller than a pixel
      const double x = focal * c.x / c.z + x_middle, y = focal * c.y / c.z + y_middle;
      if (!(x >= 0 && y >= 0 && x < buffer.width && y < buffer.height)) continue;
      const std::size_t at =
          place(static_cast<int>(y)) * place(buffer.width) + place(static_cast<int>(x));
      const float w = static_cast<float>(1 / (c.z - radius));
      if (w > buffer.nearness[at]) {
        buffer.nearness[at] = w;
        buffer.number[at] = number;
      }
      continue;
    }
    // On the ray z d through a pixel, d = (x, y, 1), the point nearest to the center is at
    // z = d . c / d . d. The ball's surface is nearer by sqrt((r^2 - e^2) / d . d) in z, where e is
    // the distance of that point from the center.
    const float square = static_cast<float>(radius * radius), cx = static_cast<float>(c.x),
                cy = static_cast<float>(c.y), cz = static_cast<float>(c.z);
    const float step = static_cast<float>(1 / focal),
                x0 = static_cast<float>((left + 0.5 - x_middle) / focal);
    for (int row = top; row <= bottom; ++row) {
      const float y = static_cast<float>((row + 0.5 - y_middle) / focal), yc = y * cy + cz,
                  yy = y * y + 1;
      const std::size_t begin = place(row) * place(buffer.width) + place(left);
      float* const nearness = buffer.nearness.data() + begin;
      std::int32_t* const seen = buffer.number.data() + begin;
      for (int i = 0; i <= right - left; ++i) {
        const float x = x0 + step * static_cast<float>(i), dd = x * x + yy, z = (x * cx + yc) / dd;
        const float ex = cx - z * x, ey = cy - z * y, ez = cz - z,
                    depth = square - (ex * ex + ey * ey + ez * ez);
        const float w = depth >= 0 ? 1 / (z - std::sqrt(std::max(depth, 0.0f) / dd)) : 0.0f;
        const bool nearer = w > nearness[i];
        nearness[i] = nearer ? w : nearness[i];
        seen[i] = nearer ? number : seen[i];
      }
    }
  }
}

void gather_light(const Shadowing& things, const LitPoints& points, std::span<const Vec3d> lights,
                  int n_groups, int side, int threads, float* out) {
  if (n_groups < 1) throw InputError(message("n_groups is ", n_groups, "; it must be positive"));
  if (side < 1 || side > max_picture_side)
    throw InputError(
        message("side is ", side, " pixels; it must lie between 1 and ", max_picture_side));
  // Points of each group.
  std::vector<std::vector<std::size_t>> members(place(n_groups));
  for (std::size_t i = 0; i < points.group.size(); ++i) {
    if (points.group[i] >= n_groups)
      throw InputError(
          message("point ", i, " is of group ", int{points.group[i]}, "; there are ", n_groups));
    members[points.group[i]].push_back(i);
  }
  std::fill(out, out + 3 * points.group.size(), 0.0f);
  const bool dark = !things.corners.empty() || !things.balls.centers.empty();
  // Each group has a light buffer of its own, so groups run in parallel.
  const auto body = [&](int g, int) {
    const std::vector<std::size_t>& mine = members[place(g)];
    if (mine.empty()) return;
    LightMap map(side);
    for (std::size_t k = place(g); k < lights.size(); k += place(n_groups)) {
      if (dark) map.draw(things, lights[k]);
      const float lx = static_cast<float>(lights[k].x), ly = static_cast<float>(lights[k].y),
                  lz = static_cast<float>(lights[k].z);
      for (const std::size_t i : mine) {
        const float *p = points.position.data() + 3 * i, *n = points.normal.data() + 3 * i;
        if (dark && !map.reaches(p, n)) continue;
        const float cosine = std::max(lx * n[0] + ly * n[1] + lz * n[2], 0.0f);
        out[3 * i] += cosine;
        out[3 * i + 1] += lz * cosine;
        out[3 * i + 2] += 1;
      }
    }
  };
  if (threads <= 1)
    for (int g = 0; g < n_groups; ++g) body(g, 0);
  else
    parallel_for(n_groups, std::min(threads, n_groups), body);
}

}  // namespace robosim
