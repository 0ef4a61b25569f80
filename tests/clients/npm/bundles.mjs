// Imports and exports wallets and private keys with the unmodified helpers of @turnkey/crypto, configured with the key
// that signs bundles. Prints its observations as one JSON object, which the scenario checks.
//   node bundles.mjs CREDENTIALS_FILE

import { readFileSync } from "node:fs";
import { Turnkey } from "@turnkey/sdk-server";
import { decryptExportBundle, encryptPrivateKeyToBundle, encryptWalletToBundle, generateP256KeyPair } from "@turnkey/crypto";
import { ed25519 } from "@noble/curves/ed25519";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils";
import bs58 from "bs58";

const credentials = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { organizationId, quorumPublicKey, rootUsers } = credentials;
const trust = { organizationId, dangerouslyOverrideSignerPublicKey: quorumPublicKey };
const [alice, bob] = rootUsers.map(({ publicKey, privateKey, userId }) => {
  const how = { apiBaseUrl: credentials.baseUrl, apiPublicKey: publicKey, apiPrivateKey: privateKey };
  const api = new Turnkey({ ...how, defaultOrganizationId: organizationId, activityPoller: { intervalMs: 20, numRetries: 3 } });
  return { ...api.apiClient(), userId };
});

// Addresses of this mnemonic, which other implementations compute, too.
const MNEMONIC = `${"abandon ".repeat(11)}about`;
const { rows } = JSON.parse(readFileSync(new URL("../../../assets/vectors/chain/addresses.json", import.meta.url), "utf8"));
const accounts = rows.map(({ format, curve, path }) => ({ curve, path, pathFormat: "PATH_FORMAT_BIP32", addressFormat: format }));
const row = (format) => rows.find((each) => each.format === `ADDRESS_FORMAT_${format}`);

// Returns the error of a call, or its unexpected answer.
async function answer(call) {
  try {
    return { unexpected: await call() };
  } catch ({ code, message }) {
    return { code: code ?? null, message: message.split(" (Details: ")[0] };
  }
}

// The same bundle with one digit of its ciphertext changed.
function damaged(bundle) {
  const { ciphertext, ...rest } = JSON.parse(bundle);
  return JSON.stringify({ ...rest, ciphertext: (ciphertext[0] === "0" ? "1" : "0") + ciphertext.slice(1) });
}

async function walletBundle(mnemonic, user = alice) {
  const { importBundle } = await user.initImportWallet({ userId: user.userId });
  return encryptWalletToBundle({ ...trust, mnemonic, importBundle, userId: user.userId });
}

async function keyBundle(privateKey, keyFormat) {
  const { importBundle } = await alice.initImportPrivateKey({ userId: alice.userId });
  return encryptPrivateKeyToBundle({ ...trust, privateKey, keyFormat, importBundle, userId: alice.userId });
}

const importWallet = (walletName, encryptedBundle, wanted = accounts, user = alice) =>
  user.importWallet({ userId: user.userId, walletName, encryptedBundle, accounts: wanted });

// Requests an export and decrypts it with a new key.
async function opened(request, how = {}) {
  const target = generateP256KeyPair();
  const { exportBundle } = await request(target.publicKeyUncompressed);
  return decryptExportBundle({ ...trust, exportBundle, embeddedKey: target.privateKey, returnMnemonic: false, ...how });
}

const mnemonicOf = (walletId) => opened((targetPublicKey) => alice.exportWallet({ walletId, targetPublicKey }), { returnMnemonic: true });
const exportKey = (privateKeyId, keyFormat) => opened((targetPublicKey) => alice.exportPrivateKey({ privateKeyId, targetPublicKey }), { keyFormat });
const exportAccount = (address, keyFormat) =>
  opened((targetPublicKey) => alice.exportWalletAccount({ address, targetPublicKey }), { keyFormat });

// A seed cannot be imported while it exists, so wallets are deleted.
const deleteWallet = (walletId) => alice.deleteWallets({ walletIds: [walletId], deleteWithoutExport: true });

