// The extension module robosim._engine. Nothing is computed here: a binding converts arrays, makes
// one call and returns arrays.
#include "bindings/module.h"

#include <pybind11/stl.h>

#include "base/cpu.h"
#include "bindings/build_info.h"

namespace py = pybind11;

PYBIND11_MODULE(_engine, m) {
  m.doc() = "The compiled core of robosim. Use it through the robosim package.";
  m.def(
      "build_info",
      [] {
        py::dict info;
        info["compiler"] = robosim::compiler_version();
        info["cpp_standard"] = static_cast<long>(__cplusplus);
        info["flags"] = ROBOSIM_BUILD_FLAGS;
        info["assertions"] = robosim::assertions_enabled();
        info["instruction_set"] = robosim::compiled_instruction_set();
        info["kernels"] = robosim::name_of(robosim::kernel_isa());
        info["usable_kernels"] = robosim::usable_kernels();
        info["missing_kernels"] = robosim::missing_kernels();
        info["cpu_features"] = robosim::cpu_features();
        info["eigen"] = robosim::eigen_version();
        info["eigen_simd"] = Eigen::SimdInstructionSetsInUse();
        info["pybind11"] = ROBOSIM_STRING(PYBIND11_VERSION_MAJOR) "." ROBOSIM_STRING(
            PYBIND11_VERSION_MINOR) "." ROBOSIM_STRING(PYBIND11_VERSION_PATCH);
        return info;
      },
      "How this module was built and what the processor offers, as a dict of strings and lists of "
      "strings.");
  robosim::bind_threads(m);
  robosim::bind_shapes(m);
  robosim::bind_shape_queries(m);
  robosim::bind_contact_manifold(m);
  robosim::bind_compounds(m);
  robosim::bind_witness_derivatives(m);
  robosim::bind_motion_queries(m);
  robosim::bind_model(m);
  robosim::bind_dynamics(m);
  robosim::bind_operations(m);
  robosim::bind_planning(m);
  robosim::bind_self_collision(m);
  robosim::bind_configuration_rates(m);
  robosim::bind_scene_rays(m);
  robosim::bind_clouds(m);
  robosim::bind_drawing(m);
  robosim::bind_path_optimizer(m);
  robosim::bind_motion(m);
  robosim::bind_simulation(m);
  robosim::bind_xla_call(m);
}
