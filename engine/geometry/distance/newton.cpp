// Step of Newton's method, common to all pairs of shapes.
#include "geometry/distance/newton.h"

namespace robosim {

namespace {

// Response if the conditions leave a turn of the normal open, as for sharp features that touch, or
// for a ball about the axis of a cylinder. Responds to the other conditions, without that turn.
void respond_where_regular(double phi, const tangent_plane::Radii& A, const tangent_plane::Radii& B,
                           double scale, tangent_plane::Response& r) {
  using namespace tangent_plane;
  r.P = r.Q_A = r.Q_B = r.H = {};
  if (A.n_straight == 1) {
    r.Q_A = outer(A.along, A.along);
    r.H = B.finite;
  } else if (B.n_straight == 1) {
    r.Q_B = outer(B.along, B.along);
    r.H = A.finite * r.Q_B;
  } else {
    const Mat2 M = phi * one + A.finite + B.finite;
    const double mean = 0.5 * (M.row[0].x + M.row[1].y), half = 0.5 * (M.row[0].x - M.row[1].y),
                 off = 0.5 * (M.row[0].y + M.row[1].x);
    const double largest = mean + std::copysign(std::hypot(half, off), mean),
                 angle = 0.5 * std::atan2(mean < 0 ? -off : off, mean < 0 ? -half : half);
    if (!(std::fabs(largest) > singular * scale)) return;
    const Vec2 e{std::cos(angle), std::sin(angle)};
    r.P = (1 / largest) * outer(e, e);
    r.Q_A = r.P * A.finite;
    r.Q_B = r.P * B.finite;
    r.H = A.finite * r.Q_B;
  }
}

}  // namespace

void newton_step(const LocalSurface& A, const LocalSurface& B, tangent_plane::Radii& S_A,
                 tangent_plane::Radii& S_B, const Vec3d& t0, const Vec3d& t1, double scale,
                 Vec3d& n, Vec3d& a, Vec3d& b) {
  using namespace tangent_plane;
  // The position of the points along a common line or plane is undetermined: hold the point on the
  // feature with fewer straight directions.
  const bool shared = share_a_straight_direction(S_A, S_B),
             hold_A = shared && S_A.n_straight < S_B.n_straight, hold_B = shared && !hold_A;
  if (hold_A) S_A.hold();
  if (hold_B) S_B.hold();
  const double phi = robosim::dot(n, b - a);
  Response r = response(phi, S_A, S_B, scale);
  if (!r.regular) respond_where_regular(phi, S_A, S_B, scale, r);
  // Turns that make the normal perpendicular to straight directions, and the tangential offset of
  // the points.
  const auto plane = [&](const Vec3d& x) { return Vec2{robosim::dot(x, t0), robosim::dot(x, t1)}; };
  const auto turn = [&](const LocalSurface& s) {
    Vec3d x;
    for (int i = 0; i < 2; ++i)
      if (s.is_straight(i)) x -= robosim::dot(n, s.axis[i]) * s.axis[i];
    return plane(x);
  };
  const Vec2 offset = plane(b - a), w_A = hold_A ? Vec2{} : turn(A),
             w_B = hold_B ? Vec2{} : turn(B);
  const Mat2 Q_At = transpose(r.Q_A);
  const Vec2 dn = r.P * offset + r.Q_A * w_A + r.Q_B * w_B;
  const Vec2 da = Q_At * offset + r.H * (w_B - w_A) - phi * (Q_At * w_A),
             db = da + phi * dn - offset;
  n += dn.x * t0 + dn.y * t1;
  n *= 1 / norm(n);
  a += da.x * t0 + da.y * t1;
  b += db.x * t0 + db.y * t1;
}

}  // namespace robosim
