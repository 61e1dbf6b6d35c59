// Number of threads that loops may use.
#include "base/thread_pool.h"
#include "bindings/module.h"

namespace robosim {

void bind_threads(pybind11::module_& m) {
  m.def("thread_limit", &thread_limit);
  m.def("set_thread_limit", &set_thread_limit, pybind11::arg("n"));
}

}  // namespace robosim
