// What the engine throws for input that cannot be used. The message names the offending thing, its
// value and what would be valid. Hot loops throw nothing: solvers and searches answer with a
// status.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace robosim {

class InputError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

// Joins its arguments, as an output stream prints them, to one message.
template <class... Parts>
std::string message(const Parts&... parts) {
  std::ostringstream out;
  out.precision(10);
  (out << ... << parts);
  return out.str();
}

// "a, b, c".
inline std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) text += (i ? ", " : "") + names[i];
  return text;
}

}  // namespace robosim
