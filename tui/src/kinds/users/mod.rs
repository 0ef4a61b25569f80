//! Users.

use super::Kind;

mod change;
mod create_api_only_users;
mod create_users;
mod delete_users;
mod section;
mod update_user;
mod update_user_email;
mod update_user_name;
mod update_user_phone_number;

pub(super) const KINDS: &[Kind] = &[
    create_api_only_users::KIND,
    create_users::KIND,
    delete_users::KIND,
    update_user::KIND,
    update_user_email::KIND,
    update_user_name::KIND,
    update_user_phone_number::KIND,
];
