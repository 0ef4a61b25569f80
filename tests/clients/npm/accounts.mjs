// The unmodified integrations @turnkey/viem, @turnkey/ethers and @turnkey/solana sign with keys of Quorate through both
// clients that they support. viem, ethers and web3.js verify the results, which are printed as one JSON object.
//   node accounts.mjs CREDENTIALS_FILE

import { readFileSync } from "node:fs";
import { TurnkeySigner as EthersSigner } from "@turnkey/ethers";
import { TurnkeyActivityConsensusNeededError, TurnkeyClient } from "@turnkey/http";
import { ApiKeyStamper, Turnkey } from "@turnkey/sdk-server";
import { TurnkeySigner as SolanaSigner } from "@turnkey/solana";
import { createAccount, isTurnkeyActivityConsensusNeededError } from "@turnkey/viem";
import { PublicKey, SystemProgram, Transaction, TransactionMessage, VersionedTransaction } from "@solana/web3.js";
import { Transaction as EthersTransaction, verifyMessage, verifyTypedData } from "ethers";
import { createWalletClient, custom, getAddress, recoverMessageAddress, recoverTransactionAddress, recoverTypedDataAddress } from "viem";
import { mainnet } from "viem/chains";
import { recoverAuthorizationAddress } from "viem/utils";
import { ed25519 } from "@noble/curves/ed25519";

const credentials = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { baseUrl, organizationId, rootUsers } = credentials;
const { publicKey: apiPublicKey, privateKey: apiPrivateKey } = rootUsers[0];
const http = new TurnkeyClient({ baseUrl }, new ApiKeyStamper({ apiPublicKey, apiPrivateKey }));
const server = new Turnkey({
  apiBaseUrl: baseUrl,
  apiPublicKey,
  apiPrivateKey,
  defaultOrganizationId: organizationId,
  activityPoller: { intervalMs: 20, numRetries: 3 },
}).apiClient();

const account = (curve, path, format) => ({
  curve: `CURVE_${curve}`,
  pathFormat: "PATH_FORMAT_BIP32",
  path,
  addressFormat: `ADDRESS_FORMAT_${format}`,
});
const { addresses } = await server.createWallet({
  walletName: "accounts",
  accounts: [account("SECP256K1", "m/44'/60'/0'/0/0", "ETHEREUM"), account("ED25519", "m/44'/501'/0'/0'", "SOLANA")],
});
const [ethereum, solana] = addresses;
const { privateKeys } = await server.createPrivateKeys({
  privateKeys: [
    { privateKeyName: "accounts", curve: "CURVE_SECP256K1", privateKeyTags: [], addressFormats: ["ADDRESS_FORMAT_ETHEREUM"] },
  ],
});
const [{ privateKeyId, addresses: [{ address: keyAddress }] }] = privateKeys;

const domain = { name: "Ether Mail", version: "1", chainId: 1, verifyingContract: "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC" };
const types = {
  Person: [{ name: "name", type: "string" }, { name: "wallet", type: "address" }],
  Mail: [{ name: "from", type: "Person" }, { name: "to", type: "Person" }, { name: "contents", type: "string" }, { name: "fee", type: "uint256" }],
};
const mail = {
  from: { name: "Cow", wallet: "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826" },
  to: { name: "Bob", wallet: "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB" },
  contents: "Hello, Bob!",
  fee: 12_345_678_901_234_567_890n,
};
const to = "0x3535353535353535353535353535353535353535";
const MESSAGES = ["", "hello", "Grüße ☂", { raw: "0x00ff" }];

async function viem(client, signWith, address) {
  const viemAccount = await createAccount({ client, organizationId, signWith });
  // Only the chain id is queried from a node.
  const transport = custom({ request: async ({ method }) => (method === "eth_chainId" ? "0x1" : Promise.reject(new Error(method))) });
  const wallet = createWalletClient({ account: viemAccount, chain: mainnet, transport });
  const messages = [];
  for (const message of MESSAGES) {
    const signature = await wallet.signMessage({ message });
    messages.push((await recoverMessageAddress({ message, signature })) === address);
  }
  const typed = { domain, types, primaryType: "Mail", message: mail };
  const signature = await wallet.signTypedData(typed);
  const bare = { nonce: 7, gas: 21_000n, to, value: 10n ** 18n, chainId: 1 };
  const priced = { maxFeePerGas: 30n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n };
  const authorization = await viemAccount.signAuthorization({ contractAddress: to, chainId: 1, nonce: 3 });
  const transactions = [
    { ...bare, type: "legacy", gasPrice: 10n ** 9n },
    { ...bare, type: "eip2930", gasPrice: 10n ** 9n, accessList: [{ address: to, storageKeys: [`0x${"01".repeat(32)}`] }] },
    { ...bare, ...priced, type: "eip1559" },
    { ...bare, ...priced, type: "eip4844", maxFeePerBlobGas: 1n, blobVersionedHashes: [`0x01${"02".repeat(31)}`] },
    { ...bare, ...priced, type: "eip7702", authorizationList: [authorization] },
  ];
  const signed = [];
  for (const transaction of transactions) {
    const serializedTransaction = await wallet.signTransaction(transaction);
    signed.push((await recoverTransactionAddress({ serializedTransaction })) === address);
  }
  return {
    address: viemAccount.address === address,
    messages,
    typedData: (await recoverTypedDataAddress({ ...typed, signature })) === address,
    authorization: (await recoverAuthorizationAddress({ authorization })) === address,
    transactions: signed,
  };
}

