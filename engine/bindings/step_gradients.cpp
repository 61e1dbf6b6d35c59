#include "bindings/step_gradients.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include <pybind11/stl.h>

#include "base/error.h"

namespace py = pybind11;

namespace robosim {
namespace {

Array vector_of(const std::vector<double>& x) {
  Array out(Shape2{static_cast<py::ssize_t>(x.size())});
  std::copy(x.begin(), x.end(), out.mutable_data());
  return out;
}

const char* name_of(ParameterOwner owner) {
  constexpr const char* names[] = {"pair",     "motor", "object",     "vertex",   "closure",
                                   "equality", "body",  "coordinate", "position", "world"};
  return names[static_cast<std::size_t>(owner)];
}

// Zero direction, also for parameters that have no derivative.
StepGradient still(const World& world) {
  StepGradient d;
  d.set_zero(world);
  std::fill(d.parameters.numbers().begin(), d.parameters.numbers().end(), 0.0);
  return d;
}

// Add derivatives with respect to vertices, from rows of three.
void add_vertices(const double* from, const World& world, StepGradient& to) {
  for (int row = 0; row < world.vertices().size(); ++row) {
    const Vec3d by = vec3_at(from + 3 * row);
    if (squared_norm(by) > 0) to.parameters.vertices.add(row, by);
  }
}

// One row per gradient.
template <class Part>
Array rows_of(const std::vector<StepGradient>& g, int width, const Part& part) {
  Array out = fresh_array({static_cast<py::ssize_t>(g.size()), width});
  double* to = out.mutable_data();
  for (const StepGradient& x : g) to = std::copy_n(part(x).begin(), width, to);
  return out;
}

// Gradients of large meshes are almost entirely zeros, and zeros from calloc use no memory until
// written to.
Array zeros(const Shape2& shape) {
  std::size_t size = 1;
  for (const auto extent : shape) size *= static_cast<std::size_t>(extent);
  auto* const to =
      static_cast<double*>(std::calloc(std::max<std::size_t>(size, 1), sizeof(double)));
  if (!to) throw std::bad_alloc();
  return Array(shape, to, py::capsule(to, &std::free));
}

void write_vertices(const StepGradient& g, double* to) {
  for (const VertexGradient::Row& x : g.parameters.vertices.rows())
    for (int k = 0; k < 3; ++k) to[3 * x.row + k] = x.by[k];
}

std::vector<int> shape_of(const ParameterKind& kind) {
  if (kind.columns > 1) return {kind.rows, kind.columns};
  if (kind.rows > 1) return {kind.rows};
  return {};
}

}  // namespace

std::vector<BoundParameterKind> bound_parameter_kinds(const World& world) {
  const ParameterLayout& layout = world.parameters();
  std::vector<BoundParameterKind> out;
  for (int k = 0; k < n_parameter_kinds; ++k) {
    const ParameterKind& kind = parameter_kinds[k];
    const ParameterId id(k);
    out.push_back({.name = std::string(kind.name),
                   .owner = name_of(kind.owner),
                   .owners = layout.owners(id),
                   .shape = shape_of(kind),
                   .unit = std::string(kind.unit),
                   .about = std::string(kind.about),
                   .least = kind.least,
                   .most = kind.most,
                   .first = layout.place(id, 0),
                   .stride = layout.stride(id)});
  }
  return out;
}

void bind_parameter_kinds(py::module_& m) {
  py::class_<BoundParameterKind>(m, "ParameterKind",
                                 "See robosim.simulation.ParameterKind; first and stride tell "
                                 "where the numbers of its owners are.")
      .def_readonly("name", &BoundParameterKind::name)
      .def_readonly("owner", &BoundParameterKind::owner)
      .def_readonly("owners", &BoundParameterKind::owners)
      .def_readonly("shape", &BoundParameterKind::shape)
      .def_readonly("unit", &BoundParameterKind::unit)
      .def_readonly("about", &BoundParameterKind::about)
      .def_readonly("least", &BoundParameterKind::least)
      .def_readonly("most", &BoundParameterKind::most)
      .def_readonly("first", &BoundParameterKind::first)
      .def_readonly("stride", &BoundParameterKind::stride);
}

GradientArrays::GradientArrays(const World& world, const StepGradient& g)
    : q(vector_of(g.q)),
      v(vector_of(g.v)),
      tau(vector_of(g.tau)),
      q_target(vector_of(g.q_target)),
      v_target(vector_of(g.v_target)),
      parameters(vector_of(g.parameters.numbers())),
      vertices(zeros({world.vertices().size(), 3})),
      causes(Shape2{}) {
  write_vertices(g, vertices.mutable_data());
  *causes.mutable_data() = static_cast<std::uint8_t>(g.one_sided);
}

GradientArrays::GradientArrays(const World& world, const std::vector<StepGradient>& g, Array tau_,
                               Array q_target_, Array v_target_)
    : q(rows_of(
          g, world.model().n_v, [](const StepGradient& x) -> const auto& { return x.q; })),
      v(rows_of(
          g, world.model().n_v, [](const StepGradient& x) -> const auto& { return x.v; })),
      tau(std::move(tau_)),
      q_target(std::move(q_target_)),
      v_target(std::move(v_target_)),
      parameters(rows_of(
          g, world.parameters().size(),
          [](const StepGradient& x) -> const auto& { return x.parameters.numbers(); })),
      vertices(zeros({static_cast<py::ssize_t>(g.size()), world.vertices().size(), 3})),
      causes(Shape2{static_cast<py::ssize_t>(g.size())}) {
  for (std::size_t r = 0; r < g.size(); ++r) {
    write_vertices(g[r], vertices.mutable_data() +
                             3 * static_cast<std::ptrdiff_t>(r) * world.vertices().size());
    causes.mutable_data()[r] = static_cast<std::uint8_t>(g[r].one_sided);
  }
}

StepGradient direction_of(const World& world, const py::dict& given) {
  StepGradient d = still(world);
  const std::pair<const char*, std::vector<double>&> vectors[] = {
      {"q", d.q},
      {"v", d.v},
      {"tau", d.tau},
      {"q_target", d.q_target},
      {"v_target", d.v_target},
      {"parameters", d.parameters.numbers()}};
  for (const auto& [name, to] : vectors) {
    if (!given.contains(name)) continue;
    const Array array = real_array(given[name], {static_cast<py::ssize_t>(to.size())}, name);
    std::copy_n(array.data(), to.size(), to.begin());
  }
  if (!given.contains("vertices")) return d;
  const Array vertices = real_array(given["vertices"], {world.vertices().size(), 3}, "vertices");
  add_vertices(vertices.data(), world, d);
  return d;
}

ParameterSelection selection_of(const World& world, const SelectionTuple& given) {
  const auto& [begin, number, weight] = given;
  const int all = world.parameters().size() + 3 * world.vertices().size();
  const bool is_list = !begin.empty() && begin.front() == 0 &&
                       std::is_sorted(begin.begin(), begin.end()) &&
                       static_cast<std::size_t>(begin.back()) == number.size();
  if (!is_list || weight.size() != number.size())
    throw InputError("a selection of parameters has to be rows of numbers and as many weights");
  for (const int n : number)
    if (n < 0 || n >= all)
      throw InputError(
          message("a selection of parameters has number ", n, "; it must be from 0 to ", all - 1));
  return {begin, number, weight};
}

}  // namespace robosim
