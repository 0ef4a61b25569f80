//! Webhook endpoints: created, changed, deleted. Nothing listens at their URLs, and no request waits for a
//! delivery.

use serde_json::{Value, json};

use super::{Move, put, text};
use crate::model::chooser::Chooser;
use crate::model::objections::{Code, Objections};
use crate::model::views;
use crate::model::world::{Organization, Subscription, WebhookEndpoint};

const ENDPOINTS: usize = 10;
const UNKNOWN_ENDPOINT: &str = "no webhook endpoint found";

/// Event types: a supported one, one of services that watch chains, and an invalid one.
const EVENTS: [&str; 3] = ["ACTIVITY_UPDATES", "BALANCE_CONFIRMED_UPDATES", "ACTIVITY"];
/// Filters, the last of which is not JSON.
const FILTERS: [&str; 3] = ["{}", "{\"status\":[\"ACTIVITY_STATUS_COMPLETED\"]}", "{status}"];
/// URLs, the last four of which are rejected.
const URLS: [&str; 7] = [
    "http://127.0.0.1:1/hook",
    "https://127.0.0.1:1/hook?of=model",
    "http://localhost:1/",
    "https://user@127.0.0.1:1/hook",
    "ftp://127.0.0.1/hook",
    "http://192.168.0.1/hook",
    "hook",
];
const GOOD_URLS: usize = 3;

fn url(chooser: &mut Chooser<'_>) -> &'static str {
    let is_wrong = chooser.rarely();
    chooser.one(if is_wrong { &URLS[GOOD_URLS..] } else { &URLS[..GOOD_URLS] })
}

fn object_to_url(objections: &mut Objections, url: &str) {
    objections.invalid(!URLS[..GOOD_URLS].contains(&url), "invalid webhook URL");
}

fn object_to_name(objections: &mut Objections, organization: &Organization, name: &str, own: &str) {
    let others = organization.webhook_endpoints.iter().filter(|endpoint| endpoint.id != own);
    objections.free_label(name, others.map(|endpoint| endpoint.name.as_str()));
}

impl Subscription {
    fn choose(chooser: &mut Chooser<'_>) -> Self {
        let event = if chooser.rarely() { chooser.one(&EVENTS) } else { EVENTS[0] };
        let filters = if chooser.rarely() { chooser.one(&FILTERS) } else { chooser.one(&FILTERS[..2]) };
        let filters = chooser.maybe(|_| filters);
        Self { event, filters, is_active: chooser.one(&[None, Some(true), Some(false)]) }
    }

    fn object(&self, objections: &mut Objections) {
        objections.when(self.event == EVENTS[1], Code::Unimplemented, "");
        objections.invalid(self.event == EVENTS[2], "");
        objections.invalid(self.filters == Some(FILTERS[2]), "");
    }
}

/// Asserts that a result reports an endpoint as in the model.
fn assert_reported(organization: &Organization, result: &Value, id: &str) {
    let endpoint = organization.webhook_endpoint(id).expect("an existing endpoint");
    assert_eq!(
        *result,
        json!({ "endpointId": id, "webhookEndpoint": views::webhook_endpoint(&organization.id, endpoint) })
    );
}

struct Create {
    name: String,
    url: &'static str,
    subscriptions: Vec<Subscription>,
}

pub(super) fn create(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let (name, url) = (chooser.name("endpoint"), url(chooser));
    let count = chooser.one(&[0, 1, 1]);
    let subscriptions = (0..count).map(|_| Subscription::choose(chooser)).collect();
    Box::new(Create { name, url, subscriptions })
}

impl Move for Create {
    fn name(&self) -> &'static str {
        "CREATE_WEBHOOK_ENDPOINT"
    }

    fn result_name(&self) -> &'static str {
        "createWebhookEndpointResult"
    }

    fn parameters(&self) -> Value {
        let subscriptions: Vec<Value> = self.subscriptions.iter().map(views::subscription).collect();
        json!({ "url": self.url, "name": self.name, "subscriptions": subscriptions })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        object_to_url(&mut objections, self.url);
        object_to_name(&mut objections, organization, &self.name, "");
        for subscription in &self.subscriptions {
            subscription.object(&mut objections);
        }
        objections.capacity(organization.webhook_endpoints.len(), 1, ENDPOINTS, "");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        let id = text(&result["endpointId"]);
        organization.webhook_endpoints.push(WebhookEndpoint {
            id: id.clone(),
            name: self.name.clone(),
            url: self.url.to_owned(),
            is_active: true,
            subscriptions: self.subscriptions.clone(),
        });
        assert_reported(organization, result, &id);
    }
}

struct Update {
    id: String,
    name: Option<String>,
    url: Option<&'static str>,
    is_active: Option<bool>,
}

pub(super) fn update(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let id = chooser.id(&chooser.organization().webhook_endpoint_ids());
    let name = chooser.maybe(|chooser| chooser.name("endpoint"));
    let url = chooser.maybe(url);
    Box::new(Update { id, name, url, is_active: chooser.one(&[None, Some(true), Some(false)]) })
}

impl Move for Update {
    fn name(&self) -> &'static str {
        "UPDATE_WEBHOOK_ENDPOINT"
    }

    fn result_name(&self) -> &'static str {
        "updateWebhookEndpointResult"
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!({ "endpointId": self.id });
        put(&mut parameters, "name", self.name.as_deref());
        put(&mut parameters, "url", self.url);
        put(&mut parameters, "isActive", self.is_active);
        parameters
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        let is_there = organization.webhook_endpoint(&self.id).is_some();
        objections.exists(&self.id, is_there, UNKNOWN_ENDPOINT);
        if let Some(name) = &self.name {
            object_to_name(&mut objections, organization, name, &self.id);
        }
        if let Some(url) = self.url {
            object_to_url(&mut objections, url);
        }
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        let mut endpoints = organization.webhook_endpoints.iter_mut();
        let endpoint = endpoints.find(|endpoint| endpoint.id == self.id).expect("an existing endpoint");
        if let Some(name) = &self.name {
            endpoint.name.clone_from(name);
        }
        if let Some(url) = self.url {
            url.clone_into(&mut endpoint.url);
        }
        endpoint.is_active = self.is_active.unwrap_or(endpoint.is_active);
        assert_reported(organization, result, &self.id);
    }
}

struct Delete {
    id: String,
}

pub(super) fn delete(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    Box::new(Delete { id: chooser.id(&chooser.organization().webhook_endpoint_ids()) })
}

impl Move for Delete {
    fn name(&self) -> &'static str {
        "DELETE_WEBHOOK_ENDPOINT"
    }

    fn result_name(&self) -> &'static str {
        "deleteWebhookEndpointResult"
    }

    fn parameters(&self) -> Value {
        json!({ "endpointId": self.id })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        let is_there = organization.webhook_endpoint(&self.id).is_some();
        objections.exists(&self.id, is_there, UNKNOWN_ENDPOINT);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(*result, json!({ "endpointId": self.id }));
        organization.webhook_endpoints.retain(|endpoint| endpoint.id != self.id);
        organization.deleted_ids.push(self.id.clone());
    }
}
