"""Other people's packages, each in an environment of its own below ``build/verify/adapters``, made at the first use.

Where packages can live beside ours, ours are seen there: ``beside``. A script runs with that interpreter.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import recommit

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENTS = ROOT / "build" / "verify" / "adapters"


@dataclass(frozen=True)
class Environment:
    """What pip installs, and whether the packages of this interpreter are seen too."""

    packages: tuple[str, ...]
    beside: bool = True
    flags: tuple[str, ...] = ()
    #: Whether ``_mend`` has to look at it.
    mended: bool = False


#: LeRobot asks for an older torch than ours: what its evaluation imports is installed, without what that asks for in
#: turn.
_LEROBOT = (
    "lerobot==0.6.1 gym-pusht==0.1.8 torchvision==0.28.0 einops==0.8.2 draccus==0.11.6 mergedeep==1.3.4 "
    "pyyaml-include==1.4.1 typing_inspect==0.9.0 mypy_extensions==1.1.0 termcolor==3.3.0 jsonlines==4.0.0 "
    "deepdiff==8.6.2 orderly-set==5.5.0 opencv-python-headless==4.12.0.88 imageio==2.38.1 pyserial==3.5 av==15.1.0 "
    "diffusers==0.39.0 pymunk==6.11.1 cffi==2.1.1 pygame==2.6.1 shapely==2.1.2 setuptools==80.9.0 num2words==0.5.14 "
    "metaworld==3.1.1 mujoco==3.3.0 scipy==1.17.1 glfw==2.11.0 pyopengl==3.1.10 etils==1.15.0 zipp==4.1.2 "
    "pycparser==3.12 httpx==0.28.1 httpcore==1.0.9"
)
NEEDS = {
    "openpi": Environment(("openpi-client==0.1.2", "numpy==1.26.4", "typing_extensions"), beside=False),
    "lerobot": Environment(
        (*_LEROBOT.split(), "-e", str(ROOT / "python" / "lerobot-plugin")),
        flags=("--no-deps", "--ignore-requires-python"),
        mended=True,
    ),
    "sb3": Environment(("stable-baselines3==2.9.2", "sb3-contrib==2.9.2")),
    "torchrl": Environment(("torchrl==0.14.1",)),
}


def run(name: str, script: str, folder: Path, *arguments: str) -> str:
    """What ``script`` of this folder prints, in the environment called ``name``."""
    words = [interpreter(name), "-W", "ignore", str(Path(__file__).with_name(script)), *arguments]
    result = subprocess.run(
        words, check=False, cwd=folder, env=_variables(), capture_output=True, text=True, timeout=540
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def interpreter(name: str) -> str:
    """Its Python, once everything is installed."""
    needs, folder = NEEDS[name], ENVIRONMENTS / name
    python = folder / "bin" / "python"
    mark = folder / "installed"
    wanted = "\n".join(needs.packages)
    if not mark.exists() or mark.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        _show(folder, needs.beside)
        pins = ["-c", str(ROOT / "constraints.txt")] if needs.beside and not needs.flags else []
        subprocess.run([python, "-m", "pip", "install", "-q", *needs.flags, *pins, *needs.packages], check=True)
        if needs.mended:
            _mend(_site(folder))
        mark.write_text(wanted)
    return str(python)


#: A generic class or function as Python 3.12 spells it, with decorators and one base.
_GENERIC = re.compile(r"^((?:@.*\n)*)(class|def) (\w+)\[([^\]]+)\](?:\((\w+)\)(?=:$))?", re.MULTILINE)


def _mend(site: Path) -> None:
    """Rewrite type parameters for a Python that has none and what transformers no longer takes since 5.6, and declare
    the operators of a torchvision that was compiled for another torch."""
    path = site / "lerobot" / "policies" / "smolvla" / "modeling_smolvla.py"
    cut = "[layer.crop(prefix_len - layer.get_seq_length()) for layer in past_key_values.layers]"
    text = path.read_text(encoding="utf-8").replace("past_key_values.crop(prefix_len)", cut)
    path.write_text(text, encoding="utf-8")
    for path in site.joinpath("lerobot").rglob("*.py") if sys.version_info < (3, 12) else ():
        text = path.read_text(encoding="utf-8")
        path.write_text(_GENERIC.sub(_plain, re.sub(r"(?m)^type (\w+ = )", r"\1", text)), encoding="utf-8")
    declared = 'import torch\nlibrary = torch.library.Library("torchvision", "DEF")\n'
    for name in ("nms", "qnms"):
        declared += f'library.define("{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")\n'
    extension = site / "torchvision" / "extension.py"
    extension.write_text(declared + extension.read_text(encoding="utf-8"), encoding="utf-8")


def _plain(found: re.Match[str]) -> str:
    decorators, kind, name, parameters, base = found.groups()
    names = re.findall(r"(\w+)(?:: \w+)?", parameters)
    made = "".join(f'{each} = __import__("typing").TypeVar("{each}")\n' for each in names)
    bases = ", ".join(filter(None, [base, f'__import__("typing").Generic[{", ".join(names)}]']))
    return f"{made}{decorators}{kind} {name}" + (f"({bases})" if kind == "class" else "")


def _show(folder: Path, beside: bool) -> None:
    """Let that interpreter see this package and, ``beside``, what is installed here."""
    seen = [Path(recommit.__file__).parents[1]]
    if beside:
        seen += [Path(path) for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    else:  # the compiled part of an editable install is not beside its sources
        for each in Path(sysconfig.get_path("purelib")).glob("*recommit*"):
            (_site(folder) / each.name).symlink_to(each)
    lines = [f"import site; site.addsitedir({str(each)!r})" for each in seen]  # which finds an editable install too
    (_site(folder) / "seen.pth").write_text("\n".join(lines))


def _site(folder: Path) -> Path:
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(folder), "platbase": str(folder)}))


def _variables() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": ""}
