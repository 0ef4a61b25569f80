// Pseudo-random values that depend on the seed only, on every machine.

import { sha256 } from "@noble/hashes/sha2";
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils";

export class Random {
  #state;
  #counter = 0;
  #left = new Uint8Array();

  constructor(seed) {
    this.#state = sha256(utf8ToBytes(seed));
  }

  bytes(length) {
    const parts = [this.#left];
    for (let available = this.#left.length; available < length; available += 32) {
      parts.push(sha256(concatBytes(this.#state, utf8ToBytes(String(this.#counter++)))));
    }
    const all = concatBytes(...parts);
    this.#left = all.slice(length);
    return all.slice(0, length);
  }

  hex(length) {
    return bytesToHex(this.bytes(length));
  }

  // Returns a number below the limit, which must be below 2^48. The bias does not matter for tests.
  below(limit) {
    return Number.parseInt(this.hex(6), 16) % limit;
  }

  // Returns a number in this range, including both ends.
  between(least, most) {
    return least + this.below(most - least + 1);
  }

  // Returns true once in this many times on average.
  once(times) {
    return this.below(times) === 0;
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  list(least, most, make) {
    return Array.from({ length: this.between(least, most) }, () => make());
  }

  // Returns an integer of at most this many bits. All lengths are equally likely.
  number(bits) {
    const used = this.between(0, bits);
    return used === 0 ? 0n : BigInt.asUintN(used, BigInt(`0x${this.hex(Math.ceil(used / 8))}`));
  }

  // Returns the same, with edge cases more often.
  edge(bits) {
    const most = (1n << BigInt(bits)) - 1n;
    return this.once(4) ? this.pick([0n, 1n, 127n, 128n, 255n, 256n, most, most >> 1n]) & most : this.number(bits);
  }
}
