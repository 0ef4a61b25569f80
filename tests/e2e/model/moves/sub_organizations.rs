//! Sub-organizations: created in each version of the request, and deleted by their own users.

use serde_json::{Value, json};

use super::people::{self, NewAuthenticator, NewUser, Schema};
use super::private_keys::{self, NewPrivateKey};
use super::wallets::NewWallet;
use super::{Move, new_ids, put, text};
use crate::model::chooser::Chooser;
use crate::model::objections::{Code, Objections};
use crate::model::world::Organization;

/// Number of sub-organizations above which no more are created. More would only make the run longer.
const ENOUGH: usize = 12;

/// Features that a sub-organization has by default, with the member that disables each and the first version
/// that has it.
const FEATURES: [(&str, &str, u8); 4] = [
    ("FEATURE_NAME_EMAIL_AUTH", "disableEmailAuth", 4),
    ("FEATURE_NAME_EMAIL_RECOVERY", "disableEmailRecovery", 4),
    ("FEATURE_NAME_SMS_AUTH", "disableSmsAuth", 7),
    ("FEATURE_NAME_OTP_EMAIL_AUTH", "disableOtpEmailAuth", 7),
];

struct Create {
    version: u8,
    child_name: String,
    users: Vec<NewUser>,
    threshold: i32,
    wallet: Option<NewWallet>,
    private_keys: Vec<NewPrivateKey>,
    /// Members that disable a feature.
    disabled: Vec<&'static str>,
}

fn schema(version: u8) -> Schema {
    let members: &[&str] = match version {
        1..=6 => &["authenticators"],
        7 => &["authenticators", "userPhoneNumber"],
        _ => &["authenticators", "oauthProviders", "userPhoneNumber"],
    };
    Schema { members, names_curve: version >= 6 }
}

pub(super) fn create(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let version = chooser.one(&[1, 2, 3, 4, 5, 6, 7, 8, 8, 8]);
    let child_name = chooser.name("child");
    let is_enough = chooser.world.organizations.len() > ENOUGH;
    let count = if is_enough { 0 } else { chooser.one(&[0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 3]) };
    let mut users: Vec<NewUser> = (0..count).map(|_| NewUser::choose(chooser, schema(version))).collect();
    if version == 1 {
        let authenticator = NewAuthenticator::choose(chooser);
        let name = authenticator.name().to_owned();
        users = vec![NewUser { name, authenticators: vec![authenticator], ..NewUser::default() }];
    }
    let most = i32::try_from(users.len()).expect("a few users");
    let fitting = chooser.one(&[1, 1, most.max(1)]);
    let threshold = if version > 1 && chooser.rarely() { chooser.one(&[0, most + 1]) } else { fitting };
    let private_keys = if version == 3 { chooser.one(&[0, 1, 2]) } else { 0 };
    let disabled = FEATURES.iter().filter(|(_, _, first)| version >= *first).map(|(_, member, _)| *member);
    Box::new(Create {
        version,
        child_name,
        users,
        threshold,
        wallet: if version >= 4 { chooser.maybe(NewWallet::choose) } else { None },
        private_keys: (0..private_keys).map(|_| NewPrivateKey::choose(chooser, false)).collect(),
        disabled: disabled.filter(|_| chooser.choices.one_in(3)).collect(),
    })
}

impl Create {
    /// Returns the child without content.
    fn empty(&self) -> Organization {
        let on = FEATURES.iter().filter(|(_, member, _)| !self.disabled.contains(member));
        Organization {
            name: self.child_name.clone(),
            is_child: true,
            threshold: usize::try_from(self.threshold).unwrap_or_default(),
            features: on.map(|(name, ..)| ((*name).to_owned(), None)).collect(),
            ..Organization::default()
        }
    }
}

