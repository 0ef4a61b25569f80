//! What the descriptions of one-time codes share.

use crate::kinds::prelude::*;
use crate::text::duration;

/// Lifetime of a code unless its request states one, in seconds.
const LIFETIME_SECONDS: u64 = 300;

/// Returns how a code is sent, as in `by mail to "a@b.example"`.
pub(super) fn sent(parameters: &Reader<'_>) -> Result<String> {
    let way = match parameters.text("otpType")? {
        "OTP_TYPE_EMAIL" => "by mail".to_owned(),
        "OTP_TYPE_SMS" => "by SMS".to_owned(),
        other => format!("as {}", quoted(other)),
    };
    Ok(format!("{way} to {}", quoted(parameters.text("contact")?)))
}

/// Returns the sentences that say how long a code is valid, and how its message is customized.
pub(super) fn details(parameters: &Reader<'_>) -> Result<String> {
    let stated = parameters.has("expirationSeconds");
    let seconds = if stated { parameters.number("expirationSeconds")? } else { LIFETIME_SECONDS };
    let lifetime = duration(seconds.saturating_mul(1000));
    let app = parameters.maybe_text("appName")?;
    let app = app.map(|app| format!(" The message names the application {}.", quoted(app)));
    let from = parameters.maybe_text("sendFromEmailAddress")?;
    let from = from.map(|from| format!(" It is sent from {}.", quoted(from)));
    let extra = [app, from].into_iter().flatten().collect::<String>();
    Ok(format!("It is valid for {lifetime} and can be tried three times.{extra}"))
}
