"""A mail server that accepts mail from the daemon and prints each as one JSON line on standard output.

mailbox.py refuse N FOLDER   rejects the first N mails temporarily (451), then accepts all, and writes those to
                             1.json, 2.json and so on in the folder
"""

import asyncio
import json
import sys
from email import message_from_bytes
from email.message import Message
from pathlib import Path

from aiosmtpd.controller import Controller


class Mailbox:
    """Prints each mail, after rejecting the requested number."""

    def __init__(self, failures: int, folder: Path) -> None:
        self.failures = failures
        self.folder = folder
        self.accepted = 0

    async def handle_DATA(self, server, session, envelope) -> str:
        message = message_from_bytes(envelope.content)
        refused = self.failures > 0
        self.failures -= 1
        seen = {
            "refused": refused,
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "subject": message["Subject"],
            "date": message["Date"],
            "reply_to": message["Reply-To"],
            "header_from": message["From"],
            "text": body(message, "text/plain"),
            "html": body(message, "text/html"),
        }
        if not refused:
            self.accepted += 1
            part = self.folder / "part"
            part.write_text(json.dumps(seen))
            part.rename(self.folder / f"{self.accepted}.json")
        print(json.dumps(seen), flush=True)
        return "451 come back later" if refused else "250 OK"


def body(message: Message, media_type: str) -> str | None:
    """Returns the part of this type, decoded."""
    parts = [part for part in message.walk() if part.get_content_type() == media_type]
    return parts[0].get_payload(decode=True).decode() if parts else None


def main() -> None:
    mailbox = Mailbox(int(sys.argv[2]), Path(sys.argv[3]))
    controller = Controller(mailbox, hostname="127.0.0.1", port=0)
    # Port 0 selects a free port, which only the socket knows.
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    server = loop.run_until_complete(loop.create_server(controller.factory, "127.0.0.1", 0))
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    loop.run_forever()


main()
