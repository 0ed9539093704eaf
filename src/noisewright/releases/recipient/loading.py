"""``nw.load``: whatever a path holds, a channel, the mechanism behind a certificate, or a whole release.

>>> import noisewright as nw, pyarrow as pa, tempfile
>>> folder = tempfile.mkdtemp()
>>> policy = {"dataset": "clinic", "budget": {"epsilon": 1}, "columns": [
...     {"name": "sex", "mechanism": "randomised-response", "categories": ["f", "m"], "epsilon": 1}]}
>>> done = nw.release(policy, pa.table({"sex": ["f", "m"] * 500}), output=f"{folder}/released", ledger=f"{folder}/ledger")
>>> nw.load(f"{folder}/released").columns
('sex',)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from noisewright.core.errors import FileFormatError

if TYPE_CHECKING:
    from noisewright.core.channels.channel import Channel
    from noisewright.core.mechanism import Mechanism
    from noisewright.releases.recipient.received import Received

__all__ = ["load"]


def load(path: str | os.PathLike[str]) -> Channel | Mechanism | Received | Any:
    """A channel from its file, the mechanism behind a certificate (proved first), or from a folder the release in it.

    :class:`~noisewright.releases.recipient.received.Received` has the table, the answers and estimates of what was before.
    """
    if isinstance(path, (str, os.PathLike)) and os.path.isdir(path):
        from noisewright.releases.recipient.received import receive

        return receive(path)
    if isinstance(path, (str, os.PathLike)) and not os.path.splitext(path)[1] and not os.path.lexists(path):
        raise FileFormatError(f"there is no folder or file {os.fspath(path)}.")
    from noisewright.files.channels import load as load_file

    return load_file(path)
