// Exception for invalid input. Its message names the argument, its value and the valid values. Hot
// loops do not throw: solvers and searches return a status.
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

// Concatenate the arguments, formatted as by an output stream.
template <class... Parts>
std::string message(const Parts&... parts) {
  std::ostringstream out;
  out.precision(10);
  (out << ... << parts);
  return out.str();
}

// Join names as "a, b, c".
inline std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) text += (i ? ", " : "") + names[i];
  return text;
}

}  // namespace robosim
