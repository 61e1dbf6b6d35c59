#include "planning/timing_motion.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/constants.h"

namespace robosim {

PolynomialMotion to_motion(const QuadraticPath& path, const std::vector<PathInterval>& intervals,
                           const std::vector<ProfileSegment>& segments) {
  const int n = path.n;
  PolynomialMotion motion;
  motion.n = n;
  motion.breaks.reserve(segments.size() + 1);
  motion.breaks.push_back(0);
  motion.coefficients.assign(segments.size() * static_cast<std::size_t>(6 * n), 0);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const ProfileSegment& segment = segments[i];
    const PathInterval& interval = intervals[segment.interval];
    // For constant u, the mean speed is the mean of the speeds at both ends.
    const double duration = 2 * (segment.sigma1 - segment.sigma0) / (segment.v0 + segment.v1);
    const double half_u = 0.5 * (segment.v1 - segment.v0) / duration;
    const double r = interval.r0 + segment.sigma0, v = segment.v0;
    const double* c = path.coefficients.data() + static_cast<std::size_t>(3 * n * interval.piece);
    double* out = motion.piece(static_cast<int>(i));
    for (int j = 0; j < n; ++j) {
      const double c1 = c[n + j], c2 = c[2 * n + j];
      const double slope = c1 + 2 * c2 * r;  // q' at r
      out[j] = c[j] + (c1 + c2 * r) * r;
      out[n + j] = slope * v;
      out[2 * n + j] = slope * half_u + c2 * v * v;
      out[3 * n + j] = 2 * c2 * v * half_u;
      out[4 * n + j] = c2 * half_u * half_u;
    }
    // Keep breaks increasing, even where a piece is shorter than the resolution of time.
    motion.breaks.push_back(
        std::max(motion.breaks.back() + duration, std::nextafter(motion.breaks.back(), infinity)));
  }
  return motion;
}

namespace {

// Greatest |p(t)| over [0, h] of p = a + b t + c t^2 + d t^3.
double peak(double a, double b, double c, double d, double h) {
  double best = std::max(std::abs(a), std::abs(a + h * (b + h * (c + h * d))));
  const auto look = [&](double t) {
    if (t > 0 && t < h) best = std::max(best, std::abs(a + t * (b + t * (c + t * d))));
  };
  // 3 d t^2 + 2 c t + b = 0, in the form without cancellation.
  const double discriminant = c * c - 3 * d * b;
  if (discriminant >= 0) {
    const double w = -(c + std::copysign(std::sqrt(discriminant), c));
    if (d != 0) look(w / (3 * d));
    if (w != 0) look(b / w);
  }
  return best;
}

double peak_velocity_of(const double* c, int n, int j, double h) {
  return peak(c[n + j], 2 * c[2 * n + j], 3 * c[3 * n + j], 4 * c[4 * n + j], h);
}

double peak_acceleration_of(const double* c, int n, int j, double h) {
  return peak(2 * c[2 * n + j], 6 * c[3 * n + j], 12 * c[4 * n + j], 0, h);
}

}  // namespace

double needed_stretch(const PolynomialMotion& motion, const std::vector<double>& velocity,
                      const std::vector<double>& acceleration) {
  double factor = 0;
  for (int i = 0; i < motion.pieces(); ++i) {
    const double h = motion.breaks[static_cast<std::size_t>(i) + 1] - motion.breaks[i];
    for (int j = 0; j < motion.n; ++j) {
      const double v = peak_velocity_of(motion.piece(i), motion.n, j, h);
      const double a = peak_acceleration_of(motion.piece(i), motion.n, j, h);
      const std::size_t k = static_cast<std::size_t>(j);
      if (velocity[k] > 0) factor = std::max(factor, v / velocity[k]);
      if (acceleration[k] > 0) factor = std::max(factor, std::sqrt(a / acceleration[k]));
    }
  }
  return factor;
}

void stretch(PolynomialMotion& motion, double factor) {
  for (double& t : motion.breaks) t *= factor;
  for (int i = 0; i < motion.pieces(); ++i) {
    double* c = motion.piece(i);
    double scale = 1;
    for (int power = 1; power < 6; ++power) {
      scale /= factor;
      for (int j = 0; j < motion.n; ++j) c[power * motion.n + j] *= scale;
    }
  }
}

