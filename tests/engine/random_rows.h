// Rows of random free bodies that touch each other and the ground, for the tests of the row
// solvers: contacts on one plane per pair, bounded rows on joints, equalities.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "base/rng.h"
#include "contact/rows.h"

namespace robosim::testing {

struct RowsSpec {
  int bodies = 2;
  int pairs = 2;
  int points = 1;              // per contact of a pair
  double mu = 0.5;             // largest value; zero for no friction rows
  bool discs = false;          // the two axes of friction form a disc
  bool torsion = false;        // one more friction row about each point's normal
  int boxes = 0;               // number of bounded rows on a random velocity
  int equalities = 0;          // number of equalities, of width 3
  double compliance = 0;       // of all rows
  bool hard_normals = false;   // rigid contact normals in spite of `compliance`
  bool hard_friction = false;  // rigid friction in spite of `compliance`
  double belts = 0;            // speed of contact surfaces: targets of friction
  double mass_ratio = 1;       // of the heaviest body to the lightest
  double approach = 1;         // approach speed of the bodies
};

inline Eigen::MatrixXd random_normal(Rng& rng, int rows, int columns) {
  Eigen::MatrixXd M(rows, columns);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) M(i, j) = rng.normal();
  }
  return M;
}

inline Eigen::Matrix3d random_turn(Rng& rng) {
  return Eigen::Quaterniond(Eigen::Vector4d(random_normal(rng, 4, 1)))
      .normalized()
      .toRotationMatrix();
}

// Add the points of a pair's contact, on one plane with the given normal, around their center.
// Lengths are in units of their spread. The rows act on the pair's twist [angular; linear] there.
inline void add_contact(RowProblem& problem, const Eigen::Matrix3d& R,
                        const std::vector<Eigen::Vector2d>& points, double mu, bool torsion,
                        double compliance, bool discs = false) {
  for (const Eigen::Vector2d& at : points) {
    const Eigen::Vector3d p = R * Eigen::Vector3d(at[0], at[1], 0);
    const int normal = problem.size();
    for (int axis : {2, 0, 1}) {
      if (axis != 2 && mu == 0) continue;
      const Eigen::Vector3d d = R.col(axis), moment = p.cross(d);
      ConstraintRow row;
      for (int c = 0; c < 3; ++c) {
        row.d[c] = moment[c];
        row.d[3 + c] = d[c];
      }
      row.compliance = compliance;
      if (axis == 2) {
        row.kind = RowKind::unilateral;
      } else {
        row.kind = RowKind::friction;
        row.normal = normal;
        row.mu = mu;
        row.is_disc = discs && axis == 0;
      }
      problem.rows.push_back(row);
    }
    if (torsion && mu > 0) {
      ConstraintRow row;
      for (int c = 0; c < 3; ++c) row.d[c] = R(c, 2);
      row.kind = RowKind::friction;
      row.normal = normal;
      row.mu = 0.3 * mu;
      row.compliance = compliance;
      problem.rows.push_back(row);
    }
  }
}

// Set F = X G for M^-1 = G G^T, in blocks on the coordinates that their rows of X move.
inline void set_factor(RowProblem& problem, const Eigen::MatrixXd& X,
                       const Eigen::MatrixXd& inverse_mass) {
  const Eigen::MatrixXd G = inverse_mass.llt().matrixL(), F = X * G;
  problem.F.clear();
  problem.F.columns = static_cast<int>(F.cols());
  for (const RowBlock& block : problem.blocks) {
    const int first = static_cast<int>(problem.F.places.size());
    const auto rows = F.middleRows(block.first_channel, block.width);
    for (int j = 0; j < F.cols(); ++j)
      if (rows.col(j).any()) problem.F.places.push_back(j);
    const int count = static_cast<int>(problem.F.places.size()) - first;
    problem.F.parts.push_back({first, count, static_cast<std::ptrdiff_t>(problem.F.values.size())});
    for (int i = first; i < first + count; ++i)
      for (int c = 0; c < block.width; ++c)
        problem.F.values.push_back(rows(c, problem.F.places[i]));
  }
}

// Set L = X M^-1 X^T and y_free = X v.
inline void set_motion(RowProblem& problem, const Eigen::MatrixXd& X,
                       const Eigen::MatrixXd& inverse_mass, const Eigen::VectorXd& v) {
  const int k = static_cast<int>(X.rows());
  problem.channels = k;
  const Eigen::MatrixXd L = X * inverse_mass * X.transpose();
  problem.L.resize(static_cast<std::size_t>(k * k));
  problem.y_free.resize(k);
  const Eigen::VectorXd y = X * v;
  for (int i = 0; i < k; ++i) {
    problem.y_free[i] = y[i];
    for (int j = 0; j < k; ++j) problem.L[i * k + j] = (L(i, j) + L(j, i)) / 2;
  }
}

