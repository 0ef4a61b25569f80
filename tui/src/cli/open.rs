//! `quorate open`: shows what an address means.

use super::arguments::{OrgCommand, UserCommand, WalletCommand};
use super::policy_arguments::PolicyCommand;
use super::{organizations, policies, review, users, wallets};
use crate::address::{Address, Object};
use crate::failure::Result;
use crate::files::Folders;
use crate::output::Answer;
use crate::session::{Context, Session};

/// Shows it with the daemon, the user and the key that are selected, in the organization of the address.
pub(super) async fn run(context: &Context, folders: &Folders, address: Address) -> Result<Answer> {
    let context = Context { organization: Some(address.organization.to_string()), ..context.clone() };
    let session = Session::new(&context, folders)?;
    match address.object {
        Object::Organization => organizations::run(&session, &OrgCommand::Get { id: None }).await,
        Object::Activity(id) => review::run(&session, &id.to_string()).await,
        Object::User(id) => {
            let command = UserCommand::Ls { of: Some(id.to_string()), sessions: false, unused: None };
            users::run(&session, &command).await
        }
        Object::Policy(id) => {
            policies::run(|| Ok(session), &PolicyCommand::Get { policy: id.to_string() }).await
        }
        Object::Wallet(id) => wallets::run(&session, &WalletCommand::Get { wallet: id.to_string() }).await,
    }
}
