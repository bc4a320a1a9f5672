"""The build hook of the package: compiles setsearch/core/core.c, which takes seconds. SETSEARCH_CORE says how:

    nothing     by the C compiler of this machine; without one the package is built without the core, and numpy answers
    1           the same, but the core is mandatory
    0           not at all
    zig         by the compiler of the package ziglang, which the build fetches
    PLATFORM    the same for another platform, one of TARGETS; `make wheels` makes the wheels of all

`python hatch_build.py` compiles it in place, beside its source.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("setsearch", "core")
# No contraction: the same bits everywhere. No flags of exceptions: loops with a choice are vectorized, too.
FLAGS = ["-std=c11", "-O3", "-ffp-contract=off", "-fno-trapping-math", "-shared"]
ZIG = "ziglang == 0.17.*"
TARGETS = {  # as wheels name a platform, and as zig does
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
    "macosx_10_13_x86_64": "x86_64-macos.10.13",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
    "win_amd64": "x86_64-windows-gnu",
    "win_arm64": "aarch64-windows-gnu",
}
WAY_OUT = (
    "install a C compiler (such as gcc or clang, or name one in CC), or set SETSEARCH_CORE=zig, "
    "and install setsearch again"
)


class CoreHook(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the core into a wheel, or beside its source for an editable installation."""

    def dependencies(self) -> list[str]:
        """What the build needs beside hatchling: the compiler that was asked for."""
        return [ZIG] if self.target_name == "wheel" and _is_by_zig() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; a wheel with the core is one of a platform, for any Python."""
        if self.target_name != "wheel":
            return
        root, name = Path(self.root), library_name()
        if version == "editable":
            compile_core(root, root / FOLDER / name)
            return
        self.temporary = tempfile.TemporaryDirectory()
        target = Path(self.temporary.name, name)
        if compile_core(root, target):
            build_data["force_include"][str(target)] = (FOLDER / name).as_posix()
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{platform()}"


def compile_core(root: Path, target: Path) -> bool:
    """Compile the core of a source tree; whether it was. Exits with a line if it must be and cannot."""
    wish = _wish()
    target.unlink(missing_ok=True)  # an older one must not stay
    problem = "SETSEARCH_CORE is 0" if wish == "0" else _compiled(root / FOLDER / "core.c", target)
    if problem and wish not in ("", "0"):
        sys.exit(f"the core of setsearch was not compiled ({problem}): {WAY_OUT}")
    if problem:
        print(
            f"setsearch is built without its compiled core ({problem}); for faster answers {WAY_OUT}", file=sys.stderr
        )
    return not problem


def platform() -> str:
    """The platform of the core, as wheels name it: that of this Python, or another one that was asked for."""
    wish = _wish()
    return wish if wish in TARGETS else sysconfig.get_platform().replace("-", "_").replace(".", "_")


def library_name() -> str:
    """The name of the core's file on its platform."""
    return "core" + {"win32": ".dll", "darwin": ".dylib"}.get(_system(), ".so")


def _wish() -> str:
    """How the core is to be compiled; exits with a line for what is unknown."""
    wish = os.environ.get("SETSEARCH_CORE", "")
    if wish not in ("", "0", "1", "zig", *TARGETS):
        sys.exit(f"SETSEARCH_CORE is 0, 1, zig or one of {', '.join(TARGETS)}, not {wish!r}")
    return wish


def _is_by_zig() -> bool:
    """Whether the compiler is that of ziglang."""
    return _wish() == "zig" or _wish() in TARGETS


def _system() -> str:
    """The system of the core, as sys.platform names it."""
    systems = {"mac": "darwin", "man": "linux", "mus": "linux", "win": "win32"}
    return systems[_wish()[:3]] if _wish() in TARGETS else sys.platform


def _compiled(source: Path, target: Path) -> str:
    """Compile; what kept it from that, or nothing."""
    compiler = _compiler()
    if not compiler:
        return "no C compiler was found"
    others = [] if _system() == "win32" else ["-fPIC", "-fvisibility=hidden", "-lm"]
    if platform().endswith("universal2"):
        others += ["-arch", "arm64", "-arch", "x86_64"]
    command = [*compiler, *FLAGS, "-o", target.name, str(source.resolve()), *others]
    try:  # a library for macOS knows the path that it was given: the name alone is the same everywhere
        subprocess.run(command, cwd=target.parent, check=True, capture_output=True, text=True)
    except OSError as error:
        return f"{compiler[0]} cannot be started: {error.strerror}"
    except subprocess.CalledProcessError as error:
        return f"{' '.join(compiler)} failed: {(error.stderr.strip() or 'it says nothing').splitlines()[0]}"
    return ""


def _compiler() -> list[str]:
    """The command of the compiler; empty if there is none."""
    if _is_by_zig():
        target = ["-target", TARGETS[_wish()]] if _wish() in TARGETS else []
        return [sys.executable, "-m", "ziglang", "cc", "-s", *target]  # stripped: no path of this machine
    named = os.environ.get("CC", "").split()
    return named or [name for name in ("cc", "gcc", "clang") if shutil.which(name)][:1]


if __name__ == "__main__":
    root = Path(__file__).parent
    sys.exit(not compile_core(root, root / FOLDER / library_name()))
