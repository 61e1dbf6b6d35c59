"""The check that other processors compile no x86 code, on this and made-up trees."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def check(*folders: Path) -> subprocess.CompletedProcess[str]:
    script = ROOT / ".ci" / "check_x86_guards.py"
    return subprocess.run(
        [sys.executable, str(script), *map(str, folders)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_tree_is_guarded() -> None:
    result = check()
    assert (result.returncode, result.stdout) == (0, "x86 guards: kept\n")


UNGUARDED = {
    "a header": "#include <immintrin.h>",
    "an intrinsic": "auto y = _mm256_add_pd(x, x);",
    "a type": "__m128d x;",
    "a built-in": 'bool has = __builtin_cpu_supports("avx2");',
    "the opposite": "#if !defined(__x86_64__)\n#include <cpuid.h>\n#endif",
    "the opposite's name": "#ifndef __AVX__\n__m256d x;\n#endif",
    "the other branch": "#if defined(__x86_64__)\n#else\n#include <cpuid.h>\n#endif",
    "a later branch": "#ifdef __AVX__\n#elif defined(__aarch64__)\n__m256d x;\n#endif",
    "either of two": "#if defined(__x86_64__) || defined(__linux__)\n#include <cpuid.h>\n#endif",
    "a number": "#if __GNUC__ >= 12\n#include <cpuid.h>\n#endif",
    "after the end": "#ifdef __SSE2__\n#endif\n#include <emmintrin.h>",
    "after an inner end": "#ifdef A\n#ifdef __SSE2__\n#endif\n#include <emmintrin.h>\n#endif",
}
GUARDED = {
    "the processor": "#if defined(__x86_64__)\n#include <immintrin.h>\n#endif",
    "a feature": "#ifdef __AVX512DQ__\n__mmask8 m = _mm512_movepi64_mask(x);\n#endif",
    "both": "#if defined(__AVX__) && (defined(A) || defined(B))\n__m256d x;\n#endif",
    "each of two": "#if defined(__x86_64__) || defined(__i386__)\n__builtin_ia32_pause();\n#endif",
    "around": "#ifdef __x86_64__\n#if __GNUC__ >= 12\n#include <cpuid.h>\n#endif\n#endif",
    "in a later branch": "#if defined(__aarch64__)\n#elif defined(__FMA__)\n__m128d x;\n#endif",
    "the opposite's other branch": "#ifndef __x86_64__\n#else\n#include <cpuid.h>\n#endif",
    "spaces": "#  if defined __x86_64__\n#  include <cpuid.h>\n#  endif",
    "a comment": "// as _mm_add_pd does",
    "another's header": '#include "immintrin.h.in"',
}


@pytest.mark.parametrize("case", UNGUARDED)
def test_what_other_processors_would_compile_is_found(case: str, tmp_path: Path) -> None:
    (tmp_path / "made_up.h").write_text(f"#pragma once\n{UNGUARDED[case]}\n")
    result = check(tmp_path)
    assert result.returncode == 1
    line = 2 + next(i for i, text in enumerate(UNGUARDED[case].splitlines()) if _is_of_x86(text))
    assert result.stdout.startswith(f"{tmp_path / 'made_up.h'}:{line}: ")
    assert len(result.stdout.splitlines()) == 1


@pytest.mark.parametrize("case", GUARDED)
def test_what_only_x86_compiles_may_use_it(case: str, tmp_path: Path) -> None:
    (tmp_path / "made_up.cpp").write_text(GUARDED[case] + "\n")
    assert check(tmp_path).returncode == 0


def test_a_folder_without_any_code_is_a_mistake(tmp_path: Path) -> None:
    result = check(tmp_path)
    assert (result.returncode, result.stdout) == (1, f"{tmp_path} holds no C++\n")


X86_NAMES = ("intrin.h", "cpuid.h", "_mm256_", "__m128d", "__m256d", "_cpu_supports")


def _is_of_x86(text: str) -> bool:
    return any(name in text for name in X86_NAMES)
