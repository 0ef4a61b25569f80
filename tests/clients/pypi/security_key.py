"""A FIDO2 security key in software, which passes packets of CTAPHID over a Unix socket. CBOR, COSE keys and the PIN
protocols are those of fido2, keys and signatures those of cryptography.

    python security_key.py SOCKET PIN [2.0] [device]

PIN is empty if none is set. With 2.0 the key offers what CTAP 2.0 does: PIN protocol one, and tokens for all purposes.
With device, SOCKET becomes a link to a character device instead, which takes reports with their number as the HID devices
of the kernel do: a pseudoterminal.
Standard input takes one command per line: `touch` and `ignore` define what happens when the key waits for a touch, `deny`
that the user denies, `forge` that another key signs, `pull` closes all connections at the next wait for a touch, `power` attaches the key again, and
`forget` erases its credentials. Standard output has a line for what happens: `ready`, `done` after a command, `waiting`
when the key waits for a touch, and `cancelled`.
"""

import hashlib
import os
import pty
import select
import socket
import struct
import sys
import threading
import tty

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.cose import ES256, CoseKey
from fido2.ctap import CtapError
from fido2.ctap2.pin import PinProtocolV1, PinProtocolV2
from fido2.webauthn import Aaguid, AttestedCredentialData, AuthenticatorData

ERR = CtapError.ERR
FLAG = AuthenticatorData.FLAG
AAGUID = Aaguid(b"quorate-software")
BROADCAST = b"\xff\xff\xff\xff"
PING, INIT, CBOR, CANCEL, KEEPALIVE, ERROR = 0x01, 0x06, 0x10, 0x11, 0x3B, 0x3F
MAY_CREATE, MAY_USE = 0x01, 0x02
# What a person would do within, in seconds. Tests shorten nothing else.
TOUCH_TIMEOUT = 3.0


def say(line):
    print(line, flush=True)


