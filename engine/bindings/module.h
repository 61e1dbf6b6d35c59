// Functions by which each translation unit of the bindings adds its part to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace robosim {

void bind_threads(pybind11::module_& m);
void bind_shapes(pybind11::module_& m);
void bind_shape_queries(pybind11::module_& m);
void bind_witness_derivatives(pybind11::module_& m);
void bind_contact_manifold(pybind11::module_& m);
void bind_compounds(pybind11::module_& m);
void bind_motion_queries(pybind11::module_& m);
void bind_model(pybind11::module_& m);
void bind_dynamics(pybind11::module_& m);
void bind_planning(pybind11::module_& m);
void bind_self_collision(pybind11::module_& m);
void bind_configuration_rates(pybind11::module_& m);
void bind_scene_rays(pybind11::module_& m);
void bind_clouds(pybind11::module_& m);
void bind_drawing(pybind11::module_& m);
void bind_path_optimizer(pybind11::module_& m);
void bind_simulation(pybind11::module_& m);
void bind_xla_call(pybind11::module_& m);
void bind_motion(pybind11::module_& m);
void bind_operations(pybind11::module_& m);
void bind_bound_operation(pybind11::module_& m);

}  // namespace robosim
