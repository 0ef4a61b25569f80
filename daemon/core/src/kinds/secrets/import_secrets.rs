//! Imports secrets.

use crate::bundles::{self, ImportKeys, MAX_SECRET_BUNDLE, Opened};
use crate::kinds::prelude::*;
use crate::limits::{SECRET_BYTES, SECRET_TARGETS};
use crate::model::layout::SecretOf;
use crate::params::secrets::{KeyValues, TransportEncryptionSuite, check};
use crate::secret::SecretBytes;

/// Imports secrets of 1 to 65536 bytes, each encrypted to an import key of the caller: all of them or none.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    secrets: AtMost<SecretParams, SECRET_TARGETS>,
}

/// A secret to import.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SecretParams {
    name: Option<Label>,
    secret_payload: Text<MAX_SECRET_BUNDLE>,
    /// Import key that the secret is encrypted to.
    target_public_key: Text<130>,
    encryption_suite: TransportEncryptionSuite,
    /// Properties that policies can refer to. They never change.
    #[serde(default)]
    static_properties: KeyValues,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    secret_ids: AtMost<SecretId, SECRET_TARGETS>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_IMPORT_SECRETS";
    const NUMBER: u16 = 162;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Import, Resource::Secret));
    type Plan = Vec<Opened>;
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Vec<Opened>, RequestError> {
        not_empty(&self.secrets, "secrets")?;
        let names = || self.secrets.iter().filter_map(|secret| secret.name.as_ref());
        distinct(names().map(Label::as_str), "secrets")?;
        names()
            .try_for_each(|name| view.name_is_free(|present: &Secret| present.name.as_ref() == Some(name)))?;
        view.check_room::<Secret>(self.secrets.len())?;
        let mut keys = ImportKeys::of(Purpose::Secret, view)?;
        let opened = self.secrets.iter().map(|secret| open(secret, &mut keys));
        opened.collect()
    }

    fn execute(self, opened: Vec<Opened>, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let mut ids = Vec::with_capacity(opened.len());
        for (secret, opened) in self.secrets.into_iter().zip(opened) {
            let id = SecretId::random(context.random());
            let static_properties = secret.static_properties.into_iter().map(Into::into).collect();
            let record = Secret { id, name: secret.name, static_properties, created: context.now() };
            let value = SecretBytes::value(&opened.plaintext);
            context.change(Change::AddSecret(SecretOf::Secret(id), value));
            context.change(Change::put(record));
            context.change(Change::RemoveImportTarget(opened.record_key));
            ids.push(id);
        }
        Ok(Outcome { secret_ids: AtMost::cut(ids) })
    }
}

fn open(secret: &SecretParams, keys: &mut ImportKeys) -> Result<Opened, RequestError> {
    check(&secret.static_properties, "staticProperties")?;
    let target = bundles::target(secret.target_public_key.as_str())?;
    let opened = keys.open(&target, secret.secret_payload.as_str())?;
    match opened.plaintext.len() {
        1..=SECRET_BYTES => Ok(opened),
        _ => Err(Wrong::Text("invalid secret: expected 1 to 65536 bytes").into()),
    }
}