inline RowProblem random_rows(Rng& rng, const RowsSpec& spec) {
  RowProblem problem;
  const int n = 6 * spec.bodies;
  Eigen::MatrixXd inverse_mass = Eigen::MatrixXd::Zero(n, n);
  for (int b = 0; b < spec.bodies; ++b) {
    const Eigen::MatrixXd A = random_normal(rng, 6, 6);
    const double mass = spec.bodies == 1
                            ? 1
                            : std::pow(spec.mass_ratio, static_cast<double>(b) / (spec.bodies - 1));
    inverse_mass.block(6 * b, 6 * b, 6, 6) =
        (0.3 * A * A.transpose() + Eigen::MatrixXd::Identity(6, 6)) / mass;
  }
  std::vector<Eigen::MatrixXd> parts;
  int channels = 0;
  const auto add_block = [&](const Eigen::MatrixXd& X) {
    RowBlock block{channels, static_cast<int>(X.rows()), problem.size(), problem.size()};
    parts.push_back(X);
    channels += block.width;
    return block;
  };
  Eigen::VectorXd v = random_normal(rng, n, 1);
  for (int e = 0; e < spec.equalities; ++e) {
    RowBlock block = add_block(random_normal(rng, 3, n));
    for (int c = 0; c < 3; ++c) {
      ConstraintRow row;
      row.kind = RowKind::equality;
      row.d[c] = 1;
      row.compliance = spec.compliance;
      problem.rows.push_back(row);
    }
    block.last_row = problem.size();
    problem.blocks.push_back(block);
  }
  for (int p = 0; p < spec.pairs; ++p) {
    // Body b touches another body or the ground.
    const int b = p % spec.bodies, other = p < spec.bodies ? p - 1 : rng.below(spec.bodies);
    Eigen::MatrixXd X = Eigen::MatrixXd::Zero(6, n);
    const Eigen::MatrixXd J = Eigen::MatrixXd::Identity(6, 6) + 0.3 * random_normal(rng, 6, 6);
    X.block(0, 6 * b, 6, 6) = J;
    if (other >= 0 && other != b)
      X.block(0, 6 * other, 6, 6) =
          -(Eigen::MatrixXd::Identity(6, 6) + 0.3 * random_normal(rng, 6, 6));
    RowBlock block = add_block(X);
    const Eigen::Matrix3d R = random_turn(rng);
    v.segment(6 * b + 3, 3) -= spec.approach * R.col(2);
    std::vector<Eigen::Vector2d> points;
    for (int i = 0; i < spec.points; ++i) {
      const double turn = 6.283185307179586 * (i + 0.3 * rng.uniform()) / spec.points;
      // Separate statements: the evaluation order of arguments is unspecified.
      const double width = rng.uniform(0.5, 1), height = rng.uniform(0.5, 1);
      points.emplace_back(width * std::cos(turn), height * std::sin(turn));
    }
    if (spec.points == 1) points[0].setZero();
    add_contact(problem, R, points, spec.mu * rng.uniform(0.2, 1), spec.torsion, spec.compliance,
                spec.discs);
    if (spec.belts > 0 || spec.hard_normals || spec.hard_friction) {
      // Along each axis, equal for all points.
      const double belt[] = {spec.belts * rng.normal(), spec.belts * rng.normal()};
      for (int i = block.first_row, axis = 0; i < problem.size(); ++i) {
        ConstraintRow& row = problem.rows[i];
        if (row.kind == RowKind::friction) {
          row.target = belt[axis++ % 2];
          row.compliance = spec.hard_friction ? 0 : row.compliance;
        } else if (axis = 0; spec.hard_normals)
          row.compliance = 0;
      }
    }
    block.last_row = problem.size();
    problem.blocks.push_back(block);
  }
  for (int i = 0; i < spec.boxes; ++i) {
    RowBlock block = add_block(random_normal(rng, 1, n));
    ConstraintRow row;
    row.kind = RowKind::box;
    row.d[0] = 1;
    row.target = rng.normal();
    row.lower = -rng.uniform(0, 0.5);
    row.upper = rng.uniform(0, 0.5);
    row.compliance = spec.compliance;
    problem.rows.push_back(row);
    block.last_row = problem.size();
    problem.blocks.push_back(block);
  }
  Eigen::MatrixXd X(channels, n);
  int at = 0;
  for (const Eigen::MatrixXd& part : parts) {
    X.middleRows(at, part.rows()) = part;
    at += static_cast<int>(part.rows());
  }
  // Bodies at rest satisfy the targets of normals, so that normals are consistent with each other,
  // whatever friction does.
  for (const RowBlock& block : problem.blocks) {
    const double less = 0.1 * rng.uniform();
    for (int i = block.first_row; i < block.last_row; ++i) {
      ConstraintRow& row = problem.rows[i];
      if (row.kind == RowKind::unilateral) row.target = -less;
    }
  }
  set_motion(problem, X, inverse_mass, v);
  set_factor(problem, X, inverse_mass);
  return problem;
}

}  // namespace robosim::testing
