// Private keys, their tags, wallets, signing, import and export, through the clients' own methods. An independent
// library verifies signatures, and @turnkey/crypto encrypts and decrypts bundles.

import { secp256k1 } from "@noble/curves/secp256k1";
import { sha256 } from "@noble/hashes/sha2";
import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils";
import {
  decryptExportBundle,
  encryptPrivateKeyToBundle,
  encryptWalletToBundle,
  formatHpkeBuf,
  generateP256KeyPair,
  hpkeEncrypt,
} from "@turnkey/crypto";
import { credentials, named, plain, result } from "./watch.mjs";

export async function privateKeys({ alice }) {
  const seen = {};
  const create = await alice.createPrivateKeys({
    privateKeys: [
      { privateKeyName: "npm", curve: "CURVE_SECP256K1", privateKeyTags: [], addressFormats: ["ADDRESS_FORMAT_ETHEREUM"] },
    ],
  });
  const [created] = create.privateKeys;
  const privateKeyId = named("private key", created.privateKeyId);
  named("private key address", created.addresses[0].address);
  seen.create = result(create);
  const stored = await alice.getPrivateKey({ privateKeyId });
  named("private key point", stored.privateKey.publicKey);
  seen.get = plain(stored);
  const list = async () => plain((await alice.getPrivateKeys({})).privateKeys.map((each) => each.privateKeyId));
  seen.list = await list();
  seen.delete = result(await alice.deletePrivateKeys({ privateKeyIds: [privateKeyId], deleteWithoutExport: true }));
  seen.left = await list();
  return seen;
}

export async function keyTags({ alice }) {
  const seen = {};
  const { privateKeys } = await alice.createPrivateKeys({
    privateKeys: ["one", "two"].map((privateKeyName) => ({
      privateKeyName,
      curve: "CURVE_ED25519",
      privateKeyTags: [],
      addressFormats: [],
    })),
  });
  const [one, two] = privateKeys.map(({ privateKeyId }, index) => named(`tagged key ${index}`, privateKeyId));
  const create = await alice.createPrivateKeyTag({ privateKeyTagName: "npm", privateKeyIds: [one] });
  const privateKeyTagId = named("key tag", create.privateKeyTagId);
  seen.create = result(create);
  seen.update = result(
    await alice.updatePrivateKeyTag({
      privateKeyTagId,
      newPrivateKeyTagName: "npm renamed",
      addPrivateKeyIds: [two],
      removePrivateKeyIds: [one],
    }),
  );
  seen.list = plain(await alice.listPrivateKeyTags({}));
  const tags = async () => {
    const { privateKeys } = await alice.getPrivateKeys({});
    return plain(Object.fromEntries(privateKeys.map((each) => [each.privateKeyName, each.privateKeyTags])));
  };
  seen.tags = await tags();
  seen.delete = result(await alice.deletePrivateKeyTags({ privateKeyTagIds: [privateKeyTagId] }));
  seen.left = plain(await alice.listPrivateKeyTags({}));
  seen.untagged = await tags();
  await alice.deletePrivateKeys({ privateKeyIds: [one, two], deleteWithoutExport: true });
  return seen;
}

function verified({ r, s, v }, text, publicKey) {
  const digest = sha256(utf8ToBytes(text));
  const signature = secp256k1.Signature.fromCompact(r + s);
  const recovered = signature.addRecoveryBit(Number.parseInt(v, 16)).recoverPublicKey(digest).toHex(false);
  return secp256k1.verify(signature, digest, publicKey) && recovered === publicKey;
}

async function signatures(alice, signWith) {
  const how = { signWith, encoding: "PAYLOAD_ENCODING_TEXT_UTF8", hashFunction: "HASH_FUNCTION_SHA256" };
  const { activity, ...signed } = await alice.signRawPayload({ ...how, payload: "one" });
  const { activity: more, ...all } = await alice.signRawPayloads({ ...how, payloads: ["two", "three"] });
  return {
    members: [Object.keys(signed).sort(), Object.keys(all), all.signatures.map((each) => Object.keys(each).sort())],
    verified: [signed, ...all.signatures].map((each, index) => verified(each, ["one", "two", "three"][index], signWith)),
  };
}

// Returns the items of an RLP list with short items only.
function members(bytes) {
  const items = [];
  for (let at = bytes[0] < 0xf8 ? 1 : 2; at < bytes.length; ) {
    const isByte = bytes[at] < 0x80;
    const [from, size] = isByte ? [at, 1] : [at + 1, bytes[at] - 0x80];
    items.push(bytesToHex(bytes.subarray(from, from + size)));
    at = from + size;
  }
  return items;
}

