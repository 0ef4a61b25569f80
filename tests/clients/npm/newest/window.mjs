// What browsers provide, for clients that need one: storage, and a software authenticator that creates and uses passkeys
// (Web Authentication Level 2).

import "./storage.mjs";
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

const { origin } = globalThis.location;
const sha256 = (data) => createHash("sha256").update(data).digest();
const buffer = (bytes) => Uint8Array.from(bytes).buffer;

// Flags of authenticator data: user present, user verified, attested credential data included.
const [PRESENT, VERIFIED, ATTESTED] = [0x01, 0x04, 0x40];

class Authenticator {
  #keys = new Map();

  // Creates a passkey, without attestation.
  async create({ publicKey: { challenge, rp } }) {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const id = randomBytes(32);
    const { x, y } = publicKey.export({ format: "jwk" });
    const [abscissa, ordinate] = [x, y].map((each) => Buffer.from(each, "base64url"));
    // COSE key (RFC 9053 §7.1.1), as CBOR.
    const cose = [Buffer.from("a5010203262001215820", "hex"), abscissa, Buffer.from("225820", "hex"), ordinate];
    const attested = [Buffer.alloc(16), Buffer.from([0, id.length]), id, ...cose];
    const data = this.#data(rp.id, ATTESTED, attested);
    const object = [Buffer.from("a363666d74646e6f6e656761747453746d74a068617574684461746158", "hex"), Buffer.from([data.length]), data];
    this.#keys.set(id.toString("base64url"), privateKey);
    const response = { attestationObject: buffer(Buffer.concat(object)), getTransports: () => ["internal"] };
    return this.#credential(id, { ...response, clientDataJSON: this.#clientData("webauthn.create", challenge) });
  }

  // Signs with the newest passkey, or one of the allowed.
  async get({ publicKey: { challenge, rpId, allowCredentials = [] } }) {
    const allowed = allowCredentials.map(({ id }) => Buffer.from(id).toString("base64url"));
    const [name, key] = [...this.#keys].filter(([id]) => allowed.length === 0 || allowed.includes(id)).at(-1);
    const clientDataJSON = this.#clientData("webauthn.get", challenge);
    const data = this.#data(rpId, 0, []);
    const signature = sign("sha256", Buffer.concat([data, sha256(Buffer.from(clientDataJSON))]), key);
    const response = { authenticatorData: buffer(data), clientDataJSON, signature: buffer(signature), userHandle: null };
    return this.#credential(Buffer.from(name, "base64url"), response);
  }

  #data(rpId, flags, rest) {
    return Buffer.concat([sha256(rpId), Buffer.from([PRESENT | VERIFIED | flags]), Buffer.alloc(4), ...rest]);
  }

  #clientData(type, challenge) {
    return buffer(Buffer.from(JSON.stringify({ type, challenge: Buffer.from(challenge).toString("base64url"), origin })));
  }

  #credential(id, response) {
    return { type: "public-key", id: id.toString("base64url"), rawId: buffer(id), response, getClientExtensionResults: () => ({}) };
  }
}

globalThis.PublicKeyCredential = class {};
// Node has no navigator, or one that cannot be replaced.
globalThis.navigator ??= {};
Object.defineProperty(globalThis.navigator, "credentials", { value: new Authenticator() });