std::vector<double> peak_acceleration(const PolynomialMotion& motion) {
  std::vector<double> peaks(static_cast<std::size_t>(motion.n), 0);
  for (int i = 0; i < motion.pieces(); ++i) {
    const double h = motion.breaks[static_cast<std::size_t>(i) + 1] - motion.breaks[i];
    for (int j = 0; j < motion.n; ++j) {
      double& best = peaks[j];
      best = std::max(best, peak_acceleration_of(motion.piece(i), motion.n, j, h));
    }
  }
  return peaks;
}

// The average of q over a window is (F(t) - F(t - T)) / T with F the integral of q. Both terms are
// single polynomials between the breaks of q and those of q shifted by T. To avoid cancellation, q
// - q(0) is integrated, and on each piece of the result the averages are expanded about its start.
PolynomialMotion moving_average(const PolynomialMotion& motion, double window) {
  const int n = motion.n, k = motion.pieces();
  const std::size_t un = static_cast<std::size_t>(n);
  const double end = motion.breaks.back();
  // Merge the breaks; breaks closer than rounding are one.
  std::vector<double> merged(motion.breaks);
  for (const double t : motion.breaks) merged.push_back(t + window);
  std::sort(merged.begin(), merged.end());
  const double least = 1e-12 * (end + window);
  std::vector<double> breaks{0};
  for (const double t : merged)
    if (t - breaks.back() > least) breaks.push_back(t);
  breaks.back() = end + window;

  // q at the end, for the rest after it.
  std::vector<double> last(un);
  const double h_last = motion.breaks[k] - motion.breaks[static_cast<std::size_t>(k) - 1];
  for (int j = 0; j < n; ++j) {
    double value = 0;
    for (int power = 5; power >= 0; --power)
      value = value * h_last + motion.piece(k - 1)[power * n + j];
    last[j] = value;
  }
  // Taylor coefficients of q about t, from the piece that contains `middle`.
  const auto taylor = [&](double t, double middle, double* out) {
    std::fill(out, out + 6 * n, 0.0);
    if (middle <= 0) {
      std::copy(motion.piece(0), motion.piece(0) + n, out);
      return;
    }
    if (middle >= end) {
      std::copy(last.begin(), last.end(), out);
      return;
    }
    const int i =
        static_cast<int>(std::upper_bound(motion.breaks.begin(), motion.breaks.end(), middle) -
                         motion.breaks.begin()) -
        1;
    const double s = t - motion.breaks[i];
    const double* c = motion.piece(i);
    for (int j = 0; j < n; ++j) {
      double p[5];
      for (int power = 0; power < 5; ++power) p[power] = c[power * n + j];
      // Repeated synthetic division: p(s + x).
      for (int from = 0; from < 4; ++from)
        for (int power = 3; power >= from; --power) p[power] += s * p[power + 1];
      for (int power = 0; power < 5; ++power) out[power * n + j] = p[power];
    }
  };

  PolynomialMotion out;
  out.n = n;
  out.breaks = breaks;
  out.coefficients.assign((breaks.size() - 1) * 6 * un, 0);
  std::vector<double> front(6 * un), back(6 * un), mean(motion.piece(0), motion.piece(0) + n);
  // Integrate (q(t) - q(t - T)) / T piece by piece.
  for (int i = 0; i < out.pieces(); ++i) {
    const double t = breaks[i], h = breaks[static_cast<std::size_t>(i) + 1] - t;
    taylor(t, t + 0.5 * h, front.data());
    taylor(t - window, t + 0.5 * h - window, back.data());
    double* c = out.piece(i);
    for (int j = 0; j < n; ++j) {
      c[j] = mean[j];
      // d mean / dt = (q(t) - q(t - T)) / T, integrated term by term.
      for (int power = 0; power < 5; ++power)
        c[(power + 1) * n + j] =
            (front[power * n + j] - back[power * n + j]) / (window * (power + 1));
      double value = 0;
      for (int power = 5; power >= 0; --power) value = value * h + c[power * n + j];
      mean[j] = value;
    }
  }
  return out;
}

}  // namespace robosim
