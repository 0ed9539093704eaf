"""Every error that Noisewright raises on purpose.

A message is one sentence or two: the value given, the allowed values, what to do. It never quotes a data value;
parameters (an epsilon, a label of a channel, a file name) may be named, because they are public.
"""

from __future__ import annotations

__all__ = [
    "BudgetError",
    "CertificateError",
    "ChannelError",
    "DataError",
    "FileFormatError",
    "GuaranteeError",
    "LedgerError",
    "MetricError",
    "MissingPartError",
    "NoChannelError",
    "NoLedgerError",
    "NoLossError",
    "NoisewrightError",
    "ParameterError",
    "PolicyError",
    "ResourceError",
]


class NoisewrightError(Exception):
    """The base of all errors below; catch it to catch them all."""


class ParameterError(NoisewrightError, ValueError):
    """A parameter is outside the allowed values."""


class MetricError(ParameterError):
    """Distances that break an axiom, or points that a metric does not understand."""


class ChannelError(ParameterError):
    """A matrix that is not a channel, labels that do not fit, or channels that cannot be combined."""


class NoChannelError(ParameterError):
    """A mechanism has no channel that can be listed: its secrets or outputs are infinitely many, or too many.

    It concerns the mechanism, not a value that was given. Callers that can do without a channel catch this class alone,
    and never take a wrong parameter for it.
    """


class NoLossError(ParameterError):
    """A mechanism has no such loss: its outputs are not numbers, or not values that could be taken for the secret."""


class GuaranteeError(NoisewrightError, ValueError):
    """A guarantee that a channel does not have and cannot be given by repair; the message names the pair."""


class CertificateError(NoisewrightError, ValueError):
    """A certificate that does not prove its claim, or cannot be read."""


class FileFormatError(NoisewrightError, ValueError):
    """A file that does not match its name, is cut short, or is from another program."""


class DataError(NoisewrightError, ValueError):
    """Data that a mechanism cannot take. The message never shows a value."""


class LedgerError(NoisewrightError):
    """A ledger that cannot be opened, read or written, or a request that would make it forget something."""


class BudgetError(LedgerError):
    """A release that would cost more than the remaining budget; the message states the request and the remaining
    budget.
    """


class PolicyError(NoisewrightError, ValueError):
    """A policy that cannot be followed; ``problems`` holds one sentence for each thing that is wrong with it."""

    def __init__(self, *problems: str) -> None:
        more = len(problems) - 1
        rest = f" (and {more} more problem{'s' if more > 1 else ''})" if more > 0 else ""
        super().__init__((problems[0] if problems else "the policy cannot be followed.") + rest)
        self.problems = problems


class ResourceError(NoisewrightError, ValueError):
    """A public file that is not here, or is not the one that was named."""


class NoLedgerError(LedgerError, FileNotFoundError):
    """A ledger that should be there and is not."""


class MissingPartError(NoisewrightError, ImportError):
    """An optional part of the installation is missing; the message names the extra that brings it."""
