// Chance that is the same for the same seed, on every machine.

import { sha256 } from "@noble/hashes/sha2";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils";

export class Chance {
  #state;
  #counter = 0;
  #left = new Uint8Array();

  constructor(seed) {
    this.#state = sha256(utf8ToBytes(seed));
  }

  bytes(length) {
    const parts = [this.#left];
    for (let found = this.#left.length; found < length; found += 32) {
      parts.push(sha256(concatBytes(this.#state, utf8ToBytes(String(this.#counter++)))));
    }
    const all = concatBytes(...parts);
    this.#left = all.slice(length);
    return all.slice(0, length);
  }

  hex(length) {
    return bytesToHex(this.bytes(length));
  }

  // Below 2^48, with a bias that no test minds.
  below(limit) {
    return Number.parseInt(this.hex(6), 16) % limit;
  }

  // Both ends included.
  between(least, most) {
    return least + this.below(most - least + 1);
  }

  // True once in so many times.
  once(times) {
    return this.below(times) === 0;
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  list(least, most, make) {
    return Array.from({ length: this.between(least, most) }, () => make());
  }

  // A whole number of at most so many bits; short and long ones are as likely as each other.
  number(bits) {
    const used = this.between(0, bits);
    return used === 0 ? 0n : BigInt.asUintN(used, BigInt(`0x${this.hex(Math.ceil(used / 8))}`));
  }

  // The same, and what lies at the edges more often.
  edge(bits) {
    const most = (1n << BigInt(bits)) - 1n;
    return this.once(4) ? this.pick([0n, 1n, 127n, 128n, 255n, 256n, most, most >> 1n]) & most : this.number(bits);
  }
}
