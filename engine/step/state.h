// States, controls and their tangents as views of arrays, each defined by one list of parts.
//
// Steps, rollouts and bindings pass views on. Rollouts copy, size and offset them by means of the
// lists. A state can have additional parts, such as the nodes of a soft body, an activation or the
// previous state. An additional part needs a pointer, its width in the layout, storage, and its
// line in StateParts. Absent parts have a null pointer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "model/model.h"

namespace robosim {

// Call use(part) for each part. part(x) is that part of a layout, of pointers or of storage.
struct StateParts {
  template <class Use>
  static void for_each(const Use& use) {
    use([](auto& x) -> auto& { return x.q; });
    use([](auto& x) -> auto& { return x.v; });
  }
};

struct ControlParts {
  template <class Use>
  static void for_each(const Use& use) {
    use([](auto& x) -> auto& { return x.tau; });
    use([](auto& x) -> auto& { return x.q_target; });
    use([](auto& x) -> auto& { return x.v_target; });
  }
};

// Size of each part. Tangents have n_v numbers per part.
struct StateLayout {
  int q = 0, v = 0;

  static StateLayout of(const Model& m) { return {m.n_q, m.n_v}; }
  static StateLayout tangent(const Model& m) { return {m.n_v, m.n_v}; }
};

struct ControlLayout {
  int tau = 0, q_target = 0, v_target = 0;

  static ControlLayout of(const Model& m) { return {m.n_v, m.n_q, m.n_v}; }
};

namespace detail {

// View of the same parts, read-only.
template <class View, class Span>
View viewed(const Span& span) {
  View view;
  Span::Parts::for_each([&](auto part) { part(view) = part(span); });
  return view;
}

}  // namespace detail

// Pointers to the parts of a state. T: const double, or double for writable parts.
template <class T>
struct StatePointers {
  using Parts = StateParts;
  using Layout = StateLayout;

  // Configuration (n_q) and velocity (n_v). Tangents have n_v each; that of q is in the tangent
  // space, body side.
  T *q = nullptr, *v = nullptr;

  operator StatePointers<const double>() const requires(!std::is_const_v<T>) {
    return detail::viewed<StatePointers<const double>>(*this);
  }
};

template <class T>
struct ControlPointers {
  using Parts = ControlParts;
  using Layout = ControlLayout;

  T* tau = nullptr;       // n_v [N m or N], constant over the step; null: zero
  T* q_target = nullptr;  // n_q, for motors with a position gain; null: current position
  T* v_target = nullptr;  // n_v, for motors; null: zero

  operator ControlPointers<const double>() const requires(!std::is_const_v<T>) {
    return detail::viewed<ControlPointers<const double>>(*this);
  }
};

using StateView = StatePointers<const double>;
using StateSpan = StatePointers<double>;
using ControlView = ControlPointers<const double>;
using ControlSpan = ControlPointers<double>;
// Change of a state, or gradient of a loss with respect to it.
using TangentView = StateView;
using TangentSpan = StateSpan;

// Pointers to item i of an array of states or controls.
template <class Pointers>
Pointers row(Pointers x, const typename Pointers::Layout& layout, std::ptrdiff_t i) {
  Pointers::Parts::for_each([&](auto part) {
    if (part(x)) part(x) += i * part(layout);
  });
  return x;
}

// Copy a state. Both may be the same arrays.
inline void copy(const StateView& from, const StateLayout& layout, const StateSpan& to) {
  StateParts::for_each([&](auto part) {
    if (part(from) && part(to) && part(to) != part(from))
      std::copy_n(part(from), part(layout), part(to));
  });
}

// Storage for several states, contiguous.
struct States {
  StateLayout layout;
  std::vector<double> q, v;

  States() = default;
  States(const StateLayout& l, int count) : layout(l) { resize(count); }

  void resize(int count) {
    StateParts::for_each([&](auto part) {
      part(*this).resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(part(layout)));
    });
  }
  StateSpan operator[](std::ptrdiff_t i) {
    StateSpan all;
    StateParts::for_each([&](auto part) { part(all) = part(*this).data(); });
    return row(all, layout, i);
  }
};

// Copy of a control, with the parts that the original has.
struct Controls {
  ControlLayout layout;
  std::vector<double> tau, q_target, v_target;

  Controls(const ControlLayout& l, const ControlView& from) : layout(l) {
    ControlParts::for_each([&](auto part) {
      if (part(from)) part(*this).assign(part(from), part(from) + part(layout));
    });
  }
  ControlView view() const {
    ControlView out;
    ControlParts::for_each(
        [&](auto part) { part(out) = part(*this).empty() ? nullptr : part(*this).data(); });
    return out;
  }
};

}  // namespace robosim
