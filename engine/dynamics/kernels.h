// The compiled operations of one instruction set, and the choice among them at run time.
//
// A Workspace holds the memory that the kernels of one instruction set need for one model; it is
// not state, belongs to one caller at a time and grows at first use of each kind of call only.
#pragma once

#include <memory>
#include <vector>

#include "base/isa.h"
#include "dynamics/operation.h"

namespace robosim {

class Workspace {
 public:
  virtual ~Workspace() = default;

  // Whether results of lanes go past the caches; then end_streaming (base/streaming.h) is due.
  bool streams = false;

 protected:
  Workspace() = default;
};

// One operation, compiled. `in` and `out` point to the arrays of the operation's arguments,
// wrenches last.
struct Kernel {
  // One state.
  void (*one)(const Model&, Workspace&, const Options&, const double* const* in,
              double* const* out);
  // `count` states, at most `lanes` of the instruction set, side by side: arguments start at state
  // `first`, states of input i are stride[i] numbers apart (0: the same for all), those of an
  // output follow each other.
  void (*lanes)(const Model&, Workspace&, const Options&, std::ptrdiff_t first, int count,
                const double* const* in, const std::ptrdiff_t* stride, double* const* out);
};

struct Kernels {
  Isa isa;
  int lanes;
  std::unique_ptr<Workspace> (*make_workspace)(const Model&);
  std::vector<Kernel> operations;  // in the order of all_operations
};

// All operations.
const std::vector<OperationInfo>& all_operations();
// Index of the operation of this name, or -1.
int operation_index(const char* name);

// The kernels of an instruction set, or null where this build has none.
const Kernels* kernels(Isa isa);
// Those that this process uses: of the widest instruction set that the processor has, or of the one
// that the environment variable ROBOSIM_ISA names. Throws InputError where it names none or one
// that this processor or build lacks.
const Kernels& kernels();

}  // namespace robosim
