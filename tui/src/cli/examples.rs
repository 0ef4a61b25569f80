//! Examples at the end of help texts.

pub(super) const APPROVALS_LS: &str = "\
Examples:
  quorate approvals ls --mine                   what waits for your approval
  quorate approvals ls --risk HIGH -o wide      a table of what has HIGH risk
  quorate approvals ls --text payouts           what names payouts, also as its organization
  quorate approvals ls --json | jq .activityId  for a script
  quorate approvals ls -o name                  ids only";

pub(super) const APPROVE: &str = "\
Examples:
  quorate review ACTIVITY
  quorate approve ACTIVITY --expect-sha256 'af31 ... 09c2'
  quorate approve ACTIVITY --expect-sha256 af31...09c2 --allow-flag quorum-lowered";

pub(super) const ACTIVITY_LS: &str = "\
Examples:
  quorate activity ls --status failed --limit 10
  quorate activity ls --type create-wallet --type create-wallet-accounts -o wide
  quorate activity ls --by mira --text payouts --before 2026-11-01 --order oldest";

pub(super) const ORG_LS: &str = "\
Examples:
  quorate org ls --parent treasury
  quorate org ls --parent treasury --contact ann@example.org";

pub(super) const USER_LS: &str = "\
Examples:
  quorate user ls mira                all credentials of mira
  quorate user ls --unused 90         what nobody used for 90 days
  quorate user ls --sessions --json";

pub(super) const POLICY_NEW: &str = "\
Examples:
  quorate policy draft > payouts.toml
  quorate policy check payouts.toml
  quorate policy new payouts.toml --dry-run
  quorate policy new payouts.toml";

pub(super) const KEY_ADD: &str = "\
Examples:
  quorate key add laptop
  quorate key add deploy --curve ed25519 --passphrase-fd 3 3< passphrase
  quorate key add fido2:mira                                   on the attached security key
  quorate key add fido2:mira --relying-party keys.example.org  for the pages of that domain as well";

pub(super) const KEY_REGISTRATION: &str = "\
Examples:
  quorate key registration fido2:mira > mira.json
  quorate propose create-authenticators --file mira.json --set userId=mira";

pub(super) const CONTEXT: &str = "\
Examples:
  quorate context use prod
  quorate --context test approvals ls
  QUORATE_CONTEXT=test quorate whoami

A context is a section of config.toml:
  [contexts.prod]
  socket = \"/run/quorate/quorated.sock\"
  organization = \"030d8f5a-3d9c-4a55-8f1e-0b8a2f0cf5bc\"
  user = \"mira\"
  key = \"laptop\"";

pub(super) const WATCH: &str = "\
Examples:
  quorate watch
  quorate watch --json | jq --unbuffered 'select(.status == \"ACTIVITY_STATUS_CONSENSUS_NEEDED\")'";

pub(super) const COMPLETION: &str = "\
Examples:
  quorate completion bash > /etc/bash_completion.d/quorate
  quorate completion zsh > ~/.zfunc/_quorate
  quorate completion fish > ~/.config/fish/completions/quorate.fish";
