// The script of the pages for people who have a browser and no console. It uses no library and loads nothing.
//
// This part converts bytes and untrusted text.
"use strict";

// Characters that are invisible, or that move or reorder other text, as in the console's `tui/src/text/sanitize.rs`.
const HIDDEN =
  /[\p{Cc}\p{Cs}\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
const MARKS_SHOWN = 4;

function codePoint(character) {
  return `<U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`;
}

// Returns the text with each hidden character replaced by its code point. Nothing is removed silently.
function clean(value) {
  return String(value)
    .replace(HIDDEN, codePoint)
    .replace(/^\p{M}/u, codePoint)
    .replace(/\p{M}{5,}/gu, (marks) => {
      const all = Array.from(marks);
      return `${all.slice(0, MARKS_SHOWN).join("")}<+${all.length - MARKS_SHOWN} marks>`;
    });
}

// Returns whether a word mixes Latin letters with letters that look like them.
function isMixed(text) {
  return String(text)
    .split(/\s+/)
    .some((word) => /\p{Script=Latin}/u.test(word) && /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u.test(word));
}

function utf8(text) {
  return new TextEncoder().encode(text);
}

function concat(...parts) {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    out.set(part, offset);
    offset += part.length;
  }
  return out;
}

function hexOf(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function bytesOfHex(hex) {
  if (!/^([0-9a-f]{2})*$/i.test(hex)) throw new Error("not hexadecimal");
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

// Returns base64url without padding (RFC 4648 §5).
function base64Of(bytes) {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytesOfBase64(text) {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) throw new Error("not base64url");
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
}

async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

// Returns the fingerprint of a body.
async function fingerprintOf(text) {
  return `sha256:${hexOf(await sha256(utf8(text)))}`;
}
