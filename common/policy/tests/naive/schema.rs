//! The schema of the language: the roots of each kind of expression and their members, with types.

/// The type of a field, as precise as the generators of facts and expressions need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Truth,
    Int,
    Uint,
    /// An integer that may be compared with decimal text.
    Quantity,
    Text,
    /// Text that ignores ASCII case.
    Folded,
    Instant,
    List(&'static Kind),
    Record(&'static [(&'static str, Kind)]),
    Map(&'static Kind),
    /// A declared map of dynamic values; its keys are those of a [`Kind::Bag`].
    Arguments,
    /// A dynamic struct or map with the keys of [`KEYS`].
    Bag,
    /// A dynamic list of usually a text, a boolean and an integer.
    Tuple,
}

use Kind::{Arguments, Bag, Folded, Instant, Int, List, Map, Quantity, Record, Text, Truth, Tuple, Uint};

/// Keys of dynamic values, with the types that they usually have.
pub(crate) const KEYS: [(&str, Kind); 13] = [
    ("n0", Int),
    ("n1", Uint),
    ("t0", Text),
    ("t1", Folded),
    ("b0", Truth),
    ("ns", List(&Int)),
    ("ts", List(&Text)),
    ("bs", List(&Truth)),
    ("nn", List(&List(&Int))),
    ("m", Bag),
    ("ms", List(&Bag)),
    ("tu", Tuple),
    ("count", Int),
];

const WALLET: Kind = Record(&[("id", Text), ("label", Text), ("imported", Truth), ("exported", Truth)]);

const ACTIVITY: Kind =
    Record(&[("type", Text), ("kind", Text), ("resource", Text), ("action", Text), ("params", PARAMS)]);

const PARAMS: Kind = Record(&[
    ("hash_function", Text),
    ("encoding", Text),
    ("type", Text),
    ("user_ids", List(&Text)),
    ("user_id", Text),
    ("api_key_ids", List(&Text)),
    ("target_public_key", Text),
    ("wallet_id", Text),
    ("otp_length", Int),
    ("session_profile_id", Text),
    ("endpoint_id", Text),
    ("sign_with", Text),
]);

const WALLET_ACCOUNT: Kind = Record(&[
    ("address", Text),
    ("path", Text),
    ("path_indexes", List(&Int)),
    ("path_hardened", List(&Truth)),
    ("wallet_id", Text),
    ("curve", Text),
    ("address_format", Text),
]);

const PRIVATE_KEY: Kind =
    Record(&[("id", Text), ("label", Text), ("tags", List(&Text)), ("imported", Truth), ("exported", Truth)]);

const ETH: Kind = Record(&[
    ("tx", ETH_TX),
    (
        "eip_712",
        Record(&[
            ("primary_type", Text),
            (
                "domain",
                Record(&[
                    ("name", Text),
                    ("version", Text),
                    ("verifying_contract", Folded),
                    ("chain_id", Uint),
                ]),
            ),
            ("message", Arguments),
        ]),
    ),
    ("eip_7702_authorization", Record(&[("address", Folded), ("chain_id", Quantity), ("nonce", Quantity)])),
]);

const ETH_TX: Kind = Record(&[
    ("from", Folded),
    ("to", Folded),
    ("data", Text),
    ("value", Int),
    ("gas", Int),
    ("nonce", Int),
    ("chain_id", Int),
    ("gas_price", Int),
    ("max_fee_per_gas", Int),
    ("max_priority_fee_per_gas", Int),
    ("max_fee_per_blob_gas", Int),
    ("type", Text),
    ("function_name", Text),
    ("function_signature", Text),
    ("contract_call_args", Arguments),
]);

const SOLANA: Kind = Record(&[(
    "tx",
    Record(&[
        ("account_keys", List(&Text)),
        ("program_keys", List(&Text)),
        ("instructions", List(&INSTRUCTION)),
        ("transfers", List(&Record(&[("from", Text), ("to", Text), ("amount", Int)]))),
        (
            "spl_transfers",
            List(&Record(&[
                ("from", Text),
                ("to", Text),
                ("amount", Int),
                ("owner", Text),
                ("signers", List(&Text)),
                ("token_mint", Text),
            ])),
        ),
        ("recent_blockhash", Text),
        (
            "address_table_lookups",
            List(&Record(&[
                ("address_table_key", Text),
                ("writable_indexes", List(&Int)),
                ("readonly_indexes", List(&Int)),
            ])),
        ),
        ("address_table_lookup_references", List(&LOOKUP)),
    ]),
)]);

