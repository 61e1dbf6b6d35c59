// Inverse kinematics in lanes, for one instruction set.
#include "planning/ik_lanes.h"

#include <cstring>

#include "base/lane_order.h"
#include "dynamics/kinematics.h"
#include "spatial/lie.h"

namespace robosim::detail {
namespace {

constexpr double two_pi = 6.283185307179586;
constexpr double position_weight = 2;  // as in ik_residual.cpp
constexpr double largest_step = 1.0;   // per step and column [rad, m]
constexpr double first_mu = 0.1, least_mu = 1e-4, largest_mu = 1e8;
constexpr int usual_attempts = 8;  // attempts from seeds near the goal only
constexpr double usual_slow = 4;   // consecutive steps that reduce the error by less than 2 % each

template <class L>
ROBOSIM_INLINE L clamped(const L& x, const L& lower, const L& upper) {
  return smaller(larger(x, lower), upper);
}

// Unit quaternion of a rotation matrix with w >= 0; of Shepperd's four forms, the one with the
// largest divisor.
template <class L>
Quaternion<L> lane_quaternion(const Mat3<L>& R) {
  const L xx = R(0, 0), yy = R(1, 1), zz = R(2, 2), trace = xx + yy + zz, one(1.0);
  Quaternion<L> q{{R(2, 1) - R(1, 2), R(0, 2) - R(2, 0), R(1, 0) - R(0, 1)}, one + trace};
  L most = trace;
  const auto choose = [&](const L& key, const Vec3<L>& vec, const L& w)
      __attribute__((always_inline)) {
    const auto better = key > most;
    most = select(better, key, most);
    q.vec = {select(better, vec.x, q.vec.x), select(better, vec.y, q.vec.y),
             select(better, vec.z, q.vec.z)};
    q.w = select(better, w, q.w);
  };
  choose(xx, {one + xx - yy - zz, R(1, 0) + R(0, 1), R(2, 0) + R(0, 2)}, R(2, 1) - R(1, 2));
  choose(yy, {R(1, 0) + R(0, 1), one - xx + yy - zz, R(2, 1) + R(1, 2)}, R(0, 2) - R(2, 0));
  choose(zz, {R(2, 0) + R(0, 2), R(2, 1) + R(1, 2), one - xx - yy + zz}, R(1, 0) - R(0, 1));
  const L scale = select(q.w < L(0.0), L(-1.0), one) / sqrt(dot(q.vec, q.vec) + q.w * q.w);
  return {scale * q.vec, scale * q.w};
}

template <class L>
class CompiledIk final : public IkLanes {
 public:
  static constexpr int width = L::width;

  explicit CompiledIk(const IkChain& chain)
      : chain_(&chain),
        model_(chain.model),
        n_path_(static_cast<int>(chain.path.size())),
        n_columns_(static_cast<int>(chain.columns.size())),
        q_(static_cast<std::size_t>(model_->n_q)),
        at_(chain.columns.size()),
        X_(chain.path.size()),
        angle_(static_cast<std::size_t>(sin_cos_room(n_path_))),
        sine_(angle_.size()),
        cosine_(angle_.size()),
        J_(chain.columns.size()),
        trial_J_(chain.columns.size()),
        dq_(chain.columns.size()),
        moving_(chain.columns.size()) {
    const IkGoal& goal = chain.goal;
    for (const int k : {1, 0})
      if (goal.upper[3 + k] - goal.lower[3 + k] > goal.upper[3 + twist_] - goal.lower[3 + twist_])
        twist_ = k;
    int free = 0;
    for (int i = 3; i < 6; ++i) {
      const bool is_free = goal.upper[i] - goal.lower[i] >= two_pi;
      free += is_free;
      if (!is_free && (goal.lower[i] != 0 || goal.upper[i] != 0)) turning_ = Turning::ranges;
    }
    if (turning_ == Turning::exact && free > 0)
      turning_ = free == 3 ? Turning::free : free == 1 ? Turning::about_axis : Turning::ranges;
  }

  void place(IkSeeds& seeds, int first, int count, const double* start) override {
    const double* const seed = seeds.q.data();
    const int* const columns = chain_->columns.data();
    for (int k = 0; k < model_->n_q; ++k) q_.data()[k] = L(start[k]);
    for (int i = first; i < first + count; i += width) {
      for (int j = 0; j < n_columns_; ++j)
        for (int l = 0; l < width; ++l)
          q_.data()[columns[j]].set(l, seed[(i + l) * n_columns_ + j]);
      const SE3<L> X = end_pose();
      const Quaternion<L> r = lane_quaternion(X.R);
      const L numbers[7] = {X.p.x, X.p.y, X.p.z, r.vec.x, r.vec.y, r.vec.z, r.w};
      for (int k = 0; k < 7; ++k) std::memcpy(seeds.pose[k].data() + i, &numbers[k], sizeof(L));
    }
  }