class Status(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


class Pulled(Exception):
    pass


class SecurityKey:
    """The state of the key: PIN, credentials, and what the person in front of it does."""

    def __init__(self, pin, is_old):
        self.pin = pin
        self.is_old = is_old
        self.protocols = {1: PinProtocolV1()} if is_old else {2: PinProtocolV2(), 1: PinProtocolV1()}
        self.credentials = {}
        self.counter = 0
        self.retries = 8
        self.person = "touch"
        self.connections = set()
        self.lock = threading.Lock()
        self.power()

    def power(self):
        self.wrong_in_succession = 0
        self.agreement = ec.generate_private_key(ec.SECP256R1())
        self.token, self.permissions, self.token_rp = os.urandom(32), 0, None

    def handle(self, request, touch):
        commands = {1: self.make_credential, 2: self.get_assertion, 4: self.get_info, 6: self.client_pin}
        command = commands.get(request[0])
        try:
            if command is None:
                raise Status(ERR.INVALID_COMMAND)
            parameters = cbor.decode(request[1:]) if len(request) > 1 else {}
            # CTAP requires the canonical form.
            if len(request) > 1 and cbor.encode(parameters) != request[1:]:
                raise Status(ERR.INVALID_CBOR)
            with self.lock:
                answer = command(parameters, touch)
            return b"\0" + cbor.encode(answer)
        except Status as status:
            return bytes([status.code])

    def get_info(self, _parameters, _touch):
        options = {"rk": False, "up": True, "clientPin": bool(self.pin)}
        if not self.is_old:
            options["pinUvAuthToken"] = True
        versions = ["U2F_V2", "FIDO_2_0"] + ([] if self.is_old else ["FIDO_2_1"])
        return {1: versions, 3: bytes(AAGUID), 4: options, 5: 1200, 6: list(self.protocols), 9: ["usb"]}

    def client_pin(self, parameters, _touch):
        protocol = self.protocols.get(parameters.get(1))
        if protocol is None:
            raise Status(ERR.INVALID_PARAMETER)
        subcommand = parameters[2]
        if subcommand == 1:
            return {3: self.retries}
        if subcommand == 2:
            return {1: self.agreement_key()}
        if subcommand == 5 or (subcommand == 9 and not self.is_old):
            permissions = MAY_CREATE | MAY_USE if subcommand == 5 else parameters[9]
            return {2: self.new_token(protocol, parameters, permissions)}
        raise Status(ERR.INVALID_SUBCOMMAND)

    def agreement_key(self):
        numbers = self.agreement.public_key().public_numbers()
        x, y = numbers.x.to_bytes(32, "big"), numbers.y.to_bytes(32, "big")
        return {1: 2, 3: -25, -1: 1, -2: x, -3: y}

    def new_token(self, protocol, parameters, permissions):
        if not self.pin:
            raise Status(ERR.PIN_NOT_SET)
        if self.retries == 0:
            raise Status(ERR.PIN_BLOCKED)
        if self.wrong_in_succession == 3:
            raise Status(ERR.PIN_AUTH_BLOCKED)
        peer = parameters[3]
        if (peer[1], peer[3], peer[-1]) != (2, -25, 1):
            raise Status(ERR.INVALID_PARAMETER)
        x, y = int.from_bytes(peer[-2], "big"), int.from_bytes(peer[-3], "big")
        public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        secret = protocol.kdf(self.agreement.exchange(ec.ECDH(), public))
        digest = protocol.decrypt(secret, parameters[6])
        self.retries -= 1
        if digest != hashlib.sha256(self.pin.encode()).digest()[:16]:
            self.agreement = ec.generate_private_key(ec.SECP256R1())
            self.wrong_in_succession += 1
            if self.retries == 0:
                raise Status(ERR.PIN_BLOCKED)
            raise Status(ERR.PIN_AUTH_BLOCKED if self.wrong_in_succession == 3 else ERR.PIN_INVALID)
        self.retries, self.wrong_in_succession = 8, 0
        self.token, self.permissions, self.token_rp = os.urandom(32), permissions, parameters.get(10)
        return protocol.encrypt(secret, self.token)

    def verify_user(self, parameters, keys, relying_party, permission):
        """Returns whether the user was verified by a token, which is used up."""
        parameter, number = parameters.get(keys[0]), parameters.get(keys[1])
        if parameter is None:
            return False
        protocol = self.protocols.get(number)
        if protocol is None:
            raise Status(ERR.INVALID_PARAMETER)
        client_data_hash = parameters[2] if permission == MAY_USE else parameters[1]
        if protocol.authenticate(self.token, client_data_hash) != parameter:
            raise Status(ERR.PIN_AUTH_INVALID)
        if not self.permissions & permission or self.token_rp not in (None, relying_party):
            raise Status(ERR.PIN_AUTH_INVALID)
        self.permissions = self.permissions if self.is_old else 0
        return True

    def make_credential(self, parameters, touch):
        relying_party = parameters[2]["id"]
        if {"alg": -7, "type": "public-key"} not in parameters[4]:
            raise Status(ERR.UNSUPPORTED_ALGORITHM)
        verified = self.verify_user(parameters, (8, 9), relying_party, MAY_CREATE)
        if self.pin and not verified:
            raise Status(ERR.PUAT_REQUIRED)
        touch(self)
        secret, credential = ec.generate_private_key(ec.SECP256R1()), os.urandom(64)
        self.credentials[credential] = (relying_party, secret)
        key = CoseKey.parse(dict(ES256.from_cryptography_key(secret.public_key())))
        attested = AttestedCredentialData.create(AAGUID, credential, key)
        data = self.data(relying_party, FLAG.UP | FLAG.AT | (FLAG.UV if verified else 0), attested)
        signature = secret.sign(bytes(data) + parameters[1], ec.ECDSA(hashes.SHA256()))
        return {1: "packed", 2: bytes(data), 3: {"alg": -7, "sig": signature}}

    def get_assertion(self, parameters, touch):
        relying_party = parameters[1]
        verified = self.verify_user(parameters, (6, 7), relying_party, MAY_USE)
        held = (self.credentials.get(one["id"], (None, None)) + (one["id"],) for one in parameters[3])
        held = [one for one in held if one[0] == relying_party]
        if not held:
            raise Status(ERR.NO_CREDENTIALS)
        _, secret, credential = held[0]
        present = parameters.get(5, {}).get("up", True)
        if present:
            touch(self)
        if self.person == "forge":
            secret = ec.generate_private_key(ec.SECP256R1())
        data = self.data(relying_party, (FLAG.UP if present else 0) | (FLAG.UV if verified else 0))
        signature = secret.sign(bytes(data) + parameters[2], ec.ECDSA(hashes.SHA256()))
        return {1: {"id": credential, "type": "public-key"}, 2: bytes(data), 3: signature}

    def data(self, relying_party, flags, attested=b""):
        self.counter += 1
        digest = hashlib.sha256(relying_party.encode()).digest()
        return AuthenticatorData.create(digest, FLAG(flags), self.counter, attested)


class Connection:
    """CTAPHID over one connection, with one request at a time."""

    def __init__(self, stream, key):
        self.stream, self.key = stream, key
        self.channels = 0

    def packet(self):
        data = b""
        while len(data) < 64:
            part = self.stream.recv(64 - len(data))
            if not part:
                raise Pulled
            data += part
        return data

    def send(self, channel, command, payload):
        head = channel + bytes([0x80 | command]) + struct.pack(">H", len(payload))
        packets = [head + payload[:57]]
        rest = payload[57:]
        for number in range((len(rest) + 58) // 59):
            packets.append(channel + bytes([number]) + rest[59 * number : 59 * number + 59])
        self.stream.sendall(b"".join(packet.ljust(64, b"\0") for packet in packets))

    def receive(self):
        packet = self.packet()
        channel, command = packet[:4], packet[4] & 0x7F
        length = struct.unpack(">H", packet[5:7])[0]
        payload, number = packet[7:], 0
        while len(payload) < length:
            packet = self.packet()
            if packet[:5] != channel + bytes([number]):
                raise Pulled
            payload, number = payload + packet[5:], number + 1
        return channel, command, payload[:length]

    def serve(self):
        try:
            while True:
                channel, command, payload = self.receive()
                if command == INIT and channel == BROADCAST:
                    self.channels += 1
                    own = struct.pack(">I", self.channels)
                    self.send(channel, INIT, payload[:8] + own + bytes([2, 1, 0, 0, 0x05]))
                elif command == CBOR:
                    answer = self.key.handle(payload, lambda key: self.touch(key, channel))
                    self.send(channel, CBOR, answer)
                elif command == PING:
                    self.send(channel, PING, payload)
                elif command != CANCEL:
                    self.send(channel, ERROR, b"\x01")
        except (Pulled, OSError):
            pass
        finally:
            self.key.connections.discard(self)
            self.stream.close()

    def touch(self, key, channel):
        """Waits for the person, as a key does that blinks."""
        say("waiting")
        if key.person == "pull":
            raise Pulled
        if key.person == "deny":
            raise Status(ERR.OPERATION_DENIED)
        waited = 0.0
        self.send(channel, KEEPALIVE, b"\x02")
        while key.person == "ignore":
            if waited >= TOUCH_TIMEOUT:
                raise Status(ERR.USER_ACTION_TIMEOUT)
            waited += 0.1
            if select.select([self.stream], [], [], 0.1)[0]:
                _, command, _ = self.receive()
                if command == CANCEL:
                    say("cancelled")
                    raise Status(ERR.KEEPALIVE_CANCEL)
            self.send(channel, KEEPALIVE, b"\x02")


class Reports:
    """The device side of a pseudoterminal. Reports to the device begin with their number, which is zero."""

    def __init__(self, link):
        self.own, other = pty.openpty()
        tty.setraw(other)
        # It stays open, so that the device remains when a program closes it.
        self.other = other
        os.symlink(os.ttyname(other), link)

    def fileno(self):
        return self.own

    def recv(self, length):
        report = b""
        while len(report) < 65:
            report += os.read(self.own, 65 - len(report))
        if report[0] != 0:
            raise Pulled
        return report[1:]

    def sendall(self, packets):
        while packets:
            packets = packets[os.write(self.own, packets):]

    def close(self):
        os.close(self.own)


def accept(listener, key):
    while True:
        stream, _ = listener.accept()
        connection = Connection(stream, key)
        key.connections.add(connection)
        threading.Thread(target=connection.serve, daemon=True).start()


def main():
    path, pin, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    key = SecurityKey(pin, "2.0" in options)
    if "device" in options:
        connection = Connection(Reports(path), key)
        threading.Thread(target=connection.serve, daemon=True).start()
    else:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(path)
        listener.listen()
        threading.Thread(target=accept, args=(listener, key), daemon=True).start()
    say("ready")
    for line in sys.stdin:
        command = line.strip()
        if command == "power":
            key.power()
        elif command == "forget":
            key.credentials.clear()
        else:
            key.person = command
        say("done")


if __name__ == "__main__":
    main()
