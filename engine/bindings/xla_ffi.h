// The part of XLA's foreign function interface that a handler needs: the C layout of the call
// frame, as defined by XLA's documentation and by jaxlib's header xla/ffi/api/c_api.h (in the
// folder `jax.ffi.include_dir()`). It is repeated here so that nothing of JAX is needed to compile.
// Structures carry their size and later versions append members, so that this layout is valid for
// all versions 0.x.
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
  Version version;       // filled by the handler
  std::uint32_t traits;  // filled by the handler
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
  // followed by many more
};

struct Buffer {
  std::size_t struct_size;
  Extension* extension;
  int type;
  void* data;
  std::int64_t rank;
  const std::int64_t* extents;
};

// Arguments or results, all of them buffers.
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
  // followed by attributes and more
};

}  // namespace robosim::xla
