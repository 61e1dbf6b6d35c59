#include "model/usable.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "model/joint_layout.h"

namespace robosim {

namespace {

// Limit that leaves a margin for sums of a few such numbers, and for their products with gravity.
constexpr double most = 1e300;

// Name of the joint that entry k of v belongs to.
const std::string& name_of(const Model& model, int k) {
  std::size_t i = 1;
  while (model.joints[i].mimic || k < model.joints[i].v_index ||
         k >= model.joints[i].v_index + model.joints[i].n_v)
    ++i;
  return model.joints[i].name;
}

// An entry of the mass matrix is a sum over the bodies of m (J v)^2 + I (J w)^2. Let reach be the
// sum of the lengths from joint to joint. A joint of ratio r and pitch h moves its descendants by
// at most r (1 + h) (1 + reach) per unit of its coordinate, and turns them by at most r.
std::string mass_fault(const Model& model) {
  const std::size_t n = model.joints.size();
  std::vector<double> reach(n, 0), turns(n, 0);
  double total = 0;
  for (std::size_t i = 1; i < n; ++i) {
    const Joint& joint = model.joints[i];
    const Inertia& inertia = model.inertias[i];
    const std::size_t parent = static_cast<std::size_t>(joint.parent);
    reach[i] =
        reach[parent] + norm(joint.X_PJ.p) + std::abs(joint.offset) * (1 + std::abs(joint.pitch));
    turns[i] = turns[parent] + std::abs(joint.ratio) * (1 + std::abs(joint.pitch));
    const double lever = 1 + reach[i] + norm(inertia.com);
    double moments = 0;
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 3; ++column) moments += std::abs(inertia.I_com(row, column));
    total += turns[i] * turns[i] * (1 + inertia.mass * lever * lever + moments);
    if (!(total <= most && reach[i] <= most))
      return "joint '" + joint.name +
             "' moves more than numbers can hold: its multiplier, pitch or offset, or a mass or a "
             "distance behind it, is too large";
  }
  return "";
}

}  // namespace

std::string overflow_fault(const Model& model) {
  // First, as excessive multipliers also spoil the numbers below.
  if (std::string fault = mass_fault(model); !fault.empty()) return fault;
  for (int k = 0; k < model.n_v; ++k) {
    const std::size_t i = static_cast<std::size_t>(k);
    // Near rest dry friction acts as a damper of friction / width, and its derivative is divided by
    // sqrt(v^2 + width^2).
    const double width = model.friction_width[i];
    if (!(width * width >= std::numeric_limits<double>::min() && width < most) ||
        !(model.friction[i] / width <= most))
      return message("joint '", name_of(model, k), "': friction ", model.friction[i],
                     " over a width of ", width, " is more than numbers can hold");
    // Sums that include mimic joints.
    const double spring = model.stiffness[i] * (1 + std::abs(model.spring_reference[i]));
    if (!(model.damping[i] <= most && model.armature[i] <= most && spring <= most))
      return message("joint '", name_of(model, k), "': damping ", model.damping[i], ", armature ",
                     model.armature[i], " or stiffness ", model.stiffness[i],
                     " is more than numbers can hold");
  }
  if (!std::isfinite(model.spring_rest_energy))
    return "the springs of mimic joints hold more energy than numbers can";
  return "";
}

void check_usable(const Model& model) {
  if (const std::string fault = overflow_fault(model); !fault.empty()) throw InputError(fault);
}

}  // namespace robosim
