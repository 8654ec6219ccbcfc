"""K3: the extension exports its init function alone, is compiled and linked safely, and does not say where."""

from __future__ import annotations

import re
from pathlib import Path

from tests.verify.harness import BUILD, expect, main, run

#: An absolute path of a source file, as assertions and debug information have them.
SOURCE = re.compile(rb"(?<![\w.+-])/(?:[\w.+ -]+/)+[\w.+-]+\.(?:h|hpp|c|cc|cpp|inc|tcc)\b")


def extension() -> str:
    """The file that Python imports now."""
    import recommit

    return str(recommit._core.__file__)


def check(plant: bool) -> tuple[int, str]:
    """Read the tables of the file; planted: a library that exports more and binds lazily."""
    path = _careless_library() if plant else extension()
    # 'u' are unique symbols: function-local statics of inline functions, which must not leave the module either.
    exported = re.findall(r"^[0-9a-f]+ [A-TV-Zu] (\S+)$", run(["nm", "-D", "--defined-only", path]), re.MULTILINE)
    expect(exported == ["PyInit__core"], f"exported symbols: {exported[:20]}")
    dynamic = run(["readelf", "-dW", path])
    expect("BIND_NOW" in dynamic or re.search(r"FLAGS_1.*NOW", dynamic), "no BIND_NOW")
    expect("TEXTREL" not in dynamic, "text relocations")
    expect(not re.search(r"RPATH|RUNPATH", dynamic), "a run path")
    headers = run(["readelf", "-lW", path])
    expect("GNU_RELRO" in headers, "no RELRO")
    stack = re.search(r"GNU_STACK.*?\s([RWE]+)\s+0x", headers)
    expect(stack and "E" not in stack[1], f"executable stack: {stack and stack[0]}")
    imported = run(["nm", "-D", "--undefined-only", path])
    expect("__stack_chk_fail" in imported, "no stack protector")
    expect(re.search(r"__\w+_chk\b", imported), "no C function that checks the size of what it fills")
    places = SOURCE.findall(Path(path).read_bytes())
    expect(not places, f"paths of the machine it was built on: {places[:5]}")
    needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
    return 10, f"properties; needs {', '.join(needed)}"


def _careless_library() -> str:
    BUILD.mkdir(parents=True, exist_ok=True)
    source, library = BUILD / "careless.c", BUILD / "careless.so"
    source.write_text("int PyInit__core(void) { return 0; }\nint leak(void) { return 1; }\n")
    run(["cc", "-shared", "-fPIC", "-Wl,-z,lazy", "-o", library, source])
    return str(library)


if __name__ == "__main__":
    main(check)
