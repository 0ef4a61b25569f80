//! Parameters of the kinds on OAuth 2.0.

/// Maximum length of a client id, in bytes.
pub const CLIENT_ID: usize = 256;
/// Maximum length of an encrypted client secret, in hexadecimal digits.
pub const ENVELOPE: usize = 4096;