impl Move for Create {
    fn name(&self) -> &'static str {
        match self.version {
            1 => "CREATE_SUB_ORGANIZATION",
            2 => "CREATE_SUB_ORGANIZATION_V2",
            3 => "CREATE_SUB_ORGANIZATION_V3",
            4 => "CREATE_SUB_ORGANIZATION_V4",
            5 => "CREATE_SUB_ORGANIZATION_V5",
            6 => "CREATE_SUB_ORGANIZATION_V6",
            7 => "CREATE_SUB_ORGANIZATION_V7",
            _ => "CREATE_SUB_ORGANIZATION_V8",
        }
    }

    fn result_name(&self) -> &'static str {
        match self.version {
            1 | 2 => "createSubOrganizationResult",
            3 => "createSubOrganizationResultV3",
            4 => "createSubOrganizationResultV4",
            5 => "createSubOrganizationResultV5",
            6 => "createSubOrganizationResultV6",
            7 => "createSubOrganizationResultV7",
            _ => "createSubOrganizationResultV8",
        }
    }

    fn parameters(&self) -> Value {
        if self.version == 1 {
            let authenticator = &self.users[0].authenticators[0];
            return json!({ "name": self.child_name, "rootAuthenticator": authenticator.json() });
        }
        let users: Vec<Value> = self.users.iter().map(|user| user.json(schema(self.version))).collect();
        let mut parameters = json!({
            "subOrganizationName": self.child_name,
            "rootUsers": users,
            "rootQuorumThreshold": self.threshold,
        });
        let private_keys: Vec<Value> = self.private_keys.iter().map(NewPrivateKey::json).collect();
        put(&mut parameters, "privateKeys", (self.version == 3).then_some(private_keys));
        put(&mut parameters, "wallet", self.wallet.as_ref().map(NewWallet::json));
        for member in &self.disabled {
            parameters[*member] = json!(true);
        }
        parameters
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.named(organization.is_child, Code::InvalidArgument, "", "INVALID_ACTIVITY_CALLER");
        objections.label(&self.child_name);
        let child = self.empty();
        people::object_to_users(&mut objections, &child, &self.users, true);
        objections.invalid(self.threshold < 1, "quorum threshold must be non-zero integer");
        objections.invalid(usize::try_from(self.threshold).is_ok_and(|count| count > self.users.len()), "");
        let lasting = self.users.iter().filter(|user| user.can_always_sign_in(&child)).count();
        let is_too_high = usize::try_from(self.threshold).is_ok_and(|count| count > lasting);
        objections.invalid(is_too_high, people::CANNOT_BE_MET);
        private_keys::object_to_keys(&mut objections, &child, &self.private_keys);
        if let Some(wallet) = &self.wallet {
            wallet.object(&mut objections, &child);
        }
        objections
    }

    fn apply(&self, _organization: &mut Organization, _result: &Value) {}

    fn child(&self, result: &Value) -> Option<Organization> {
        let mut child = self.empty();
        child.id = text(&result["subOrganizationId"]);
        let ids = new_ids(&result["rootUserIds"], self.users.len());
        child.members = ids.iter().cloned().collect();
        child.users = self.users.iter().zip(ids).map(|(user, id)| user.to_model(id)).collect();
        if self.version == 3 {
            child.private_keys = private_keys::to_model(&self.private_keys, &result["privateKeys"]);
        }
        match &self.wallet {
            Some(wallet) => wallet.apply(&mut child, &result["wallet"]),
            None => assert!(result["wallet"].is_null(), "no wallet was requested: {result}"),
        }
        Some(child)
    }
}

struct Delete {
    without_export: Option<bool>,
}

pub(super) fn delete(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    // The parent cannot be deleted, and mostly replaces deleted children.
    if !chooser.organization().is_child && !chooser.choices.one_in(6) {
        return create(chooser);
    }
    Box::new(Delete { without_export: chooser.one(&[Some(true), Some(true), Some(false), None]) })
}

impl Move for Delete {
    fn name(&self) -> &'static str {
        "DELETE_SUB_ORGANIZATION"
    }

    fn result_name(&self) -> &'static str {
        "deleteSubOrganizationResult"
    }

    fn parameters(&self) -> Value {
        let mut parameters = json!({});
        put(&mut parameters, "deleteWithoutExport", self.without_export);
        parameters
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.invalid(!organization.is_child, "");
        // Nothing is ever exported here.
        let has_keys = !organization.wallets.is_empty() || !organization.private_keys.is_empty();
        objections.invalid(has_keys && self.without_export != Some(true), "");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(*result, json!({ "subOrganizationUuid": organization.id }));
    }

    fn ends_organization(&self) -> bool {
        true
    }
}
