"""A relay in front of the PostgreSQL server of the tests: it speaks TLS, and cuts a connection at a chosen message."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Literal

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

ASKS_FOR_TLS = bytes.fromhex("0000000804d2162f")


class Relay:
    """A port of this machine that leads to the socket in ``folder``; connections beyond it last as long as it does.

    ``identity``: a file with a key and a certificate; without one, TLS is refused. ``cut``: a text at which the first connection
    that sends it is closed, ``before`` the server has seen it or ``after`` the server has answered it.
    """

    def __init__(
        self,
        folder: str,
        identity: Path | None = None,
        cut: bytes = b"",
        when: Literal["before", "after"] = "before",
    ) -> None:
        self.target = f"{folder}/.s.PGSQL.5432"
        self.cut, self.when, self.stops_after_cut = cut, when, False
        self.context: ssl.SSLContext | None = None
        if identity is not None:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(identity)
        self.encrypted = self.cuts = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Relay:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self.listener.accept()[0],), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client:
            first = client.recv(8, socket.MSG_WAITALL)
            if first == ASKS_FOR_TLS:
                client.sendall(b"N" if self.context is None else b"S")
                if self.context is None:
                    return
                client = self.context.wrap_socket(client, server_side=True)
                self.encrypted, first = self.encrypted + 1, b""
            with client, socket.socket(socket.AF_UNIX) as server:
                server.connect(self.target)
                server.sendall(first)
                state = {"cut": False}
                back = threading.Thread(target=self._back, args=(server, client, state), daemon=True)
                back.start()
                while some := client.recv(65536):
                    if self.cut and self.cut in some and not self.cuts:
                        self.cuts += 1
                        state["cut"] = True
                        if self.when == "before":
                            break
                    server.sendall(some)
                for one in (client, server):
                    with suppress(OSError):
                        one.shutdown(socket.SHUT_RDWR)
                back.join()

    def _back(self, server: socket.socket, client: socket.socket, state: dict[str, bool]) -> None:
        with suppress(OSError):
            while (some := server.recv(65536)) and not state["cut"]:
                client.sendall(some)
        if state["cut"] and self.stops_after_cut:
            self.__exit__()
        with suppress(OSError):
            client.shutdown(socket.SHUT_RDWR)


def certificate(folder: Path, name: str, host: str) -> tuple[Path, Path]:
    """Make a key with a certificate that it signed itself; the file of both, and that of the certificate alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    names: list[x509.GeneralName] = [x509.IPAddress(ip_address(host)) if host[0].isdigit() else x509.DNSName(host)]
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    shown = made.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    both, alone = folder / f"{name}.pem", folder / f"{name}.crt"
    both.write_bytes(secret + shown)
    alone.write_bytes(shown)
    return both, alone
