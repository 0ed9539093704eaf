"""Columns of other libraries: they go into a mechanism and come out as they are, of pandas, of Polars, or of Arrow.

>>> import pyarrow as pa
>>> doubled = in_kind(lambda self, values, rng=None: 2 * np.asarray(values))
>>> doubled(None, pa.array([1, 2])).type, doubled(None, [1, 2]).tolist()
(DataType(int64), [2, 4])
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["as_dtype", "in_kind"]

Release = TypeVar("Release", bound=Callable[..., Any])


def in_kind(release: Release) -> Release:
    """A method ``release(self, values, rng)`` whose outputs are of the kind of the values.

    A pandas Series or frame gives one with the same index, names and dtypes, a Polars Series one of the same dtype if
    it can hold the output, and an Arrow array an Arrow array; a frame of Polars and a table of Arrow keep their names.
    Reports with named parts (``report_fields``) become a frame with that index, or structs. The sample is not changed;
    only outputs are converted.
    """

    @wraps(release)
    def released(self: Any, values: Any, rng: np.random.Generator | None = None) -> Any:
        drawn = release(self, values, rng)
        library = type(values).__module__.partition(".")[0]
        wrap = WRAPS.get(library) if isinstance(drawn, np.ndarray) and library in sys.modules else None
        return drawn if wrap is None else wrap(values, drawn, getattr(self, "report_fields", ()))

    return released  # type: ignore[return-value]


def _pandas(values: Any, drawn: NDArray[Any], fields: tuple[str, ...]) -> Any:
    import pandas

    if not isinstance(values, (pandas.Series, pandas.DataFrame)):
        return drawn  # an index, or values alone
    if fields and values.ndim == 1:
        return pandas.DataFrame(drawn, index=values.index, columns=list(fields))
    if len(drawn) != len(values) or drawn.ndim != values.ndim or drawn.shape[1:] != values.shape[1:]:
        return drawn  # reports of another form, such as bits for a category
    if values.ndim == 1:
        return as_dtype(pandas.Series(drawn, index=values.index, name=values.name), values.dtype)
    columns = [as_dtype(pandas.Series(drawn[:, k], index=values.index), dtype) for k, dtype in enumerate(values.dtypes)]
    frame = pandas.concat(columns, axis=1)
    frame.columns = values.columns
    return frame


def as_dtype(series: Any, dtype: Any) -> Any:
    """A pandas Series in another dtype of the same sort, if that holds its values; otherwise as it is.

    Categories come from the values alone: the words of the other dtype may be of people who are not in the table any
    more.
    """
    import pandas

    if series.dtype == dtype:
        return series
    kinds = pandas.api.types
    if isinstance(dtype, pandas.CategoricalDtype):
        return series.astype("category")
    if kinds.is_datetime64_dtype(dtype) and kinds.is_object_dtype(series.dtype):  # days, which pandas has no dtype for
        with suppress(ValueError, TypeError):
            return pandas.to_datetime(series).astype(dtype)
    for sort in (
        kinds.is_bool_dtype,
        kinds.is_integer_dtype,
        kinds.is_float_dtype,
        kinds.is_datetime64_any_dtype,
        _texts,
    ):
        if sort(dtype) and sort(series.dtype):
            found = series.astype(dtype)
            whole = kinds.is_integer_dtype(dtype)
            return series if whole and not (found.astype(series.dtype) == series).fillna(True).all() else found
    return series


def _texts(dtype: Any) -> bool:
    import pandas

    return isinstance(dtype, pandas.StringDtype) or pandas.api.types.is_object_dtype(dtype)


def _polars(values: Any, drawn: NDArray[Any], fields: tuple[str, ...]) -> Any:
    import polars

    if fields and isinstance(values, polars.Series):
        return polars.DataFrame(drawn, schema=list(fields), orient="row").to_struct(values.name)
    if isinstance(values, polars.DataFrame) and drawn.shape == values.shape:
        return polars.DataFrame(drawn, schema=values.columns, orient="row")
    if drawn.ndim != 1 or not isinstance(values, polars.Series):
        return drawn
    made = polars.Series(values.name, drawn)
    try:
        return made.cast(values.dtype) if made.dtype.is_integer() == values.dtype.is_integer() else made
    except polars.exceptions.PolarsError:  # it cannot hold the output
        return made


def _arrow(values: Any, drawn: NDArray[Any], fields: tuple[str, ...]) -> Any:
    import pyarrow

    if isinstance(values, pyarrow.Table) and drawn.shape == values.shape:
        return pyarrow.table([pyarrow.array(column) for column in drawn.T], names=values.column_names)
    if drawn.ndim != 1 or isinstance(values, pyarrow.Table):
        return drawn
    made = pyarrow.array(drawn)
    if pyarrow.types.is_integer(made.type) == pyarrow.types.is_integer(values.type):
        with suppress(pyarrow.ArrowException):  # the type may not hold the output
            made = made.cast(values.type)
    return pyarrow.chunked_array([made]) if isinstance(values, pyarrow.ChunkedArray) else made


WRAPS = {"pandas": _pandas, "polars": _polars, "pyarrow": _arrow}
