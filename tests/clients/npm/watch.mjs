// Shared parts of the catalogue: unmodified clients of @turnkey/sdk-server and @turnkey/http that record which of their
// methods were called, and comparable answers, in which values that differ in each run are replaced by names.

import { readFileSync } from "node:fs";
import { TurnkeyClient } from "@turnkey/http";
import { Turnkey } from "@turnkey/sdk-server";
import { p256 } from "@noble/curves/p256";
import { bytesToHex } from "@noble/hashes/utils";

export const credentials = JSON.parse(readFileSync(process.argv[2], "utf8"));
const methods = { "sdk-server": new Set(), http: new Set() };
const names = new Map();

// Registers the name of a value that differs in each run.
export function named(name, value) {
  names.set(value, `<${name}>`);
  return value;
}

// Replaces values that differ in each run by their names.
export function plain(value) {
  if (typeof value === "string") return names.get(value) ?? (/^\d{13}$/.test(value) ? "<time>" : value);
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  const members = Object.keys(value).sort();
  if (members.join() === "nanos,seconds" && members.every((each) => /^\d+$/.test(value[each]))) return "<time>";
  return Object.fromEntries(members.map((each) => [each, plain(value[each])]));
}

// Returns the result of a completed activity, whose members sdk-server puts next to the activity.
export function result({ activity, ...members }) {
  if (activity.status !== "ACTIVITY_STATUS_COMPLETED") throw new Error(`${activity.type} is ${activity.status}`);
  return plain(members);
}

// Returns the error of a call. The client appends the details to the message.
export async function failure(call) {
  try {
    return { unexpected: plain(await call()) };
  } catch (error) {
    return plain({ name: error.name, code: error.code ?? null, message: error.message.split(" (Details: ")[0] });
  }
}

export function keyPair(name) {
  const secret = p256.utils.randomPrivateKey();
  const publicKey = named(name, bytesToHex(p256.getPublicKey(secret, true)));
  return { publicKey, privateKey: bytesToHex(secret) };
}

function watched(library, client) {
  return new Proxy(client, {
    get(target, method) {
      const value = target[method];
      if (typeof value === "function") methods[library].add(method);
      return value;
    },
  });
}

function bare({ publicKey, privateKey }, organizationId = credentials.organizationId) {
  return new Turnkey({
    apiBaseUrl: credentials.baseUrl,
    apiPublicKey: publicKey,
    apiPrivateKey: privateKey,
    defaultOrganizationId: organizationId,
    activityPoller: { intervalMs: 20, numRetries: 3 },
  }).apiClient();
}

// A client whose calls are not counted.
export const bareHttp = (key) => new TurnkeyClient({ baseUrl: credentials.baseUrl }, bare(key).stamper);

export const client = (key, organizationId) => watched("sdk-server", bare(key, organizationId));
export const http = (key) => watched("http", bareHttp(key));

// Each method for an operation has a counterpart that only stamps, and returns the URL of the request.
async function operations(client) {
  const paths = {};
  for (const method of Object.keys(client)) {
    const stamp = client[`stamp${method[0].toUpperCase()}${method.slice(1)}`];
    if (stamp) paths[method] = new URL((await stamp({})).url).pathname;
  }
  return paths;
}

// Returns the operation of each method of each client, and the called methods.
export async function coverage() {
  const [key] = credentials.rootUsers;
  return {
    "sdk-server": { has: await operations(bare(key)), called: [...methods["sdk-server"]].sort() },
    http: { has: await operations(bareHttp(key)), called: [...methods.http].sort() },
  };
}