  void solve(IkTask* tasks, int count, const IkSeeds& seeds) override {
    seeds_ = &seeds;
    next_ = tasks;
    end_ = tasks + count;
    const double most_slow = chain_->is_patient ? __builtin_inf() : usual_slow;
    unsigned active = 0;
    for (int l = 0; l < width; ++l) active |= static_cast<unsigned>(take(l)) << l;
    for (int l = 0; l < width; ++l)
      if (!(active >> l & 1)) copy_lane(l);
    // Step all lanes. A lane whose attempt ends begins its next attempt or task.
    while (active != 0) {
      evaluate();
      advance();
      const auto within =
          (squared_position_ < L(chain_->position_tolerance * chain_->position_tolerance)) &
          (squared_rotation_ < L(chain_->rotation_tolerance * chain_->rotation_tolerance));
      const auto given_up = (steps_ > L(chain_->max_iterations - 0.5)) |
                            (slow_ > L(most_slow + 0.5)) | (mu_ > L(largest_mu));
      const unsigned solved = bits_of(within) & active,
                     done = (bits_of(given_up) & active) | solved;
      for (int l = 0; done >> l != 0; ++l)
        if ((done >> l & 1) && !finish(l, (solved >> l & 1) != 0)) active &= ~(1u << l);
      step();
    }
  }

 private:
  enum class Turning { exact, about_axis, free, ranges };  // how the goal constrains rotations

  // Pose of E at q_.
  SE3<L> end_pose() {
    const int* const path = chain_->path.data();
    const Joint* const joints = model_->joints.data();
    int n = 0;
    for (int k = 0; k < n_path_; ++k) {
      const Joint& joint = joints[path[k]];
      if (joint.angle >= 0) angle_.data()[n++] = joint_angle(joint, q_.data() + joint.q_index);
    }
    sin_cos_each(n, angle_.data(), sine_.data(), cosine_.data());
    n = 0;
    for (int k = 0; k < n_path_; ++k) {
      const Joint& joint = joints[path[k]];
      const SE3<L> X_PC =
          joint_placement(joint, q_.data() + joint.q_index, sine_.data() + n, cosine_.data() + n);
      n += joint.angle >= 0;
      X_.data()[k] = k > 0 ? X_.data()[k - 1] * X_PC : X_PC;
    }
    const SE3<L> X_BE(chain_->X_BE);
    return n_path_ > 0 ? X_.data()[n_path_ - 1] * X_BE : X_BE;
  }

