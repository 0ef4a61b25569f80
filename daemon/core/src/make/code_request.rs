//! Checks requests for one-time codes, and sends the codes.

use quorate_common::bounded::{Email, Phone, Text};
use quorate_common::ids::OtpId;
use quorate_common::json;
use quorate_common::wire::AuthenticationType;

use super::one_time_code::{self, Flow, NewCode, SentTo};
use super::sign_in;
use crate::error::{Intent, RequestError};
use crate::execution::Execution;
use crate::limits::CODE_SECONDS;
use crate::messages::{self, Branding};
use crate::model::Organization;
use crate::model::one_time_code::{Contact, OtpType};
use crate::model::queued_message::Purpose;
use crate::params::one_time_code::{CodeLifetime, CodeRequest};
use crate::policy::Facts;
use crate::view::View;

/// How a code is sent: its receiver, and how its message is customized.
pub struct Delivery {
    /// Contact that the code is sent to.
    pub contact: Contact,
    branding: Branding,
}

/// Checks a request for a code.
///
/// # Errors
/// If the contact is invalid, codes to such contacts are not enabled in the organization or cannot be sent, or the
/// message is customized in an invalid way.
pub fn check(request: &CodeRequest, view: &View<'_>) -> Result<Delivery, RequestError> {
    let text = request.contact.as_str().to_owned();
    let invalid = |reason| json::member_error("parameters", "contact", reason);
    let contact = match request.otp_type {
        OtpType::Email => Contact::Email(Email::parse_new(text).map_err(invalid)?),
        OtpType::Sms => Contact::Phone(Phone::parse(text).map_err(invalid)?),
    };
    check_feature(&contact, view.organization)?;
    // Users of sub-organizations can enable features themselves, and the parent pays for the messages.
    if view.parent_of_proposer()?.is_some_and(|parent| parent.feature(contact.feature()).is_none()) {
        return Err(Intent::FeatureOffInParent(contact.feature().name()).into());
    }
    match &contact {
        Contact::Email(_) if !view.sends_mail() => return Err(Intent::NoMail.into()),
        Contact::Phone(_) if !view.installation().sends_sms() => return Err(Intent::NoSms.into()),
        Contact::Phone(to) if !view.installation().allows_phone(to) => return Err(Intent::PhonePrefix.into()),
        Contact::Email(_) | Contact::Phone(_) => {}
    }
    request.sms.as_ref().map(|sms| sms.check(view)).transpose()?;
    let branding = request.customization.branding(&request.sender, view)?;
    Ok(Delivery { contact, branding })
}

/// Returns the facts of a request for a code. A code that could be guessed proves too little: somebody with one credential
/// of the user could have codes sent again and again, and try each of them three times. So does a code in a message of
/// their making, whose link, sender or text leads the user to pass the code on.
pub fn facts(request: &CodeRequest, delivery: &Delivery, view: &View<'_>) -> Facts {
    let is_strong = one_time_code::is_strong(request.length, request.is_alphanumeric);
    let is_plain = request.sms.is_none() && delivery.branding.is_plain();
    let own_codes = own_code(&delivery.contact, view).filter(|_| is_strong && is_plain).into_iter().collect();
    Facts { own_codes, ..Facts::default() }
}

/// Returns the facts of an activity that sends a code back. A code that does not exist proves nothing, and looks like
/// every other wrong code.
///
/// # Errors
/// If the store cannot be read.
pub fn facts_of_return(id: OtpId, view: &View<'_>) -> Result<Facts, RequestError> {
    let own_codes = match view.records().code(id)? {
        Some(code) => own_code(&code.contact, view).into_iter().collect(),
        None => vec![AuthenticationType::EmailOtp, AuthenticationType::SmsOtp],
    };
    Ok(Facts { own_codes, ..Facts::default() })
}

/// Returns the method that a code to a contact proves, if the proposer has verified the contact.
fn own_code(contact: &Contact, view: &View<'_>) -> Option<AuthenticationType> {
    let user = view.organization.user(view.proposer)?;
    contact.is_verified_by(user).then_some(match contact {
        Contact::Email(_) => AuthenticationType::EmailOtp,
        Contact::Phone(_) => AuthenticationType::SmsOtp,
    })
}

/// Checks that the organization has enabled codes to such a contact.
///
/// # Errors
/// [`Intent::FeatureOff`] if it has not.
pub fn check_feature(contact: &Contact, organization: &Organization) -> Result<(), RequestError> {
    sign_in::check_feature(contact.feature(), organization)
}

/// Makes a code and sends it.
///
/// # Errors
/// If too many codes were sent to the receiver, the message cannot be composed, or the store cannot be read.
pub fn send(
    request: &CodeRequest,
    delivery: Delivery,
    flow: Flow,
    context: &mut Execution<'_>,
) -> Result<SentTo, RequestError> {
    let Delivery { contact, branding } = delivery;
    let seconds = request.lifetime.map_or(CODE_SECONDS, CodeLifetime::seconds);
    let new = NewCode {
        contact: contact.clone(),
        user_identifier: request.user_identifier.as_ref().map(|user| user.as_str().to_owned()),
        length: request.length,
        is_alphanumeric: request.is_alphanumeric,
        seconds,
    };
    let sent = new.create(flow, context)?;
    let now = context.now();
    let organization = &context.view().shown_name(context.organization.head.name.as_str());
    match contact {
        Contact::Email(to) => {
            let mut mail = messages::code(&to, &sent.code, seconds / 60, &branding, organization, now)?;
            mail.expires = Some(sent.expires);
            mail.purpose = Some(Purpose::Code(sent.id));
            context.send(mail);
        }
        Contact::Phone(to) => {
            let template = request.sms.as_ref().and_then(|sms| sms.template.as_ref()).map(Text::as_str);
            let app = branding.app_name.as_ref().unwrap_or(organization);
            let mut sms = messages::code_sms(&to, &sent.code, template, app, now);
            sms.expires = Some(sent.expires);
            sms.purpose = Some(Purpose::Code(sent.id));
            context.text(sms);
        }
    }
    Ok(sent)
}
