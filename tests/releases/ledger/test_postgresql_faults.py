"""A ledger in PostgreSQL when things go wrong: conflicts, lost lines, a server that dies, TLS, and users with few rights."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from postgresql_relay import Relay, certificate
from postgresql_support import PASSWORD, server

from noisewright.exceptions import LedgerError
from noisewright.ledger import database as address_module
from noisewright.ledger.database import Address
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.postgresql import PostgresqlDatabase
from noisewright.ledger.records import Charge
from noisewright.ledger.witness import default_witness

pytestmark = pytest.mark.xdist_group("postgresql")

ONE = Charge("age", "column", Fraction(1))


@pytest.fixture(scope="module")
def folder() -> Iterator[str]:
    with server() as found:
        yield found


@pytest.fixture
def schema(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in ("PGSSLMODE", "PGSSLROOTCERT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    return f"t{sum(map(ord, request.node.name))}_{len(request.node.name)}"


@pytest.fixture
def url(folder: str, schema: str) -> str:
    return f"postgresql://postgres@/postgres?host={folder}&schema={schema}"


def beyond(relay: Relay, schema: str, more: str = "", host: str = "127.0.0.1") -> str:
    return f"postgresql://postgres@{host}:{relay.port}/postgres?schema={schema}{more}"


def connected(url: str) -> Any:
    import pg8000.dbapi

    address = Address.read(url)
    made = address.connect(pg8000.dbapi, 10)
    made.autocommit = True
    made.cursor().execute(f"SET search_path TO {address.schema}")
    return made


def at(monkeypatch: pytest.MonkeyPatch, beginning: str, then: Callable[[PostgresqlDatabase], object]) -> None:
    """Let something happen before the first statement that begins so."""
    real = PostgresqlDatabase.execute
    done: list[str] = []

    def execute(db: PostgresqlDatabase, sql: str, parameters: Any = (), /) -> Any:
        if sql.startswith(beginning) and not done:
            done.append(sql)
            then(db)
        return real(db, sql, parameters)

    monkeypatch.setattr(PostgresqlDatabase, "execute", execute)


# Conflicts ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def panel(url: str) -> Ledger:
    ledger = Ledger(url)
    ledger.set_budget("panel", 5, scope="unit")
    ledger.spend("panel", [ONE], "first", "p", units=[b"1", b"2"])
    return ledger


def test_a_serialisation_failure_is_tried_again_and_charged_once(
    panel: Ledger, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program touches an account after the snapshot was taken: the server fails the transaction with 40001."""
    codes: list[str] = []

    def touch(_: PostgresqlDatabase) -> None:
        with closing(connected(url)) as other:
            other.cursor().execute("UPDATE units SET epsilon = epsilon")

    noted(monkeypatch, codes)
    at(monkeypatch, "INSERT INTO releases", touch)
    assert panel.spend("panel", [ONE], "second", "p", units=[b"1", b"2"]).left_epsilon == 3
    assert codes == ["40001"]
    assert panel.check().releases == 2


def noted(monkeypatch: pytest.MonkeyPatch, codes: list[str]) -> None:
    """Note the code of every error that the server reports."""
    from noisewright.ledger import postgresql

    real = postgresql.code_of

    def code_of(problem: BaseException) -> str:
        if (code := real(problem)) and (not codes or id(problem) != noted_last[0]):
            codes.append(code)
            noted_last[0] = id(problem)
        return code

    noted_last = [0]
    monkeypatch.setattr(postgresql, "code_of", code_of)


