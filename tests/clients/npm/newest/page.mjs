// What a page has besides: events, wallets that announce themselves (EIP-6963 and the Wallet Standard), and requests that
// follow the CORS protocol (WHATWG Fetch, section 3.2), as those of browsers do.

import { ed25519 } from "@noble/curves/ed25519";
import { secp256k1 } from "@noble/curves/secp256k1";
import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils";
import { bs58 } from "@turnkey/encoding";

const events = new EventTarget();
for (const method of ["addEventListener", "removeEventListener", "dispatchEvent"]) globalThis[method] = events[method].bind(events);

// A wallet that signs messages (EIP-191) with a key of its own.
class Ethereum {
  #secret = secp256k1.utils.randomPrivateKey();
  publicKey = bytesToHex(secp256k1.getPublicKey(this.#secret, true));
  address = `0x${bytesToHex(keccak_256(secp256k1.getPublicKey(this.#secret, false).slice(1)).slice(-20))}`;

  async request({ method, params }) {
    if (method === "eth_chainId") return "0x1";
    if (method !== "personal_sign") return [this.address];
    const message = utf8ToBytes(params[0]);
    const prefix = utf8ToBytes(`\x19Ethereum Signed Message:\n${message.length}`);
    const signature = secp256k1.sign(keccak_256(Uint8Array.from([...prefix, ...message])), this.#secret);
    return `0x${signature.toCompactHex()}${(27 + signature.recovery).toString(16)}`;
  }
}

class Solana {
  #secret = ed25519.utils.randomPrivateKey();
  name = "Solana";
  chains = ["solana:mainnet"];
  publicKey = bytesToHex(ed25519.getPublicKey(this.#secret));
  accounts = [{ address: bs58.encode(hexToBytes(this.publicKey)) }];
  features = { "solana:signMessage": { signMessage: async ({ message }) => [{ signature: ed25519.sign(message, this.#secret) }] } };
}

export const ethereum = new Ethereum();
export const solana = new Solana();
events.addEventListener("eip6963:requestProvider", () => {
  const detail = { info: { rdns: "app.example", name: "Ethereum" }, provider: ethereum };
  dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
});
events.addEventListener("wallet-standard:app-ready", ({ detail }) => detail.register(solana));

const plainFetch = globalThis.fetch;
const { origin } = location;
const preflights = new Map();
// The content type of JSON needs a preflight, and so do all headers that are not in the list of the standard.
const simple = ["accept", "accept-language", "content-language"];

const isShared = (answer) => ["*", origin].includes(answer.headers.get("access-control-allow-origin"));

async function preflight(url, names) {
  const headers = { origin, "access-control-request-method": "POST", "access-control-request-headers": names.join() };
  const answer = await plainFetch(url, { method: "OPTIONS", headers });
  const allowed = (answer.headers.get("access-control-allow-headers") ?? "").toLowerCase().split(/, */);
  if (!answer.ok || !isShared(answer) || !names.every((name) => allowed.includes(name))) throw new TypeError("Failed to fetch");
}

globalThis.fetch = async (url, { headers = {}, ...options } = {}) => {
  const names = Object.keys(headers).map((name) => name.toLowerCase()).filter((name) => !simple.includes(name)).sort();
  const key = `${url} ${names}`;
  if (!preflights.has(key)) preflights.set(key, preflight(url, names));
  await preflights.get(key);
  const answer = await plainFetch(url, { ...options, headers: { ...headers, origin } });
  if (!isShared(answer)) throw new TypeError("Failed to fetch");
  return answer;
};
