"""What the source code says, read from its syntax tree: for tests that hold documents against it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType

from spiderproj import commands, errors
from spiderproj.commands import crawl
from spiderproj.extensions import summary

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "spiderproj"


@cache
def trees() -> tuple[tuple[Path, ast.Module], ...]:
    """Return every module of the package."""
    return tuple((path, ast.parse(path.read_text())) for path in sorted(PACKAGE.rglob("*.py")))


def texts() -> set[str]:
    """Return every text that the code writes out: among them the settings that it reads."""
    found: set[str] = set()
    for path, tree in trees():
        if path.name != "default_settings.py":
            found |= {text for node in ast.walk(tree) if (text := _text(node)) is not None}
    return found


def texts_given_to(function: str, module: ModuleType) -> set[str]:
    """Return the texts that *module* writes out as arguments of calls of *function*."""
    calls = [node for node in ast.walk(_tree(module)) if isinstance(node, ast.Call) and _name(node.func) == function]
    parts = [part for call in calls for argument in call.args for part in ast.walk(argument)]
    return {text for part in parts if (text := _text(part)) is not None}


def stats_published() -> set[str]:
    """Return the stats that the code counts, with ``<>`` for each part that is known only when it runs."""
    found = set()
    for _, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _name(node.func) in {"inc_value", "set_value", "max_value", "min_value"}:
                found.add(_pattern(node.args[0]))
    return {name for name in found if name.startswith("spiderproj/")}


def exit_statuses() -> set[int]:
    """Return the statuses that a crawl can end with: those of our errors, of the summary and of the command."""
    found = {error.exit_status for error in vars(errors).values() if isinstance(error, type)
             and issubclass(error, errors.SpiderprojError)}  # fmt: skip
    for module in (summary, crawl):
        for node in ast.walk(_tree(module)):
            match node:
                case ast.FunctionDef(returns=ast.Name(id="int")):
                    found |= _numbers([part for part in ast.walk(node) if isinstance(part, ast.Return)], module)
                case ast.Assign(targets=[ast.Attribute(attr="exit_status")]):
                    found |= _numbers([node], module)
    return found


def command_names() -> set[str]:
    """Return the names of our commands."""
    return {path.stem for folder in commands.__path__ for path in Path(folder).glob("*.py") if path.stem != "__init__"}


def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


def _name(function: ast.expr) -> str:
    """Return the name of a called function or method."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _text(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _pattern(argument: ast.expr) -> str:
    match argument:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "<>" for part in parts)
    return ""


def _numbers(nodes: Iterable[ast.AST], module: ModuleType) -> set[int]:
    """Return the numbers that *nodes* write out, or name as constants of *module*."""
    found = set()
    for part in (part for node in nodes for part in ast.walk(node)):
        value = part.value if isinstance(part, ast.Constant) else None
        value = getattr(module, part.id, None) if isinstance(part, ast.Name) else value
        if isinstance(value, int):
            found.add(value)
    return found
