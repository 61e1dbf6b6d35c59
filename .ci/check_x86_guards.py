"""Fail if C++ requires an x86 processor without a preprocessor guard.

Headers and built-in functions of x86 must be in code that only x86 processors compile. The
condition of a line combines all `#if`s and `#else`s around it. The line is guarded if its condition
is false for every combination of the other macros while the macros of x86 are undefined.

Usage: check_x86_guards.py [FOLDER ...]     (default: all folders with C++)
Prints each breach as file:line, and exits with 1 if there is one.
"""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path

FOLDERS = ("engine", "tests/engine", "benchmarks")
X86_MACRO = re.compile(r"__(x86_64|amd64|i386|SSE\w*|SSSE3|AVX\w*|FMA)__")
X86_CODE = re.compile(
    r"#\s*include\s*<(\w*intrin|cpuid)\.h>|\b(_mm\d*_\w+|__m(128|256|512)[di]?|__mmask\d+"
    r"|__builtin_ia32_\w+|__builtin_cpu_\w+|__get_cpuid\w*|__cpuid\w*|_xgetbv|__rdtscp?)\b"
)
DIRECTIVE = re.compile(r"\s*#\s*(ifdef|ifndef|if|elifdef|elifndef|elif|else|endif)\b\s*(.*)")
DEFINED = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")
COMMENT_OR_STRING = re.compile(r'//.*|/\*.*?\*/|"(?:\\.|[^"\\])*"')


def as_python(kind: str, condition: str) -> str:
    """Condition as a Python expression in which the tested macros are names."""
    if kind.endswith(("ifdef", "elifdef")):
        return condition.strip()
    if kind.endswith("ndef"):
        return f"(not {condition.strip()})"
    asked, count = DEFINED.subn(lambda match: match[1] or match[2], condition)
    if re.search(r"[^\w\s()&|!]", asked) or count != len(re.findall(r"\w+", asked)):
        return "any_" + re.sub(r"\W+", "_", condition)  # with numbers: may be true anywhere
    return "(" + asked.replace("&&", " and ").replace("||", " or ").replace("!", " not ") + ")"


def can_hold_elsewhere(condition: str) -> bool:
    """Return true if some combination of macros satisfies the condition without x86."""
    names = sorted(set(re.findall(r"\w+", condition)) - {"and", "or", "not", "True"})
    free = [name for name in names if not X86_MACRO.fullmatch(name)]
    macros = dict.fromkeys(names, False)
    return any(
        eval(condition, {}, macros | dict(zip(free, values, strict=True)))
        for values in itertools.product((False, True), repeat=len(free))
    )


def unguarded_lines(text: str) -> list[tuple[int, str]]:
    """Line number and x86 name of each line that other processors would compile."""
    found = []
    branches: list[
        list[str]
    ] = []  # for each open #if: conditions of its branches up to the present one
    for number, line in enumerate(text.splitlines(), start=1):
        code = COMMENT_OR_STRING.sub(" ", line)
        directive = DIRECTIVE.match(code)
        if not directive:
            name = X86_CODE.search(code)
            earlier = [f"(not {condition})" for branch in branches for condition in branch[:-1]]
            present = [branch[-1] for branch in branches]
            if name and can_hold_elsewhere(" and ".join(["True", *earlier, *present])):
                found.append((number, name.group()))
        elif directive[1] == "endif":
            branches.pop()
        elif directive[1] == "else":
            branches[-1].append("True")
        elif directive[1].startswith("elif"):
            branches[-1].append(as_python(directive[1], directive[2]))
        else:
            branches.append([as_python(directive[1], directive[2])])
    return found


def breaches_in(folder: Path) -> list[str]:
    """List the breaches in a folder, one per line."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in {".h", ".cpp"})
    if not paths:
        return [f"{folder} holds no C++"]
    return [
        f"{path}:{number}: {name} is of x86 and must stand inside #if defined(__x86_64__)"
        for path in paths
        for number, name in unguarded_lines(path.read_text(encoding="utf-8"))
    ]


def main(folders: list[Path]) -> int:
    """Print every breach; return 1 if there is one."""
    breaches = [breach for folder in folders for breach in breaches_in(folder)]
    print("\n".join(breaches) or "x86 guards: kept")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main([Path(argument) for argument in sys.argv[1:] or FOLDERS]))
