// Model, its builder and the dynamics.
#include "model/model.h"

#include "bindings/module.h"

namespace py = pybind11;

namespace robosim {

void bind_model(py::module_& m) {
  py::class_<Model>(m, "Model", "An articulated mechanism, immutable once built.");
}

}  // namespace robosim
