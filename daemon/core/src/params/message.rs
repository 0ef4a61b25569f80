//! Parameters of messages: how an application customizes the mail and the SMS of its sign-in flows.

use quorate_common::bounded::{Email, Label, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use url::Url;

use crate::error::{Intent, RequestError, Unimplemented};
use crate::messages::{Branding, LINK_SECRET, SMS_CODE};
use crate::view::View;

/// Longest URL, in bytes.
const URL_LIMIT: usize = 2048;
/// Longest template variables, in bytes.
const VARIABLES_LIMIT: usize = 4096;
/// Longest id of a template, in bytes.
const TEMPLATE_ID_LIMIT: usize = 255;
/// Longest template of an SMS, in bytes.
const SMS_LIMIT: usize = 1024;

/// How a mail is customized (version 1).
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailCustomizationParams {
    /// Name of the application, instead of the name of the organization.
    pub app_name: Option<Label>,
    /// URL of a logo, with https.
    pub logo_url: Option<Text<URL_LIMIT>>,
    /// Link with `%s`, which is replaced by the secret.
    pub magic_link_template: Option<Text<URL_LIMIT>>,
    /// Variables of a custom template: a JSON object, as text. They have no effect.
    pub template_variables: Option<Text<VARIABLES_LIMIT>>,
    /// Id of a custom template. It is rejected.
    pub template_id: Option<Text<TEMPLATE_ID_LIMIT>>,
}

/// How a mail is customized (version 2): the application is named beside it.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailCustomizationParamsV2 {
    /// URL of a logo, with https.
    pub logo_url: Option<Text<URL_LIMIT>>,
    /// Link with `%s`, which is replaced by the secret.
    pub magic_link_template: Option<Text<URL_LIMIT>>,
    /// Variables of a custom template: a JSON object, as text. They have no effect.
    pub template_variables: Option<Text<VARIABLES_LIMIT>>,
    /// Id of a custom template. It is rejected.
    pub template_id: Option<Text<TEMPLATE_ID_LIMIT>>,
}

/// How a mail with a credential is customized.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailAuthCustomizationParams {
    /// Name of the application.
    pub app_name: Label,
    /// URL of a logo, with https.
    pub logo_url: Option<Text<URL_LIMIT>>,
    /// Link with `%s`, which is replaced by the secret.
    pub magic_link_template: Option<Text<URL_LIMIT>>,
    /// Variables of a custom template: a JSON object, as text. They have no effect.
    pub template_variables: Option<Text<VARIABLES_LIMIT>>,
    /// Id of a custom template. It is rejected.
    pub template_id: Option<Text<TEMPLATE_ID_LIMIT>>,
}

/// How an SMS is customized.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SmsCustomizationParams {
    /// Text with `{{.OtpCode}}`, which is replaced by the code.
    pub template: Option<Text<SMS_LIMIT>>,
}

/// The sender of a mail, as the members `sendFromEmailAddress`, `sendFromEmailSenderName` and
/// `replyToEmailAddress` of an intent state it.
#[derive(Debug, Clone, Default)]
pub struct MailSender {
    /// Address of the sender.
    pub from: Option<Email>,
    /// Name of the sender.
    pub name: Option<Label>,
    /// Address for replies.
    pub reply_to: Option<Email>,
}

// Version 1 has all members, so that the other versions are converted to it.
impl From<EmailAuthCustomizationParams> for EmailCustomizationParams {
    fn from(params: EmailAuthCustomizationParams) -> Self {
        Self {
            app_name: Some(params.app_name),
            logo_url: params.logo_url,
            magic_link_template: params.magic_link_template,
            template_variables: params.template_variables,
            template_id: params.template_id,
        }
    }
}

impl EmailCustomizationParams {
    /// Converts version 2 of the parameters, which name the application beside them.
    pub fn of_app(app_name: Label, params: Option<EmailCustomizationParamsV2>) -> Self {
        let Some(params) = params else { return Self { app_name: Some(app_name), ..Self::default() } };
        let EmailCustomizationParamsV2 { logo_url, magic_link_template, template_variables, template_id } =
            params;
        Self { app_name: Some(app_name), logo_url, magic_link_template, template_variables, template_id }
    }

