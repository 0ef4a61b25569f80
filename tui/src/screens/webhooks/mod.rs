//! The webhook receivers of the organization and the deliveries to the selected one. A delivery can be repeated and a
//! receiver tested; each prompts first. The data is read every few seconds, and only while the screen is shown.

mod deliveries;
mod drawing;

use quorate_common::console::{FEATURE, WebhookDeliveries, WebhookReceiver, WebhookReceivers};
use quorate_common::ids::{EndpointId, OrganizationId};
use ratatui::layout::Rect;

use self::deliveries::Delivery;
use self::drawing::{layout, rows_each};
use super::filter::Filter;
use super::overlay::{Confirmation, Overlay, Piece, Place};
use super::request::Request;
use super::screen::{Screen, Tab, showing};
use super::shared::{LinkState, Shared};
use crate::canvas::Canvas;
use crate::keymap::{Action, BACK, COPY, Command, FILTER, Key, NEXT_PANE, command, moved};
use crate::link::{Answer, Order, ReceiverId, Subject};
use crate::text::clean;
use crate::webhooks::{self, name, receives_activities};

pub(super) static TAB: Tab = Tab {
    title: "Webhooks",
    show: showing(&[Key::Char('8')], "Show webhook receivers and the deliveries to them")
        .cli("quorate webhook ls"),
    commands: &COMMANDS,
    reads_activities: false,
    create: || Box::new(State::default()),
};

static COMMANDS: [Command; 7] = [OPEN, RETRY, TEST, NEXT_PANE, COPY, BACK, FILTER];

const RETRY_ACTION: Action = Action::OfScreen("retry");
const TEST_ACTION: Action = Action::OfScreen("test");
const OPEN: Command = command(
    Action::Open,
    &[Key::Enter],
    "Open",
    "Show the deliveries to the receiver, or the activity of the delivery",
)
.cli("quorate webhook deliveries RECEIVER");
const RETRY: Command =
    command(RETRY_ACTION, &[Key::Char('R')], "Retry...", "Send the selected delivery again; prompts first")
        .cli("quorate webhook retry RECEIVER ACTIVITY");
const TEST: Command =
    command(TEST_ACTION, &[Key::Char('T')], "Test...", "Post a test event to the receiver; prompts first")
        .cli("quorate webhook test RECEIVER");

/// Time between two requests for the data, in milliseconds.
const PERIOD_MILLIS: u64 = 3000;

/// The pane with the keyboard focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Pane {
    #[default]
    Receivers,
    Deliveries,
}

#[derive(Default)]
struct State {
    /// Organization of the data.
    of: Option<OrganizationId>,
    all: Option<WebhookReceivers>,
    /// Key of the selected receiver.
    receiver: Option<String>,
    /// The deliveries to a receiver.
    deliveries: Option<(ReceiverId, WebhookDeliveries)>,
    /// Key of the selected delivery.
    delivery: Option<String>,
    pane: Pane,
    filter: Filter,
    /// Time of the last request, in milliseconds since the Unix epoch.
    requested: u64,
}

impl Screen for State {
    fn draw(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let areas = layout(self.pane, area, self.visible().len());
        if areas.receivers.height > 0 {
            self.draw_receivers(shared, canvas, areas.receivers);
        }
        if areas.deliveries.height > 0 {
            self.draw_deliveries(shared, canvas, areas.deliveries);
        }
    }

    fn perform(&mut self, shared: &Shared, wanted: Action, area: Rect) -> Vec<Request> {
        match wanted {
            Action::NextPane => {
                self.pane = match self.pane {
                    Pane::Receivers => Pane::Deliveries,
                    Pane::Deliveries => Pane::Receivers,
                };
            }
            Action::Open if self.pane == Pane::Receivers => self.pane = Pane::Deliveries,
            Action::Back => self.pane = Pane::Receivers,
            Action::Open => return self.open_activity(shared).into_iter().collect(),
            Action::Copy => return self.copies().map(Request::Overlay).into_iter().collect(),
            RETRY_ACTION => return vec![self.retry(shared)],
            TEST_ACTION => return vec![self.test()],
            wanted => return self.select(wanted, area),
        }
        Vec::new()
    }

    fn filter(&mut self) -> &mut Filter {
        &mut self.filter
    }

    fn is_at_top(&self) -> bool {
        self.pane == Pane::Receivers
    }

    fn reveal(&mut self, _shared: &Shared, place: &Place) -> Option<Vec<Request>> {
        let Place::Webhook(id) = place else { return None };
        self.filter.clear();
        (self.pane, self.receiver, self.delivery) = (Pane::Receivers, Some(key_of(Some(*id))), None);
        Some(self.read_deliveries())
    }

