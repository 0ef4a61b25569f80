// This part makes and verifies signatures with WebCrypto. WebCrypto takes points with both coordinates and signatures as
// r and s of 32 bytes each; stamps contain compressed points (SEC 1) and signatures in DER.

const P256 = { name: "ECDSA", namedCurve: "P-256" };
const ES256 = { name: "ECDSA", hash: "SHA-256" };
const PRIME = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
const CURVE_B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

function bigOf(bytes) {
  return BigInt(`0x${hexOf(bytes)}`);
}

function power(base, exponent) {
  let result = 1n;
  for (let square = base % PRIME; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * square) % PRIME;
    square = (square * square) % PRIME;
  }
  return result;
}

// Returns the coordinates of a compressed point of P-256 in hex. Fails if there is no such point.
function pointOf(hex) {
  if (!/^0[23][0-9a-f]{64}$/i.test(hex)) throw new Error("The public key is not a compressed P-256 key.");
  const bytes = bytesOfHex(hex);
  const x = bigOf(bytes.slice(1));
  const square = (((x ** 3n - 3n * x + CURVE_B) % PRIME) + PRIME) % PRIME;
  const root = power(square, (PRIME + 1n) / 4n);
  if (x >= PRIME || (root * root) % PRIME !== square) throw new Error("The public key is not a point of P-256.");
  const y = (root & 1n) === BigInt(bytes[0] & 1) ? root : PRIME - root;
  return { x: bytes.slice(1), y: bytesOfHex(y.toString(16).padStart(64, "0")) };
}

// Returns r and s of a signature in DER. Fails for any other encoding.
function rawOf(der) {
  let rest = der.slice(2);
  if (der[0] !== 0x30 || der[1] !== rest.length || der.length > 72) throw new Error("not a signature in DER");
  const halves = [0, 1].map(() => {
    const [tag, length] = rest;
    const value = rest.slice(2, 2 + length);
    const isShortest = value.length > 0 && value[0] < 0x80 && !(value[0] === 0 && value.length > 1 && value[1] < 0x80);
    if (tag !== 2 || value.length !== length || length > 33 || !isShortest) throw new Error("not a signature in DER");
    rest = rest.slice(2 + length);
    const digits = value[0] === 0 ? value.slice(1) : value;
    return concat(new Uint8Array(32 - digits.length), digits);
  });
  if (rest.length > 0) throw new Error("not a signature in DER");
  return concat(...halves);
}

function derOf(raw) {
  const integer = (half) => {
    let start = 0;
    while (start < 31 && half[start] === 0) start += 1;
    const digits = half[start] >= 0x80 ? concat([0], half.slice(start)) : half.slice(start);
    return concat([2, digits.length], digits);
  };
  const body = concat(integer(raw.slice(0, 32)), integer(raw.slice(32)));
  return concat([0x30, body.length], body);
}

async function verifyP256({ x, y }, der, message) {
  const key = await crypto.subtle.importKey("raw", concat([4], x, y), P256, false, ["verify"]);
  return crypto.subtle.verify(ES256, key, rawOf(der), message);
}

async function signP256(key, message) {
  return derOf(new Uint8Array(await crypto.subtle.sign(ES256, key, message)));
}

// Imports the key of an invitation. WebCrypto has no form of a private key without its public key.
function importSecret(publicKey, privateKey) {
  const { x, y } = pointOf(publicKey);
  const d = base64Of(bytesOfHex(privateKey));
  const key = { kty: "EC", crv: "P-256", x: base64Of(x), y: base64Of(y), d };
  return crypto.subtle.importKey("jwk", key, P256, false, ["sign"]);
}

// Returns the header `X-Stamp` for a body.
async function keyStamp(key, publicKey, body) {
  const signature = hexOf(await signP256(key, utf8(body)));
  return base64Of(utf8(JSON.stringify({ publicKey, scheme: "SIGNATURE_SCHEME_TK_API_P256", signature })));
}

// Returns the challenge of a passkey for a body: the hex digits of its SHA-256 digest.
async function challengeOf(body) {
  return utf8(hexOf(await sha256(utf8(body))));
}

// The two forms of public keys (RFC 9053) that authenticators use for ES256, and for RS256 with 2048 bits.
const COSE_P256 = ["a5010203262001215820", "225820"];
const COSE_RSA = ["a401030339010020590100", "2143010001"];

function coseP256({ x, y }) {
  return concat(bytesOfHex(COSE_P256[0]), x, bytesOfHex(COSE_P256[1]), y);
}

async function verifyCose(publicKey, signature, message) {
  const hex = hexOf(publicKey);
  if (hex.length === 154 && hex.startsWith(COSE_P256[0]) && hex.startsWith(COSE_P256[1], 84)) {
    return verifyP256({ x: publicKey.slice(10, 42), y: publicKey.slice(45) }, signature, message);
  }
  if (hex.length === 544 && hex.startsWith(COSE_RSA[0]) && hex.endsWith(COSE_RSA[1])) {
    const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
    const key = { kty: "RSA", n: base64Of(publicKey.slice(11, 267)), e: "AQAB" };
    return crypto.subtle.verify(algorithm, await crypto.subtle.importKey("jwk", key, algorithm, false, ["verify"]), signature, message);
  }
  throw new Error("a passkey of this type cannot be verified in the browser");
}

// Returns whether an assertion of a passkey (Web Authentication §7.2) is for this body and this key.
async function verifyAssertion(publicKey, text, body) {
  const assertion = JSON.parse(text);
  const data = bytesOfBase64(assertion.authenticatorData);
  const clientData = bytesOfBase64(assertion.clientDataJson);
  const client = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(clientData));
  const isPresent = data.length >= 37 && (data[32] & 1) === 1;
  if (client.type !== "webauthn.get" || client.challenge !== base64Of(await challengeOf(body)) || !isPresent) return false;
  const message = concat(data, await sha256(clientData));
  return verifyCose(bytesOfBase64(publicKey), bytesOfBase64(assertion.signature), message);
}

// The schemes of attested stamps. A temporary key signs; the token that attested it is stored nowhere.
const ATTESTED_ID_TOKEN = "STAMP_ATTESTED_SCHEME_P256_OIDC";
const ATTESTED_VERIFICATION_TOKEN = "STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN";

// Returns whether a vote is signed by its key. Fails if the browser cannot verify its scheme.
async function isSigned({ scheme, publicKey, signature, message }) {
  switch (scheme) {
    case "SIGNATURE_SCHEME_TK_API_P256":
    case ATTESTED_ID_TOKEN:
    case ATTESTED_VERIFICATION_TOKEN:
      return verifyP256(pointOf(publicKey), bytesOfHex(signature), utf8(message));
    case "SIGNATURE_SCHEME_TK_API_ED25519": {
      const key = await crypto.subtle.importKey("raw", bytesOfHex(publicKey), "Ed25519", false, ["verify"]);
      return crypto.subtle.verify("Ed25519", key, bytesOfHex(signature), utf8(message));
    }
    case "SIGNATURE_SCHEME_TK_WEBAUTHN":
      return verifyAssertion(publicKey, signature, message);
    default:
      throw new Error("a browser cannot verify this signature scheme");
  }
}
