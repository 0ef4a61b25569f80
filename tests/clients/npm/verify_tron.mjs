// Transactions of Tron, made by tronweb without a node: those of the contracts that are signed, and others and those
// of other people, which are refused.

import { TronWeb, utils } from "tronweb";
import { SPOILED, privateKey, refused, same, sign, verify, wallet } from "./verifier.mjs";

const { Transaction } = globalThis.TronWebProto;
// tronweb asks for a node that it has no need of here.
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
const amount = (chance) => Number((chance.edge(53) & SAFE) || 1n);
const address = (chance) => TronWeb.address.fromHex(`41${chance.hex(20)}`);
const resource = (chance) => chance.pick(["BANDWIDTH", "ENERGY"]);

function options(chance) {
  const timestamp = 1_700_000_000_000 + chance.below(2 ** 40);
  return {
    blockHeader: {
      ref_block_bytes: chance.hex(2),
      ref_block_hash: chance.hex(8),
      timestamp,
      expiration: timestamp + chance.between(1, 86_400_000),
    },
    ...(chance.once(4) ? { permissionId: chance.between(2, 9) } : {}),
  };
}

async function called(chance, owner, how) {
  const parameters = [
    { type: "address", value: address(chance) },
    { type: "uint256", value: chance.edge(256).toString() },
  ];
  const [selector, given] = chance.pick([
    ["transfer(address,uint256)", parameters],
    ["approve(address,uint256)", parameters],
    ["deposit()", []],
    ["store(bytes)", [{ type: "bytes", value: `0x${chance.hex(chance.below(300))}` }]],
  ]);
  const token = chance.once(4) ? { tokenId: 1_000_001 + chance.below(1000), tokenValue: amount(chance) } : {};
  const limits = { feeLimit: amount(chance), callValue: chance.once(2) ? 0 : amount(chance) };
  const all = { ...how, ...limits, ...token, txLocal: true };
  const { transaction } = await builder.triggerSmartContract(address(chance), selector, all, given, owner);
  return transaction;
}

function permission(chance, type) {
  const keys = chance.list(1, 5, () => ({ address: address(chance), weight: chance.between(1, 100) }));
  return {
    type,
    permission_name: chance.pick(["owner", "witness", "active", "päy ☂"]),
    threshold: chance.between(1, 500),
    ...(type === 2 ? { operations: chance.hex(32) } : {}),
    keys,
  };
}

function permissions(chance, owner, how) {
  const witness = chance.once(3) ? permission(chance, 1) : null;
  const actives = chance.list(1, 4, () => permission(chance, 2));
  return builder.updateAccountPermissions(owner, permission(chance, 0), witness, actives, how);
}

const SIGNED = {
  TransferContract: (chance, owner, how) => builder.sendTrx(address(chance), amount(chance), owner, how),
  TriggerSmartContract: called,
  FreezeBalanceV2Contract: (chance, owner, how) => builder.freezeBalanceV2(amount(chance), resource(chance), owner, how),
  UnfreezeBalanceV2Contract: (chance, owner, how) => builder.unfreezeBalanceV2(amount(chance), resource(chance), owner, how),
  DelegateResourceContract: (chance, owner, how) => {
    const lock = chance.once(2);
    const blocks = lock && chance.once(2) ? chance.between(1, 864_000) : undefined;
    return builder.delegateResource(amount(chance), address(chance), resource(chance), owner, lock, blocks, how);
  },
  UnDelegateResourceContract: (chance, owner, how) =>
    builder.undelegateResource(amount(chance), address(chance), resource(chance), owner, how),
  AccountPermissionUpdateContract: permissions,
};

// What policies can not read is not signed.
const REFUSED = {
  TransferAssetContract: (chance, owner, how) => builder.sendToken(address(chance), amount(chance), "1000001", owner, how),
  VoteWitnessContract: (chance, owner, how) => builder.vote({ [address(chance)]: chance.between(1, 1000) }, owner, how),
  WithdrawBalanceContract: (_, owner, how) => builder.withdrawBlockRewards(owner, how),
  WithdrawExpireUnfreezeContract: (_, owner, how) => builder.withdrawExpireUnfreeze(owner, how),
  CancelAllUnfreezeV2Contract: (_, owner, how) => builder.cancelUnfreezeBalanceV2(owner, how),
  AccountCreateContract: (chance, owner, how) => builder.createAccount(address(chance), owner, how),
  UpdateSettingContract: (chance, owner, how) => builder.updateSetting(address(chance), chance.between(0, 100), owner, how),
  stranger: (chance, _, { blockHeader }) => builder.sendTrx(address(chance), amount(chance), address(chance), { blockHeader }),
};

function judge(raw, id, signed, owner) {
  const whole = Transaction.deserializeBinary(Uint8Array.from(Buffer.from(signed, "hex")));
  const hex = (bytes) => Buffer.from(bytes).toString("hex");
  same(hex(whole.serializeBinary()), signed, "tronweb writes what was signed as it is");
  same(hex(whole.getRawData().serializeBinary()), raw, "nothing but the signature is new");
  const signatures = whole.getSignatureList();
  same(signatures.length, 1, "signatures");
  const signature = hex(signatures[0]);
  same(signature.length, 130, "digits of the signature");
  same(["00", "01"].includes(signature.slice(128)), true, "v is 0 or 1");
  same(utils.crypto.SHA256([...Buffer.from(raw, "hex")]).map(Number), [...Buffer.from(id, "hex")], "the transaction's id");
  same(TronWeb.address.fromHex(utils.crypto.ecRecover(id, signature)), owner, "the signer for tronweb");
}

await verify(async (chance, _, told) => {
  const isRefused = chance.once(10);
  const makers = isRefused ? REFUSED : SIGNED;
  const type = chance.pick(Object.keys(makers));
  const [signWith, owner] = chance.pick(signers);
  let made = await makers[type](chance, owner, options(chance));
  if (chance.once(4)) made = await builder.addUpdateData(made, chance.hex(chance.between(1, 100)), "hex", { txLocal: true });
  Object.assign(told, { type, signWith, unsigned: made.raw_data_hex });
  if (isRefused) return refused(() => sign("TRON", signWith, made.raw_data_hex));
  if (chance.once(20)) return refused(() => sign("TRON", signWith, chance.pick(Object.values(SPOILED))(made.raw_data_hex)));
  const signed = await sign("TRON", signWith, made.raw_data_hex);
  told.signed = signed;
  judge(made.raw_data_hex, made.txID, signed, owner);
  return type;
});
