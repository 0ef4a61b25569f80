"""A mail server that accepts mail from the daemon and prints each as one JSON line on standard output.

mailbox.py [refuse N]   rejects the first N mails temporarily (451), then accepts all
"""

import asyncio
import json
import sys
from email import message_from_bytes

from aiosmtpd.controller import Controller


class Mailbox:
    """Prints each mail, after rejecting the requested number."""

    def __init__(self, failures: int) -> None:
        self.failures = failures

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
            "text": message.get_payload(decode=True).decode(),
        }
        print(json.dumps(seen), flush=True)
        return "451 come back later" if refused else "250 OK"


def main() -> None:
    failures = int(sys.argv[2]) if sys.argv[1:2] == ["refuse"] else 0
    controller = Controller(Mailbox(failures), hostname="127.0.0.1", port=0)
    # Port 0 selects a free port, which only the socket knows.
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    server = loop.run_until_complete(loop.create_server(controller.factory, "127.0.0.1", 0))
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    loop.run_forever()


main()