  // Compute residual and Jacobian at q_.
  void evaluate() {
    const IkGoal& goal = chain_->goal;
    const SE3<L> X_WE = end_pose();
    // Residual of the position, and its derivative P by the linear velocity in W.
    const Vec3<L> p = R_GW_ * (X_WE.p - p_WG_);
    Mat3<L> P = L(position_weight) * R_GW_;
    Vec3<L> missing = p;
    for (int i = 0; i < 3; ++i) {
      if (goal.lower[i] == 0 && goal.upper[i] == 0) continue;
      missing[i] = p[i] - clamped(p[i], L(goal.lower[i]), L(goal.upper[i]));
      if (goal.lower[i] != goal.upper[i]) P.row[i] = held(missing[i]) * P.row[i];
    }
    // Residual of the rotation, and its derivative M by the angular velocity in W.
    Mat3<L> M;
    Vec3<L> turned;
    if (turning_ != Turning::free) turned = rotation_residual(R_GW_ * X_WE.R, X_WE.R, M);
    const L weight(position_weight);
    trial_r_[0] = weight * missing.x;
    trial_r_[1] = weight * missing.y;
    trial_r_[2] = weight * missing.z;
    trial_r_[3] = turned.x;
    trial_r_[4] = turned.y;
    trial_r_[5] = turned.z;
    trial_position_ = squared_norm(missing);
    trial_rotation_ = squared_norm(turned);

    // Jacobian: joint by joint along the chain.
    for (int j = 0; j < n_columns_; ++j) trial_J_.data()[j] = Column();
    const Joint* const joints = model_->joints.data();
    for (int k = 0; k < n_path_; ++k) {
      const Joint& joint = joints[chain_->path.data()[k]];
      const SE3<L>& X = X_.data()[k];
      visit_joint(
          joint.type, [&]<class J>(J) __attribute__((always_inline)) {
            Motion<L> motions[J::n_v];
            bool is_placed = false;
            for (int e = 0; e < J::n_q; ++e) {
              const int column = chain_->column_of.data()[joint.q_index + e];
              if (column < 0) continue;
              if (!is_placed) subspace<J>(joint, X.R, X.p - X_WE.p, motions), is_placed = true;
              Motion<L> motion = motions[0];
              if constexpr (J::n_q == J::n_v && J::n_q > 1) {
                L unit[J::n_q], rate[J::n_v];
                for (int i = 0; i < J::n_q; ++i) unit[i] = L(i == e ? 1.0 : 0.0);
                J::velocity(q_.data() + joint.q_index, unit, rate);
                motion = rate[0] * motions[0];
                for (int i = 1; i < J::n_v; ++i) motion = mul_add(rate[i], motions[i], motion);
              }
              if (joint.mimic) motion = L(joint.ratio) * motion;
              Column& to = trial_J_.data()[column];
              const Vec3<L> linear = P * motion.linear, angular = M * motion.angular;
              to.x[0] += linear.x;
              to.x[1] += linear.y;
              to.x[2] += linear.z;
              to.x[3] += angular.x;
              to.x[4] += angular.y;
              to.x[5] += angular.z;
            }
          });
    }
  }

  // All columns of a joint about the origin of E; R and p are the placement of the joint's child.
  template <class J>
  static ROBOSIM_INLINE void subspace(const Joint& joint, const Mat3<L>& R, const Vec3<L>& p,
                                      Motion<L>* out) {
    if constexpr (requires { J::columns_in_ground(joint, R, p, out); })
      J::columns_in_ground(joint, R, p, out);
    else
      for (int i = 0; i < J::n_v; ++i) out[i] = in_ground(R, p, J::template column<L>(joint, i));
  }

  // 1 where the residual is not zero, 0 elsewhere.
  static ROBOSIM_INLINE L held(const L& missing) {
    return select(absolute(missing) > L(0.0), L(1.0), L(0.0));
  }

  // Residual of the rotation, and M such that its derivative is M omega, omega in W.
  Vec3<L> rotation_residual(const Mat3<L>& R_GE, const Mat3<L>& R_WE, Mat3<L>& M) const {
    Quaternion<L> q = lane_quaternion(R_GE);
    const int k = twist_;
    if (turning_ == Turning::ranges) return ranged_residual(q, R_WE, M);
    if (turning_ == Turning::about_axis) q = without_turn(q, half_turn(q, k), k);
    const Vec3<L>& v = q.vec;
    const Mat3<L> E = transpose(R_WE);
    // (w + [v]) E
    M.row[0] = q.w * E.row[0] + v.y * E.row[2] - v.z * E.row[1];
    M.row[1] = q.w * E.row[1] + v.z * E.row[0] - v.x * E.row[2];
    M.row[2] = q.w * E.row[2] + v.x * E.row[1] - v.y * E.row[0];
    Vec3<L> out = L(2.0) * v;
    if (turning_ == Turning::about_axis) {
      M.row[k] = Vec3<L>();
      out[k] = L(0.0);
    }
    return out;
  }

  struct HalfTurn {
    L sine, cosine;
  };
  static HalfTurn half_turn(const Quaternion<L>& q, int k) {
    const L s = q.vec[k], squared = q.w * q.w + s * s;
    const auto undefined = squared < L(1e-24);
    const L scale = L(1.0) / sqrt(select(undefined, L(1.0), squared));
    return {select(undefined, L(0.0), scale * s), select(undefined, L(1.0), scale * q.w)};
  }
  // R_k(-alpha) q, where alpha is twice the angle of the half turn.
  static Quaternion<L> without_turn(const Quaternion<L>& q, const HalfTurn& turn, int k) {
    const int a = (k + 1) % 3, b = (k + 2) % 3;
    Quaternion<L> out;
    out.w = turn.cosine * q.w + turn.sine * q.vec[k];
    out.vec[k] = turn.cosine * q.vec[k] - turn.sine * q.w;
    out.vec[a] = turn.cosine * q.vec[a] + turn.sine * q.vec[b];
    out.vec[b] = turn.cosine * q.vec[b] - turn.sine * q.vec[a];
    return out;
  }

