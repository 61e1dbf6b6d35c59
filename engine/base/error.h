// What the engine throws for input that cannot be used. The message names the offending thing, its value and what would be
// valid. Hot loops throw nothing: solvers and searches answer with a status.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

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

}  // namespace robosim
