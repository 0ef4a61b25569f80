//! The organization: its name, features, origins and root quorum.

use quorate_tests::passkey::ORIGIN;
use serde_json::{Value, json};

use super::{Move, people, put};
use crate::model::chooser::Chooser;
use crate::model::objections::Objections;
use crate::model::views;
use crate::model::world::{Organization, User};

/// Available origins. The first one is that of all passkeys, so that nobody is locked out.
const ORIGINS: [&str; 4] =
    [ORIGIN, "http://localhost:3000", "https://model.example:8443", "https://other.example"];

struct Rename {
    name: String,
}

struct ChangeOrigins {
    origins: Vec<&'static str>,
}

pub(super) fn change(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    if chooser.choices.one_in(2) {
        return Box::new(Rename { name: chooser.name("organization") });
    }
    let mut origins = ORIGINS[..chooser.choices.below(4)].to_vec();
    if chooser.rarely() {
        origins.push("https://model.example/path");
    }
    Box::new(ChangeOrigins { origins })
}

impl Move for Rename {
    fn name(&self) -> &'static str {
        "UPDATE_ORGANIZATION_NAME"
    }

    fn result_name(&self) -> &'static str {
        "updateOrganizationNameResult"
    }

    fn parameters(&self) -> Value {
        json!({ "organizationName": self.name })
    }

    fn objections(&self, _organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.label(&self.name);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(*result, json!({ "organizationId": organization.id, "organizationName": self.name }));
        organization.name.clone_from(&self.name);
    }
}

impl Move for ChangeOrigins {
    fn name(&self) -> &'static str {
        "UPDATE_ALLOWED_ORIGINS"
    }

    fn result_name(&self) -> &'static str {
        "updateAllowedOriginsResult"
    }

    fn parameters(&self) -> Value {
        json!({ "allowedOrigins": self.origins })
    }

    fn objections(&self, _organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.invalid(self.origins.contains(&"https://model.example/path"), "");
        objections
    }

    /// Applies the origins as the value of their feature, which is absent without origins.
    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(*result, json!({}));
        let feature = "FEATURE_NAME_WEBAUTHN_ORIGINS".to_owned();
        if self.origins.is_empty() {
            organization.features.remove(&feature);
        } else {
            organization.features.insert(feature, Some(json!(self.origins).to_string()));
        }
    }
}

/// A feature and its possible values.
type Feature = (&'static str, &'static [Option<&'static str>]);

/// Values of a switch, which may be any text.
const SWITCH: &[Option<&str>] = &[None, Some("on"), Some("other")];
/// Features, the last of which is invalid.
const FEATURES: [Feature; 9] = [
    ("FEATURE_NAME_EMAIL_AUTH", SWITCH),
    ("FEATURE_NAME_EMAIL_RECOVERY", SWITCH),
    ("FEATURE_NAME_SMS_AUTH", SWITCH),
    ("FEATURE_NAME_OTP_EMAIL_AUTH", SWITCH),
    ("FEATURE_NAME_ROOT_USER_EMAIL_RECOVERY", SWITCH),
    ("FEATURE_NAME_AUTH_PROXY", SWITCH),
    ("FEATURE_NAME_WEBAUTHN_ORIGINS", &ORIGIN_LISTS),
    (WEBHOOK, &[Some("http://127.0.0.1:1/feature"), Some("https://127.0.0.1:1/feature")]),
    ("FEATURE_NAME_NO_SUCH", SWITCH),
];
const WEBHOOK: &str = "FEATURE_NAME_WEBHOOK";
const ORIGIN_LISTS: [Option<&str>; 3] = [
    Some("https://house.example"),
    Some("http://localhost:3000, https://house.example"),
    Some("[\"http://localhost:3000\",\"https://house.example\"]"),
];
/// Invalid receivers.
const NO_RECEIVERS: [Option<&str>; 4] =
    [None, Some("hook"), Some("ftp://127.0.0.1/feature"), Some("http://10.0.0.1/feature")];

struct ChangeFeature {
    is_set: bool,
    feature: &'static str,
    value: Option<&'static str>,
}

pub(super) fn change_features(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let is_set = chooser.one(&[true, true, false]);
    let known = if chooser.rarely() { FEATURES.len() } else { FEATURES.len() - 1 };
    let (feature, values) = chooser.one(&FEATURES[..known]);
    let is_wrong = feature == WEBHOOK && chooser.choices.one_in(4);
    let value = chooser.one(if is_wrong { &NO_RECEIVERS } else { values });
    Box::new(ChangeFeature { is_set, feature, value: value.filter(|_| is_set) })
}

impl Move for ChangeFeature {
    fn name(&self) -> &'static str {
        if self.is_set { "SET_ORGANIZATION_FEATURE" } else { "REMOVE_ORGANIZATION_FEATURE" }
    }

    fn result_name(&self) -> &'static str {
        if self.is_set { "setOrganizationFeatureResult" } else { "removeOrganizationFeatureResult" }
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!({ "name": self.feature });
        put(&mut parameters, "value", self.value);
        parameters
    }

    fn objections(&self, _organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.invalid(self.feature.ends_with("NO_SUCH"), "");
        let has_receiver = self.feature != WEBHOOK || !NO_RECEIVERS.contains(&self.value);
        objections.invalid(self.is_set && !has_receiver, "invalid webhook URL");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        if self.is_set {
            organization.features.insert(self.feature.to_owned(), self.value.map(str::to_owned));
        } else {
            organization.features.remove(self.feature);
        }
        let mut reported = result["features"].clone();
        views::sort(&mut reported);
        assert_eq!(reported, views::features(organization), "the whole set after the change");
    }
}

struct ChangeRootQuorum {
    threshold: i32,
    members: Vec<String>,
}

pub(super) fn change_root_quorum(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let mut members = chooser.ids(&chooser.organization().user_ids());
    if chooser.choices.one_in(2) {
        let organization = chooser.organization();
        let others = organization
            .user_ids()
            .into_iter()
            .filter(|id| organization.members.contains(id) && !members.contains(id));
        members = others.chain(members.clone()).collect();
    }
    let most = i32::try_from(members.len()).expect("a few members");
    let threshold = chooser.one(&[1, 1, 2, 2, 2, most, most.min(2), most.min(2), most + 1, 0]);
    Box::new(ChangeRootQuorum { threshold, members })
}

impl Move for ChangeRootQuorum {
    fn name(&self) -> &'static str {
        "UPDATE_ROOT_QUORUM"
    }

    fn result_name(&self) -> &'static str {
        "updateRootQuorumResult"
    }

    fn parameters(&self) -> Value {
        json!({ "threshold": self.threshold, "userIds": self.members })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.batch(&self.members);
        objections.distinct(&self.members);
        objections.invalid(self.threshold < 1, "quorum threshold must be non-zero integer");
        objections.invalid(usize::try_from(self.threshold).is_ok_and(|count| count > self.members.len()), "");
        let users = self.members.iter().map(|id| organization.user(id));
        let all_can_vote = users.into_iter().all(|user| user.is_some_and(User::can_stamp));
        let has_typo = self.members.iter().any(|id| id.len() != 36);
        objections.invalid(!all_can_vote, if has_typo { "" } else { "quorum users missing" });
        let lasting = organization.lasting(&self.members);
        let is_too_high = usize::try_from(self.threshold).is_ok_and(|count| count > lasting);
        objections.invalid(is_too_high, people::CANNOT_BE_MET);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(*result, json!({}));
        organization.members = self.members.iter().cloned().collect();
        organization.threshold = usize::try_from(self.threshold).expect("a checked threshold");
    }
}
