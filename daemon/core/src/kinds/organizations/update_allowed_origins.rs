//! Sets the web origins from which passkeys are accepted.

use crate::kinds::prelude::*;

/// Longest origin, in bytes.
const ORIGIN: usize = 512;

/// Sets the web origins from which passkeys are accepted. An empty list removes the setting.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    allowed_origins: AtMost<Text<ORIGIN>, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS";
    const NUMBER: u16 = 39;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Update, Resource::Config));
    type Plan = ();
    type Outcome = Empty;

    fn rules(&self, _: &View<'_>) -> Result<(), RequestError> {
        distinct(self.allowed_origins.iter().map(Text::as_str), "allowedOrigins")?;
        if !self.allowed_origins.iter().all(|origin| is_origin(origin.as_str())) {
            return Err(Wrong::Text("invalid request body: `allowedOrigins`: expected web origins").into());
        }
        Ok(())
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Empty, RequestError> {
        let origins: Vec<&str> = self.allowed_origins.iter().map(Text::as_str).collect();
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
