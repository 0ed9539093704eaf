"""Settings of the training of a privatiser: checked numbers with tested defaults."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from noisewright.core.choices import is_number, is_whole, one_of
from noisewright.core.errors import ParameterError
from noisewright.learned.theory.losses import AdversaryLoss, as_adversary_loss

__all__ = ["Settings"]

WHOLE = {
    "epochs": 1,
    "batch": 1,
    "adversary_steps": 1,
    "warm_up": 0,
    "hidden": 1,
    "adversary_hidden": 1,
    "check_every": 1,
    "threads": 1,
    "seed": 0,
}
POSITIVE = ("rate", "adversary_rate", "penalty", "penalty_growth", "most_penalty", "clip", "temperature")
SHARES = ("last_rate", "last_adversary_rate")


@dataclass(frozen=True)
class Settings:
    """Settings of one run of training.

    ``loss``: of the adversary, ``"log"`` or ``"alpha:5"``; ``method``: constraint for the budget (``"augmented"``
    Lagrangian or ``"penalty"``); ``step``: of the privatiser (``"adam"`` or ``"search"``, a line search). Per step of
    the privatiser the adversary has ``adversary_steps``, and ``warm_up`` epochs alone before. Rates fall linearly to a
    share ``last_rate`` of themselves. ``penalty`` grows by ``penalty_growth`` with every epoch up to ``most_penalty``;
    distortion counts in shares of the budget. ``cap``: whether fooling the adversary beyond blind guessing earns
    nothing. ``patience``: stop when an adversary that only watches has done no worse in that number of checks (one in
    ``check_every`` epochs); None: never. ``threads``: of PyTorch; more than one pays only for large networks.
    """

    loss: str = "log"
    method: str = "augmented"
    step: str = "adam"
    epochs: int = 60
    batch: int = 500
    adversary_steps: int = 5
    warm_up: int = 2
    rate: float = 0.003
    adversary_rate: float = 0.003
    momentum: float = 0.5
    last_rate: float = 0.01
    last_adversary_rate: float = 0.1
    penalty: float = 0.1
    penalty_growth: float = 1.05
    most_penalty: float = 5.0
    hidden: int = 64
    adversary_hidden: int = 64
    cap: bool = True
    clip: float = 5.0
    temperature: float = 0.7
    patience: int | None = None
    check_every: int = 5
    threads: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.adversary.is_zero_one:
            raise ParameterError(
                "a privatiser is not trained on the loss 'zero-one', which has no slope; 'alpha:20' is nearly that loss."
            )
        one_of(self.method, "method", ("augmented", "penalty"))
        one_of(self.step, "step", ("adam", "search"))
        for name, least in WHOLE.items():
            value = getattr(self, name)
            if not is_whole(value) or not least <= value <= 1 << 40:
                raise ParameterError(f"{name} is a whole number of {least} or more.")
        if self.patience is not None and (not is_whole(self.patience) or self.patience < 1):
            raise ParameterError("patience is a whole number of checks of 1 or more, or None to go on to the end.")
        for name in POSITIVE:
            value = getattr(self, name)
            if not is_number(value) or not 0 < value < 1e12:
                raise ParameterError(f"{name} is a finite number above 0.")
        for name in SHARES:
            value = getattr(self, name)
            if not is_number(value) or not 0 < value <= 1:
                raise ParameterError(f"{name} is a share above 0 and at most 1.")
        if not is_number(self.momentum) or not 0 <= self.momentum < 1:
            raise ParameterError("momentum is a number from 0 to below 1.")
        if not isinstance(self.cap, bool):
            raise ParameterError("cap is true or false.")

    @property
    def adversary(self) -> AdversaryLoss:
        """The loss."""
        return as_adversary_loss(self.loss)

    def to_json(self) -> dict[str, Any]:
        """All of it, as plain data."""
        return asdict(self)
