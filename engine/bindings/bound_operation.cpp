// BoundOperation: one operation on one model with fixed choices, called with nothing but its
// arrays.
//
// A call costs about 0.1 us beyond the kernel. It goes through CPython's vectorcall, checks arrays
// in place and returns the same result arrays every time. An argument that is not a contiguous
// float64 array of the right shape takes the slow path through real_array, with its conversions and
// errors.
#include <pybind11/stl.h>

#include <array>
#include <cstddef>
#include <structmember.h>

#include "bindings/arrays.h"
#include "bindings/module.h"
#include "bindings/operation_call.h"

namespace py = pybind11;

namespace robosim {

namespace {

struct Bound {
  std::shared_ptr<const Model> model;
  std::shared_ptr<OperationData> data;
  std::unique_ptr<Choices> choices;
  const OperationInfo* info;
  const Kernel* kernel;
  std::vector<Argument> inputs;
  std::vector<Shape2> shapes;               // of the inputs
  std::vector<std::size_t> configurations;  // indices of inputs that are configurations
  std::vector<int> quaternions;             // index of the first entry of each quaternion in q
  std::vector<Array> results;
  std::array<double*, max_arguments> out{};
  py::object result;     // the array, or a tuple of arrays
  py::object otherwise;  // callable for calls with keywords or another number of arguments
};

struct BoundObject {
  PyObject_HEAD;
  vectorcallfunc call;
  Bound* bound;
};

// Return the data of `value` if it is a contiguous float64 array of this shape with finite entries;
// else null.
const double* ready_array(PyObject* value, const Shape2& shape) {
  const auto& api = py::detail::npy_api::get();
  // One descriptor object, which all arrays of this type share.
  static PyObject* const float64 = py::dtype::of<double>().release().ptr();
  if (Py_TYPE(value) != api.PyArray_Type_) return nullptr;
  const auto* array = py::detail::array_proxy(value);
  constexpr int needed =
      py::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_ | py::detail::npy_api::NPY_ARRAY_ALIGNED_;
  if (array->descr != float64 || (array->flags & needed) != needed ||
      array->nd != static_cast<int>(shape.size()))
    return nullptr;
  py::ssize_t size = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (array->dimensions[i] != shape[i]) return nullptr;
    size *= shape[i];
  }
  const double* data = reinterpret_cast<const double*>(array->data);
  return all_finite(data, size) ? data : nullptr;
}

PyObject* run(Bound& bound, PyObject* const* arguments, std::size_t count, PyObject* keywords) {
  const bool by_position =
      !(keywords && PyTuple_GET_SIZE(keywords) > 0) && count == bound.inputs.size();
  if (!by_position && !bound.otherwise.is_none())
    return PyObject_Vectorcall(bound.otherwise.ptr(), arguments, count, keywords);
  if (!by_position)
    throw InputError(message(bound.info->name, " takes ", bound.inputs.size(),
                             " arrays by position, not ", count));
  std::array<const double*, max_arguments> in{};
  std::vector<Array> kept;  // stays empty, and so allocates nothing, on the fast path
  for (std::size_t i = 0; i < count; ++i) {
    in[i] = ready_array(arguments[i], bound.shapes[i]);
    if (!in[i]) {
      kept.push_back(real_array(arguments[i], bound.shapes[i], bound.inputs[i].name));
      in[i] = kept.back().data();
    }
    for (const Array& result : bound.results)  // copy an argument that overlaps a result
      if (in[i] < result.data() + result.size() &&
          result.data() < in[i] + size_of(*bound.model, bound.choices->options, bound.inputs[i])) {
        Array copy(bound.shapes[i]);
        std::copy(in[i], in[i] + copy.size(), copy.mutable_data());
        kept.push_back(copy);
        in[i] = copy.data();
      }
  }
  for (const int first : bound.quaternions)
    for (const std::size_t i : bound.configurations)
      if (!can_be_scaled(in[i] + first))
        check_quaternions(*bound.model, in[i], 1, bound.inputs[i].name);
  bound.kernel->one(*bound.model, *bound.data->workspace, bound.choices->options, in.data(),
                    bound.out.data());
  if (bound.info->solves)
    for (std::size_t i = 0; i < bound.results.size(); ++i)
      if (!all_finite(bound.out[i], bound.results[i].size()))
        raise_singular(*bound.model, " at this q");
  return py::object(bound.result).release().ptr();
}

PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t count, PyObject* keywords) {
  try {
    return run(*reinterpret_cast<BoundObject*>(self)->bound, arguments,
               static_cast<std::size_t>(PyVectorcall_NARGS(count)), keywords);
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const InputError& error) {
    py::set_error(py::module_::import("robosim.errors").attr("ModelError"), error.what());
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

// The owner of this operation may be `otherwise` itself: the garbage collector must see reference
// cycles of this kind.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (const Bound* bound = reinterpret_cast<BoundObject*>(self)->bound)
    for (const py::object* held : {&bound->result, &bound->otherwise}) Py_VISIT(held->ptr());
  return 0;
}

int clear(PyObject* self) {
  if (Bound* bound = reinterpret_cast<BoundObject*>(self)->bound) bound->otherwise = py::none();
  return 0;
}

void destroy(PyObject* self) {
  PyObject_GC_UnTrack(self);
  PyTypeObject* type = Py_TYPE(self);
  delete reinterpret_cast<BoundObject*>(self)->bound;
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* results_of(PyObject* self, void*) {
  return py::object(reinterpret_cast<BoundObject*>(self)->bound->result).release().ptr();
}

PyTypeObject* bound_type() {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(BoundObject, call), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static PyGetSetDef properties[] = {
      {"results", &results_of, nullptr, "The result arrays, as a call returns them.", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(&destroy)},
      {Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(&clear)},
      {Py_tp_free, reinterpret_cast<void*>(&PyObject_GC_Del)},
      {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
      {Py_tp_members, members},
      {Py_tp_getset, properties},
      {Py_tp_doc,
       const_cast<char*>("One operation on one model with fixed choices; see bind_operation.")},
      {0, nullptr}};
  static PyType_Spec spec = {"robosim._engine.BoundOperation", sizeof(BoundObject), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                 Py_TPFLAGS_DISALLOW_INSTANTIATION,
                             slots};
  static PyTypeObject* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!type) throw py::error_already_set();
  return type;
}

py::object bind_operation(int operation, const std::shared_ptr<Model>& model,
                          const std::shared_ptr<OperationData>& data, const Frames& frames,
                          std::vector<int> wrench_frames, bool local, bool joint_forces,
                          int columns, const py::object& results, const py::object& otherwise) {
  auto bound = std::make_unique<Bound>();
  bound->model = model;
  bound->data = data;
  check_memory(*data, *model);
  bound->info = &info_of(operation);
  bound->choices = std::make_unique<Choices>(*bound->model, frames, std::move(wrench_frames), local,
                                             joint_forces, columns);
  const Options& options = bound->choices->options;
  bound->kernel = &kernels().operations[operation];
  bound->inputs = inputs_of(*bound->info, options);
  bound->quaternions = quaternions_of(*model);
  for (const Argument& input : bound->inputs) {
    if (is_configuration(input)) bound->configurations.push_back(bound->shapes.size());
    bound->shapes.push_back(shape_of(*bound->model, *bound->choices, input));
  }
  for (const Argument& output : bound->info->outputs)
    bound->results.emplace_back(shape_of(*bound->model, *bound->choices, output));
  for (std::size_t i = 0; i < bound->results.size(); ++i) {
    bound->out[i] = bound->results[i].mutable_data();
    std::fill(bound->out[i], bound->out[i] + bound->results[i].size(), 0.0);
  }
  bound->result = packed(bound->results);
  if (!results.is_none()) bound->result = results(*bound->result);
  bound->otherwise = otherwise;
  PyTypeObject* type = bound_type();
  auto* self = reinterpret_cast<BoundObject*>(type->tp_alloc(type, 0));
  if (!self) throw py::error_already_set();
  self->call = &call;
  self->bound = bound.release();
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(self));
}

}  // namespace

void bind_bound_operation(py::module_& m) {
  m.attr("BoundOperation") =
      py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(bound_type()));
  m.def("bind_operation", &bind_operation, py::arg("operation"), py::arg("model").none(false),
        py::arg("data").none(false), py::arg("frames") = Frames(std::vector<int>()),
        py::arg("wrench_frames") = std::vector<int>(), py::arg("local") = false,
        py::arg("joint_forces") = false, py::arg("columns") = -1, py::arg("results") = py::none(),
        py::arg("otherwise") = py::none(),
        "A callable that takes the operation's arrays by position and returns arrays of its own, "
        "the same ones every time.");
}

}  // namespace robosim