    /// Returns the number of receivers that fail.
    fn count(&self, shared: &Shared) -> Option<String> {
        let all = self.all.as_ref().filter(|_| self.of == shared.organization_id)?;
        let failing = all.receivers.iter().filter(|one| webhooks::state(one).contains("[!]")).count();
        (failing > 0).then(|| format!("{failing}!"))
    }

    fn open(&mut self, shared: &Shared) -> Vec<Request> {
        self.requested = shared.now;
        let Some(id) = shared.organization_id else { return Vec::new() };
        let deliveries = self.receiver_id().filter(|(of, _)| *of == id).map(Order::Deliveries);
        [Some(Order::Webhooks(id)), deliveries].into_iter().flatten().map(Request::from).collect()
    }

    fn apply(&mut self, shared: &Shared, answer: &Answer) -> Vec<Request> {
        match answer {
            Answer::Webhooks(of, all) if shared.organization_id == Some(*of) => {
                let is_first = self.all.is_none() || self.of != Some(*of);
                (self.of, self.all) = (Some(*of), Some(all.clone()));
                if is_first {
                    return self.read_deliveries();
                }
            }
            Answer::Deliveries(of, deliveries) if self.receiver_id() == Some(*of) => {
                self.deliveries = Some((*of, deliveries.clone()));
            }
            Answer::Retried(result) => {
                let text = match result {
                    Ok(retried) => webhooks::retried_text(retried.expedited),
                    Err(error) => format!("[!] not sent again: {error}"),
                };
                return self.done(shared, text);
            }
            Answer::Tested(result) => {
                let text = match result {
                    Ok(test) => {
                        format!("test event: {}, {}", webhooks::result(test), webhooks::answer(test))
                    }
                    Err(error) => format!("[!] not tested: {error}"),
                };
                return self.done(shared, text);
            }
            Answer::Failed(Subject::Webhooks, _) => self.requested = shared.now,
            _ => {}
        }
        Vec::new()
    }

    fn prepare(&mut self, shared: &Shared) -> Vec<Request> {
        let is_due = shared.now.saturating_sub(self.requested) >= PERIOD_MILLIS;
        if is_due && matches!(shared.link, LinkState::Live) { self.open(shared) } else { Vec::new() }
    }
}

impl State {
    /// Shows how an action ended, and reads the data again.
    fn done(&mut self, shared: &Shared, text: String) -> Vec<Request> {
        let mut requests = vec![Request::Notice(text)];
        requests.extend(self.open(shared));
        requests
    }

    /// Returns the receivers that the filter admits.
    fn visible(&self) -> Vec<&WebhookReceiver> {
        let all = self.all.iter().flat_map(|all| &all.receivers);
        let admitted = |one: &&WebhookReceiver| {
            let words = [&name(one), webhooks::state(one), &one.url].join(" ");
            let id = one.endpoint_id.map(|id| id.to_string()).unwrap_or_default();
            self.filter.admits(&words, &[&id])
        };
        all.filter(admitted).collect()
    }

    /// Returns the position of the selected receiver.
    fn position(&self, shown: &[&WebhookReceiver]) -> usize {
        shown.iter().position(|one| Some(key_of(one.endpoint_id)) == self.receiver).unwrap_or(0)
    }

    /// Returns the selected receiver.
    fn selected(&self) -> Option<&WebhookReceiver> {
        let shown = self.visible();
        shown.get(self.position(&shown)).copied()
    }

    fn receiver_id(&self) -> Option<ReceiverId> {
        Some((self.of?, self.selected()?.endpoint_id))
    }

