"""Many processes at one ledger: exactly one gets the last of a budget, and a kill at any moment un-spends nothing."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
from fractions import Fraction

from noisewright.ledger.ledger import Ledger
from noisewright.ledger.records import Charge

RACER = """
    import sys
    from fractions import Fraction
    from noisewright.exceptions import BudgetError
    from noisewright.ledger.ledger import Ledger
    from noisewright.ledger.records import Charge
    me = sys.argv[1]
    print("ready", flush=True)
    for line in sys.stdin:
        path, scope = line.split()
        ledger = Ledger(path)
        ledger.set_budget("clinic", 1, scope=scope)
        units = None if scope == "dataset" else [me.encode(), b"shared"]
        try:
            ledger.spend("clinic", [Charge("age", "column", Fraction(3, 5))], f"by {me}", "", units=units)
            print("won", flush=True)
        except BudgetError:
            print("lost", flush=True)
"""


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_exactly_one_process_gets_the_last_of_the_budget(tmp_path):
    """Eight processes, twenty-four races: to make the ledger, to set its budget, and to spend what only one can have."""
    racers = [start(RACER, number) for number in range(8)]
    assert [r.stdout.readline() for r in racers] == ["ready\n"] * 8
    winners = set()
    for race in range(24):
        path = tmp_path / f"ledger{race}"
        for racer in random.Random(race).sample(racers, 8):
            racer.stdin.write(f"{path} {'unit' if race % 3 == 2 else 'dataset'}\n")
            racer.stdin.flush()
        said = [r.stdout.readline().strip() for r in racers]
        assert sorted(said) == ["lost"] * 7 + ["won"], (race, said)
        (entry,) = Ledger(path).entries("clinic")
        assert entry.release_id == f"by {said.index('won')}"
        assert len(Ledger(path).history("clinic")) == 1
        assert Ledger(path).check().releases == 1
        winners.add(said.index("won"))
    for racer in racers:
        assert racer.communicate(timeout=900)[1] == ""
    assert len(winners) > 1
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(f"ledger{race}" for race in range(24))


WRITER = """
    import sys
    from fractions import Fraction
    from noisewright.ledger.ledger import Ledger
    from noisewright.ledger.records import Charge
    path, me = sys.argv[1:]
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(12):
        ledger = Ledger(path)
        ledger.spend("clinic", [Charge("age", "query", Fraction(1, 3))], f"{me} {number}", "")
        ledger.finish(f"{me} {number}", "o")
        assert ledger.check_holds(ledger.head())
"""


def test_the_chain_stays_one_line_however_many_write_at_once(tmp_path):
    """Four processes add 12 releases each: every record has one before it, and none is lost."""
    Ledger(tmp_path / "ledger").set_budget("clinic", 16)
    writers = [start(WRITER, tmp_path / "ledger", number) for number in range(4)]
    assert [w.stdout.readline() for w in writers] == ["ready\n"] * 4
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    assert [writer.communicate(timeout=900) for writer in writers] == [("", "")] * 4
    ledger = Ledger(tmp_path / "ledger")
    assert ledger.remaining("clinic").left_epsilon == 0
    assert ledger.check().records == 2 + 3 * 4 * 12  # dataset and budget; release, charge and finish of each
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ledger"]


KILLER = """
    import os, random, signal, sqlite3, sys, time
    from fractions import Fraction
    from noisewright.exceptions import NoisewrightError
    from noisewright.ledger.ledger import Ledger
    from noisewright.ledger.records import Charge

    path, marks, scope, kills = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    random.seed(11)
    units = [b"%d" % n for n in range(500)]
    drawn = os.open(marks, os.O_CREAT | os.O_RDWR | os.O_APPEND)
    last, wrong, started = 0, [], 0
    for kill in range(kills):
        if scope == "creation":
            path = f"{sys.argv[1]}{kill}"
        begun, begin = os.pipe()
        child = os.fork()
        if not child:
            os.write(begin, b"x")
            ledger = Ledger(path)
            ledger.set_budget("clinic", 10**6, scope="unit" if scope == "unit" else "dataset")
            for number in range(100_000):
                name = f"{kill} {number}"
                ledger.spend(
                    "clinic", [Charge("age", "column", Fraction(1))], name, "", units=units if scope == "unit" else None
                )
                os.write(drawn, b"x")  # from here on, something was drawn
                if number % 3 == 0:
                    ledger.finish(name, "")
            os._exit(0)
        os.read(begun, 1)
        os.close(begun), os.close(begin)
        before = os.fstat(drawn).st_size
        while kill % 2 and os.fstat(drawn).st_size == before:  # every other time, something has been spent
            time.sleep(0.001)
        time.sleep(random.uniform(0, 0.06) if scope == "creation" else random.expovariate(1 / 0.03))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        marked = os.fstat(drawn).st_size
        if scope == "creation":
            os.ftruncate(drawn, 0)
            last = 0
        ledger = Ledger(path)
        spent = ledger.remaining("clinic").spent_epsilon if "clinic" in ledger.datasets() else 0
        db = sqlite3.connect(path)
        sound = db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        accounts = {row[0] for row in db.execute("SELECT epsilon FROM units")}
        counted = db.execute("SELECT count(*) FROM units").fetchone()[0]
        begun = db.execute("SELECT count(*) FROM releases WHERE number NOT IN (SELECT release FROM finishes)").fetchone()[0]
        db.close()
        # At most one spend may be on the disk without its mark: the one whose process was killed just then.
        if not (sound and marked <= spent and last <= spent and spent <= marked + kill + 1):
            wrong.append((kill, sound, marked, str(spent), str(last)))
        if scope == "unit" and spent and (accounts != {spent * 3 * 10**12} or counted != 500):
            wrong.append((kill, "accounts", len(accounts), counted))
        started += begun > 0
        ledger.check()
        last = spent
    print(wrong, started > 0, last >= kills // 2 or scope == "creation")
"""


def killed(tmp_path, scope: str, kills: int) -> str:
    out, err = start(KILLER, tmp_path / "ledger", tmp_path / "marks", scope, kills).communicate(timeout=900)
    assert err == ""
    return out


def test_a_kill_never_un_spends_what_may_have_been_drawn(tmp_path):
    """80 kills of a process that spends without a pause: the ledger opens, is sound, and holds at least what was drawn."""
    assert killed(tmp_path, "dataset", 80) == "[] True True\n"


def test_a_kill_leaves_every_units_account_charged_or_none(tmp_path):
    assert killed(tmp_path, "unit", 60) == "[] True True\n"


def test_a_kill_while_a_ledger_is_made_leaves_a_ledger_or_none(tmp_path):
    assert killed(tmp_path, "creation", 60) == "[] True True\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["marks", *(f"ledger{kill}" for kill in range(60))])


def test_a_spend_is_seen_by_everybody_when_it_returns(tmp_path):
    ledger = Ledger(tmp_path / "ledger")
    ledger.set_budget("clinic", 9)
    ledger.spend("clinic", [Charge("age", "column", Fraction(1))], "r", "")
    reader = """
        import sys
        from noisewright.ledger.ledger import Ledger
        print(Ledger(sys.argv[1]).remaining("clinic").spent_epsilon)
    """
    assert start(reader, ledger.path).communicate(timeout=900) == ("1\n", "")
