// Random typed data (EIP-712): nested structs, lists, and every Solidity type that a member may have.

import { getAddress } from "ethers";

const NAMES = ["Mail", "Person", "Order", "Item", "Group", "_Odd$"];
const SENTENCES = ["", "hello", "Grüße ☂ 🦀", 'with "quotes" and \\ and \n', "0x1234", "\u0000"];

export const prefixed = (random, length) => `0x${random.hex(length)}`;
export const address = (random) => {
  const value = getAddress(prefixed(random, 20));
  return random.once(2) ? value : value.toLowerCase();
};

// Returns an integer of this width, often an edge case.
function whole(random, bits, isSigned) {
  if (!isSigned) return random.edge(bits);
  const number = random.edge(bits - 1);
  return random.once(2) ? number : -number - 1n;
}

function atom(random) {
  const bits = 8 * random.between(1, 32);
  const size = random.between(1, 32);
  return random.pick([
    ["address", () => address(random)],
    ["bool", () => random.once(2)],
    ["string", () => random.pick(SENTENCES)],
    ["bytes", () => prefixed(random, random.below(100))],
    [`bytes${size}`, () => prefixed(random, size)],
    [`uint${bits}`, () => whole(random, bits, false)],
    [`int${bits}`, () => whole(random, bits, true)],
  ]);
}

// Returns a type or lists of it, and a function that generates a value.
function listed(random, [type, make], depth = 0) {
  if (depth === 2 || !random.once(3)) return [type, make];
  const size = random.between(1, 3);
  if (random.once(2)) return listed(random, [`${type}[${size}]`, () => Array.from({ length: size }, make)], depth + 1);
  return listed(random, [`${type}[]`, () => random.list(0, 3, make)], depth + 1);
}

// Declares a struct and its nested structs.
function struct(random, types, names, depth) {
  const name = names.shift();
  const members = random.list(1, 6, () => {
    const nests = depth < 3 && names.length > 0 && random.once(3);
    return listed(random, nests ? struct(random, types, names, depth + 1) : atom(random));
  });
  types[name] = members.map(([type], index) => ({ name: random.once(9) ? `with$${index}` : `member${index}`, type }));
  const make = () => Object.fromEntries(members.map(([, value], index) => [types[name][index].name, value()]));
  return [name, make];
}

const MEMBERS = {
  name: ["string", (random) => random.pick(SENTENCES)],
  version: ["string", (random) => String(random.below(10))],
  chainId: ["uint256", (random) => Number(random.edge(53) & ((1n << 53n) - 1n))],
  verifyingContract: ["address", address],
  salt: ["bytes32", (random) => prefixed(random, 32)],
};

// Returns types including that of the domain, the signed type, domain and message.
export function typedData(random) {
  const types = {};
  const [primaryType, make] = struct(random, types, [...NAMES], 0);
  const members = random.once(8) ? [] : Object.keys(MEMBERS).filter(() => random.once(2));
  const domain = Object.fromEntries(members.map((name) => [name, MEMBERS[name][1](random)]));
  const ofDomain = members.map((name) => ({ name, type: MEMBERS[name][0] }));
  return { types: { EIP712Domain: ofDomain, ...types }, primaryType, domain, message: make() };
}
