// Vectors of all parameters of a world (parameter_kinds.h): their layout, sums and products, their
// values, and worlds with other values.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "step/parameter_kinds.h"
#include "step/vertex_gradient.h"

namespace robosim {

// Index of a kind in the list, looked up by name at compile time.
struct ParameterId {
  int index = 0;

  consteval ParameterId(const char* name) {
    // A name that is not in the list makes this no constant expression, and does not compile.
    while (std::string_view(name) != parameter_kinds[index].name) ++index;
  }
  explicit constexpr ParameterId(int kind) : index(kind) {}
};

// Layout of the vector of all parameters of a world. Gradients of vertices are sparse and kept
// separately (vertex_gradient.h).
class ParameterLayout {
 public:
  explicit ParameterLayout(const World& world);

  int size() const { return static_cast<int>(zeros_.size()); }
  int owners(ParameterId kind) const { return places_[kind.index].owners; }
  int place(ParameterId kind, int owner) const {
    return places_[kind.index].first + owner * places_[kind.index].stride;
  }
  // Distance from one owner's numbers to the next.
  int stride(ParameterId kind) const { return places_[kind.index].stride; }
  // Number of entries before the vertices.
  int before_vertices() const { return places_[ParameterId("vertices").index].first; }
  // Zeros, with NaN where there is no derivative, as for sizes and scales of compounds.
  const std::vector<double>& zeros() const { return zeros_; }

 private:
  struct Place {
    int first = 0, stride = 0, owners = 0;
  };

  Place places_[n_parameter_kinds];
  std::vector<double> zeros_;
};

// One number per parameter of a world: a gradient or a direction.
class ParameterVector {
 public:
  void set_zero(const ParameterLayout& layout) {
    layout_ = &layout;
    numbers_ = layout.zeros();
    vertices.clear();
  }

  // The `width` numbers of an owner. In kinds that are not records, those of later owners follow.
  double* of(ParameterId kind, int owner = 0) {
    return numbers_.data() + layout_->place(kind, owner);
  }
  const double* of(ParameterId kind, int owner = 0) const {
    return numbers_.data() + layout_->place(kind, owner);
  }
  const ParameterLayout& layout() const { return *layout_; }
  // All numbers except those of vertices.
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

// Call f with each number of one or several vectors of the same world, in parallel. Vertices are
// those of the first vector's rows; the numbers of other vectors are passed by value there.
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

// Linear combinations of parameters that are requested by name, such as the mass of one of several
// links that form a body.
struct ParameterSelection {
  // Per combination i, entries [begin[i], begin[i + 1]): indices of its numbers, with those of
  // vertices after all others, and their weights.
  std::vector<int> begin{0}, number;
  std::vector<double> weight;

  int size() const { return static_cast<int>(begin.size()) - 1; }
  // Write one number per combination.
  void read(const ParameterVector& from, double* to) const;
};

// Values of all parameters: numbers as in a ParameterVector, and three per vertex.
struct ParameterValues {
  std::vector<double> numbers, vertices;
};
ParameterValues parameter_values(const WorldParts& parts, const ParameterLayout& layout);

// Write the values that differ to the parts. Return true if the model or the scene has changed,
// beyond data that only refer to them. Throws InputError if a shape cannot have its sizes or
// vertices.
bool set_parameter_values(WorldParts& parts, const ParameterLayout& layout,
                          const ParameterValues& values);

}  // namespace robosim
