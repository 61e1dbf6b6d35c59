// Shapes and queries between them.
#include "geometry/shape.h"

#include "bindings/module.h"

namespace py = pybind11;

namespace robosim {

void bind_geometry(py::module_& m) {
  py::class_<Shape>(m, "Shape", "A convex collision shape in its own frame.");
}

}  // namespace robosim