async function wallets() {
  const bundle = await walletBundle(MNEMONIC);
  const created = await importWallet("imported", bundle);
  const { wallet } = await alice.getWallet({ walletId: created.walletId });
  const flags = async () => {
    const current = await alice.getWallet({ walletId: created.walletId });
    return { imported: current.wallet.imported, exported: current.wallet.exported };
  };
  const before = await flags();
  const secrets = {};
  for (const { address, private: secret } of rows.filter((each) => each.private)) secrets[address] = [await exportAccount(address), secret];
  const { address } = row("SOLANA");
  const solana = bs58.decode(await exportAccount(address, "SOLANA"));
  const mnemonic = await mnemonicOf(created.walletId);
  const after = await flags();
  const again = await walletBundle(MNEMONIC);
  const twice = await answer(() => importWallet("imported again", again));
  await deleteWallet(created.walletId);
  return {
    name: wallet.walletName,
    addresses: created.addresses,
    mnemonic,
    before,
    after,
    twice,
    secrets,
    solana: [bs58.encode(solana.subarray(32)), bs58.encode(ed25519.getPublicKey(solana.subarray(0, 32))), address],
  };
}

async function lengths() {
  const seen = {};
  for (const mnemonicLength of [12, 15, 18, 21, 24]) {
    const { walletId, addresses } = await alice.createWallet({ walletName: `of ${mnemonicLength}`, mnemonicLength, accounts: [accounts[0]] });
    const mnemonic = await mnemonicOf(walletId);
    const again = await importWallet(`of ${mnemonicLength} again`, await walletBundle(mnemonic), [accounts[0]]);
    seen[mnemonic.split(" ").length] = again.addresses[0] === addresses[0] && (await mnemonicOf(again.walletId)) === mnemonic;
  }
  return seen;
}

async function keys() {
  const seen = {};
  const { private: scalar, address } = row("ETHEREUM");
  const seed = new Uint8Array(32).fill(7);
  const pair = bs58.encode(Uint8Array.of(...seed, ...ed25519.getPublicKey(seed)));
  const cases = {
    hexadecimal: [scalar, "HEXADECIMAL", "CURVE_SECP256K1", "ETHEREUM", address, scalar],
    prefixed: [`0x${scalar}`, "HEXADECIMAL", "CURVE_SECP256K1", "ETHEREUM", address, scalar],
    seed: [bytesToHex(seed), "HEXADECIMAL", "CURVE_ED25519", "SOLANA", bs58.encode(ed25519.getPublicKey(seed)), bytesToHex(seed)],
    solana: [pair, "SOLANA", "CURVE_ED25519", "SOLANA", bs58.encode(ed25519.getPublicKey(seed)), pair],
  };
  for (const [name, [secret, keyFormat, curve, format, wanted, out]] of Object.entries(cases)) {
    const encryptedBundle = await keyBundle(secret, keyFormat);
    const how = { userId: alice.userId, privateKeyName: name, curve, addressFormats: [`ADDRESS_FORMAT_${format}`] };
    const created = await alice.importPrivateKey({ ...how, encryptedBundle });
    seen[name] = [created.addresses.map((each) => each.address).join(), wanted, await exportKey(created.privateKeyId, keyFormat), out];
    await alice.deletePrivateKeys({ privateKeyIds: [created.privateKeyId] });
  }
  return seen;
}

// Each user has at most five targets. The sixth replaces the oldest.
async function targets() {
  const bundles = [];
  for (let left = 6; left > 0; left--) bundles.push(await walletBundle(MNEMONIC));
  const [oldest, next] = bundles;
  return {
    oldest: await answer(() => importWallet("oldest", oldest, [accounts[0]])),
    next: (await importWallet("next", next, [accounts[0]])).addresses,
  };
}

async function whole(bundle) {
  const { walletId, addresses } = await importWallet("whole", bundle, [accounts[0]]);
  await deleteWallet(walletId);
  return addresses;
}

