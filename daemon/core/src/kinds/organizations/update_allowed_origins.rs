//! Sets the web origins from which passkeys are accepted.

use quorate_common::bounded::Text;

use crate::kinds::prelude::*;
use crate::model::FeatureName;

/// Longest origin, in bytes.
const ORIGIN: usize = 512;

pub(in crate::kinds) struct UpdateAllowedOrigins;

/// Sets the web origins from which passkeys are accepted. An empty list removes the setting.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    allowed_origins: AtMost<Text<ORIGIN>, BATCH>,
}

impl Version for Intent {
    type Kind = UpdateAllowedOrigins;
    type Outcome = Empty;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS";
    const NUMBER: u16 = 39;
    const RESULT: &'static str = "updateAllowedOriginsResult";
}

impl Kind for UpdateAllowedOrigins {
    const ACTS: Option<(Action, Resource)> = Some((Action::Update, Resource::Config));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Empty;

    fn rules(intent: &Intent, _: &View<'_>) -> Result<(Facts, ()), RequestError> {
        distinct(intent.allowed_origins.iter().map(Text::as_str), "allowedOrigins")?;
        if !intent.allowed_origins.iter().all(|origin| is_origin(origin.as_str())) {
            return Err(Wrong::Text("invalid request body: `allowedOrigins`: expected web origins").into());
        }
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Empty, RequestError> {
        let origins: Vec<&str> = intent.allowed_origins.iter().map(Text::as_str).collect();
        let name = FeatureName::WebauthnOrigins;
        context.change(if origins.is_empty() {
            Change::RemoveFeature(name)
        } else {
            Change::SetFeature(name, Some(serde_json::json!(origins).to_string()))
        });
        Ok(Empty {})
    }
}

/// Returns whether a text is a web origin: scheme, host and optional port, and nothing else (RFC 6454 §6.2).
fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    host.is_some_and(|host| {
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
    })
}
