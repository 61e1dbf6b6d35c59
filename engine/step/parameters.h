// Numbers of all parameters of a world (parameter_kinds.h): where each is, zeros, sums, products;
// values, and worlds with other values.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "step/parameter_kinds.h"
#include "step/vertex_gradient.h"

namespace robosim {

// The place of a kind in the list, by its name.
struct ParameterId {
  int index = 0;

  consteval ParameterId(const char* name) {
    // Beyond the list is no constant.
    while (std::string_view(name) != parameter_kinds[index].name) ++index;
  }
  explicit constexpr ParameterId(int kind) : index(kind) {}
};

// Where the numbers of each kind are in a vector of all that a world has. Vertices, of which
// contacts know few, are apart (vertex_gradient.h).
class ParameterLayout {
 public:
  explicit ParameterLayout(const World& world);

  int size() const { return static_cast<int>(zeros_.size()); }
  int owners(ParameterId kind) const { return places_[kind.index].owners; }
  int place(ParameterId kind, int owner) const {
    return places_[kind.index].first + owner * places_[kind.index].stride;
  }
  // From one owner to the next.
  int stride(ParameterId kind) const { return places_[kind.index].stride; }
  // How many numbers come before the vertices.
  int before_vertices() const { return places_[ParameterId("vertices").index].first; }
  // Zero; not a number where there is no derivative, as by sizes and scales of bodies made of
  // pieces.
  const std::vector<double>& zeros() const { return zeros_; }

 private:
  struct Place {
    int first = 0, stride = 0, owners = 0;
  };

  Place places_[n_parameter_kinds];
  std::vector<double> zeros_;
};

// One number for each parameter of a world: a gradient, or a direction.
class ParameterVector {
 public:
  void set_zero(const ParameterLayout& layout) {
    layout_ = &layout;
    numbers_ = layout.zeros();
    vertices.clear();
  }

  // The numbers of an owner, `width` of them; of kinds that are no records, also those of the
  // owners behind it.
  double* of(ParameterId kind, int owner = 0) {
    return numbers_.data() + layout_->place(kind, owner);
  }
  const double* of(ParameterId kind, int owner = 0) const {
    return numbers_.data() + layout_->place(kind, owner);
  }
  const ParameterLayout& layout() const { return *layout_; }
  // All but those of vertices.
  std::vector<double>& numbers() { return numbers_; }
  const std::vector<double>& numbers() const { return numbers_; }

  void add(const ParameterVector& other) {
    for (std::size_t i = 0; i < numbers_.size(); ++i) numbers_[i] += other.numbers_[i];
    vertices.add(other.vertices);
  }

  VertexGradient vertices;

 private:
  const ParameterLayout* layout_ = nullptr;
  std::vector<double> numbers_;
};

// Calls f with each number of one or several vectors of one world, the same of all of them. Of
// vertices with those of the first's rows: of the others by value.
template <class F, class... Vectors>
void for_each_parameter(F&& f, Vectors&... vectors) {
  const auto first = [](auto& x, auto&...) -> auto& { return x; };
  const auto dense = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) f(vectors.numbers()[i]...);
  };
  const auto sparse = [&](auto& of_first, const auto&... of_others) {
    for (auto& x : of_first.vertices.rows())
      for (int k = 0; k < 3; ++k) f(x.by[k], of_others.vertices.of(x.row)[k]...);
  };
  const auto& any = first(vectors...);
  const std::size_t middle = static_cast<std::size_t>(any.layout().before_vertices());
  dense(0, middle);
  sparse(vectors...);
  dense(middle, any.numbers().size());
}

// Combinations of parameters: what somebody asks for by name, as the mass of one of several links
// that make a body.
struct ParameterSelection {
  // Of each combination, from begin[i] to begin[i + 1], its numbers, those of vertices behind all
  // others, and how often each counts.
  std::vector<int> begin{0}, number;
  std::vector<double> weight;

  int size() const { return static_cast<int>(begin.size()) - 1; }
  // Writes one number for each.
  void read(const ParameterVector& from, double* to) const;
};

// The values of all parameters: numbers as in a ParameterVector, and three for each vertex.
struct ParameterValues {
  std::vector<double> numbers, vertices;
};
ParameterValues parameter_values(const WorldParts& parts, const ParameterLayout& layout);

// Writes to the parts what differs from their own values. Returns whether the model or the scene
// has changed with it, and not only what is about them. Throws InputError where a shape cannot have
// its sizes or vertices.
bool set_parameter_values(WorldParts& parts, const ParameterLayout& layout,
                          const ParameterValues& values);

}  // namespace robosim