    /// Checks the customization and the sender of a mail, and returns how the application presents itself.
    ///
    /// # Errors
    /// If a member is invalid, a custom template is requested, the service does not send from the address, or the
    /// proposer may not customize mail.
    pub fn branding(&self, sender: &MailSender, view: &View<'_>) -> Result<Branding, RequestError> {
        if self.template_id.is_some() {
            let text = "custom mail templates are not offered by this service";
            return Err(Unimplemented::Feature(text.to_owned()).into());
        }
        if let Some(variables) = &self.template_variables {
            check_variables(variables.as_str())?;
        }
        if let Some(from) = sender.from.as_ref().filter(|from| !view.installation().allows_sender(from)) {
            let domain = from.as_str().rsplit_once('@').map_or("", |(_, domain)| domain);
            let text = format!(
                "invalid request body: `sendFromEmailAddress`: this service does not send from {domain}"
            );
            return Err(Intent::Detail(text).into());
        }
        if !view.allows_branding() {
            self.check_unbranded(sender, view)?;
        }
        let (logo, link) = (self.logo_url.as_ref(), self.magic_link_template.as_ref());
        Ok(Branding {
            app_name: self.app_name.as_ref().map(|name| view.shown_name(name.as_str())),
            logo_url: logo.map(|url| logo_url(url.as_str())).transpose()?,
            sender_name: sender.name.clone(),
            from: sender.from.clone(),
            reply_to: sender.reply_to.clone(),
            link: link.map(|template| link_template(template.as_str())).transpose()?,
        })
    }
}

impl EmailCustomizationParams {
    /// Checks that nothing states who sends the mail, or where it leads. The name of the application is allowed.
    fn check_unbranded(&self, sender: &MailSender, view: &View<'_>) -> Result<(), RequestError> {
        let members = [
            (sender.from.is_some(), "sendFromEmailAddress"),
            (sender.name.is_some(), "sendFromEmailSenderName"),
            (sender.reply_to.is_some(), "replyToEmailAddress"),
            (self.logo_url.is_some(), "emailCustomization.logoUrl"),
            (self.magic_link_template.is_some(), "emailCustomization.magicLinkTemplate"),
        ];
        let Some((_, name)) = members.into_iter().find(|(is_set, _)| *is_set) else { return Ok(()) };
        Err(must_not_set(name, view))
    }
}

/// Returns the error for a member that the proposer must not set.
fn must_not_set(name: &str, view: &View<'_>) -> RequestError {
    let reason = if view.is_registered() {
        "an organization that was registered over the API must not set it, until the operator trusts it"
    } else {
        "users of a sub-organization must not set it; its parent can"
    };
    Intent::Detail(format!("invalid request body: `{name}`: {reason}")).into()
}

impl SmsCustomizationParams {
    /// Checks that the proposer may set the template, if there is one.
    ///
    /// # Errors
    /// If the template does not contain the placeholder of the code, or the proposer must not set it.
    pub fn check(&self, view: &View<'_>) -> Result<(), RequestError> {
        if self.checked_template()?.is_some() && !view.allows_branding() {
            return Err(must_not_set("smsCustomization.template", view));
        }
        Ok(())
    }

    /// Checks the template and returns it, if there is one.
    ///
    /// # Errors
    /// If the template does not contain the placeholder of the code.
    pub fn checked_template(&self) -> Result<Option<&str>, RequestError> {
        let template = self.template.as_ref().map(Text::as_str);
        if template.is_some_and(|template| !template.contains(SMS_CODE)) {
            let text = "invalid request body: `smsCustomization.template`: must contain {{.OtpCode}}";
            return Err(Intent::Text(text).into());
        }
        Ok(template)
    }
}

/// Checks that a text is a JSON object.
fn check_variables(text: &str) -> Result<(), RequestError> {
    // A raw value of an object begins with its brace.
    let is_object = serde_json::from_str::<&RawValue>(text).is_ok_and(|value| value.get().starts_with('{'));
    let message =
        "invalid request body: `emailCustomization.templateVariables`: must be a JSON object as text";
    if is_object { Ok(()) } else { Err(Intent::Text(message).into()) }
}

/// Checks and normalizes the URL of a logo.
fn logo_url(text: &str) -> Result<String, RequestError> {
    let url = parse(text).filter(|url| url.scheme() == "https");
    let message = "invalid request body: `emailCustomization.logoUrl`: must be a URL with https";
    url.map(String::from).ok_or_else(|| Intent::Text(message).into())
}

