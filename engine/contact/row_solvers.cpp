#include "contact/row_solvers.h"

#include <string>

#include "base/error.h"

namespace robosim {

SolverId SolverId::named(std::string_view name) {
  std::string names;
  for (std::size_t i = 0; i < n_row_solvers; ++i) {
    SolverId id;
    id.index_ = i;
    if (row_solvers[i].name == name) return id;
    names += (i == 0 ? "'" : i + 1 < n_row_solvers ? ", '" : " and '") + std::string(row_solvers[i].name) + "'";
  }
  throw InputError("solver is '" + std::string(name) + "'; there are " + names);
}

}  // namespace robosim
