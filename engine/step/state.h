// States, what drives them, and tangents of both, as views of arrays; of each kind one list of
// parts.
//
// Steps, rollouts and bindings hand views on; rollouts copy, size and offset them by the lists: a
// part that a state gets besides, as the nodes of something soft, an activation, or the state
// before, is a pointer, its width in the layout, room and its line in StateParts. A part whose
// pointer is null is not there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "model/model.h"

namespace robosim {

// Calls use(part) of each part; part(x) is that of a layout, of pointers or of room.
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

// The size of each part; a tangent has as many numbers as there are velocities.
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

// The same parts, to be read only.
template <class View, class Span>
View viewed(const Span& span) {
  View view;
  Span::Parts::for_each([&](auto part) { part(view) = part(span); });
  return view;
}

}  // namespace detail

// T: const double, or double where it is written to.
template <class T>
struct StatePointers {
  using Parts = StateParts;
  using Layout = StateLayout;

  // Configuration and velocity (n_q, n_v); of a tangent n_v each, that of q in the tangent space,
  // body side.
  T *q = nullptr, *v = nullptr;

  operator StatePointers<const double>() const requires(!std::is_const_v<T>) {
    return detail::viewed<StatePointers<const double>>(*this);
  }
};

template <class T>
struct ControlPointers {
  using Parts = ControlParts;
  using Layout = ControlLayout;

  T* tau = nullptr;       // n_v [N m or N], held over the step; null: none
  T* q_target = nullptr;  // n_q, of motors with a position gain; null: the present position
  T* v_target = nullptr;  // n_v, of motors; null: zero

  operator ControlPointers<const double>() const requires(!std::is_const_v<T>) {
    return detail::viewed<ControlPointers<const double>>(*this);
  }
};

using StateView = StatePointers<const double>;
using StateSpan = StatePointers<double>;
using ControlView = ControlPointers<const double>;
using ControlSpan = ControlPointers<double>;
// Changes of a state, or what a loss changes by with it.
using TangentView = StateView;
using TangentSpan = StateSpan;

// The i-th of such things one behind the other.
template <class Pointers>
Pointers row(Pointers x, const typename Pointers::Layout& layout, std::ptrdiff_t i) {
  Pointers::Parts::for_each([&](auto part) {
    if (part(x)) part(x) += i * part(layout);
  });
  return x;
}

// To what may be the same arrays.
inline void copy(const StateView& from, const StateLayout& layout, const StateSpan& to) {
  StateParts::for_each([&](auto part) {
    if (part(from) && part(to) && part(to) != part(from))
      std::copy_n(part(from), part(layout), part(to));
  });
}

// Room for several, one behind the other.
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

// A control of its own, whose parts are those that the given one has.
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
