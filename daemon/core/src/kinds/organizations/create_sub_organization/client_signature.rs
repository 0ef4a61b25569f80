//! A signature by the key of a verification token. Two versions share it.

use quorate_common::bounded::Text;

use crate::kinds::prelude::*;

/// A signature by the key of a verification token.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct ClientSignature {
    public_key: Text<140>,
    scheme: Text<64>,
    message: Text<16384>,
    signature: Text<256>,
}
