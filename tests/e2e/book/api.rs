//! The Rust sample of the page "Use the API", which is the end of this file.

#![expect(clippy::print_stdout, reason = "a sample that prints")]

use std::env::var;

use turnkey_client::generated::immutable::activity::v1::CreateWalletIntent;
use turnkey_client::{TurnkeyClient, TurnkeyP256ApiKey};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let key = TurnkeyP256ApiKey::from_strings(var("PRIVATE_KEY")?, None)?;
    let client = TurnkeyClient::builder().api_key(key).base_url(var("URL")?).build()?;
    let wallet =
        CreateWalletIntent { wallet_name: "from Rust".to_owned(), accounts: vec![], mnemonic_length: None };
    let created = client.create_wallet(var("ORGANIZATION")?, client.current_timestamp(), wallet).await?;
    println!("{}", created.result.wallet_id);
    Ok(())
}
