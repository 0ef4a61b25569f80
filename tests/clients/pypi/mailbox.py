"""A mail server that accepts mail from the daemon and prints each as one JSON line on standard output.

mailbox.py FOLDER ANSWERS [CERTIFICATE KEY USER PASSWORD]

ANSWERS is a list of answers in JSON. Each mail gets the next one, and mails beyond the list are accepted. In an
answer, "{text}" is replaced by the text of the mail. "drop" closes the connection instead of an answer. "closed" rejects
mails temporarily until the folder contains a file named "open". A mail to an address at hangs.example or at a subdomain of
it gets no answer until the folder contains that file; then it is accepted. Accepted mails are written to 1.json, 2.json and so on in the folder. With a certificate, the server requires STARTTLS and then
a login.
"""

import asyncio
import json
import ssl
import sys
from email import message_from_bytes
from email.message import Message
from pathlib import Path

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

# Domain whose mail server does not answer.
HANGS = "hangs.example"
ACCEPTED = "250 2.0.0 OK: queued as {number}"


class Mailbox:
    """Prints each mail, with the answer that it gets."""

    def __init__(self, answers: list[str], folder: Path) -> None:
        self.answers = answers
        self.folder = folder
        self.received = 0
        self.accepted = 0

    def answer(self) -> str:
        if self.answers[:1] == ["closed"]:
            if not (self.folder / "open").exists():
                return "451 4.3.2 closed"
            self.answers.clear()
        return self.answers.pop(0) if self.answers else ACCEPTED.format(number=self.received)

    async def handle_RCPT(self, server, session, envelope, address: str, options: list[str]) -> str:
        domain = address.rpartition("@")[2]
        if domain == HANGS or domain.endswith("." + HANGS):
            while not (self.folder / "open").exists():
                await asyncio.sleep(0.05)
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(options)
        return "250 2.1.5 OK"

    async def handle_DATA(self, server, session, envelope) -> str:
        message = message_from_bytes(envelope.content)
        self.received += 1
        answer = self.answer()
        text = body(message, "text/plain")
        refused = not answer.startswith("2")
        seen = {
            "refused": refused,
            "answer": answer,
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "subject": message["Subject"],
            "date": message["Date"],
            "message_id": message["Message-ID"],
            "reply_to": message["Reply-To"],
            "header_from": message["From"],
            "text": text,
            "html": body(message, "text/html"),
            "tls": session.ssl is not None,
            "login": session.auth_data.decode() if session.auth_data else None,
        }
        if not refused:
            self.accepted += 1
            part = self.folder / "part"
            part.write_text(json.dumps(seen))
            part.rename(self.folder / f"{self.accepted}.json")
        print(json.dumps(seen), flush=True)
        if answer == "drop":
            server.transport.abort()
        return answer.replace("{text}", " ".join(text.split()))


def body(message: Message, media_type: str) -> str | None:
    """Returns the part of this type, decoded."""
    parts = [part for part in message.walk() if part.get_content_type() == media_type]
    return parts[0].get_payload(decode=True).decode() if parts else None


def security(certificate: str, key: str, user: str, password: str) -> dict:
    """Returns the parameters of a server that requires STARTTLS and a login."""

    def authenticate(server, session, envelope, mechanism, data) -> AuthResult:
        expected = LoginPassword(user.encode(), password.encode())
        return AuthResult(success=data == expected, handled=False, auth_data=user.encode())

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    return {
        "tls_context": context,
        "require_starttls": True,
        "authenticator": authenticate,
        "auth_required": True,
    }


def main() -> None:
    folder, answers, *more = sys.argv[1:]
    mailbox = Mailbox(json.loads(answers), Path(folder))
    controller = Controller(mailbox, hostname="127.0.0.1", port=0, **(security(*more) if more else {}))
    # Port 0 selects a free port, which only the socket knows.
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    controller.loop = loop
    server = loop.run_until_complete(loop.create_server(controller.factory, "127.0.0.1", 0))
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    loop.run_forever()


main()
