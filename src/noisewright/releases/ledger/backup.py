"""A copy of a ledger that is known to be whole: made while others use the ledger, and checked before it gets its name.

>>> import tempfile
>>> from pathlib import Path
>>> folder = Path(tempfile.mkdtemp())
>>> ledger = Ledger(folder / "ledger.sqlite")
>>> _ = ledger.set_budget("clinic", 3)
>>> copy = back_up(ledger, folder / "copy.sqlite")
>>> copy.datasets(), copy.head() == ledger.head()
(['clinic'], True)
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from noisewright.core.errors import LedgerError
from noisewright.releases.ledger._file import appear, opened, sentences
from noisewright.releases.ledger.ledger import Ledger

__all__ = ["back_up"]


def back_up(ledger: Ledger, target: str | os.PathLike[str]) -> Ledger:
    """Copy a ledger, with its key, to a new file that its owner alone can read; it appears whole and checked, or not at all."""
    path = Path(os.path.abspath(target))

    def fill(made: Path) -> None:
        with opened(ledger.path, ledger.wait) as db, sentences(path), closing(sqlite3.connect(made)) as copy:
            db.backup(copy)
        head = ledger.check().head
        found = Ledger(made, create_missing=False)
        found.check()
        if head and found.head() != head:  # something was recorded meanwhile
            ledger.check_holds(found.head())

    try:
        appear(path, fill)
    except FileExistsError:
        raise LedgerError(f"{path} is there already; a backup overwrites nothing, so choose another name.") from None
    except FileNotFoundError:
        raise LedgerError(f"{path} cannot be written: there is no folder {path.parent}.") from None
    except OSError as problem:
        raise LedgerError(f"{path} cannot be written: {problem.strerror}.") from None
    return Ledger(path, create_missing=False)
