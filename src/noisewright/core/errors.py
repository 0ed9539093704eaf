"""Every error that Noisewright raises on purpose.

A message is one sentence or two: what was given, what is allowed, what to do. It never quotes a data value; parameters
(an epsilon, a label of a channel, a file name) may be named, because they are public.
"""

from __future__ import annotations

__all__ = [
    "CertificateError",
    "ChannelError",
    "DataError",
    "FileFormatError",
    "GuaranteeError",
    "MetricError",
    "MissingPartError",
    "NoisewrightError",
    "ParameterError",
]


class NoisewrightError(Exception):
    """The base of all errors below; catch it to catch them all."""


class ParameterError(NoisewrightError, ValueError):
    """A parameter is outside what is allowed."""


class MetricError(ParameterError):
    """Distances that break an axiom, or points that a metric does not understand."""


class ChannelError(ParameterError):
    """A matrix that is not a channel, labels that do not fit, or channels that cannot be combined."""


class GuaranteeError(NoisewrightError, ValueError):
    """A guarantee that a channel does not have and cannot be given by repair; the message names the pair."""


class CertificateError(NoisewrightError, ValueError):
    """A certificate that does not prove what it claims, or cannot be read."""


class FileFormatError(NoisewrightError, ValueError):
    """A file that is not what its name says, is cut short, or is from another program."""


class DataError(NoisewrightError, ValueError):
    """Data that a mechanism cannot take. The message never shows a value."""


class MissingPartError(NoisewrightError, ImportError):
    """An optional part of the installation is missing; the message names the extra that brings it."""
