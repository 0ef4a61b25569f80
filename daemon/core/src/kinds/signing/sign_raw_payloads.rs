//! Signs several payloads with one key: all of them or none.

use std::sync::Arc;

use quorate_chain::payload::{self, HashFunction, PayloadEncoding};

use crate::kinds::prelude::*;
use crate::params::signing::{Payload, RawSignature};
use crate::signing::{self, Signer};

/// Signs several payloads with one wallet account or private key: all of them or none.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    sign_with: Text<256>,
    #[serde(default)]
    payloads: AtMost<Payload, BATCH>,
    encoding: PayloadEncoding,
    hash_function: HashFunction,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::kinds) struct Outcome {
    signatures: AtMost<RawSignature, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS";
    const NUMBER: u16 = 63;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Sign, Resource::PrivateKey));
    type Plan = (Arc<Signer>, Vec<payload::Payload>);
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        not_empty(&self.payloads, "payloads")?;
        let signer = signing::resolve(view, self.sign_with.as_str())?;
        let parsed = |text: &Payload| signer.payload(self.encoding, self.hash_function, &text.0);
        let payloads = self.payloads.iter().map(parsed).collect::<Result<_, _>>()?;
        Ok((signer, payloads))
    }

    fn facts(&self, (signer, payloads): &Self::Plan, view: &View<'_>) -> Result<Facts, RequestError> {
        Ok(signer.facts(view).about_each(payloads.iter().filter_map(payload::Payload::facts)))
    }

    fn execute(self, plan: Self::Plan, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let (signer, payloads) = plan;
        let view = context.view();
        let sign = |payload: &payload::Payload| signer.sign(&view, &payload.message).map(Into::into);
        let signatures = payloads.iter().map(sign).collect::<Result<_, _>>()?;
        Ok(Outcome { signatures: AtMost::cut(signatures) })
    }
}
