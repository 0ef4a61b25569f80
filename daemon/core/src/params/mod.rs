//! Parameter types that several activity kinds share, in each of their versions.

pub mod card;
pub mod credential;
pub mod keys;
pub mod mailed_key;
pub mod message;
pub mod mfa_policy;
pub mod oauth2;
pub mod one_time_code;
pub mod organization;
pub mod policy;
pub mod secret_text;
pub mod secrets;
pub mod session;
pub mod signing;
pub mod user;
pub mod webhook;

pub use credential::{NewApiKey, NewAuthenticator, NewOauthProvider};
pub use keys::{PrivateKeyParams, WalletAccountParams, WalletParams};
pub use policy::PolicyParams;
pub use user::NewUser;
pub use webhook::WebhookSubscriptionParams;
