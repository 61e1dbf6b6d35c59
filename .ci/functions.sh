# What .ci/run and .ci/full share: lanes with their times, and environments that are kept.
# Read by `source`, in the repository's root, with `work` set to a folder of the caller's own.
# shellcheck shell=bash
: "${work:?}"

say() { printf '\n=== %s (%d s)\n' "$1" "$SECONDS"; }

# lane NAME COMMAND...: runs it in a shell of its own, whose wall and processor seconds become a line
# in $work/times. Processor seconds are those of the shell and of all its children that it waited
# for, theirs included. A lane may have several parts of the same name, and may be sent to the
# background. Its status is the command's.
lane() {
  (
    # No locals: where a function fails, the shell leaves those that called it before it ends.
    lane=$1 began=$(date +%s.%N)
    shift
    set -e
    trap 'lane_ends $?' EXIT
    trap 'exit 143' TERM
    "$@"
  )
}
lane_ends() { # STATUS
  times >"$work/times.$BASHPID"
  awk -v name="$lane" -v status="$1" -v began="$began" -v now="$(date +%s.%N)" '
    { for (i = 1; i <= 2; ++i) { split($i, part, /[ms]/); processor += 60 * part[1] + part[2] } }
    END { printf "%s %.1f %.1f %d\n", name, now - began, processor, status }
  ' "$work/times.$BASHPID" >>"$work/times"
  rm "$work/times.$BASHPID"
}

# Prints $work/times as a table, parts of a lane added up, and the seconds since the start.
print_times() {
  [ -s "$work/times" ] || return 0
  awk -v wall="$SECONDS" '
    !($1 in wall_of) { order[++lanes] = $1 }
    { wall_of[$1] += $2; processor_of[$1] += $3; total += $3; if ($4) failed[$1] = "  failed: status " $4 }
    END {
      printf "\n%-16s %10s %15s\n", "lane", "wall [s]", "processor [s]"
      for (i = 1; i <= lanes; ++i) {
        name = order[i]
        printf "%-16s %10.0f %15.0f%s\n", name, wall_of[name], processor_of[name], failed[name]
      }
      printf "%-16s %10.0f %15.0f   (lanes run beside each other)\n", "in all", wall, total
    }' "$work/times"
}

# give_way PROCESS FILE COMMAND...: runs it on processors that nothing else in this session wants, until
# the process has ended or the file is there; then like all else. Status: the command's. The session
# stays the same, since Linux shares processors between sessions first, and gives way within one.
give_way() {
  local process=$1 file=$2 job
  shift 2
  if [ -e "$file" ] || ! chrt --idle 0 true 2>/dev/null; then
    "$@"
    return
  fi
  chrt --idle 0 "$@" &
  job=$!
  give_way_no_longer "$process" "$file" "$job" >/dev/null 2>&1 &
  wait "$job"
}
give_way_no_longer() { # PROCESS FILE JOB: when it is time, for all of the job's process group
  local group id
  group=$(ps -o pgid= "$3")
  while sleep 1 && kill -0 "$3"; do
    [ -e "$2" ] || ! kill -0 "$1" || continue
    for id in $(ps -eo pgid=,cls=,pid= | awk -v group="$group" '$1 == group && $2 == "IDL" { print $3 }'); do
      chrt --all-tasks --other --pid 0 "$id" || true # which only root may
    done
  done
}

# environment NAME PIP_ARGS...: sets `env` to a virtual environment with these packages, made where
# there is none and else one that an earlier run made for the same arguments, contents of files of
# requirements included, the same constraints, and the same Python and pip. It holds nothing of this
# tree: `overlay` makes environments that do. What is there is used only if it is whole: all files
# have the sizes that they had when it was made. Runs side by side share it: who makes one has its
# lock alone, who uses it holds the lock with others until it ends.
cache=${ROBOSIM_CI_CACHE:-${XDG_CACHE_HOME:-~/.cache}/robosim-ci}
{ mkdir -p "$cache" && [ -w "$cache" ]; } 2>/dev/null || cache=$work/environments
sizes() { # of files, but for what Python compiles as it goes
  find "$1" -name __pycache__ -prune -o -type f ! -path "$1/sizes" -printf '%P %s\n' | sort | sha256sum
}
whole() { [ -f "$1/sizes" ] && "$1/bin/python" -c "" && [ "$(cat "$1/sizes")" = "$(sizes "$1")" ]; }
# Of environments that this shell uses: a second lock of its own would wait for the first.
declare -A locks=()
environment() {
  local name=$1 key lock argument
  shift
  key=$({
    python3 -c 'import ensurepip, sys; print(sys.version, sys.executable, ensurepip.version())'
    cat .ci/constraints.txt
    for argument; do
      if [ -f "$argument" ]; then cat "$argument"; else echo "$argument"; fi
    done
  } | sha256sum | cut -c -16)
  env=$cache/$name-$key
  mkdir -p "$cache"
  [ -n "${locks[$env]:-}" ] || exec {locks[$env]}>"$env.lock" # and notes when it was last used
  lock=${locks[$env]}
  flock -s "$lock"
  if ! whole "$env"; then
    flock "$lock"
    whole "$env" || make_environment "$env" "$@"
    flock -s "$lock"
  fi
}
# Modules are not compiled by pip: the few that are used will be as they are imported.
make_environment() {
  local dir=$1
  shift
  rm -rf "$dir"
  python3 -m venv "$dir"
  quiet_pip "$dir" install --no-compile "$@"
  sizes "$dir" >"$work/sizes.$BASHPID"
  mv "$work/sizes.$BASHPID" "$dir/sizes"
  forget_old
}
forget_old() { # what no run has used for two weeks
  local lock file
  find "$cache" -maxdepth 1 -name '*.lock' -mtime +14 | while read -r file; do
    exec {lock}>>"$file"
    flock -n "$lock" && rm -rf "${file%.lock}" "$file"
    exec {lock}>&-
  done
}
quiet_pip() { # ENVIRONMENT PIP_ARGS...
  local dir=$1 verb=$2
  shift 2
  "$dir/bin/python" -m pip --disable-pip-version-check --no-input "$verb" -q "$@" \
    2> >(grep -v "is ignored: it is neither" >&2)
}

