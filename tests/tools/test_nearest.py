"""The tests nearest to a change: by name, by import, through a package's ``__init__``, and through attributes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tools.nearest import _TimeLimit, changed, main, nearest

FILES = {
    "src/noisewright/__init__.py": "if TYPE_CHECKING:\n    from noisewright import numbers as numbers\n",
    "src/noisewright/numbers/__init__.py": "if TYPE_CHECKING:\n    from noisewright.numbers.laplace import laplace\n",
    "src/noisewright/numbers/laplace.py": "",
    "src/noisewright/numbers/geometric.py": "",
    "tests/test_laplace.py": "import math\n",
    "tests/test_shown.py": "from noisewright.numbers import laplace\n",
    "tests/test_reached.py": "import noisewright as nw\nimport math, os\nnw.numbers.laplace(1)\n",
    "tests/test_other.py": "from noisewright.numbers import geometric\nimport helper_support\n",
    "tests/test_names.py": "PAGE = 'policy.schema.json'\n",
    "tests/test_pages.py": 'PAGES = FOLDER.glob("*.md")\n',
    "tests/support/helper_support.py": "",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/noisewright/numbers/laplace.py", ["test_laplace", "test_shown", "test_reached"]),
        ("src/noisewright/numbers/geometric.py", ["test_other"]),
        ("src/noisewright/numbers/deleted.py", []),
        ("tests/support/helper_support.py", ["test_other"]),
        ("tests/test_names.py", ["test_names"]),
        ("docs/policy.schema.json", ["test_names"]),
        ("docs/noise.md", ["test_pages"]),
    ],
)
def test_near_files_are_found_by_name_and_import(tree: Path, path: str, expected: list[str]) -> None:
    assert nearest(tree, [path]) == [f"tests/{name}.py" for name in expected]


def test_changes_are_those_of_the_branch_and_the_working_tree(tree: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *who, *words], cwd=tree, check=True, capture_output=True)

    git("init", "-b", "main")
    git("add", ".")
    git("commit", "-m", "first")
    git("checkout", "-b", "branch")
    (tree / "one.txt").write_text("committed")
    git("add", ".")
    git("commit", "-m", "second")
    (tree / "two.txt").write_text("not yet")
    (tree / "tests/test_names.py").write_text("")
    assert changed(tree, "main") == ["one.txt", "tests/test_names.py", "two.txt"]
    with pytest.raises(SystemExit, match="nowhere"):
        changed(tree, "nowhere")


def test_the_files_of_this_checkout_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    root = Path(__file__).parents[2]
    found = nearest(root, ["src/noisewright/cli/__init__.py", "tools/nearest.py"])
    assert "tests/tools/test_nearest.py" in found[:3]
    if not (root / ".git").exists():
        pytest.skip("the sources came without their history")
    assert main(["--list", "--base", "HEAD"]) == 0
    assert capsys.readouterr().out


def test_a_run_that_was_cut_off_says_so() -> None:
    limit = _TimeLimit(60)
    assert "were run" in limit.report(["a", "b"])
    limit.stopped, limit.reached = True, {"a"}
    assert "1 of 2 near test files were not begun" in limit.report(["a", "b"])
