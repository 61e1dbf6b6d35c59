// Transforms and sums of inertias, and conditions of physical validity.
#include "spatial/inertia.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace robosim {

namespace {

// m (c.c 1 - c c^T): inertia of a point mass at c, about the origin.
Mat3d point_mass_inertia(double mass, const Vec3d& c) {
  const Mat3d S = skew(c);
  return mass * (transpose(S) * S);
}

}  // namespace

bool is_finite(const Inertia& inertia) {
  bool finite = std::isfinite(inertia.mass) && std::isfinite(squared_norm(inertia.com));
  for (int i = 0; i < 3; ++i) finite = finite && std::isfinite(squared_norm(inertia.I_com.row[i]));
  return finite;
}

bool has_moments(const Inertia& inertia) {
  double sum = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) sum += std::abs(inertia.I_com(i, j));
  return sum > 0;
}

Inertia transformed(const SE3d& X_AB, const Inertia& inertia_B) {
  return {inertia_B.mass, X_AB * inertia_B.com, X_AB.R * inertia_B.I_com * transpose(X_AB.R)};
}

Inertia operator+(const Inertia& a, const Inertia& b) {
  // Moments without mass are equal about every point.
  if (a.mass == 0) return has_moments(a) ? Inertia{b.mass, b.com, b.I_com + a.I_com} : b;
  if (b.mass == 0) return has_moments(b) ? Inertia{a.mass, a.com, a.I_com + b.I_com} : a;
  const double mass = a.mass + b.mass;
  const Vec3d com = (a.mass / mass) * a.com + (b.mass / mass) * b.com;
  return {mass, com,
          a.I_com + point_mass_inertia(a.mass, a.com - com) + b.I_com +
              point_mass_inertia(b.mass, b.com - com)};
}

std::array<double, 3> principal_moments(const Inertia& inertia) {
  Eigen::Matrix3d I;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) I(i, j) = inertia.I_com(i, j);
  const Eigen::Vector3d moments =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(I, Eigen::EigenvaluesOnly).eigenvalues();
  return {moments[0], moments[1], moments[2]};
}

std::string inertia_fault(const Inertia& inertia) {
  if (!is_finite(inertia))
    return "mass, center of mass and inertia must be finite numbers of a usable size";
  if (inertia.mass < 0) return message("mass ", inertia.mass, " kg is negative");
  double largest = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) largest = std::max(largest, std::abs(inertia.I_com(i, j)));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < i; ++j)
      if (std::abs(inertia.I_com(i, j) - inertia.I_com(j, i)) > 1e-9 * largest)
        return "inertia matrix is not symmetric";

  const auto [a, b, c] = principal_moments(inertia);
  const double slack = inertia_tolerance * std::max(c, -a);
  const std::string moments = message("principal moments ", a, ", ", b, ", ", c, " kg m^2");
  if (a < -slack) return moments + ": a negative one is impossible";
  if (c > a + b + slack)
    return moments + message(": the largest exceeds the sum of the other two by ", c - a - b,
                             ", which no distribution of mass can do");
  return "";
}

}  // namespace robosim
