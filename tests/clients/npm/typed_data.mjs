// Typed data of EIP-712 by chance: structs in structs, lists, and every type of Solidity that a member may have.

import { getAddress } from "ethers";

const NAMES = ["Mail", "Person", "Order", "Item", "Group", "_Odd$"];
const SENTENCES = ["", "hello", "Grüße ☂ 🦀", 'with "quotes" and \\ and \n', "0x1234", "\u0000"];

export const prefixed = (chance, length) => `0x${chance.hex(length)}`;
export const address = (chance) => {
  const made = getAddress(prefixed(chance, 20));
  return chance.once(2) ? made : made.toLowerCase();
};

// A whole number of this width at which mistakes show.
function whole(chance, bits, isSigned) {
  if (!isSigned) return chance.edge(bits);
  const number = chance.edge(bits - 1);
  return chance.once(2) ? number : -number - 1n;
}

function atom(chance) {
  const bits = 8 * chance.between(1, 32);
  const size = chance.between(1, 32);
  return chance.pick([
    ["address", () => address(chance)],
    ["bool", () => chance.once(2)],
    ["string", () => chance.pick(SENTENCES)],
    ["bytes", () => prefixed(chance, chance.below(100))],
    [`bytes${size}`, () => prefixed(chance, size)],
    [`uint${bits}`, () => whole(chance, bits, false)],
    [`int${bits}`, () => whole(chance, bits, true)],
  ]);
}

// One of these types, or lists of it, and how to make a value of it.
function listed(chance, [type, make], depth = 0) {
  if (depth === 2 || !chance.once(3)) return [type, make];
  const size = chance.between(1, 3);
  if (chance.once(2)) return listed(chance, [`${type}[${size}]`, () => Array.from({ length: size }, make)], depth + 1);
  return listed(chance, [`${type}[]`, () => chance.list(0, 3, make)], depth + 1);
}

// Declares a struct and those that it holds.
function struct(chance, types, names, depth) {
  const name = names.shift();
  const members = chance.list(1, 6, () => {
    const nests = depth < 3 && names.length > 0 && chance.once(3);
    return listed(chance, nests ? struct(chance, types, names, depth + 1) : atom(chance));
  });
  types[name] = members.map(([type], index) => ({ name: chance.once(9) ? `with$${index}` : `member${index}`, type }));
  const make = () => Object.fromEntries(members.map(([, value], index) => [types[name][index].name, value()]));
  return [name, make];
}

const MEMBERS = {
  name: ["string", (chance) => chance.pick(SENTENCES)],
  version: ["string", (chance) => String(chance.below(10))],
  chainId: ["uint256", (chance) => Number(chance.edge(53) & ((1n << 53n) - 1n))],
  verifyingContract: ["address", address],
  salt: ["bytes32", (chance) => prefixed(chance, 32)],
};

// Types with the one of the domain, the type that is signed, domain and message.
export function typedData(chance) {
  const types = {};
  const [primaryType, make] = struct(chance, types, [...NAMES], 0);
  const members = chance.once(8) ? [] : Object.keys(MEMBERS).filter(() => chance.once(2));
  const domain = Object.fromEntries(members.map((name) => [name, MEMBERS[name][1](chance)]));
  const ofDomain = members.map((name) => ({ name, type: MEMBERS[name][0] }));
  return { types: { EIP712Domain: ofDomain, ...types }, primaryType, domain, message: make() };
}