    /// Returns the deliveries to the selected receiver, if they were read.
    fn shown_deliveries(&self) -> Option<Vec<Delivery<'_>>> {
        let (of, deliveries) = self.deliveries.as_ref()?;
        (self.receiver_id() == Some(*of)).then(|| deliveries::of(deliveries))
    }

    fn selected_delivery(&self) -> Option<Delivery<'_>> {
        let shown = self.shown_deliveries()?;
        shown.get(deliveries::position(&shown, self.delivery.as_deref())).copied()
    }

    fn read_deliveries(&self) -> Vec<Request> {
        self.receiver_id().map(|id| Order::Deliveries(id).into()).into_iter().collect()
    }

    /// Moves the selection in the pane with the focus.
    fn select(&mut self, wanted: Action, area: Rect) -> Vec<Request> {
        let areas = layout(self.pane, area, self.visible().len());
        let each = rows_each(area.width);
        let page = |pane: Rect| usize::from(pane.height.saturating_sub(3) / each);
        if self.pane == Pane::Receivers {
            let shown = self.visible();
            let target = moved(self.position(&shown), shown.len(), page(areas.receivers), wanted);
            let receiver = shown.get(target).map(|one| key_of(one.endpoint_id));
            if receiver == self.receiver {
                return Vec::new();
            }
            (self.receiver, self.delivery) = (receiver, None);
            return self.read_deliveries();
        }
        let shown = self.shown_deliveries().unwrap_or_default();
        let position = deliveries::position(&shown, self.delivery.as_deref());
        let target = moved(position, shown.len(), page(areas.deliveries), wanted);
        self.delivery = shown.get(target).map(Delivery::key);
        Vec::new()
    }

    /// Opens the activity of the selected delivery.
    fn open_activity(&self, shared: &Shared) -> Option<Request> {
        let (organization, id) = self.selected_delivery()?.activity()?;
        if shared.organization_id != Some(organization) {
            let text = format!("the activity belongs to the sub-organization {organization}");
            return Some(Request::Notice(text));
        }
        Some(Request::Open { organization, id, title: "Webhook".to_owned() })
    }

    /// Prompts whether the selected delivery is sent again.
    fn retry(&self, shared: &Shared) -> Request {
        let Some((receiver, id)) = self.selected().zip(self.receiver_id()) else {
            return Request::Notice("no webhook receiver is selected".to_owned());
        };
        let chosen = self.selected_delivery().filter(|_| self.pane == Pane::Deliveries);
        let Some((delivery, (organization, activity))) = chosen.and_then(|one| Some((one, one.activity()?)))
        else {
            return Request::Notice(
                "select the delivery of an activity; Tab goes to the deliveries".to_owned(),
            );
        };
        if let Some(text) = not_receiving(receiver) {
            return Request::Notice(text);
        }
        let effect = match delivery {
            Delivery::Waiting(one) => format!(
                "It is due {}. It is posted now instead, together with the other waiting states of this activity.",
                webhooks::due_text(one.due_millis, shared.now)
            ),
            Delivery::Made(_) => "If a delivery of this activity still waits, it is posted now. Otherwise the current \
                state of the activity is posted again, with the event id of that state, so that the receiver can \
                recognize a repetition."
                .to_owned(),
        };
        let paragraphs = vec![
            effect,
            String::new(),
            format!("receiver  {}, {}", name(receiver), clean(&receiver.url)),
            format!("activity  {activity} of organization {organization}"),
            "The organization does not change. The daemon writes the request to its log.".to_owned(),
        ];
        confirm("Send this delivery again?", paragraphs, Order::RetryDelivery(id, organization, activity))
    }

    /// Prompts whether a test event is posted to the selected receiver.
    fn test(&self) -> Request {
        let Some((receiver, id)) = self.selected().zip(self.receiver_id()) else {
            return Request::Notice("no webhook receiver is selected".to_owned());
        };
        if let Some(text) = not_receiving(receiver) {
            return Request::Notice(text);
        }
        let paragraphs = vec![
            "An event of the type WEBHOOK_TEST is posted once, signed like any other event. It reports no activity."
                .to_owned(),
            "The organization does not change. The daemon writes the request to its log.".to_owned(),
            String::new(),
            format!("receiver  {}, {}", name(receiver), clean(&receiver.url)),
        ];
        confirm("Post a test event to this receiver?", paragraphs, Order::TestWebhook(id))
    }

    /// Returns what can be copied of the selected delivery or receiver.
    fn copies(&self) -> Option<Overlay> {
        let receiver = self.selected()?;
        let chosen = self.selected_delivery().filter(|_| self.pane == Pane::Deliveries);
        let mut pieces = chosen.map(|one| one.copies()).unwrap_or_default();
        pieces.push(Piece { key: 'u', name: "URL", text: receiver.url.clone() });
        let id = receiver.endpoint_id.map(|id| Piece { key: 'i', name: "endpoint id", text: id.to_string() });
        pieces.extend(id);
        Some(Overlay::Copy(pieces))
    }
}

/// Returns what identifies a receiver while others come and go.
fn key_of(endpoint: Option<EndpointId>) -> String {
    endpoint.map_or_else(|| FEATURE.to_owned(), |id| id.to_string())
}

fn confirm(title: &str, paragraphs: Vec<String>, order: Order) -> Request {
    Request::Overlay(Overlay::Confirm(Box::new(Confirmation::new(title, paragraphs, order))))
}

/// Returns why a receiver cannot be called, if so.
fn not_receiving(receiver: &WebhookReceiver) -> Option<String> {
    let text = "the endpoint is not active, or not subscribed to ACTIVITY_UPDATES".to_owned();
    (!receives_activities(receiver)).then_some(text)
}
