// The script of the pages for people who have a browser and no console. It uses no library and loads nothing.
//
// This part converts bytes and untrusted text.
"use strict";

// Characters that are invisible, or that move or reorder other text: `assets/vectors/hidden.txt`, as in the console.
const HIDDEN = /[\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]|(?! )\p{Zs}/gu;
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

// Letters of other scripts that look like ASCII letters or digits (UTS 39 §4), as ranges. The console knows further scripts.
const LOOKS_LATIN = new RegExp(
  `^[${[
    "\\u037f\\u0391\\u0392\\u0395-\\u0397\\u0399\\u039a\\u039c\\u039d\\u039f\\u03a1\\u03a4\\u03a5\\u03a7\\u03b1\\u03b3\\u03b9\\u03bd",
    "\\u03bf\\u03c1\\u03c3\\u03c5\\u03d2\\u03dc\\u03e8\\u03ec\\u03ed\\u03f1-\\u03f3\\u03f8-\\u03fa\\u0405\\u0406\\u0408\\u0410\\u0412",
    "\\u0415\\u0417\\u041a\\u041c-\\u041e\\u0420-\\u0423\\u0425\\u042b\\u042c\\u042e\\u0430\\u0431\\u0433\\u0435\\u043e\\u0440\\u0441",
    "\\u0443\\u0445\\u0448\\u0455\\u0456\\u0458\\u0461\\u0474\\u0475\\u0478\\u0479\\u04ae\\u04af\\u04ba\\u04bb\\u04bd\\u04c0\\u04cf",
    "\\u04d4\\u04d5\\u04e0\\u0501\\u050c\\u051a-\\u051d\\u0545\\u054d\\u054f\\u0555\\u0560\\u0561\\u0563\\u0566\\u0570\\u0575\\u0578",
    "\\u057c\\u057d\\u0581\\u0582\\u0584\\u0585\\u10b9\\u10bd\\u10c7\\u10cd\\u10e7\\u10fd\\u10ff\\u13a0-\\u13a2\\u13a5\\u13a9-\\u13ac",
    "\\u13b3\\u13b7\\u13bb\\u13bd\\u13c0\\u13c2\\u13c3\\u13ce\\u13cf\\u13d2\\u13d4\\u13d5\\u13d9\\u13da\\u13de\\u13df\\u13e2\\u13e6",
    "\\u13e7\\u13ee\\u13f3\\u13f4\\u1c82-\\u1c84\\u1c95\\u1cb7\\u1cbd\\u1cbf\\u1d26\\u2c82\\u2c85\\u2c8c-\\u2c8e\\u2c92-\\u2c94",
    "\\u2c98\\u2c9a\\u2c9c\\u2c9e\\u2c9f\\u2ca2-\\u2ca6\\u2ca8\\u2ca9\\u2cac\\u2cbd\\u2cc4\\u2cca-\\u2ccc\\u2cce-\\u2cd0\\u2cd2",
    "\\u2cd3\\u2cdc\\u2d2d\\ua4d0-\\ua4d4\\ua4d6\\ua4d7\\ua4d9\\ua4da\\ua4dc\\ua4dd\\ua4df-\\ua4e3\\ua4e6\\ua4e7\\ua4ea-\\ua4ec",
    "\\ua4ee\\ua4f0\\ua4f2-\\ua4f4\\ua644\\ua647\\ua698\\ua699\\uab75\\uab81\\uab83\\uab93\\uab9e\\uaba4\\uaba9\\uabaa\\uabaf\\uabbe",
  ].join("")}]$`,
  "u",
);
const SCRIPTS = ["Latin", "Cyrillic", "Greek", "Armenian", "Cherokee", "Coptic", "Georgian", "Lisu", "Hebrew", "Arabic"].map(
  (name) => new RegExp(`\\p{Script=${name}}`, "u"),
);
const OTHER_LETTER = /(?!\p{Script=Latin}|\p{Script=Common}|\p{Script=Inherited})\p{L}/u;

// Returns whether a word mixes letters of several scripts that no single language mixes.
function isMixed(text) {
  const mixes = (word) => (SCRIPTS[0].test(word) && OTHER_LETTER.test(word)) || SCRIPTS.filter((script) => script.test(word)).length > 1;
  return String(text).split(/\s+/).some(mixes);
}

// Returns whether a word looks Latin as a whole and has letters of another script, or letters of no script.
function imitatesLatin(text) {
  const isAscii = (word) => /^[ -~]*$/.test(word);
  const imitates = (letter) => LOOKS_LATIN.test(letter) || (/(?=\p{Script=Common})\p{L}/u.test(letter) && isAscii(letter.normalize("NFKC")));
  return String(text)
    .split(/\s+/)
    .some((word) => !isAscii(word) && Array.from(word).every((letter) => isAscii(letter) || imitates(letter)));
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
