// The extension module robosim._engine. Nothing here computes: arrays in, one call, arrays out.
#include "bindings/module.h"

PYBIND11_MODULE(_engine, m) {
  m.doc() = "The compiled core of robosim. Use it through the robosim package.";
  robosim::bind_geometry(m);
  robosim::bind_model(m);
  robosim::bind_planning(m);
}
