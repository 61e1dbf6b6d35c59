// List of all integrators. To add one, add a file with a function that makes it, and its row below.
#pragma once

#include <memory>
#include <string_view>

#include "base/list_id.h"
#include "model/model.h"

namespace robosim {

class Integrator;

std::unique_ptr<Integrator> make_semi_implicit(const Model& model);

struct IntegratorKind {
  std::string_view name, about;
  std::unique_ptr<Integrator> (*make)(const Model& model);
};

inline constexpr IntegratorKind integrators[] = {
    {"semi_implicit", "semi-implicit Euler, damping and springs of joints implicit",
     make_semi_implicit},
};

using IntegratorId = ListId<integrators>;

}  // namespace robosim