// The example of EIP-155: one ether, on chain 1.
const UNSIGNED = "ec098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a764000080018080";

async function transaction(alice, signWith) {
  const how = { signWith, type: "TRANSACTION_TYPE_ETHEREUM", unsignedTransaction: UNSIGNED };
  const { activity, ...signed } = await alice.signTransaction(how);
  const unsignedMembers = members(hexToBytes(UNSIGNED)).slice(0, 6);
  const signedMembers = members(hexToBytes(signed.signedTransaction));
  const [v, r, s] = signedMembers.slice(6);
  const signature = secp256k1.Signature.fromCompact(r.padStart(64, "0") + s.padStart(64, "0"));
  const key = signature.addRecoveryBit(Number.parseInt(v, 16) - 37).recoverPublicKey(keccak_256(hexToBytes(UNSIGNED)));
  const address = `0x${bytesToHex(keccak_256(key.toBytes(false).subarray(1)).subarray(12))}`;
  return { members: Object.keys(signed), same: String(unsignedMembers) === String(signedMembers.slice(0, 6)), signer: address === signWith.toLowerCase() };
}

const account = (index, addressFormat, name) => ({
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: `m/44'/60'/0'/0/${index}`,
  addressFormat,
  name,
});

export async function wallets({ alice }) {
  const seen = {};
  const create = await alice.createWallet({ walletName: "npm", accounts: [account(0, "ADDRESS_FORMAT_UNCOMPRESSED")] });
  const walletId = named("wallet", create.walletId);
  const point = named("point", create.addresses[0]);
  seen.create = result(create);
  seen.update = result(await alice.updateWallet({ walletId, walletName: "npm renamed" }));
  seen.get = plain(await alice.getWallet({ walletId }));
  const list = async () => plain((await alice.getWallets({})).wallets.map((each) => each.walletId));
  seen.list = await list();

  const more = await alice.createWalletAccounts({ walletId, accounts: [account(1, "ADDRESS_FORMAT_ETHEREUM", "ethereum")] });
  const address = named("address", more.addresses[0]);
  seen.createAccounts = result(more);
  const accounts = async () => (await alice.getWalletAccounts({ walletId })).accounts;
  for (const each of await accounts()) {
    named(`account ${each.path}`, each.walletAccountId);
    named(`point ${each.path}`, each.publicKey);
  }
  named("point", point);
  seen.accounts = plain((await accounts()).map((each) => [each.walletAccountId, each.address, each.path]));
  const stored = await alice.getWalletAccount({ walletId, address });
  seen.account = plain(stored);
  seen.signatures = await signatures(alice, point);
  seen.transaction = await transaction(alice, more.addresses[0]);
  const { walletAccountId } = stored.account;
  seen.deleteAccounts = result(await alice.deleteWalletAccounts({ walletAccountIds: [walletAccountId], deleteWithoutExport: true }));
  seen.accountsLeft = plain((await accounts()).map((each) => each.walletAccountId));
  seen.delete = result(await alice.deleteWallets({ walletIds: [walletId], deleteWithoutExport: true }));
  seen.left = await list();
  return seen;
}

// A mnemonic, and its public test vector: the key and the address at this path.
const MNEMONIC = `${"abandon ".repeat(11)}about`;
const SCALAR = "1ab42cc412b618bdea3a599e3c9bae199ebf030895b039e9db1e30dafb12b727";
const FIRST = account(0, "ADDRESS_FORMAT_ETHEREUM", "first");

const trust = {
  organizationId: credentials.organizationId,
  dangerouslyOverrideSignerPublicKey: credentials.quorumPublicKey,
};

// Returns the answer to an export, and the decrypted content of its bundle.
async function opened(request, how) {
  const target = generateP256KeyPair();
  const answer = await request(target.publicKeyUncompressed);
  const exportBundle = named("export bundle", answer.exportBundle);
  const secret = await decryptExportBundle({ ...trust, exportBundle, embeddedKey: target.privateKey, ...how });
  return { answer: result(answer), secret };
}

// Returns the answer to the start of an import, and a bundle with the encrypted secret.
async function begun(request, encrypt, secret) {
const answer = await request;
  const importBundle = named("import bundle", answer.importBundle);
  return { answer: result(answer), bundle: await encrypt({ ...trust, ...secret, importBundle }) };
}

