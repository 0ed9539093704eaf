"""A survey with a sensitive question: choose the device, ask, change the device half-way, and estimate the share.

Run:  python examples/sensitive_question.py
"""

import numpy as np
from rich.console import Console
from rich.padding import Padding

import noisewright as nw

TRUTH = 0.12
"""The true share, which is unknown in a real survey."""

say = Console(width=110, highlight=False).print


def main() -> None:
    rng = np.random.default_rng(11)  # a simulation; in a real survey the respondents draw
    people = np.where(rng.random(6000) < TRUTH, "yes", "no")

    say('\n[bold]1. Plan.[/] "Did you take drugs last year?" A margin of 4 points is wanted, at epsilon 1.')
    plan = nw.survey(epsilon=1, prevalence=0.1, target_margin="0.04")
    say(Padding(plan.device.instruction(), (0, 0, 0, 3)))
    say(f"   {plan.respondents:,} respondents; proved: {plan.certificate().verify()}")

    say("\n[bold]2. Ask.[/] Each respondent draws a card unseen, and answers.")
    first = people[: plan.respondents]
    answers = plan.device.release(first, rng)
    said = {answer: int((answers == answer).sum()) for answer in ("no", "yes")}
    found = plan.estimate(said)
    low, high = found.intervals["yes"]
    say(f"   {said['yes']:,} said yes, though it is true of {int((first == 'yes').sum()):,} of them")
    say(f"   estimate {found.shares['yes']:.3f}, 95 % interval {low:.3f} to {high:.3f}")

    say("\n[bold]3. Change.[/] People find cards slow. The rest toss coins, with a stronger guarantee and more noise.")
    coins = nw.survey(epsilon=1, prevalence=0.1, respondents=len(people) - len(first), device="coins")
    say(Padding(coins.device.instruction(), (0, 0, 0, 3)))
    more = coins.device.release(people[len(first) :], rng)
    both = nw.estimate([answers, more], [plan.device, coins.device], intervals="asymptotic")
    say("\n   Both together, each answer weighted by its information:")
    say(Padding(str(both), (0, 0, 0, 3)))
    say(f"   truth {(people == 'yes').mean():.4f}\n")


if __name__ == "__main__":
    main()
