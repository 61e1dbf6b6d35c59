// Compiled operations of each instruction set, and their choice at run time.
//
// A Workspace holds the memory that the kernels of one instruction set need for one model. It is
// not state, belongs to one caller at a time, and grows only at the first use of each kind of call.
#pragma once

#include <memory>
#include <vector>

#include "base/isa.h"
#include "dynamics/operation.h"

namespace robosim {

class Workspace {
 public:
  virtual ~Workspace() = default;

  // True if results of lanes bypass the caches; the caller then has to call
  // end_streaming (base/streaming.h).
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
  // Process `count` states, at most `lanes` of the instruction set, side by side. Arguments start
  // at state `first`. States of input i are stride[i] numbers apart (0: shared), and those of an
  // output are consecutive.
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

// Return the kernels of an instruction set, or null if this build has none.
const Kernels* kernels(Isa isa);
// Return the kernels that this process uses: for the widest instruction set that the processor has,
// or for the one that the environment variable ROBOSIM_ISA names. Throws InputError if that is
// unknown, or missing in this processor or build.
const Kernels& kernels();

}  // namespace robosim
