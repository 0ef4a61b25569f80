// Tron transactions by tronweb without a node: supported contracts, which are signed, and other contracts and owners,
// which are rejected.

import { TronWeb, utils } from "tronweb";
import { SPOILED, privateKey, refused, same, sign, verify, wallet } from "./verifier.mjs";

const { Transaction } = globalThis.TronWebProto;
// tronweb requires the URL of a node, which it does not use here.
const { transactionBuilder: builder } = new TronWeb({ fullHost: "http://node.invalid" });

const [account] = await wallet("tron", [["SECP256K1", "m/44'/195'/0'/0/0", "TRON"]]);
const key = await privateKey("tron", "SECP256K1", ["TRON"]);
const signers = [
  [account.address, account.address],
  [account.publicKey, account.address],
  [key.id, key.addresses[0]],
  [key.addresses[0], key.addresses[0]],
];

const SAFE = (1n << 53n) - 1n;
const amount = (random) => Number((random.edge(53) & SAFE) || 1n);
const address = (random) => TronWeb.address.fromHex(`41${random.hex(20)}`);
const resource = (random) => random.pick(["BANDWIDTH", "ENERGY"]);

function options(random) {
  const timestamp = 1_700_000_000_000 + random.below(2 ** 40);
  return {
    blockHeader: {
      ref_block_bytes: random.hex(2),
      ref_block_hash: random.hex(8),
      timestamp,
      expiration: timestamp + random.between(1, 86_400_000),
    },
    ...(random.once(4) ? { permissionId: random.between(2, 9) } : {}),
  };
}

async function called(random, owner, how) {
  const parameters = [
    { type: "address", value: address(random) },
    { type: "uint256", value: random.edge(256).toString() },
  ];
  const [selector, given] = random.pick([
    ["transfer(address,uint256)", parameters],
    ["approve(address,uint256)", parameters],
    ["deposit()", []],
    ["store(bytes)", [{ type: "bytes", value: `0x${random.hex(random.below(300))}` }]],
  ]);
  const token = random.once(4) ? { tokenId: 1_000_001 + random.below(1000), tokenValue: amount(random) } : {};
  const limits = { feeLimit: amount(random), callValue: random.once(2) ? 0 : amount(random) };
  const all = { ...how, ...limits, ...token, txLocal: true };
  const { transaction } = await builder.triggerSmartContract(address(random), selector, all, given, owner);
  return transaction;
}

function permission(random, type) {
  const keys = random.list(1, 5, () => ({ address: address(random), weight: random.between(1, 100) }));
  return {
    type,
    permission_name: random.pick(["owner", "witness", "active", "päy ☂"]),
    threshold: random.between(1, 500),
    ...(type === 2 ? { operations: random.hex(32) } : {}),
    keys,
  };
}

function permissions(random, owner, how) {
  const witness = random.once(3) ? permission(random, 1) : null;
  const actives = random.list(1, 4, () => permission(random, 2));
  return builder.updateAccountPermissions(owner, permission(random, 0), witness, actives, how);
}

const SIGNED = {
  TransferContract: (random, owner, how) => builder.sendTrx(address(random), amount(random), owner, how),
  TriggerSmartContract: called,
  FreezeBalanceV2Contract: (random, owner, how) => builder.freezeBalanceV2(amount(random), resource(random), owner, how),
  UnfreezeBalanceV2Contract: (random, owner, how) => builder.unfreezeBalanceV2(amount(random), resource(random), owner, how),
  DelegateResourceContract: (random, owner, how) => {
    const lock = random.once(2);
    const blocks = lock && random.once(2) ? random.between(1, 864_000) : undefined;
    return builder.delegateResource(amount(random), address(random), resource(random), owner, lock, blocks, how);
  },
  UnDelegateResourceContract: (random, owner, how) =>
    builder.undelegateResource(amount(random), address(random), resource(random), owner, how),
  AccountPermissionUpdateContract: permissions,
};

// Policies cannot decode these contracts, so they are not signed.
const REFUSED = {
  TransferAssetContract: (random, owner, how) => builder.sendToken(address(random), amount(random), "1000001", owner, how),
  VoteWitnessContract: (random, owner, how) => builder.vote({ [address(random)]: random.between(1, 1000) }, owner, how),
  WithdrawBalanceContract: (_, owner, how) => builder.withdrawBlockRewards(owner, how),
  WithdrawExpireUnfreezeContract: (_, owner, how) => builder.withdrawExpireUnfreeze(owner, how),
  CancelAllUnfreezeV2Contract: (_, owner, how) => builder.cancelUnfreezeBalanceV2(owner, how),
  AccountCreateContract: (random, owner, how) => builder.createAccount(address(random), owner, how),
  UpdateSettingContract: (random, owner, how) => builder.updateSetting(address(random), random.between(0, 100), owner, how),
  otherOwner: (random, _, { blockHeader }) => builder.sendTrx(address(random), amount(random), address(random), { blockHeader }),
};

function check(raw, id, signed, owner) {
  const whole = Transaction.deserializeBinary(Uint8Array.from(Buffer.from(signed, "hex")));
  const hex = (bytes) => Buffer.from(bytes).toString("hex");
  same(hex(whole.serializeBinary()), signed, "tronweb serializes the signed transaction unchanged");
  same(hex(whole.getRawData().serializeBinary()), raw, "nothing but the signature is new");
  const signatures = whole.getSignatureList();
  same(signatures.length, 1, "signatures");
  const signature = hex(signatures[0]);
  same(signature.length, 130, "digits of the signature");
  same(["00", "01"].includes(signature.slice(128)), true, "v is 0 or 1");
  same(utils.crypto.SHA256([...Buffer.from(raw, "hex")]).map(Number), [...Buffer.from(id, "hex")], "the transaction's id");
  same(TronWeb.address.fromHex(utils.crypto.ecRecover(id, signature)), owner, "the signer for tronweb");
}

await verify(async (random, _, details) => {
  const isRefused = random.once(10);
  const makers = isRefused ? REFUSED : SIGNED;
  const type = random.pick(Object.keys(makers));
  const [signWith, owner] = random.pick(signers);
  let transaction = await makers[type](random, owner, options(random));
  if (random.once(4)) transaction = await builder.addUpdateData(transaction, random.hex(random.between(1, 100)), "hex", { txLocal: true });
  Object.assign(details, { type, signWith, unsigned: transaction.raw_data_hex });
  if (isRefused) return refused(() => sign("TRON", signWith, transaction.raw_data_hex));
  if (random.once(20)) return refused(() => sign("TRON", signWith, random.pick(Object.values(SPOILED))(transaction.raw_data_hex)));
  const signed = await sign("TRON", signWith, transaction.raw_data_hex);
  details.signed = signed;
  check(transaction.raw_data_hex, transaction.txID, signed, owner);
  return type;
});
