// The part of XLA's foreign function interface that a handler needs: the layout of what it is
// called with, in C, as XLA's documentation and jaxlib's own header (xla/ffi/api/c_api.h, which
// `jax.ffi.include_dir()` has) lay it down. Written here so that nothing of JAX is needed to
// compile. Structures tell their size and newer versions add to their ends, so that what is here
// holds for all versions 0.x.
#pragma once

#include <cstddef>
#include <cstdint>

namespace robosim::xla {

constexpr int major_version = 0;
constexpr int metadata_extension = 1, execute_stage = 3, int32_type = 4, invalid_argument = 3;

struct Extension {
  std::size_t struct_size;
  int type;
  Extension* next;
};

struct Version {
  std::size_t struct_size;
  Extension* extension;
  int major, minor;
};

struct Metadata {
  std::size_t struct_size;
  Version version;       // to be filled
  std::uint32_t traits;  // likewise
};
struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct Error;
struct ErrorArguments {
  std::size_t struct_size;
  Extension* extension;
  const char* message;
  int code;
};

struct Api {
  std::size_t struct_size;
  Extension* extension;
  Version version;
  const void* internal;
  Error* (*create_error)(ErrorArguments*);
  // many more
};

struct Buffer {
  std::size_t struct_size;
  Extension* extension;
  int type;
  void* data;
  std::int64_t rank;
  const std::int64_t* extents;
};

// Of arguments and results, all of them buffers.
struct Buffers {
  std::size_t struct_size;
  Extension* extension;
  std::int64_t size;
  const int* kinds;
  Buffer** buffers;
};
struct CallFrame {
  std::size_t struct_size;
  Extension* extension;
  const Api* api;
  void* context;
  int stage;
  Buffers arguments;
  Buffers results;
  // attributes, and more
};

}  // namespace robosim::xla