/// Checks the template of a link. The secret must not be part of the host to which the link leads.
fn link_template(text: &str) -> Result<String, RequestError> {
    let once = text.matches(LINK_SECRET).count() == 1;
    let origin = |secret: &str| parse(&text.replace(LINK_SECRET, secret)).map(|url| url.origin());
    let is_allowed =
        |url: Url| url.scheme() == "https" || (url.scheme() == "http" && url.host_str() == Some("localhost"));
    let allowed = parse(&text.replace(LINK_SECRET, "x")).is_some_and(is_allowed);
    if once && allowed && is_unambiguous(text) && origin("x") == origin("1y") {
        return Ok(text.to_owned());
    }
    let message = "invalid request body: `emailCustomization.magicLinkTemplate`: \
                   must be a URL with https that contains %s once, after the host";
    Err(Intent::Text(message).into())
}

/// Returns whether all programs read a URL alike: visible ASCII without backslashes, with two slashes before the host. Mail
/// programs parse links in their own ways.
fn is_unambiguous(text: &str) -> bool {
    let after_scheme = text.split_once("://").map_or("/", |(_, rest)| rest);
    !after_scheme.starts_with('/') && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
}

/// Parses a URL without user name and password. White space and control characters, which parsers of URLs
/// remove, are rejected.
fn parse(text: &str) -> Option<Url> {
    if text.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
        return None;
    }
    let url = Url::parse(text).ok()?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.has_host();
    is_plain.then_some(url)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn logos_need_https() {
        for good in ["https://acme.example/logo.png", "https://acme.example/a?b=c&d#e"] {
            assert_eq!(logo_url(good).unwrap(), good);
        }
        for bad in [
            "",
            "logo.png",
            "http://acme.example/logo.png",
            "data:image/png;base64,AA==",
            "javascript:alert(1)",
            "https://user@acme.example/",
            "https://acme.example/a b",
            "https://acme.example/\n",
            "https://",
        ] {
            assert!(logo_url(bad).is_err(), "{bad}");
        }
        assert_eq!(logo_url("https://acme.example/\"><b>").unwrap(), "https://acme.example/%22%3E%3Cb%3E");
    }

    #[test]
    fn links_contain_the_secret_once_after_the_host() {
        for good in [
            "https://acme.example/%s",
            "https://acme.example?token=%s",
            "https://acme.example:8443/in#%s",
            "http://localhost:3000/in?token=%s",
        ] {
            assert_eq!(link_template(good).unwrap(), good);
        }
        for bad in [
            "",
            "%s",
            "https://acme.example/",
            "https://acme.example/%s/%s",
            "https://%s/",
            "https://acme.%s.example/",
            "https://acme.example%s",
            "https://acme.example:80%s/",
            "https://%s@acme.example/",
            "https://user:%s@acme.example/",
            "http://acme.example/%s",
            "http://localhost.acme.example/%s",
            "javascript:alert('%s')",
            "acme://in/%s",
            "https://acme.example/\t%s",
            "https:acme.example/%s",
            "https:/acme.example/%s",
            "https:///acme.example/%s",
            "https:\\\\acme.example\\%s",
            "https://acme.example\\@evil.example/%s",
            "https://acme\u{200b}.example/%s",
            "https://acme.example/\u{202e}%s",
        ] {
            assert!(link_template(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn variables_are_a_json_object() {
        for good in ["{}", " {\"a\":\"b\"} "] {
            assert!(check_variables(good).is_ok(), "{good}");
        }
        for bad in ["", "[]", "null", "\"{}\"", "{", "{} {}"] {
            assert!(check_variables(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sms_templates_contain_the_code() {
        let params = |text: &str| serde_json::from_value(serde_json::json!({"template": text}));
        let params = |text: &str| -> SmsCustomizationParams { params(text).unwrap() };
        assert_eq!(params("Code {{.OtpCode}}").checked_template(), Ok(Some("Code {{.OtpCode}}")));
        assert!(params("Code").checked_template().is_err());
        assert_eq!(SmsCustomizationParams { template: None }.checked_template(), Ok(None));
    }
}
