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

# robosim_copy_headers(NAME TARGET): copies the include folders of an imported library into the build folder and has TARGET use the
# copy. Build environments are made anew in a folder of another name for every `pip install`; a path that changes would make every
# file a new one, for ninja and for the compiler cache.
function(robosim_copy_headers name target)
  get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
  set(copies)
  foreach(folder ${folders})
    list(LENGTH copies number)
    set(copy ${CMAKE_BINARY_DIR}/include/${name}${number})
    file(GLOB_RECURSE headers RELATIVE ${folder} ${folder}/*)
    foreach(header ${headers})  # what is the same keeps its time
      get_filename_component(subfolder ${copy}/${header} DIRECTORY)
      file(MAKE_DIRECTORY ${subfolder})
      file(COPY_FILE ${folder}/${header} ${copy}/${header} ONLY_IF_DIFFERENT)
    endforeach()
    list(APPEND copies ${copy})
  endforeach()
  set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${copies}" INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${copies}")
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
