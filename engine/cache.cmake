# What makes builds cheap: headers that are compiled once, and a compiler cache that hits.

# robosim_precompile(TARGET FLAGS): compiles precompiled.h once for all targets that say the same FLAGS, a word for their compile
# options. The first of them holds it. gcc's alone: clang's remember when and where their headers were, and the compiler cache does not.
function(robosim_precompile target flags)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  get_property(holder GLOBAL PROPERTY robosim_precompiled_${flags})
  if(holder)
    target_precompile_headers(${target} REUSE_FROM ${holder})
  else()
    target_precompile_headers(${target} PRIVATE <base/precompiled.h>)
    set_property(GLOBAL PROPERTY robosim_precompiled_${flags} ${target})
  endif()
endfunction()

# robosim_copy_headers(TARGET SUBFOLDER): copies this subfolder of an imported library's include folder into the build folder and has
# TARGET use the copy. Build environments are made anew in a folder of another name for every `pip install`; a path that changes would
# make every file a new one, for ninja and for the compiler cache.
function(robosim_copy_headers target subfolder)
  get_target_property(folder ${target} INTERFACE_INCLUDE_DIRECTORIES)
  set(copy ${CMAKE_BINARY_DIR}/include/${subfolder})
  file(GLOB_RECURSE headers RELATIVE ${folder} ${folder}/${subfolder}/*)
  if(NOT headers)
    message(FATAL_ERROR "robosim found no headers in ${folder}/${subfolder}, where ${target} must have them")
  endif()
  foreach(header ${headers})  # headers that are the same keep their times
    get_filename_component(parent ${copy}/${header} DIRECTORY)
    file(MAKE_DIRECTORY ${parent})
    file(COPY_FILE ${folder}/${header} ${copy}/${header} ONLY_IF_DIFFERENT)
  endforeach()
  set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${copy} INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${copy})
endfunction()

# ccache, where it is installed. Paths below the source tree count from the build folder, so that another clone hits. From a build
# folder elsewhere all paths do: it hits where it lies the same way from its source tree. Headers are compared by their contents, and
# precompiled ones are known not to hold the time.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  get_filename_component(base_folder ${CMAKE_CURRENT_SOURCE_DIR} DIRECTORY)
  string(FIND "${CMAKE_BINARY_DIR}" "${base_folder}/" inside)
  if(NOT inside EQUAL 0)
    set(base_folder /)
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${base_folder} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()
