//! Composes the message of a mail (RFC 5322): its headers, and its body in text and HTML (RFC 2046).

use lettre::message::header::ContentType;
use lettre::message::{Mailbox, MultiPart};
use lettre::{Address, Message};
use quorate_common::bounded::Email;
use quorate_core::mail::Mail;
use quorate_core::messages::header;
use quorate_core::model::layout::of_message;
use quorate_core::model::message_event::message_id;
use quorate_core::model::one_time_code::ascii_domain;

/// Returns the message of a mail; `None` if its addresses or headers cannot be part of one. `sender` is the
/// sender of mail that names none. All attempts have the same `Message-ID`, by which receivers recognize a mail
/// that arrives twice.
pub(super) fn message(key: &[u8], mail: &Mail, sender: &Mailbox) -> Option<Message> {
    // A line break in a header would begin another header, or the body.
    let headers = [Some(&mail.subject), mail.sender_name.as_ref()];
    if headers.into_iter().flatten().any(|header| header.chars().any(char::is_control)) {
        return None;
    }
    // A mail that an earlier version queued may contain encoded words, which mail programs replace with any text.
    let from = Mailbox {
        name: mail.sender_name.as_deref().map(header).or_else(|| sender.name.clone()),
        email: mail.from.as_ref().map_or_else(|| Some(sender.email.clone()), address)?,
    };
    let (activity, number) = of_message(key)?;
    let id = format!("<{}@{}>", message_id(activity, number), from.email.domain());
    let mut message = Message::builder()
        .message_id(Some(id))
        .from(from)
        .to(Mailbox::new(None, address(&mail.to)?))
        .subject(header(&mail.subject));
    if let Some(reply_to) = &mail.reply_to {
        message = message.reply_to(Mailbox::new(None, address(reply_to)?));
    }
    let text = mail.text.clone();
    let message = match mail.html.clone() {
        Some(html) => message.multipart(MultiPart::alternative_plain_html(text, html)),
        None => message.header(ContentType::TEXT_PLAIN).body(text),
    };
    message.ok()
}

/// Returns an address with its domain in ASCII, which every server accepts (RFC 5890).
fn address(email: &Email) -> Option<Address> {
    let (local, domain) = email.as_str().rsplit_once('@')?;
    let domain = if domain.is_ascii() { domain.to_owned() } else { ascii_domain(email) };
    Address::new(local, domain).ok()
}

#[cfg(test)]
mod tests;