const LOOKUP: Kind = Record(&[("address_table_key", Text), ("index", Int), ("writable", Truth)]);

const INSTRUCTION: Kind = Record(&[
    ("program_key", Text),
    ("accounts", List(&Record(&[("account_key", Text), ("signer", Truth), ("writable", Truth)]))),
    ("instruction_data_hex", Text),
    ("address_table_lookups", List(&LOOKUP)),
    (
        "parsed_instruction_data",
        Record(&[
            ("instruction_name", Text),
            ("discriminator", Text),
            ("named_accounts", Map(&Text)),
            ("program_call_args", Arguments),
        ]),
    ),
]);

const PERMISSION: Kind = Record(&[
    ("type", Text),
    ("id", Int),
    ("permission_name", Text),
    ("threshold", Int),
    ("parent_id", Int),
    ("operations", Text),
    ("keys", List(&Record(&[("address", Text), ("weight", Int)]))),
]);

const TRON: Kind = Record(&[(
    "tx",
    Record(&[
        ("ref_block_bytes", Text),
        ("ref_block_hash", Text),
        ("expiration", Int),
        ("timestamp", Int),
        ("fee_limit", Int),
        ("data", Text),
        (
            "contract",
            List(&Record(&[
                ("type", Text),
                ("permission_id", Int),
                ("owner_address", Text),
                ("to_address", Text),
                ("amount", Int),
                ("contract_address", Text),
                ("call_value", Int),
                ("data", Text),
                ("token_id", Int),
                ("lock", Truth),
                ("owner", PERMISSION),
                ("actives", List(&PERMISSION)),
            ])),
        ),
    ]),
)]);

const BITCOIN: Kind = Record(&[(
    "tx",
    Record(&[
        ("version", Text),
        ("inputs", List(&Record(&[("tx_id", Text), ("vout", Int), ("sequence", Int)]))),
        (
            "outputs",
            List(&Record(&[
                ("value", Int),
                ("script_pubkey", Text),
                ("address", Text),
                ("address_type", Folded),
            ])),
        ),
        ("locktime", Record(&[("amount", Int), ("type", Text)])),
        ("fee", Int),
    ]),
)]);

const TEMPO: Kind = Record(&[(
    "tx",
    Record(&[
        ("chain_id", Int),
        ("from", Folded),
        ("nonce", Int),
        ("gas_limit", Int),
        ("fee_token", Folded),
        ("valid_before", Int),
        ("calls", List(&Record(&[("to", Folded), ("input", Folded), ("function_signature", Text)]))),
    ]),
)]);

const USER: Kind = Record(&[("id", Text), ("tags", List(&Text)), ("email", Text), ("alias", Text)]);

const CREDENTIAL: Kind =
    Record(&[("id", Text), ("user_id", Text), ("type", Text), ("credential_id", Text), ("public_key", Text)]);

/// Roots of conditions.
pub(crate) const CONDITION: [(&str, Kind); 11] = [
    ("activity", ACTIVITY),
    ("wallet", WALLET),
    ("wallets", List(&WALLET)),
    ("wallet_account", WALLET_ACCOUNT),
    ("private_key", PRIVATE_KEY),
    ("secret", Record(&[("static_properties", Map(&Text))])),
    ("eth", ETH),
    ("solana", SOLANA),
    ("tron", TRON),
    ("bitcoin", BITCOIN),
    ("tempo", TEMPO),
];

/// Roots of consensus expressions.
pub(crate) const CONSENSUS: [(&str, Kind); 2] =
    [("approvers", List(&USER)), ("credentials", List(&CREDENTIAL))];

/// Roots of time expressions.
pub(crate) const TIME: [(&str, Kind); 1] = [("time", Record(&[("now", Instant)]))];

/// Returns whether a field of type `kind` can be used where `wanted` is required.
pub(crate) fn fits(kind: Kind, wanted: Kind) -> bool {
    match (kind, wanted) {
        (Int | Uint | Quantity, Int | Uint | Quantity)
        | (Text | Folded, Text | Folded)
        | (Record(_) | Bag | Tuple, Record(_)) => true,
        (List(element), List(wanted)) => fits(*element, *wanted),
        _ => kind == wanted,
    }
}
