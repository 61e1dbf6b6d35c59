// Index into a constexpr list whose entries have a `name`: a choice by name, in C++ at compile time
// and from Python at run time.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include "base/error.h"

namespace robosim {

template <const auto& list>
class ListId {
 public:
  static constexpr std::size_t size = std::size(list);

  constexpr ListId() = default;  // the first entry
  consteval ListId(const char* name) {
    while (std::string_view(name) != list[index_].name) ++index_;  // past the end: not constant
  }

  // Return the entry of a name. Throws InputError, which says what was to be chosen, if there
  // is none.
  static ListId named(std::string_view what, std::string_view name) {
    std::string names;
    for (const ListId id : all()) {
      if (id.kind().name == name) return id;
      names += message(id.index_ == 0         ? "'"
                       : id.index_ + 1 < size ? ", '"
                                              : " and '",
                       id.kind().name, "'");
    }
    throw InputError(
        message(what, " is '", name, size == 1 ? "'; there is " : "'; there are ", names));
  }

  static constexpr std::array<ListId, size> all() {
    std::array<ListId, size> out;
    for (std::size_t i = 0; i < size; ++i) out[i].index_ = i;
    return out;
  }

  constexpr const auto& kind() const { return list[index_]; }
  constexpr bool operator==(const ListId&) const = default;

 private:
  std::size_t index_ = 0;
};

}  // namespace robosim
