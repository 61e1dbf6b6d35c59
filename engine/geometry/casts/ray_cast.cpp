#include "geometry/casts/ray_cast.h"

#include <cmath>

#include "geometry/casts/ray_line.h"
#include "geometry/contact_derivatives.h"

namespace robosim {
namespace {

using ray_line::Entry;

// Convex meshes with more faces are approached by Newton's method, which costs about as much as
// clipping by this number of faces.
constexpr std::size_t max_clipped_faces = 64;

template <class Core>
bool is_approached(const Core& core) {
  if constexpr (requires { core.mesh; })
    return core.rounding() > 0 || core.mesh->faces.size() > max_clipped_faces;
  else if constexpr (requires { ray_line::approach(core, Vec3d(), Vec3d(), 0, 0, 0); })
    return core.rounding() > 0;
  else
    return false;
}

struct Start {
  Vec3d o, u;    // the ray in the shape's frame, u unit
  double b = 0;  // q = o + b u is the point of its line nearest to the center of the ball
  Vec3d q;
  Ball ball;
};

// First point of the ray on the shape; s is measured from q. `inside` is set if the ray's origin
// belongs to the shape.
template <class Core>
Entry first_point(const Core& core, const Start& ray, bool& inside) {
  const double from = -ray.b;
  const auto approached = [&]() -> Entry {
    if constexpr (requires { ray_line::approach(core, ray.q, ray.u, 0, 0, 0); }) {
      const double reach = ray.ball.radius * (1 + 1e-9), start = max_number(from, -reach);
      const Entry e = ray_line::approach(core, ray.q, ray.u, start, reach,
                                         norm(ray.ball.center) + ray.ball.radius);
      inside = e.found && e.s == from;
      return e;
    } else {
      return {};
    }
  };
  if (is_approached(core)) return approached();
  Entry e;
  if constexpr (requires(bool seen) { ray_line::enter(core, ray.o, ray.u, seen); }) {
    bool seen = true;
    e = ray_line::enter(core, ray.o, ray.u, seen);
    if (!seen) return approached();
    e.s += from;
    if (e.s < from) return {};
  } else {
    e = ray_line::enter(core, ray.q, ray.u);
    if (!e.found || e.s >= from) return e;
    const Entry exit = ray_line::enter(core, ray.q, -ray.u);  // of the same line
    e.found = inside = exit.found && -exit.s >= from;
  }
  return e;
}

}  // namespace

RayHit ray_cast(const Shape& shape, const SE3d& X_WS, const Ray& ray, double max_t) {
  const Vec3d& d = ray.direction;
  const double largest = max_number(std::fabs(d.x), max_number(std::fabs(d.y), std::fabs(d.z)));
  if (!(largest > 0) || !std::isfinite(largest)) return {};
  // Scaled by the largest component, so that squares neither overflow nor underflow.
  const Vec3d scaled(d.x / largest, d.y / largest, d.z / largest);
  const double length = norm(scaled);
  return visit(shape, [&](const auto& core) -> RayHit {
    Start start{X_WS.inverse_times(ray.origin),
                transpose_times(X_WS.R, scaled) * (1 / length),
                0,
                {},
                core.bounding_ball()};
    // Move the origin near the shape, and reject lines that miss the bounding ball.
    start.q = start.o;
    if (const double radius = start.ball.radius; std::isfinite(radius)) {
      start.b = dot(start.ball.center - start.o, start.u);
      start.q = start.o + start.b * start.u;
      const double reach = radius + 1e-12 * (radius + std::fabs(start.b));  // plus rounding
      if (!(squared_norm(start.q - start.ball.center) <= reach * reach) || !(start.b >= -reach))
        return {};
    }
    bool inside = false;
    const Entry e = first_point(core, start, inside);
    if (!e.found) return {};
    if (inside) return {true, true, 0, ray.origin, X_WS.R * -start.u};
    const double t = max_number(0.0, start.b + e.s) / length / largest;
    if (!(t <= max_t)) return {};
    return {true, false, t, X_WS * (start.q + e.s * start.u), X_WS.R * e.n};
  });
}

RayCastDerivatives ray_cast_derivatives(const RayHit& hit, const Shape& shape, const SE3d& X_WS,
                                        const Ray& ray) {
  RayCastDerivatives d;
  if (!hit.hit) return d;
  const Vec3d &n = hit.normal, &direction = ray.direction;
  const double approaching = dot(n, direction);
  d.one_sided = hit.inside || !(std::fabs(approaching) > 1e-9 * norm(direction));
  if (d.one_sided) return d;
  d.surface = local_surface(shape, X_WS, hit.point, n);
  const double size = std::isfinite(bounding_ball(shape).radius) ? bounding_ball(shape).radius
                                                                 : norm(hit.point - X_WS.p);
  d.one_sided = min_number(d.surface.slide / size, d.surface.tilt_sine) < feature_tolerance;
  for (const double r : d.surface.radius) d.one_sided |= !(r > 0);

  // Rate of the hit if the material point moves by u, the surface turns by w, and the ray's origin
  // and direction move.
  const auto rate = [&](const Vec3d& u, const Vec3d& w, const Vec3d& origin, const Vec3d& turned) {
    RayHitRate x;
    x.t = dot(n, u - origin - hit.t * turned) / approaching;
    x.point = origin + hit.t * turned + x.t * direction;
    x.normal = w;
    for (int i = 0; i < 2; ++i)
      if (const double r = d.surface.radius[i]; r > 0 && !d.surface.is_straight(i))
        x.normal += (dot(d.surface.axis[i], x.point - u) / r) * d.surface.axis[i];
    return x;
  };
  // Ray, pose and scale.
  const Vec3d arm = hit.point - X_WS.p, n_S = transpose_times(X_WS.R, n), none;
  for (int k = 0; k < 3; ++k) {
    Vec3d e;
    e[k] = 1;
    d.origin[k] = rate(none, none, e, none);
    d.direction[k] = rate(none, none, none, e);
    const Vec3d axis = X_WS.R.col(k);
    d.twist[k] = rate(axis, none, none, none);
    d.twist[3 + k] = rate(cross(axis, arm), cross(axis, n), none, none);
  }
  d.scale = rate(arm, none, none, none);
  // Sizes of the constructor.
  visit(shape, [&](const auto& core) {
    if constexpr (requires { core.n_sizes; }) {
      const LocalSurface s =
          core.local_surface(transpose_times(X_WS.R, arm - core.rounding() * n), n_S);
      d.n_sizes = core.n_sizes;
      for (int k = 0; k < core.n_sizes; ++k) {
        Vec3d turn;
        if constexpr (requires { core.size_turn(k, s, n_S); })
          turn = X_WS.R * core.size_turn(k, s, n_S);
        d.size[k] = rate(X_WS.R * core.size_rate(k, s, n_S), turn, none, none);
      }
    }
  });
  // Corners of the feature.
  for (int i = 0; i < d.surface.n_corners; ++i)
    for (int k = 0; k < 3; ++k) {
      const Vec3d axis = X_WS.R.col(k);
      d.corner[i][k] = rate(d.surface.corner[i].weight * axis,
                            -dot(axis, n) * d.surface.corner[i].slope, none, none);
    }
  return d;
}

}  // namespace robosim
