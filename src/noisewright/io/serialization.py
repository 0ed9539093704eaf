"""Read arrays in the ``.npy`` format without NumPy's reader: a header of plain numbers, and as many bytes as it states.

NumPy's own reader evaluates the header as Python, believes its shape before it has seen the numbers, and can unpickle. Here
the
type is one of integers, floats, booleans or a few letters, and an array longer or shorter than its file is rejected
before memory is spent. Problems are :class:`ValueError`, which readers word.

>>> import io
>>> file = io.BytesIO()
>>> np.save(file, np.eye(2))
>>> _ = file.seek(0)
>>> read_header(file)
Header(shape=(2, 2), dtype=dtype('float64'), by_columns=False)
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from collections.abc import Hashable
from fractions import Fraction
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisewright._utils.inputs import check_nesting, max_memory, open_archive, open_input, read_input
from noisewright.base import Mechanism
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker import checker
from noisewright.channels.channel import Channel
from noisewright.exceptions import ChannelError, FileFormatError, NoisewrightError, ParameterError
from noisewright.io.atomic import file_path, write_atomically
from noisewright.metrics.base import decode_label, encode_label
from noisewright.numerics.exact import as_fraction, fraction_or_none

__all__ = [
    "Header",
    "load",
    "load_blocks_csv",
    "load_certificate",
    "load_channel",
    "load_either",
    "load_exact_csv",
    "load_gaps_csv",
    "load_labelled_csv",
    "map_array",
    "read_array",
    "read_header",
    "save",
]


MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 1 << 14
MAX_SIDES = 8
MAX_SIDE = 1 << 40
KEYS = {
    "descr": r"'([<>|=]?[fiub][1-8]|[|]S[1-9])'",
    "fortran_order": "(True|False)",
    "shape": r"\(((?:\d{1,15}L?, ?)*(?:\d{1,15}L?)?)\)",
}


class Header(NamedTuple):
    """The header of an array: shape, type and order of its numbers."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_columns: bool

    @property
    def size(self) -> int:
        """Number of bytes of the array."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(stream: IO[bytes]) -> Header:
    """Read the header of an array, so that its numbers come next in the stream."""
    begin = stream.read(len(MAGIC) + 2)
    if begin[:-2] != MAGIC or begin[-2] not in (1, 2, 3):
        raise ValueError("this is not an array of NumPy")
    width = 2 if begin[-2] == 1 else 4
    length = int.from_bytes(stream.read(width), "little")
    if length > LONGEST_HEADER:
        raise ValueError("the header of the array is too long")
    text = stream.read(length).decode("latin-1")
    fields = (rf"['\"]{key}['\"]: ?{value}" for key, value in KEYS.items())
    found = re.fullmatch(r"\{{{}, ?{}, ?{},? ?\}}\s*".format(*fields), text)
    if found is None:
        raise ValueError("the header of the array is not that of numbers")
    kind, by_columns, sides = found.groups()
    shape = tuple(int(side.rstrip("L")) for side in re.findall(r"\d+L?", sides))
    try:
        dtype = np.dtype(kind)
    except TypeError:
        raise ValueError("the array is of an unknown type") from None
    if len(shape) > MAX_SIDES or any(side > MAX_SIDE for side in shape):
        raise ValueError("the array has too many dimensions, or too long ones")
    return Header(shape, dtype, by_columns == "True")


def read_array(stream: IO[bytes], most: int) -> NDArray[Any]:
    """Read an array of at most ``most`` bytes, after which the stream must end."""
    header = read_header(stream)
    if header.size > most:
        raise ValueError("the array says that it is longer than its file can be")
    content = stream.read(header.size + 1)
    if len(content) != header.size:
        raise ValueError("the array is not as long as it says")
    array = np.frombuffer(content, header.dtype)
    return array.reshape(header.shape, order="F" if header.by_columns else "C")


def map_array(path: str | os.PathLike[str]) -> NDArray[Any]:
    """Map the array of a file into memory, read-only; a file of another length than the array says is rejected."""
    with open_input(path) as file:
        header = read_header(file)
        place = file.tell()
        if place + header.size != os.fstat(file.fileno()).st_size:
            raise ValueError("the array is not as long as it says")
        if not header.size:
            return np.empty(header.shape, header.dtype)
        order: Any = "F" if header.by_columns else "C"
        return np.memmap(file, header.dtype, "r", place, header.shape, order)


# Channels -----------------------------------------------------------------------------------------------------------------
#
# Channels, priors and certificates on disk, without loss and never half-written.
#
# =========  ==========================================================================================================
# ``.json``  a channel, or a certificate (which holds the integers that its mechanism draws from)
# ``.csv``   a channel: the first row names the outputs, the first column the secrets; numbers may be fractions such as 1/3
# ``.npz``   a channel in numpy's format
# =========  ==========================================================================================================
#
# Numbers are written so that reading gives the same float, bit for bit. A file is written under a temporary name and then
# renamed, so there is either the old file or the whole new one.


CHANNEL_FORMAT = "noisewright-channel"
VERSION = 1
CELL = 64
"""Approximate bytes of memory for a cell of a CSV file, however short it is."""
GAPS = ("", "*", "x", "-")
"""Marks for a cell that was left out."""


def load(path: str | os.PathLike[str]) -> Channel | Mechanism:
    """Load the content of a file: a channel, or from a certificate the mechanism behind it, ready to release.

    The certificate is proved first, and the mechanism is built from its integers; what is not proved is refused with a
    :class:`~noisewright.exceptions.CertificateError`. :func:`load_certificate` reads the certificate alone.
    """
    found = load_either(path)
    if isinstance(found, Channel):
        return found
    from noisewright.mechanisms.from_certificate import mechanism_of

    return mechanism_of(found)


def load_either(path: str | os.PathLike[str]) -> Channel | Certificate:
    """The channel or the certificate in a file; a certificate is not proved yet."""
    if file_path(path).suffix.lower() != ".json":
        return load_channel(path)
    document = _json(path)
    if isinstance(document, dict) and document.get("format") == checker.FORMAT:
        return Certificate.from_document(document)
    if isinstance(document, dict) and document.get("format") == checker.RELEASE:
        raise FileFormatError(
            f"{_name(path)} is the certificate of a whole release, behind which there is no single mechanism; prove it with "
            "noisewright.verify."
        )
    return _channel_from_json(document, path)


def load_channel(path: str | os.PathLike[str]) -> Channel:
    """A channel from ``.json``, ``.csv`` or ``.npz``; from a certificate the channel of its mechanism, where that is finite."""
    suffix = file_path(path).suffix.lower()
    if suffix == ".json":
        found = load(path)
        return found if isinstance(found, Channel) else found.channel()
    if suffix == ".csv":
        return _channel_from_csv(path)
    if suffix == ".npz":
        return _channel_from_npz(path)
    raise FileFormatError(f"{_name(path)}: channels are read from .json, .csv or .npz files.")


def load_certificate(path: str | os.PathLike[str]) -> Certificate:
    """A certificate from a ``.json`` file; it is not proved yet, see :meth:`Certificate.verify`."""
    document = _json(path)
    if not isinstance(document, dict) or document.get("format") != checker.FORMAT:
        raise FileFormatError(f"{_name(path)} is not a Noisewright certificate.")
    return Certificate.from_document(document)


def save(thing: Channel | Certificate | Mechanism, path: str | os.PathLike[str]) -> Path:
    """Write a channel (``.json``, ``.csv``, ``.npz``) or a certificate (``.json``; a mechanism gives its own)."""
    target = file_path(path)
    suffix = target.suffix.lower()
    if isinstance(thing, Channel):
        writers = {".json": _channel_to_json, ".csv": _channel_to_csv, ".npz": _channel_to_npz}
        if suffix not in writers:
            raise ParameterError(f"{target.name}: a channel is written to a .json, .csv or .npz file.")
        content = writers[suffix](thing)
    else:
        if not isinstance(thing, Certificate) and (isinstance(thing, type) or not hasattr(thing, "certificate")):
            raise ParameterError(f"a Channel, a Certificate or a mechanism can be saved, not {type(thing).__name__}.")
        if suffix != ".json":
            raise ParameterError(f"{target.name}: a certificate is written to a .json file.")
        certificate = thing if isinstance(thing, Certificate) else thing.certificate()
        content = certificate.to_json().encode()
    write_atomically(target, content)
    return target


# JSON ------------------------------------------------------------------------------------------------------------


def _channel_to_json(channel: Channel) -> bytes:
    document: dict[str, Any] = {
        "format": CHANNEL_FORMAT,
        "version": VERSION,
        "inputs": [encode_label(x) for x in channel.inputs],
        "outputs": [encode_label(y) for y in channel.outputs],
        "matrix": channel.matrix.tolist(),
    }
    if channel.has_logs:
        document["logs"] = [["-inf" if np.isneginf(v) else v for v in row] for row in channel.logs.tolist()]
    return json.dumps(document).encode()


def _channel_from_json(document: Any, path: str | os.PathLike[str]) -> Channel:
    if not isinstance(document, dict) or document.get("format") != CHANNEL_FORMAT:
        raise FileFormatError(f"{_name(path)} is JSON, but neither a Noisewright channel nor a certificate.")
    if document.get("version") != VERSION:
        raise FileFormatError(f"{_name(path)} has version {document.get('version')!r}; this program reads {VERSION}.")
    try:
        if not isinstance(document["inputs"], list) or not isinstance(document["outputs"], list):
            raise TypeError("labels are in lists")
        inputs = [decode_label(x) for x in document["inputs"]]
        outputs = [decode_label(y) for y in document["outputs"]]
        logs = document.get("logs")
        if logs is not None:
            return Channel.from_logs([[-np.inf if v == "-inf" else v for v in row] for row in logs], inputs, outputs)
        return Channel(document["matrix"], inputs, outputs)
    except NoisewrightError as problem:
        raise FileFormatError(f"{_name(path)}: {problem}") from None
    except (KeyError, TypeError, ValueError, RecursionError):
        raise FileFormatError(
            f"{_name(path)} is incomplete: a channel file has inputs, outputs and a matrix."
        ) from None


def _json(path: str | os.PathLike[str]) -> Any:
    content = _bytes(path)
    try:
        check_nesting(content)
        return checker.read(content.decode())
    except (ValueError, RecursionError):
        raise FileFormatError(f"{_name(path)} is not JSON, or it was cut short.") from None


# CSV -------------------------------------------------------------------------------------------------------------


def _channel_to_csv(channel: Channel) -> bytes:
    if channel.has_logs and (channel.matrix[np.isfinite(channel.logs)] == 0).any():
        raise ParameterError(
            "this channel has entries too small for a .csv of probabilities; write it to .json or .npz."
        )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["", *(_spell(y) for y in channel.outputs)])
    for x, row in zip(channel.inputs, channel.matrix.tolist(), strict=True):
        writer.writerow([_spell(x), *(repr(v) for v in row)])
    return text.getvalue().encode()


def _channel_from_csv(path: str | os.PathLike[str]) -> Channel:
    inputs, outputs, matrix = load_labelled_csv(path)
    try:
        return Channel(matrix, inputs, outputs)
    except ChannelError as problem:
        raise FileFormatError(f"{_name(path)}: {problem}") from None


def load_labelled_csv(path: str | os.PathLike[str]) -> tuple[list[Hashable], list[Hashable], list[list[float]]]:
    """Numbers with a name for each row and each column: the names of the rows, of the columns, and the numbers."""
    rows = _csv_rows(path)
    if len(rows) < 2 or any(len(row) != len(rows[0]) for row in rows):
        raise FileFormatError(
            f"{_name(path)}: give a first row of names, then rows that start with a name of their own, all of one length."
        )
    try:
        matrix = [[_number(v) for v in row[1:]] for row in rows[1:]]
    except ValueError:
        raise FileFormatError(
            f"{_name(path)}: an entry is not a number; the first row and column hold names."
        ) from None
    try:
        return [_read(row[0]) for row in rows[1:]], [_read(name) for name in rows[0][1:]], matrix
    except FileFormatError as problem:
        raise FileFormatError(f"{_name(path)}: {problem}") from None


def load_exact_csv(path: str | os.PathLike[str]) -> list[list[Fraction]] | None:
    """The numbers of such a file as they are written (0.1 is one tenth), if every row sums to exactly one; otherwise None."""
    rows = [[fraction_or_none(cell.strip()) for cell in row[1:]] for row in _csv_rows(path)[1:]]
    numbers = [[number for number in row if number is not None] for row in rows]
    return numbers if numbers == rows and all(sum(row) == 1 for row in numbers) else None


def load_gaps_csv(path: str | os.PathLike[str]) -> tuple[list[str], list[str], list[list[Fraction | None]]]:
    """Exact numbers with a name for each row and each column, and None where a cell is left out: empty, ``*``, ``x`` or
    ``-``.
    """
    rows = _csv_rows(path)
    if len(rows) < 2 or any(len(row) != len(rows[0]) for row in rows):
        raise FileFormatError(
            f"{_name(path)}: give a first row of names, then rows that start with a name of their own, all of one length."
        )
    cells = [[cell.strip() for cell in row[1:]] for row in rows[1:]]
    found = [[fraction_or_none(cell) for cell in row] for row in cells]
    if any(
        v is None and cell.lower() not in GAPS
        for a, b in zip(found, cells, strict=True)
        for v, cell in zip(a, b, strict=True)
    ):
        raise FileFormatError(f"{_name(path)}: a cell is no number; leave a suppressed one empty, or write * there.")
    return [row[0] for row in rows[1:]], rows[0][1:], found


def load_blocks_csv(path: str | os.PathLike[str]) -> dict[Hashable, Hashable]:
    """A block for each secret: two columns, and a first row that states so, ``secret,block``."""
    rows = _csv_rows(path)
    if len(rows) < 2 or any(len(row) != 2 for row in rows):
        raise FileFormatError(
            f"{_name(path)}: a partition has two columns and a first row that says so: secret,block; then a row for each secret."
        )
    try:
        pairs = [(_read(secret), _read(block)) for secret, block in rows[1:]]
    except FileFormatError as problem:
        raise FileFormatError(f"{_name(path)}: {problem}") from None
    found = dict(pairs)
    if len(found) < len(pairs):
        raise FileFormatError(f"{_name(path)}: a secret occurs twice; give each secret one block.")
    return found


def _csv_rows(path: str | os.PathLike[str]) -> list[list[str]]:
    content = _bytes(path)
    if CELL * (content.count(b",") + content.count(b"\n")) > max_memory(len(content)):
        raise FileFormatError(f"{_name(path)} has too many cells for its size to be read; write it as .json or .npz.")
    try:
        return [row for row in csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")) if row]
    except (UnicodeDecodeError, csv.Error):
        raise FileFormatError(f"{_name(path)} is not a text file with comma-separated values.") from None


def _number(cell: str) -> float:
    """A number in ASCII digits, or a fraction of such; ``float`` alone would also read ``0.2_5``."""
    if "/" in cell:
        return float(as_fraction(cell.strip(), "an entry"))
    if not re.fullmatch(r"\s*[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|inf|nan)\s*", cell, re.ASCII):
        raise ValueError("not a number")
    return float(cell)


def _spell(label: Hashable) -> str:
    """A label as a CSV cell: plain where that is unambiguous, JSON where it is not."""
    spelled = json.dumps(encode_label(label))
    if not isinstance(label, str) or not label.isprintable() or not label or label.startswith(('"', "{")):
        return spelled
    try:
        return label if _read(label) == label else spelled
    except FileFormatError:
        return spelled


def _read(cell: str) -> Hashable:
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return cell
    if isinstance(value, list):
        return cell
    if isinstance(value, float) and not math.isfinite(value):
        raise FileFormatError("a name is NaN or infinite; put it in quotes if it is meant as text.")
    try:
        return decode_label(value)
    except FileFormatError:
        return cell


# NPZ -------------------------------------------------------------------------------------------------------------


def _channel_to_npz(channel: Channel) -> bytes:
    names = json.dumps([[encode_label(x) for x in channel.inputs], [encode_label(y) for y in channel.outputs]])
    arrays: dict[str, NDArray[Any]] = {
        "matrix": channel.matrix,
        "labels": np.frombuffer(names.encode(), dtype=np.uint8),
    }
    if channel.has_logs:
        arrays["logs"] = channel.logs
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    if sum(array.nbytes for array in arrays.values()) >= max_memory(buffer.tell()):  # as a bomb is, which is not read
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _channel_from_npz(path: str | os.PathLike[str]) -> Channel:
    most = max_memory(len(_bytes(path)))
    try:
        with open_archive(path, most) as archive:
            arrays = {}
            for name in archive.namelist():
                with archive.open(name) as member:
                    arrays[name.removesuffix(".npy")] = read_array(member, most)
            labels = arrays["labels"].tobytes()
            check_nesting(labels)
            inputs, outputs = json.loads(labels)
            if not isinstance(inputs, list) or not isinstance(outputs, list):
                raise TypeError("labels are in lists")
            names = [decode_label(x) for x in inputs], [decode_label(y) for y in outputs]
            if "logs" in arrays:
                return Channel.from_logs(arrays["logs"], *names)
            return Channel(arrays["matrix"], *names)
    except ChannelError as problem:
        raise FileFormatError(f"{_name(path)}: {problem}") from None
    except Exception:  # a damaged archive makes zipfile and zlib raise almost anything
        raise FileFormatError(f"{_name(path)} is not a channel in .npz form, or it was cut short.") from None


def _bytes(path: str | os.PathLike[str]) -> bytes:
    file = file_path(path)
    try:
        return read_input(file)
    except FileNotFoundError:
        raise FileFormatError(f"there is no file {path}.") from None
    except OSError as problem:
        raise FileFormatError(f"{path} cannot be read: {problem.strerror}.") from None
    except ValueError:  # a character of code 0, or half of one
        raise FileFormatError(f"{str(path)!r} cannot be the name of a file.") from None


def _name(path: str | os.PathLike[str]) -> str:
    return Path(path).name or str(path)
