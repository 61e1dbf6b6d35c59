// Shared by the bindings of ray casts: checked conversion of rays from Python, and casts of many
// rays on several threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/thread_pool.h"
#include "bindings/shape_arguments.h"
#include "geometry/casts/ray_cast.h"

namespace robosim {

inline Ray checked_ray(const Vec3d& origin, const Vec3d& direction, std::size_t i) {
  if (!(norm(origin) <= 1e9))
    throw InputError(message("ray ", i, ": its origin is ", norm(origin),
                             " m from that of W; at most 1e9 m is allowed"));
  if (direction.x == 0 && direction.y == 0 && direction.z == 0)
    throw InputError(message("ray ", i, ": its direction is zero; any other length will do"));
  return {origin, direction};
}

inline std::vector<Ray> checked_rays(const pybind11::object& origins,
                                     const pybind11::object& directions, double max_t,
                                     int threads) {
  const std::vector<Vec3d> o = read_points(origins, "origins"),
                           d = read_points(directions, "directions");
  if (o.size() != d.size())
    throw InputError(message("origins and directions: ", o.size(), " and ", d.size(),
                             " rays; as many of each are needed"));
  if (!(max_t >= 0)) throw InputError(message("max_t is ", max_t, "; it must be zero or positive"));
  if (threads < 0) throw InputError(message("threads is ", threads, "; it must not be negative"));
  std::vector<Ray> rays;
  for (std::size_t i = 0; i < o.size(); ++i) rays.push_back(checked_ray(o[i], d[i], i));
  return rays;
}

// Cast all rays. Returns (hit, inside, t, points, normals, numbers of the things hit). cast(ray)
// returns a hit and a number, -1 for none. It is called without Python's lock, from at most
// `threads` threads, 0 for as many as there are processors.
template <class Cast>
auto cast_all(const std::vector<Ray>& rays, int threads, const Cast& cast) {
  const std::size_t n = rays.size();
  const pybind11::ssize_t rows = static_cast<pybind11::ssize_t>(n);
  pybind11::array_t<bool> is_hit(rows), is_inside(rows);
  pybind11::array_t<double> t(rows);
  pybind11::array_t<std::int64_t> number(rows);
  std::vector<Vec3d> points(n), normals(n);
  {
    bool *hits = is_hit.mutable_data(), *insides = is_inside.mutable_data();
    double* times = t.mutable_data();
    std::int64_t* numbers = number.mutable_data();
    constexpr std::size_t chunk = 256;
    const auto body = [&](int c, int) {
      for (std::size_t i = static_cast<std::size_t>(c) * chunk;
           i < std::min(n, (static_cast<std::size_t>(c) + 1) * chunk); ++i) {
        const auto [hit, of] = cast(rays[i]);
        hits[i] = hit.hit;
        insides[i] = hit.inside;
        times[i] = hit.t;
        numbers[i] = of;
        points[i] = hit.point;
        normals[i] = hit.normal;
      }
    };
    const int chunks = static_cast<int>((n + chunk - 1) / chunk);
    threads = std::min(threads > 0 ? std::min(threads, thread_limit()) : thread_limit(), chunks);
    const pybind11::gil_scoped_release release;
    if (threads <= 1)
      for (int c = 0; c < chunks; ++c) body(c, 0);
    else
      parallel_for(chunks, threads, body);
  }
  return std::make_tuple(is_hit, is_inside, t, points_array(points), points_array(normals), number);
}

}  // namespace robosim