export async function importedWallets({ alice, first: { userId } }) {
  const seen = {};
  const init = await begun(alice.initImportWallet({ userId }), encryptWalletToBundle, { mnemonic: MNEMONIC, userId });
  seen.init = init.answer;
  const created = await alice.importWallet({ userId, walletName: "in and out", encryptedBundle: init.bundle, accounts: [FIRST] });
  const walletId = named("imported wallet", created.walletId);
  seen.import = result(created);
  seen.get = plain(await alice.getWallet({ walletId }));
  const [address] = created.addresses;
  seen.account = await opened((targetPublicKey) => alice.exportWalletAccount({ address, targetPublicKey }), {
    keyFormat: "HEXADECIMAL",
    returnMnemonic: false,
  });
  seen.export = await opened((targetPublicKey) => alice.exportWallet({ walletId, targetPublicKey }), { returnMnemonic: true });
  seen.exported = (await alice.getWallet({ walletId })).wallet.exported;
  seen.delete = result(await alice.deleteWallets({ walletIds: [walletId] }));
  return seen;
}

export async function importedKeys({ alice, first: { userId } }) {
  const seen = {};
  const secret = { privateKey: SCALAR, keyFormat: "HEXADECIMAL", userId };
  const init = await begun(alice.initImportPrivateKey({ userId }), encryptPrivateKeyToBundle, secret);
  seen.init = init.answer;
  const how = { privateKeyName: "in and out", curve: "CURVE_SECP256K1", addressFormats: ["ADDRESS_FORMAT_ETHEREUM"] };
  const created = await alice.importPrivateKey({ userId, encryptedBundle: init.bundle, ...how });
  const privateKeyId = named("imported key", created.privateKeyId);
  seen.import = result(created);
  seen.get = plain(await alice.getPrivateKey({ privateKeyId }));
  seen.export = await opened((targetPublicKey) => alice.exportPrivateKey({ privateKeyId, targetPublicKey }), {
    keyFormat: "HEXADECIMAL",
    returnMnemonic: false,
  });
  seen.exported = (await alice.getPrivateKey({ privateKeyId })).privateKey.exported;
  seen.delete = result(await alice.deletePrivateKeys({ privateKeyIds: [privateKeyId] }));
  return seen;
}

const SUITE = "TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1";

export async function secrets({ alice, raw }) {
  const seen = {};
  const { activity } = await raw.initImportSecrets({
    type: "ACTIVITY_TYPE_INIT_IMPORT_SECRETS",
    timestampMs: String(Date.now()),
    organizationId: credentials.organizationId,
    parameters: { encryptionSuite: SUITE, numSecrets: 1 },
  });
  const [message] = activity.result.initImportSecretsResult.enclaveTargetMessages;
  const { targetPublic } = JSON.parse(new TextDecoder().decode(hexToBytes(JSON.parse(message).data)));
  const sealed = hpkeEncrypt({ plainTextBuf: utf8ToBytes("a password"), targetKeyBuf: hexToBytes(targetPublic) });
  const secret = {
    name: "npm",
    secretPayload: formatHpkeBuf(sealed),
    targetPublicKey: targetPublic,
    encryptionSuite: SUITE,
    staticProperties: [{ key: "stage", value: "test" }],
  };
  const created = await alice.importSecrets({ secrets: [secret] });
  const secretId = named("secret", created.secretIds[0]);
  seen.import = result(created);
  seen.list = plain(await alice.listSecrets({}));
  const target = generateP256KeyPair();
  const out = await alice.exportSecrets({
    secrets: [{ secretId, targetPublicKey: target.publicKeyUncompressed, encryptionSuite: SUITE, requestContext: [] }],
  });
  const exportBundle = named("secret payload", out.secretPayloads[0]);
  seen.export = result(out);
  seen.secret = await decryptExportBundle({ ...trust, exportBundle, embeddedKey: target.privateKey, returnMnemonic: true });
  // Clients have a method for this since version 6.4.
  if (!raw.deleteSecrets) return seen;
  const deleted = await raw.deleteSecrets({
    type: "ACTIVITY_TYPE_DELETE_SECRETS",
    timestampMs: String(Date.now()),
    organizationId: credentials.organizationId,
    parameters: { secretIds: [secretId] },
  });
  seen.deleted = [deleted.activity.status, plain(deleted.activity.result), plain(await alice.listSecrets({}))];
  return seen;
}