async function rejections() {
  const { walletId } = await alice.createWallet({ walletName: "wanted", accounts: [accounts[0]] });
  const fresh = await walletBundle(MNEMONIC);
  const used = await walletBundle(MNEMONIC);
  await deleteWallet((await importWallet("once", used, [accounts[0]])).walletId);
  const ofBob = await walletBundle(MNEMONIC, bob);
  const { importBundle } = await alice.initImportWallet({ userId: alice.userId });
  const key = (privateKeyName, encryptedBundle, curve = "CURVE_SECP256K1") =>
    alice.importPrivateKey({ userId: alice.userId, privateKeyName, encryptedBundle, curve, addressFormats: [] });
  const zero = await keyBundle("00".repeat(32), "HEXADECIMAL");
  const order = await keyBundle("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", "HEXADECIMAL");
  const short = await keyBundle("11".repeat(31), "HEXADECIMAL");
  const checksum = await walletBundle("abandon ".repeat(12).trim());
  const words = await walletBundle("abandon ".repeat(10) + "about");
  return {
    damaged: await answer(() => importWallet("damaged", damaged(fresh))),
    twice: await answer(() => importWallet("twice", used, [accounts[0]])),
    ofBob: await answer(() => importWallet("of bob", ofBob)),
    forBob: await answer(() => alice.initImportWallet({ userId: bob.userId })),
    asBob: await answer(() => alice.importWallet({ userId: bob.userId, walletName: "as bob", encryptedBundle: ofBob, accounts: [] })),
    noBundle: await answer(() => importWallet("no bundle", "{}")),
    walletAsKey: await answer(() => key("wallet as key", fresh)),
    checksum: await answer(() => importWallet("checksum", checksum)),
    words: await answer(() => importWallet("words", words)),
    zero: await answer(() => key("zero", zero)),
    order: await answer(() => key("order", order)),
    short: await answer(() => key("short", short)),
    target: await answer(() => alice.exportWallet({ walletId, targetPublicKey: "04".padEnd(130, "0") })),
    // The undamaged bundle can still be imported.
    whole: await whole(fresh),
    // Bundles that the client itself rejects.
    otherKey: await answer(() => encryptWalletToBundle({ mnemonic: MNEMONIC, importBundle, userId: alice.userId, organizationId })),
    otherUser: await answer(() => encryptWalletToBundle({ ...trust, mnemonic: MNEMONIC, importBundle, userId: bob.userId })),
    otherOrganization: await answer(() =>
      encryptWalletToBundle({ ...trust, mnemonic: MNEMONIC, importBundle, userId: alice.userId, organizationId: bob.userId }),
    ),
  };
}

// Returns the member names of the data that the server signs, in order.
async function schemas() {
  const { importBundle } = await alice.initImportWallet({ userId: alice.userId });
  const target = generateP256KeyPair();
  const { walletId } = await alice.createWallet({ walletName: "shape", accounts: [] });
  const { exportBundle } = await alice.exportWallet({ walletId, targetPublicKey: target.publicKey });
  const members = (bundle) => {
    const { version, data, dataSignature, enclaveQuorumPublic, ...rest } = JSON.parse(bundle);
    const signed = JSON.parse(new TextDecoder().decode(hexToBytes(data)));
    return {
      version,
      rest: Object.keys(rest),
      key: enclaveQuorumPublic === quorumPublicKey,
      der: /^30[0-9a-f]+$/.test(dataSignature),
      members: Object.keys(signed),
      organizationId: signed.organizationId,
    };
  };
  const compressed = await decryptExportBundle({ ...trust, exportBundle, embeddedKey: target.privateKey, returnMnemonic: true });
  return { import: members(importBundle), export: members(exportBundle), compressedTarget: compressed.split(" ").length };
}

const seen = {};
for (const [name, part] of Object.entries({ wallets, lengths, keys, rejections, schemas, targets })) seen[name] = await part();
process.stdout.write(JSON.stringify(seen));