  // Residual with ranges of angles, equal to that of IkResidual.
  Vec3<L> ranged_residual(Quaternion<L> q, const Mat3<L>& R_WE, Mat3<L>& M) const {
    const IkGoal& goal = chain_->goal;
    const int k = twist_;
    const double low = goal.lower[3 + k], high = goal.upper[3 + k];
    const bool is_free = high - low >= two_pi;
    HalfTurn turn = half_turn(q, k);
    if (!is_free) {
      const L middle(0.5 * (low + high));
      L alpha = L(2.0) * atan2(turn.sine, turn.cosine) - middle;
      alpha = alpha - L(two_pi) * nearest(alpha * L(1 / two_pi));
      const L half = L(0.5) * clamped(middle + alpha, L(low), L(high));
      sin_cos(half, turn.sine, turn.cosine);
    }
    q = without_turn(q, turn, k);
    const Vec3<L> phi = log_quaternion(q), back = -phi;
    const RotationSeries<L> series(dot(phi, phi));
    // Columns of J_r(phi)^-1 R_WE^T: J_r(phi)^-1 applied to the axes of the world.
    Mat3<L> columns;
    for (int i = 0; i < 3; ++i) {
      const Vec3<L> x = R_WE.row[i], wx = cross(back, x);
      columns.row[i] = x - L(0.5) * wx + series.D * cross(back, wx);
    }
    M = transpose(columns);
    Vec3<L> out;
    for (int i = 0; i < 3; ++i) {
      const double lower = goal.lower[3 + i], upper = goal.upper[3 + i];
      if (i == k)
        out[i] = is_free ? L(0.0) : phi[i];
      else
        out[i] = upper - lower >= two_pi ? L(0.0) : phi[i] - clamped(phi[i], L(lower), L(upper));
      if (upper != lower) M.row[i] = held(out[i]) * M.row[i];
    }
    return out;
  }

  // Accept the trial in lanes where its error is smaller.
  void advance() {
    L trial_error(0.0);
    for (int i = 0; i < 6; ++i) trial_error = mul_add(trial_r_[i], trial_r_[i], trial_error);
    const auto better = trial_error < error_;
    const int* const columns = chain_->columns.data();
    for (int j = 0; j < n_columns_; ++j) {
      at_.data()[j] = select(better, q_.data()[columns[j]], at_.data()[j]);
      for (int i = 0; i < 6; ++i)
        J_.data()[j].x[i] = select(better, trial_J_.data()[j].x[i], J_.data()[j].x[i]);
    }
    for (int i = 0; i < 6; ++i) r_[i] = select(better, trial_r_[i], r_[i]);
    squared_position_ = select(better, trial_position_, squared_position_);
    squared_rotation_ = select(better, trial_rotation_, squared_rotation_);
    slow_ = select(better, select(trial_error > L(0.98) * error_, slow_ + L(1.0), L(0.0)), slow_);
    mu_ = select(better, larger(L(least_mu), L(0.2) * mu_), L(10.0) * mu_);
    mu_ = select(is_first_ > L(0.5), L(first_mu), mu_);
    is_first_ = L(0.0);
    error_ = select(better, trial_error, error_);
    steps_ += L(1.0);
  }

