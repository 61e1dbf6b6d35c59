#include "step/parameters.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/index.h"
#include "base/linalg/zeros.h"
#include "geometry/contact_derivatives.h"
#include "model/structure.h"
#include "step/world.h"

namespace robosim {
namespace {

static_assert(parameter_kinds[ParameterId("sizes").index].width() == WitnessDerivatives::max_sizes);
static_assert(parameter_kinds[ParameterId("coefficients").index].width() == JointEquality::terms);

int count(const World& world, ParameterOwner owner) {
  const Model& m = world.model();
  switch (owner) {
    case ParameterOwner::pair:
      return static_cast<int>(world.scene().pairs().size());
    case ParameterOwner::object:
      return static_cast<int>(world.scene().objects().size());
    case ParameterOwner::vertex:
      return world.vertices().size();
    case ParameterOwner::closure:
      return static_cast<int>(world.closures().frames.size());
    case ParameterOwner::equality:
      return static_cast<int>(world.closures().joints.size());
    case ParameterOwner::body:
      return m.n_bodies() - 1;
    case ParameterOwner::motor:
    case ParameterOwner::coordinate:
      return m.n_v;
    case ParameterOwner::position:
      return m.n_q;
    case ParameterOwner::world:
      break;
  }
  return 1;
}

// True if the parameter refers to the model and the scene without being a part of them.
bool is_beside_scene(const ParameterKind& kind) {
  switch (kind.owner) {
    case ParameterOwner::pair:
    case ParameterOwner::motor:
    case ParameterOwner::closure:
    case ParameterOwner::equality:
      return true;
    default:
      return kind.name == "dt";
  }
}

// Call use(index in the vector, index in an owner-by-owner list) for each number of a kind.
template <class Use>
void for_each_place(const ParameterLayout& layout, ParameterId id, const Use& use) {
  const int width = parameter_kinds[id.index].width();
  for (int i = 0; i < layout.owners(id); ++i)
    for (int k = 0; k < width; ++k) use(at(layout.place(id, i) + k), at(i * width + k));
}

}  // namespace

ParameterLayout::ParameterLayout(const World& world) {
  int next = 0;
  for (int k = 0; k < n_parameter_kinds;) {
    const ParameterOwner owner = parameter_kinds[k].owner;
    const int owners = count(world, owner);
    int end = k + 1, stride = parameter_kinds[k].width();
    for (; is_record(owner) && end < n_parameter_kinds && parameter_kinds[end].owner == owner;
         ++end)
      stride += parameter_kinds[end].width();
    for (int first = next; k < end; first += parameter_kinds[k].width(), ++k)
      places_[k] = {first, stride, owners};
    // Vertices take no space in the vector.
    if (owner != ParameterOwner::vertex) next += owners * stride;
  }
  make_zeros(zeros_, next);
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < owners("scale"); ++i) {
    if (!world.scene().object(i).geometry.compound) continue;
    std::fill_n(zeros_.begin() + place("sizes", i),
                parameter_kinds[ParameterId("sizes").index].width(), none);
    zeros_[place("scale", i)] = none;
  }
}

void ParameterSelection::read(const ParameterVector& from, double* to) const {
  const int before = from.layout().size();
  for (std::size_t i = 0; i + 1 < begin.size(); ++i) {
    double sum = 0;
    for (std::size_t k = at(begin[i]); k < at(begin[i + 1]); ++k) {
      const int n = number[k];
      sum += weight[k] * (n < before ? from.numbers()[n]
                                     : from.vertices.of((n - before) / 3)[(n - before) % 3]);
    }
    *to++ = sum;
  }
}

ParameterValues parameter_values(const WorldParts& parts, const ParameterLayout& layout) {
  ParameterValues values{std::vector<double>(layout.zeros().size()), {}};
  std::vector<double> own;
  for (int k = 0; k < n_parameter_kinds; ++k) {
    const ParameterId id(k);
    const ParameterKind& kind = parameter_kinds[k];
    own.resize(at(layout.owners(id) * kind.width()));
    kind.access.read(parts, layout.owners(id), own.data());
    if (kind.owner == ParameterOwner::vertex)
      values.vertices = own;
    else
      for_each_place(layout, id,
                     [&](std::size_t place, std::size_t i) { values.numbers[place] = own[i]; });
  }
  return values;
}

bool set_parameter_values(WorldParts& parts, const ParameterLayout& layout,
                          const ParameterValues& values) {
  const ParameterValues before = parameter_values(parts, layout);
  const auto is_same = [](double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
  };
  bool is_other_scene = false;
  std::vector<double> wanted;
  const auto write = [&](ParameterId id) {
    const ParameterKind& kind = parameter_kinds[id.index];
    wanted.resize(at(layout.owners(id) * kind.width()));
    // Compare the values of the kind, and write them if any differs.
    bool is_changed = false;
    const auto take = [&](std::size_t i, double own, double other) {
      wanted[i] = other;
      is_changed |= !is_same(own, other);
    };
    if (kind.owner == ParameterOwner::vertex)
      for (std::size_t i = 0; i < wanted.size(); ++i)
        take(i, before.vertices[i], values.vertices[i]);
    else
      for_each_place(layout, id, [&](std::size_t place, std::size_t i) {
        take(i, before.numbers[place], values.numbers[place]);
      });
    if (!is_changed) return;
    kind.access.write(parts, layout.owners(id), wanted.data());
    is_other_scene |= !is_beside_scene(kind);
  };
  // Write scale last: it scales the sizes and vertices just written.
  constexpr ParameterId scale("scale");
  for (int k = 0; k < n_parameter_kinds; ++k)
    if (k != scale.index) write(ParameterId(k));
  write(scale);
  parts.model.massless = massless_joints(parts.model);
  return is_other_scene;
}

}  // namespace robosim
