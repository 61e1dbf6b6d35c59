// Custom call of XLA that calls a Python function with NumPy arrays over XLA's own memory. Its cost
// is the function, the interpreter's lock, and one or two microseconds.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "bindings/module.h"
#include "bindings/xla_ffi.h"

namespace py = pybind11;

namespace robosim {
namespace {

using namespace xla;

// Kept forever: a handler cannot be unregistered from XLA, which may call it until the process
// ends.
py::object* look_up = nullptr;
int minor_version = 0;

// Number of calls in progress, and a flag that Python is about to end. XLA runs code on its own
// threads and nobody need wait for them. A thread that requests the interpreter's lock after the
// interpreter has ended is killed in the middle of C++, and the process with it.
std::atomic<int> calls_under_way = 0;
std::atomic<bool> is_closed = false;

struct UnderWay {
  UnderWay() { ++calls_under_way; }
  ~UnderWay() { --calls_under_way; }
};

// First argument: an integer, possibly with axes of extent one.
std::int32_t key_of(const Buffers& arguments) {
  if (arguments.size < 1 || arguments.buffers[0]->type != int32_type || !arguments.buffers[0]->data)
    throw InputError("a call of XLA's without its key");
  return *static_cast<const std::int32_t*>(arguments.buffers[0]->data);
}

py::tuple arrays(const Buffers& buffers, std::size_t first, const py::sequence& types) {
  const std::size_t n = static_cast<std::size_t>(buffers.size) - first;
  if (py::len(types) != n)
    throw InputError(message("a call of XLA's has ", n, " arrays; expected ", py::len(types)));
  py::tuple out(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Buffer& buffer = *buffers.buffers[first + i];
    const std::vector<py::ssize_t> shape(buffer.extents, buffer.extents + buffer.rank);
    // The array has a base object, so NumPy does not copy the data.
    out[i] = py::array(py::reinterpret_borrow<py::dtype>(types[i]), shape, buffer.data, py::none());
  }
  return out;
}

std::string called(const CallFrame& frame) {
  const py::gil_scoped_acquire lock;
  try {
    const py::object call = (*look_up)(key_of(frame.arguments));
    call(arrays(frame.arguments, 1, call.attr("argument_types")),
         arrays(frame.results, 0, call.attr("result_types")));
    return {};
  } catch (py::error_already_set& error) {
    return py::str(error.value());
  } catch (const std::exception& error) {
    return error.what();
  }
}

Error* handle(CallFrame* frame) noexcept {
  if (frame->extension && frame->extension->type == metadata_extension) {
    Metadata& metadata = *reinterpret_cast<MetadataExtension*>(frame->extension)->metadata;
    metadata.version.major = major_version;
    metadata.version.minor = minor_version;
    metadata.traits = 0;
    return nullptr;
  }
  if (frame->stage != execute_stage) return nullptr;
  const UnderWay counted;
  const std::string text = is_closed ? "the call is not made, as Python is ending" : called(*frame);
  if (text.empty()) return nullptr;
  ErrorArguments arguments{sizeof(ErrorArguments), nullptr, text.c_str(), invalid_argument};
  return frame->api->create_error(&arguments);
}

py::capsule xla_handler(const py::object& function, int major, int minor) {
  if (major != major_version)
    throw InputError(message("XLA's foreign function interface is of version ", major, ".", minor,
                             "; 0.x is known"));
  if (!look_up) look_up = new py::object(function);
  *look_up = function;
  minor_version = minor;
  return py::capsule(reinterpret_cast<void*>(&handle));
}

// Let no further call reach Python, and wait for those in progress.
void close_xla_calls() {
  is_closed = true;
  const py::gil_scoped_release release;
  while (calls_under_way > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

void bind_xla_call(py::module_& m) {
  m.def("xla_handler", &xla_handler, py::arg("look_up"), py::arg("major"), py::arg("minor"),
        "What XLA of this version of its interface calls, with a key (int32) and more: the "
        "function that look_up(key) gives, with arrays of its argument_types "
        "and, to be filled, of its result_types.");
  m.def("close_xla_calls", &close_xla_calls,
        "Let no further call reach Python, and wait for those that are under way: to be called as "
        "Python ends.");
}

}  // namespace robosim