  // Compute the next trial q_ from at_, r_ and J_. Where an attempt begins, q_ stays.
  void step() {
    const double *lower = chain_->lower.data(), *upper = chain_->upper.data();
    // J J^T + lambda I over the columns that may move.
    L A[6][6];
    const L lambda = mul_add(mu_, error_, L(1e-12));
    for (int a = 0; a < 6; ++a)
      for (int b = 0; b <= a; ++b) A[a][b] = L(0.0);
    for (int a = 0; a < 6; ++a) A[a][a] = lambda;
    const L zero(0.0), one(1.0);
    for (int j = 0; j < n_columns_; ++j) {
      const L* c = J_.data()[j].x;
      L gradient = c[0] * r_[0];
      for (int i = 1; i < 6; ++i) gradient = mul_add(c[i], r_[i], gradient);
      // At a limit and pushed outwards.
      const L q = at_.data()[j];
      const L low = select(q > L(lower[j]), zero, one), high = select(q < L(upper[j]), zero, one);
      const L outwards =
          larger(select(gradient > zero, low, zero), select(gradient < zero, high, zero));
      const L keep = one - outwards;
      moving_.data()[j] = keep;
      L d[6];
      for (int i = 0; i < 6; ++i) d[i] = keep * c[i];
      for (int a = 0; a < 6; ++a)
        for (int b = 0; b <= a; ++b) A[a][b] = mul_add(d[a], c[b], A[a][b]);
    }
    // Cholesky factorization, and both triangular solves.
    L y[6], inverse[6];
    for (int j = 0; j < 6; ++j) {
      L pivot = A[j][j];
      for (int k = 0; k < j; ++k) pivot = nmul_add(A[j][k], A[j][k], pivot);
      inverse[j] = one / sqrt(larger(pivot, L(1e-300)));
      for (int i = j + 1; i < 6; ++i) {
        L x = A[i][j];
        for (int k = 0; k < j; ++k) x = nmul_add(A[i][k], A[j][k], x);
        A[i][j] = x * inverse[j];
      }
    }
    for (int i = 0; i < 6; ++i) {
      y[i] = r_[i];
      for (int k = 0; k < i; ++k) y[i] = nmul_add(A[i][k], y[k], y[i]);
      y[i] = y[i] * inverse[i];
    }
    for (int i = 5; i >= 0; --i) {
      for (int k = i + 1; k < 6; ++k) y[i] = nmul_add(A[k][i], y[k], y[i]);
      y[i] = y[i] * inverse[i];
    }
    // Step of the columns, scaled to the largest allowed step and clamped to limits.
    const int* const columns = chain_->columns.data();
    L longest(0.0);
    for (int j = 0; j < n_columns_; ++j) {
      const L* c = J_.data()[j].x;
      L dq = c[0] * y[0];
      for (int i = 1; i < 6; ++i) dq = mul_add(c[i], y[i], dq);
      dq = -(moving_.data()[j] * dq);
      dq_.data()[j] = dq;
      longest = larger(longest, absolute(dq));
    }
    const L scale =
        select(longest > L(largest_step), L(largest_step) / larger(longest, L(1e-300)), one);
    const auto begins = is_first_ > L(0.5);
    for (int j = 0; j < n_columns_; ++j) {
      L& q = q_.data()[columns[j]];
      q = select(begins, q,
                 clamped(mul_add(scale, dq_.data()[j], at_.data()[j]), L(lower[j]), L(upper[j])));
    }
  }

  // Take the next task for lane l. Return false if there is none.
  bool take(int l) {
    if (next_ == end_) return false;
    IkTask& task = *(tasks_[l] = next_++);
    for (int k = 0; k < model_->n_q; ++k) q_.data()[k].set(l, task.start[k]);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) R_GW_.row[i][j].set(l, task.X_WG.R(j, i));
      p_WG_[i].set(l, task.X_WG.p[i]);
    }
    if (task.attempt == task.end) return take(l);
    begin(l);
    return true;
  }

  // Begin the next attempt of lane l.
  void begin(int l) {
    IkTask& task = *tasks_[l];
    const double* seed = nullptr;
    if (task.attempt > 0) seed = seeds_->q.data() + nearest_seed(task) * n_columns_;
    const int* const columns = chain_->columns.data();
    for (int j = 0; j < n_columns_; ++j) {
      const double x = seed ? seed[j] : task.start[columns[j]];
      const double lower = chain_->lower.data()[j], upper = chain_->upper.data()[j];
      q_.data()[columns[j]].set(l, x < lower ? lower : x > upper ? upper : x);
    }
    ++task.attempt;
    error_.set(l, __builtin_inf());
    mu_.set(l, first_mu);
    steps_.set(l, 0);
    slow_.set(l, 0);
    is_first_.set(l, 1);
    squared_position_.set(l, __builtin_inf());
    squared_rotation_.set(l, __builtin_inf());
  }