def test_a_deadlock_is_tried_again_and_charged_once(panel: Ledger, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program has locked the accounts, and now wants the lock of the ledger; the server ends the ledger's transaction."""
    codes: list[str] = []
    other = connected(url)

    def wants() -> None:
        other.cursor().execute("LOCK TABLE head IN ACCESS EXCLUSIVE MODE")
        other.cursor().execute("ROLLBACK")

    waiting = threading.Thread(target=wants)

    def cross(db: PostgresqlDatabase) -> None:
        db.execute("SET LOCAL deadlock_timeout TO '200ms'")
        for statement in ("SET deadlock_timeout TO '60s'", "BEGIN", "LOCK TABLE units IN ACCESS EXCLUSIVE MODE"):
            other.cursor().execute(statement)
        waiting.start()
        while not db.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone():
            pass

    noted(monkeypatch, codes)
    at(monkeypatch, "INSERT INTO releases", cross)
    with closing(other):
        assert panel.spend("panel", [ONE], "second", "p", units=[b"1", b"2"]).left_epsilon == 3
        waiting.join()
    assert codes == ["40P01"]
    assert panel.check().releases == 2


def test_a_conflict_without_an_end_is_one_sentence_and_spends_nothing(
    panel: Ledger, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = PostgresqlDatabase.execute

    def execute(db: PostgresqlDatabase, sql: str, parameters: Any = (), /) -> Any:
        if sql.startswith("INSERT INTO releases"):
            with closing(connected(url)) as other:
                other.cursor().execute("UPDATE units SET epsilon = epsilon")
        return real(db, sql, parameters)

    monkeypatch.setattr("noisewright.ledger.ledger.TRIES", 3)
    monkeypatch.setattr(PostgresqlDatabase, "execute", execute)
    with pytest.raises(LedgerError, match="was written by others 3 times in a row; try again"):
        panel.spend("panel", [ONE], "second", "p", units=[b"1", b"2"])
    assert panel.check().releases == 1


def test_a_reader_that_loses_a_deadlock_is_told_so(panel: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(db: PostgresqlDatabase) -> None:
        db.execute("DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '40P01'; END $$")

    at(monkeypatch, "SELECT name FROM datasets", lose)
    with pytest.raises(LedgerError, match="was written by others at the same moment; try again"):
        panel.datasets()


# Connections that end -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cut", "when", "releases"),
    [(b"INSERT INTO charges", "before", 0), (b"INSERT INTO charges", "after", 0), (b"COMMIT", "before", 0)],
)
def test_a_line_that_is_cut_before_the_commit_spends_nothing(
    cut: bytes, when: Any, releases: int, folder: str, url: str, schema: str
) -> None:
    Ledger(url).set_budget("clinic", 2)
    with Relay(folder) as relay:
        ledger = Ledger(beyond(relay, schema))
        relay.cut, relay.when = cut, when
        with pytest.raises(
            LedgerError, match=r"cannot be reached|lost before anything was recorded, so nothing was spent"
        ):
            ledger.spend("clinic", [ONE], "first", "p")
        assert relay.cuts == 1
        assert ledger.spend("clinic", [ONE], "second", "p").left_epsilon == 1
    assert Ledger(url).check().releases == 1


def test_a_commit_whose_answer_is_lost_is_found_and_not_made_twice(folder: str, url: str, schema: str) -> None:
    Ledger(url).set_budget("clinic", 2)
    with Relay(folder) as relay:
        ledger = Ledger(beyond(relay, schema))
        relay.cut, relay.when = b"COMMIT", "after"
        assert ledger.spend("clinic", [ONE], "first", "p").left_epsilon == 1
        assert relay.cuts == 1
    assert Ledger(url).check().releases == 1
    own = default_witness()
    assert own is not None
    assert '"release": "first"' in own.read_text()  # which is told as after any commit


def test_a_commit_of_which_nothing_more_is_heard_is_said_to_be_uncertain(folder: str, url: str, schema: str) -> None:
    Ledger(url).set_budget("clinic", 2)
    with Relay(folder) as relay:
        ledger = Ledger(beyond(relay, schema))
        relay.cut, relay.when, relay.stops_after_cut = b"COMMIT", "after", True
        with pytest.raises(
            LedgerError, match=r"so it may be there, and then counts.* Look with noisewright ledger show"
        ):
            ledger.spend("clinic", [ONE], "first", "p")
    assert Ledger(url).remaining("clinic").left_epsilon == 1


def test_a_connection_notices_that_the_other_end_is_gone(folder: str, schema: str) -> None:
    with Relay(folder) as relay:
        sock = Address.read(beyond(relay, schema))._reached(10)
        with sock:
            assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 30_000


@pytest.mark.parametrize("moment", ["INSERT INTO charges", "COMMIT"])
def test_a_server_that_breaks_down_during_a_spend_loses_it_whole(
    moment: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process of the server is killed, and with it the server ends every connection and recovers."""
    ledger = Ledger(url)
    ledger.set_budget("clinic", 2)

    def kill(db: PostgresqlDatabase) -> None:
        (pid,) = db.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        os.kill(pid, signal.SIGKILL)

    with monkeypatch.context() as patch:
        at(patch, moment, kill)
        with pytest.raises(LedgerError) as refused:
            ledger.spend("clinic", [ONE], "first", "p")
    assert "error 57" not in str(refused.value)
    for _ in range(200):
        try:
            found = Ledger(url)
            break
        except LedgerError as problem:
            assert "try again" in str(problem) or "cannot be reached" in str(problem)  # noqa: PT017
            threading.Event().wait(0.05)
    assert found.check().releases == 0
    assert found.spend("clinic", [ONE], "first", "p").left_epsilon == 1


def test_turns_are_taken_on_every_machine_and_end_with_their_connection(url: str) -> None:
    """Take turns of a ledger; an error during a turn is not reported as a problem of the server."""
    store, said, second = Ledger(url)._store, [], threading.Event()

    def take() -> None:
        with store.turn("policy", lambda: said.append("waits"), with_folder=False):
            second.set()

    waiting = threading.Thread(target=take)

    def fail() -> None:
        with store.turn("policy", lambda: None, with_folder=False):
            waiting.start()
            with store.turn("another policy", lambda: said.append("wrong"), with_folder=False):
                pass
            while not said:
                threading.Event().wait(0.01)
            assert not second.is_set()
            raise OSError("of the body")

    with pytest.raises(OSError, match="of the body"):
        fail()
    waiting.join(60)
    assert (second.is_set(), said) == (True, ["waits"])


# TLS ----------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this machine count as another one."""
    monkeypatch.setattr(address_module, "LOCAL", ())


@pytest.mark.usefixtures("far")
def test_another_machine_is_asked_for_a_certificate_that_fits(folder: str, schema: str, tmp_path: Path) -> None:
    both, alone = certificate(tmp_path, "right", "127.0.0.1")
    _, other = certificate(tmp_path, "other", "127.0.0.1")
    with Relay(folder, both) as relay:
        for more in (
            "",
            f"&sslrootcert={other}",
            f"&sslmode=verify-ca&sslrootcert={other}",
            f"&sslmode=require&sslrootcert={other}",
        ):
            with pytest.raises(LedgerError, match="showed a certificate that is not valid"):
                Ledger(beyond(relay, schema, more))
        with pytest.raises(LedgerError, match="cannot be read; name a file in PEM form"):
            Ledger(beyond(relay, schema, f"&sslrootcert={tmp_path / 'none'}"))
        for more in (f"&sslrootcert={alone}", "&sslmode=require"):
            ledger = Ledger(beyond(relay, schema, more))
            assert ledger.set_budget("clinic", 2).left_epsilon == 2
        assert relay.encrypted >= 6
        before = relay.encrypted
        assert Ledger(beyond(relay, schema, "&sslmode=disable")).datasets() == ["clinic"]
        assert relay.encrypted == before


@pytest.mark.usefixtures("far")
def test_a_certificate_of_another_host_is_refused_but_by_verify_ca(
    folder: str, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, alone = certificate(tmp_path, "db", "db.example")
    monkeypatch.setenv("PGSSLROOTCERT", str(alone))
    with Relay(folder, both) as relay:
        with pytest.raises(LedgerError, match="showed a certificate that is not valid"):
            Ledger(beyond(relay, schema))
        monkeypatch.setenv("PGSSLMODE", "verify-ca")
        assert Ledger(beyond(relay, schema)).datasets() == []
        monkeypatch.setenv("PGSSLMODE", "prefer")  # which libpq knows, and which protects against nobody
        with pytest.raises(LedgerError, match="showed a certificate that is not valid"):
            Ledger(beyond(relay, schema))


@pytest.mark.usefixtures("far")
def test_no_password_goes_to_a_server_without_tls(folder: str, schema: str) -> None:
    with Relay(folder) as relay:
        for more in ("", "&sslmode=require"):
            with pytest.raises(LedgerError, match="speaks no TLS") as refused:
                Ledger(beyond(relay, schema, more))
            assert PASSWORD not in str(refused.value)


# Who may do what ----------------------------------------------------------------------------------------------------------

GRANTS = """
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA {schema} TO {role};
GRANT UPDATE ON {schema}.head, {schema}.units TO {role};
GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {role};
"""
FORBIDDEN = (
    "UPDATE charges SET epsilon = '0'",
    "DELETE FROM units",
    "TRUNCATE charges",
    "ALTER TABLE charges DISABLE TRIGGER charges_stay",
    "DROP TRIGGER charges_stay ON charges",
    "CREATE OR REPLACE FUNCTION charges_stay() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN OLD; END $$",
    "SET session_replication_role TO replica",
    "DROP TABLE charges",
)


def test_a_member_who_may_only_append_releases_and_can_take_nothing_back(url: str, schema: str) -> None:
    Ledger(url).set_budget("clinic", 3)
    role = f"member_{schema}"
    with closing(connected(url)) as db:
        db.cursor().execute(f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'")
        for statement in filter(str.strip, GRANTS.format(schema=schema, role=role).split(";")):
            db.cursor().execute(statement)
    theirs = url.replace("postgres@", f"{role}@")
    member = Ledger(theirs)
    assert member.spend("clinic", [ONE], "first", "p").left_epsilon == 2
    member.finish("first", "o" * 64)
    member.set_budget("panel", 2, scope="unit")
    for name in ("second", "third"):
        left = member.spend("panel", [ONE], name, "p", units=[b"1", b"2"]).left_epsilon
    assert left == 0
    with closing(connected(theirs)) as db:
        for statement in FORBIDDEN:
            with pytest.raises(Exception, match=r"permission denied|must be owner"):
                db.cursor().execute(statement)
        with pytest.raises(Exception, match="a ledger forgets nothing"):
            db.cursor().execute("UPDATE units SET epsilon = 0")
    assert member.check() == Ledger(url).check()
    with closing(connected(url)) as db:
        db.cursor().execute(f"REVOKE INSERT ON {schema}.charges FROM {role}")
    with pytest.raises(LedgerError, match="this user lacks a right"):
        Ledger(theirs).spend("clinic", [ONE], "fourth", "p")
    assert Ledger(url).check().releases == 3
