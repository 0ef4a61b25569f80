//! `quorate messages ls`.

use quorate_common::console::MessageEvent;
use quorate_common::ids::OrganizationId;
use serde_json::json;

use super::arguments::MessagesCommand;
use crate::failure::Result;
use crate::messages::{DeliveryState, Newest, state};
use crate::output::{self, Answer, extended};
use crate::session::{Session, organization_named};
use crate::text::{clean, date_time};

pub(super) async fn run(session: &Session, command: &MessagesCommand) -> Result<Answer> {
    session.daemon_status().await?;
    let MessagesCommand::Ls { id, state, limit } = command;
    let organization = match id {
        Some(id) => organization_named(&session.client, id).await?,
        None => session.organization().await?.head.organization_id,
    };
    let limit = usize::from(*limit);
    // One more than wanted shows whether there are more.
    let mut newest = newest(session, organization, *state, limit.saturating_add(1)).await?;
    let is_cut = newest.len() > limit;
    newest.truncate(limit);
    let cut = is_cut.then(|| format!("only the newest {limit} are listed: raise --limit"));
    if let Some(cut) = &cut {
        output::warn_scripts(cut);
    }
    let answer = Answer::rows(newest.iter().map(|one| (row(one), text(one))), "No messages.");
    let mut answer = answer.summed_up(("message", "messages"), "/id");
    answer.text.extend(cut.map(|cut| format!("{cut}\n")));
    Ok(answer)
}

/// Returns the newest event of each message, newest first, if the message is in this state.
async fn newest(
    session: &Session,
    organization: OrganizationId,
    state: Option<DeliveryState>,
    limit: usize,
) -> Result<Vec<MessageEvent>> {
    let mut newest = Newest::default();
    let matching = |newest: &Newest| {
        let events = newest.events.iter().filter(|event| state.is_none_or(|state| state.is_of(event)));
        events.take(limit).cloned().collect::<Vec<_>>()
    };
    let mut after = None;
    loop {
        newest.add(after, &session.client.messages(organization, after).await?);
        after = newest.next;
        let found = matching(&newest);
        if after.is_none() || found.len() >= limit {
            return Ok(found);
        }
    }
}

fn row(event: &MessageEvent) -> serde_json::Value {
    extended(json!(event), [("state", json!(state(event)))])
}

fn text(event: &MessageEvent) -> String {
    let answer = event.answer.as_ref().map(|answer| format!("  {}\n", clean(answer))).unwrap_or_default();
    let from = event.from_address.as_ref().map(|from| format!(" from {}", clean(from))).unwrap_or_default();
    format!(
        "{} {:<9} to {}{from}\n{answer}  activity {} in organization {}\n",
        date_time(event.at_millis),
        state(event),
        clean(&event.to_address),
        event.activity_id,
        event.organization_id,
    )
}

#[cfg(test)]
mod tests {
    use quorate_common::ids::{ActivityId, MessageEventId};

    use super::*;

    #[test]
    fn each_message_is_shown_with_its_state_and_the_last_answer() {
        let event = |event_type: &str, answer: Option<&str>, to: &str| MessageEvent {
            id: MessageEventId::from_bytes([1; 16]),
            organization_id: OrganizationId::from_bytes([2; 16]),
            activity_id: ActivityId::from_bytes([3; 16]),
            message_id: "3.0".to_owned(),
            to_address: to.to_owned(),
            from_address: to.contains('@').then(|| "Quorate".to_owned()),
            event_type: event_type.to_owned(),
            answer: answer.map(str::to_owned),
            at_millis: 1_700_000_000_000,
        };
        let events = [
            event("Send", None, "ann@example.org"),
            event("DeliveryDelay", Some("451 4.7.1 come back later"), "ann@example.org"),
            event("Delivery", Some("202"), "+12025550123"),
            event("Bounce", Some("550 no \u{1b}[31mone"), "nobody@example.org"),
            event("Expired", Some("expired before the server took it"), "ann@example.org"),
            event("Displaced", Some("its receiver delayed it"), "ann@example.org"),
            event("Open", None, "ann@example.org"),
        ];
        insta::with_settings!({prepend_module_to_snapshot => false, omit_expression => true}, {
            insta::assert_snapshot!("messages", events.iter().map(text).collect::<String>());
        });
    }
}
