//! Validation and construction that several kinds share: users with credentials, wallets with accounts,
//! private keys, tags, policies, invitations and more.

pub mod child_messages;
pub mod code_request;
pub mod credential;
pub mod invitation;
pub mod ip_allowlist;
pub mod mailed_key;
pub mod mfa_policy;
pub mod named_id;
pub mod oauth2;
pub mod oidc;
pub mod one_time_code;
pub mod policy;
pub mod private_key;
pub mod quorum;
pub mod session;
pub mod sign_in;
pub mod sign_up;
pub mod tag;
pub mod user;
pub mod verification;
pub mod wallet;
pub mod webhook_endpoint;