async function ethers(client, signWith, address) {
  const signer = new EthersSigner({ client, organizationId, signWith });
  const messages = [];
  for (const message of ["", "hello", "Grüße ☂", Uint8Array.of(0, 255)]) {
    messages.push(verifyMessage(message, await signer.signMessage(message)) === address);
  }
  const bare = { nonce: 7, gasLimit: 21_000, to, value: 10n ** 18n, chainId: 1 };
  const priced = { maxFeePerGas: 30n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n };
  const transactions = [
    { ...bare, type: 0, gasPrice: 10n ** 9n },
    { ...bare, type: 1, gasPrice: 10n ** 9n, accessList: [{ address: to, storageKeys: [`0x${"01".repeat(32)}`] }] },
    { ...bare, ...priced, type: 2, from: address },
  ];
  const signed = [];
  for (const transaction of transactions) signed.push(EthersTransaction.from(await signer.signTransaction(transaction)).from === address);
  return {
    address: (await signer.getAddress()) === address,
    messages,
    typedData: verifyTypedData(domain, types, mail, await signer.signTypedData(domain, types, mail)) === address,
    transactions: signed,
  };
}

async function solanas(client) {
  const signer = new SolanaSigner({ client, organizationId });
  const from = new PublicKey(solana);
  const recentBlockhash = new PublicKey(Buffer.alloc(32, 7)).toBase58();
  const pay = (lamports) => SystemProgram.transfer({ fromPubkey: from, toPubkey: from, lamports });
  const old = (lamports) => new Transaction({ feePayer: from, recentBlockhash }).add(pay(lamports));
  const versioned = (lamports) => {
    const message = new TransactionMessage({ payerKey: from, recentBlockhash, instructions: [pay(lamports)] });
    return new VersionedTransaction(message.compileToV0Message());
  };
  const verifies = (message, signature) => ed25519.verify(signature, message, from.toBytes(), { zip215: false });
  const holds = (transaction) =>
    transaction instanceof Transaction
      ? transaction.verifySignatures()
      : verifies(transaction.message.serialize(), transaction.signatures[0]);
  const added = [old(1), versioned(2)];
  for (const transaction of added) await signer.addSignature(transaction, solana);
  const signed = [await signer.signTransaction(old(3), solana), await signer.signTransaction(versioned(4), solana)];
  const all = await signer.signAllTransactions([old(5), versioned(6)], solana, organizationId);
  const message = Buffer.from("hello ☂");
  return {
    message: verifies(message, await signer.signMessage(message, solana, organizationId)),
    added: added.map(holds),
    signed: signed.map(holds),
    all: all.map(holds),
  };
}

// Each integration throws its own error when other approvals are needed.
async function waits() {
  await server.updateRootQuorum({ threshold: 2, userIds: rootUsers.map((each) => each.userId) });
  const waiting = await createAccount({ client: http, organizationId, signWith: ethereum });
  const signer = new EthersSigner({ client: http, organizationId, signWith: ethereum });
  const solanaSigner = new SolanaSigner({ client: http, organizationId });
  const isWait = (error) => error instanceof TurnkeyActivityConsensusNeededError && error.activityStatus === "ACTIVITY_STATUS_CONSENSUS_NEEDED";
  const thrown = (call) => call().then(() => new Error("signed"), (error) => error);
  return {
    viem: Boolean(isTurnkeyActivityConsensusNeededError(await thrown(() => waiting.signMessage({ message: "waits" })))),
    ethers: isWait(await thrown(() => signer.signMessage("waits for two"))),
    solana: isWait(await thrown(() => solanaSigner.signMessage(Buffer.from("waits"), solana))),
  };
}

// The error of a part is reported with the results of the others.
async function reported(part) {
  return part().catch((error) => ({ error: String(error.message ?? error) }));
}

const names = [
  [ethereum, getAddress(ethereum)],
  [privateKeyId, getAddress(keyAddress)],
];
const seen = {};
for (const [library, client] of Object.entries({ http, server })) {
  for (const [index, [signWith, address]] of names.entries()) {
    const named = index === 0 ? "account" : "private key";
    seen[`viem, ${named}, ${library}`] = await reported(() => viem(client, signWith, address));
    seen[`ethers, ${named}, ${library}`] = await reported(() => ethers(client, signWith, address));
  }
  seen[`solana, ${library}`] = await reported(() => solanas(client));
}
seen.waits = await reported(waits);
process.stdout.write(JSON.stringify(seen));