# overlay DIR WHEEL[EXTRAS]: an environment with this wheel over the packages and scripts of $env.
# pip must find all there that the wheel and these extras need.
overlay() {
  local dir=$1 site script
  python3 -m venv --without-pip "$dir"
  site=$("$dir/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "import site; site.addsitedir('${site/#"$dir"/"$env"}')" >"$site/packages.pth"
  for script in "$env"/bin/*; do
    [[ $(head -c 256 "$script" | head -n 1 | tr -d '\0') == "#!$env/bin/python"* ]] || continue
    sed "1s|^.*$|#!$dir/bin/python|" "$script" >"$dir/bin/${script##*/}"
    chmod +x "$dir/bin/${script##*/}"
  done
  "$env/bin/python" -m pip --python "$dir/bin/python" --disable-pip-version-check --no-input \
    install -q --no-index "$2" 2> >(grep -v "is ignored: it is neither" >&2)
}

# The environments of lanes.
export PIP_CONSTRAINT=$PWD/.ci/constraints.txt # build environments included
test_packages=(pytest-xdist pin "cmeel-eigen>=3.4" coal ompl mujoco toppra example-robot-data cma)
test_extras=test,view,video,decomp,dds,rtde,bag,torch,jax
# shellcheck disable=SC2034
no_rclpy="rclpy is not installed: the ROS 2 tests run in CI's ros lane" # a reason to skip tests
build_environment() { environment build build "cmeel-eigen>=3.4" cmake ninja; }
requirements() { # NAME EXTRA...: the file of what robosim and these extras need
  python3 .ci/requirements.py "${@:2}" >"$work/$1-requirements.txt"
  echo "$work/$1-requirements.txt"
}
lint_environment() {
  environment lint -r "$(requirements lint view docs)" -r .ci/lint-requirements.txt
}
numpy_environment() { environment numpy126 -r "$(requirements numpy126)" numpy==1.26.4; }
tests_environment() {
  # shellcheck disable=SC2046
  environment tests -r "$(requirements tests ${test_extras//,/ })" "${test_packages[@]}"
}
# The release wheel, from the sdist, in $work/dist.
wheel() {
  build_environment
  "$env/bin/python" -m build -q --sdist -o "$work/dist" .
  mkdir "$work/source"
  tar -xzf "$work"/dist/robosim-*.tar.gz -C "$work/source" --strip-components 1
  (cd "$work" && quiet_pip "$env" wheel --no-deps -w "$work/dist" \
    -C cmake.define.ROBOSIM_WERROR=ON -C cmake.define.ROBOSIM_ISAS=all "$work/source")
  [ "$(uname -m)" != x86_64 ] || python3 .ci/check_isa_symbols.py "$work/source/build"
  ls -l "$work"/dist/robosim-*.whl
}

# Folders of builds lie in the tree, so that the compiler's cache hits in another clone (cache.cmake).
build_folder() { # NAME: sets `folder` to one that is empty
  folder=$PWD/build/gate/$1
  rm -rf "$folder"
  mkdir -p "$folder"
}
configure() { # BUILD CMAKE_ARGS...: the engine without Python, with its tests
  "$env/bin/cmake" -S engine -B "$1" -G Ninja -DCMAKE_MAKE_PROGRAM="$env/bin/ninja" \
    -DROBOSIM_WERROR=ON -DROBOSIM_PYTHON=OFF -DROBOSIM_BUILD_TESTS=ON -DROBOSIM_ISAS=all \
    -DPython_EXECUTABLE="$env/bin/python" "${@:2}" >"$1/configure.log" || { cat "$1/configure.log"; exit 1; }
}
build() { # BUILD TARGET...; `calmly` is the caller's
  calmly "$env/bin/cmake" --build "$1" --target "${@:2}" >"$1/build.log" || { tail -n 40 "$1/build.log"; exit 1; }
}

sanitized() { # SANITIZERS [TEST ...]: builds and runs these C++ tests, by default all
  local sanitizers=$1 folder names
  shift
  build_folder "sanitized-$sanitizers"
  build_environment
  configure "$folder" -DCMAKE_CXX_COMPILER="$(command -v clang++-14 || command -v g++)" \
    -DCMAKE_BUILD_TYPE=None -DROBOSIM_SANITIZE="$sanitizers" -DROBOSIM_ISAS=baseline
  build "$folder" "${@:-all}"
  local -a steady=() # clang 14's TSan takes 28 random bits in addresses; newer systems use 32
  [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -le 28 ] ||
    ! setarch -R true 2>/dev/null || steady=(setarch -R)
  names=$(IFS='|'; echo "${*:-.*}")
  cd "$folder"
  calmly "${steady[@]}" "$env/bin/ctest" --parallel "$(nproc)" --output-on-failure \
    --no-tests=error --timeout 900 -R "^($names)\$"
}