  // Seed of the attempt, from its block: the nearest to the goal. Every second attempt after the
  // first eight takes an arbitrary seed, since nearest seeds may lead to the same local minimum
  // again and again.
  int nearest_seed(const IkTask& task) const {
    const int first = IkSeeds::block * (task.attempt - 1);
    if (task.attempt > usual_attempts && task.attempt % 2 == 1) return first;
    const Quaternion<double> goal = rotation_of(task.X_WG.R);
    const double turn = turning_ == Turning::exact || turning_ == Turning::ranges ? 4 : 0;
    L best(__builtin_inf()), best_at(0.0), number(0.0);
    for (int l = 0; l < width; ++l) number.set(l, l);
    for (int i = 0; i < IkSeeds::block; i += width) {
      L x[7];
      for (int k = 0; k < 7; ++k) std::memcpy(&x[k], seeds_->pose[k].data() + first + i, sizeof(L));
      const L dx = x[0] - L(task.X_WG.p.x), dy = x[1] - L(task.X_WG.p.y),
              dz = x[2] - L(task.X_WG.p.z);
      const L same =
          x[3] * L(goal.vec.x) + x[4] * L(goal.vec.y) + x[5] * L(goal.vec.z) + x[6] * L(goal.w);
      const L way = dx * dx + dy * dy + dz * dz;
      const L far = L(position_weight * position_weight) * way + L(turn) * (L(1.0) - same * same);
      const auto nearer = far < best;
      best = select(nearer, far, best);
      best_at = select(nearer, number, best_at);
      number += L(width);
    }
    int at = 0;
    double least = __builtin_inf();
    for (int l = 0; l < width; ++l)
      if (best[l] < least || (best[l] == least && best_at[l] < at)) {
        least = best[l];
        at = static_cast<int>(best_at[l]);
      }
    return first + at;
  }

  static Quaternion<double> rotation_of(const Mat3d& R) {
    Mat3<L> same;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) same.row[i][j] = L(R(i, j));
    const Quaternion<L> q = lane_quaternion(same);
    return {{q.vec.x[0], q.vec.y[0], q.vec.z[0]}, q.w[0]};
  }

  // End an attempt of lane l. Return false if the lane has nothing more to do.
  bool finish(int l, bool is_solved) {
    IkTask& task = *tasks_[l];
    if (is_solved || error_[l] < task.error) {
      for (int k = 0; k < model_->n_q; ++k) task.q[k] = task.start[k];
      for (int j = 0; j < n_columns_; ++j) task.q[chain_->columns.data()[j]] = at_.data()[j][l];
      task.error = error_[l];
      // Half the angle's sine, except with ranges.
      const double sine = 0.5 * __builtin_sqrt(squared_rotation_[l]);
      task.position_error = __builtin_sqrt(squared_position_[l]);
      task.rotation_error =
          turning_ == Turning::ranges ? 2 * sine : 2 * __builtin_asin(sine < 1 ? sine : 1);
      task.is_solved = is_solved;
    }
    if (!is_solved && task.attempt < task.end) return begin(l), true;
    return take(l);
  }

  // Let a lane without a task repeat lane 0.
  void copy_lane(int l) {
    for (int k = 0; k < model_->n_q; ++k) q_.data()[k].set(l, q_.data()[k][0]);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) R_GW_.row[i][j].set(l, R_GW_.row[i][j][0]);
      p_WG_[i].set(l, p_WG_[i][0]);
    }
    for (L* x :
         {&error_, &mu_, &steps_, &slow_, &is_first_, &squared_position_, &squared_rotation_})
      x->set(l, (*x)[0]);
  }

  struct Column {
    L x[6] = {L(0.0), L(0.0), L(0.0), L(0.0), L(0.0), L(0.0)};
  };

  const IkChain* chain_;
  const Model* model_;
  int n_path_, n_columns_, twist_ = 2;
  Turning turning_ = Turning::exact;
  std::vector<L> q_;   // trial, and entries that do not move
  std::vector<L> at_;  // columns of the best configuration so far
  std::vector<SE3<L>> X_;
  std::vector<L> angle_, sine_, cosine_;
  std::vector<Column> J_, trial_J_;
  std::vector<L> dq_;
  std::vector<L> moving_;  // 1, or 0 where a limit holds the column
  L r_[6] = {}, trial_r_[6] = {};
  L error_{0.0}, mu_{0.0}, steps_{0.0}, slow_{0.0}, is_first_{0.0};
  L squared_position_{0.0}, squared_rotation_{0.0}, trial_position_{0.0}, trial_rotation_{0.0};
  Mat3<L> R_GW_;
  Vec3<L> p_WG_;
  IkTask* tasks_[width] = {};
  IkTask *next_ = nullptr, *end_ = nullptr;
  const IkSeeds* seeds_ = nullptr;
};

}  // namespace

template <>
std::unique_ptr<IkLanes> make_ik_lanes<own_isa>(const IkChain& chain) {
  return std::make_unique<CompiledIk<Lanes<lanes_of(own_isa), own_isa>>>(chain);
}

}  // namespace robosim::detail
