//! What the console can prove about an activity by itself, from the bytes that people signed. Shared by
//! screens and command line. Reads no clock, file or network; believes nothing that it marks `[v]`.

use quorate_common::activity::{Activity, Status};
use quorate_common::console::{OrganizationDetail, ReviewRecord};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{OrganizationId, UserId};
use serde_json::Value;

use crate::book::Book;
use crate::kinds::{self, Change, Danger, Decoded, Field, Flag, Level, Scene};
use crate::roster::Roster;
use crate::text::clean;

mod checks;
mod compare;
mod draft;
mod flags;
mod quorum;
mod report;
mod rule;
mod siblings;
mod tally;
mod votes;

pub(crate) use draft::{Draft, Ground};
pub(crate) use flags::of_siblings;
pub(crate) use quorum::followed;
pub(crate) use report::json;
pub(crate) use siblings::{BURST, BURST_MILLIS, Sibling, Siblings, rival};
pub(crate) use tally::Tally;
pub(crate) use votes::VoteProof;

/// How sure the console is of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Checked here.
    Verified,
    /// Said by the daemon, not provable here.
    Stated,
    /// Needs care.
    Care,
    /// Checked here and wrong: nothing may be approved.
    Failed,
}

impl Mark {
    /// The mark on screen.
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Verified => "[v]",
            Self::Stated => "[s]",
            Self::Care => "[!]",
            Self::Failed => "[x]",
        }
    }
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    /// `K1` to `K11`.
    pub(crate) id: &'static str,
    /// How it came out.
    pub(crate) mark: Mark,
    /// In words, cleaned.
    pub(crate) text: String,
}

/// Who looks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Viewer {
    /// The organization that this console is pinned to.
    pub(crate) organization: Option<OrganizationId>,
    /// The user who would vote.
    pub(crate) user: Option<UserId>,
}

/// Everything that a review is made from.
pub(crate) struct Evidence<'a> {
    /// The daemon's record.
    pub(crate) record: &'a ReviewRecord,
    /// Other activities of the organization that wait, as far as they are known.
    pub(crate) siblings: &'a Siblings,
    /// Keys seen before.
    pub(crate) roster: &'a Roster,
    /// Whom the user knows by which address.
    pub(crate) book: &'a Book,
    /// Who looks.
    pub(crate) viewer: &'a Viewer,
    /// Milliseconds since 1970.
    pub(crate) now: u64,
    /// How the caller named the activity: id or fingerprint.
    pub(crate) reference: Option<&'a str>,
}

/// The signed proposal, read by the console itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Proposal {
    /// The exact bytes.
    pub(crate) message: String,
    /// SHA-256 of them, computed here.
    pub(crate) fingerprint: Fingerprint,
    /// `type` as signed.
    pub(crate) activity_type: String,
    /// `organizationId` as signed.
    pub(crate) organization: String,
    /// `timestampMs` as signed.
    pub(crate) stamped: Option<u64>,
    /// `parameters` as signed; an empty object if absent.
    pub(crate) parameters: Value,
    /// Members of the envelope beside the four known ones.
    pub(crate) extra: Vec<Field>,
    /// Who signed it.
    pub(crate) asker: UserId,
    /// With which key.
    pub(crate) public_key: String,
}

impl Proposal {
    /// Whether it founds an organization, so that it could name none.
    pub(crate) fn founds(&self) -> bool {
        self.organization.is_empty()
            && self.activity_type.strip_suffix("_V2").unwrap_or(&self.activity_type)
                == "ACTIVITY_TYPE_CREATE_ORGANIZATION"
    }
}

/// What has to be typed to approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Challenge {
    /// `y`, and a button that is not the default.
    Yes,
    /// The last four characters of the fingerprint.
    LastFour(String),
    /// The dangerous value.
    Value(Danger),
}

/// A finished review.
#[derive(Debug, Clone)]
pub(crate) struct Review {
    /// The activity as the daemon records it.
    pub(crate) activity: Activity,
    /// The organization as it was when the review was made.
    pub(crate) organization: OrganizationDetail,
    /// The proposal, unless nothing can be tied to the fingerprint.
    pub(crate) proposal: Option<Proposal>,
    /// What people call the kind.
    pub(crate) title: String,
    /// A few words for lists.
    pub(crate) brief: String,
    /// What happens, in sentences.
    pub(crate) sentence: String,
    /// Every leaf of the signed parameters.
    pub(crate) fields: Vec<Field>,
    /// Facts computed here.
    pub(crate) facts: Vec<Field>,
    /// Comparison with the current state.
    pub(crate) changes: Vec<Change>,
    /// Signed members that mean nothing here.
    pub(crate) leftover: Vec<String>,
    /// Reasons to look twice, worst first.
    pub(crate) flags: Vec<Flag>,
    /// The checks.
    pub(crate) checks: Vec<Check>,
    /// The votes and what is wrong with them.
    pub(crate) votes: Vec<VoteProof>,
    /// Who has agreed and who is left.
    pub(crate) tally: Tally,
    /// Who asked, in words.
    pub(crate) asker: String,
    /// Worst level of the flags.
    pub(crate) risk: Level,
    /// Who looks.
    pub(crate) viewer: Viewer,
    /// When the review was made.
    pub(crate) taken_at: u64,
    /// What is only thought of; absent of what was asked for.
    pub(crate) draft: Option<Draft>,
}

impl Review {
    /// Examines a record.
    pub(crate) fn of(evidence: &Evidence<'_>) -> Self {
        let record = evidence.record;
        let activity = &record.row.activity;
        let organization = with_texts(record);
        let proposal = proposal(activity);
        let who = proposal.as_ref().map(|proposal| proposal.asker);
        let scene = Scene { organization: &organization, asker: who, book: evidence.book };
        let decoded = decoded(activity, proposal.as_ref(), &scene);
        let votes = votes::examine(evidence, proposal.as_ref());
        let tally = tally::count(evidence, &votes);
        let rule = proposal.as_ref().and_then(|proposal| rule::evaluate(evidence, proposal, &votes));
        let checks = checks::run(evidence, proposal.as_ref(), &decoded, &votes, &tally, rule.as_ref());
        let flags = flags::collect(evidence, proposal.as_ref(), &decoded, &votes);
        let risk = flags.iter().map(|flag| flag.level).max().unwrap_or(Level::Low);
        let mut fields = decoded.fields;
        if let Some(proposal) = &proposal {
            fields.extend(proposal.extra.iter().cloned());
        }
        let asker = asker(proposal.as_ref(), &scene);
        Self {
            asker,
            title: decoded.title,
            brief: decoded.story.brief,
            sentence: decoded.story.sentence,
            fields,
            facts: decoded.story.facts,
            changes: decoded.story.changes,
            leftover: decoded.leftover,
            flags,
            checks,
            votes,
            tally,
            risk,
            proposal,
            activity: activity.clone(),
            organization,
            viewer: evidence.viewer.clone(),
            taken_at: evidence.now,
            draft: None,
        }
        .with_danger(decoded.story.danger)
    }

    /// Whether a check failed, so that nothing may be approved.
    pub(crate) fn blocked(&self) -> bool {
        self.checks.iter().any(|check| check.mark == Mark::Failed)
    }

    /// The flags that scripts must name.
    pub(crate) fn high_flags(&self) -> impl Iterator<Item = &Flag> {
        self.flags.iter().filter(|flag| flag.level == Level::High)
    }

    /// What has to be typed to approve.
    pub(crate) fn challenge(&self) -> Challenge {
        let digits = self.proposal.as_ref().map(|proposal| proposal.fingerprint.hex()).unwrap_or_default();
        let last =
            |count: usize| digits.get(digits.len().saturating_sub(count)..).unwrap_or_default().to_owned();
        match self.risk {
            Level::Low => Challenge::Yes,
            Level::Med => Challenge::LastFour(last(4)),
            Level::High => Challenge::Value(self.tally.danger.clone().unwrap_or_else(|| Danger {
                prompt: "the LAST EIGHT of the fingerprint".to_owned(),
                answer: last(8),
            })),
        }
    }

    /// Why the viewer cannot approve, if so.
    pub(crate) fn approve_refusal(&self) -> Option<String> {
        if self.blocked() {
            return Some(
                self.unprovable().unwrap_or_else(|| "a check failed: see the lines marked [x]".to_owned()),
            );
        }
        if let Some(refusal) = self.closed() {
            return Some(refusal);
        }
        let user = self.viewer.user?;
        if self.draft.is_some() {
            return None;
        }
        if let Some(vote) = self.own_vote() {
            return Some(format!("already voted {}", crate::text::clock(vote.cast)));
        }
        if !self.tally.open_to.contains(&user) {
            return Some("your approval would not count: no matching rule needs it".to_owned());
        }
        self.vote_target().err()
    }

    /// Why nobody can prove what was signed, if the daemon keeps bytes of this type in another form.
    pub(crate) fn unprovable(&self) -> Option<String> {
        let hidden = kinds::hidden(&self.activity.activity_type).filter(|_| self.proposal.is_none());
        hidden.map(|what| format!("{what}, so nothing proves what was signed"))
    }

    /// Why the viewer cannot reject, if so.
    pub(crate) fn reject_refusal(&self) -> Option<String> {
        let unsent = self.draft.as_ref().map(|_| "nothing was sent yet: Esc drops it".to_owned());
        unsent.or_else(|| self.closed()).or_else(|| self.vote_target().err())
    }

    /// Returns the only organization and fingerprint that a vote on this may be signed for: the pinned organization, and
    /// the fingerprint that this console computed from the proposal's bytes, which must be signed for that organization.
    ///
    /// # Errors
    ///
    /// Says why there is no such target: no organization is pinned, the record holds no bytes of the fingerprint, or
    /// they are those of another activity or organization.
    pub(crate) fn vote_target(&self) -> Result<(OrganizationId, Fingerprint), String> {
        let Some(pinned) = self.viewer.organization else {
            return Err(
                "no organization is pinned: name it with --organization ID or in config.toml".to_owned()
            );
        };
        let Some(proposal) = &self.proposal else {
            return Err("the record holds no signed bytes to vote on: see quorate reject --help".to_owned());
        };
        let is_of_it = ["K1", "K2"].into_iter().find_map(|id| {
            let mut checks = self.checks.iter();
            checks.find(|check| check.id == id && check.mark == Mark::Failed).map(|check| check.text.clone())
        });
        match is_of_it {
            Some(failed) => Err(failed),
            None if proposal.organization.eq_ignore_ascii_case(&pinned.to_string()) => {
                Ok((pinned, proposal.fingerprint))
            }
            None => {
                Err(format!("signed for organization {}, pinned is {pinned}", clean(&proposal.organization)))
            }
        }
    }

    /// The viewer's live approval, if there is one.
    pub(crate) fn own_vote(&self) -> Option<&VoteProof> {
        let user = self.viewer.user?;
        self.votes.iter().find(|vote| vote.user == user && vote.counts())
    }

    fn closed(&self) -> Option<String> {
        if self.draft.is_none() && self.activity.status != Status::ConsensusNeeded {
            return Some(format!("it does not wait any more: {}", status_word(self.activity.status)));
        }
        if self.viewer.user.is_none() {
            return Some("no user and key are chosen: see quorate key add and config.toml".to_owned());
        }
        None
    }

    fn with_danger(mut self, danger: Option<Danger>) -> Self {
        self.tally.danger = danger;
        self
    }
}

/// The organization with the texts of the interfaces that the record comes with.
fn with_texts(record: &ReviewRecord) -> OrganizationDetail {
    let mut organization = record.organization.clone();
    let named = record.grounds.iter().flat_map(|grounds| grounds.signers.values());
    for contract in named.filter_map(|found| found.contract.as_ref()) {
        let mut interfaces = organization.smart_contract_interfaces.iter_mut();
        let id = contract.smart_contract_interface_id;
        if let Some(stated) = interfaces.find(|one| one.smart_contract_interface_id == id) {
            stated.smart_contract_interface.clone_from(&contract.smart_contract_interface);
        }
    }
    organization
}

/// A status as people say it.
pub(crate) const fn status_word(status: Status) -> &'static str {
    match status {
        Status::Created => "created",
        Status::Pending => "running",
        Status::Completed => "executed",
        Status::Failed => "failed",
        Status::ConsensusNeeded => "waiting",
        Status::Rejected => "rejected",
        Status::AuthenticatorsNeeded => "waiting for a second factor",
    }
}

/// The vote whose message hashes to the fingerprint is the proposal, whatever the daemon calls it.
fn proposal(activity: &Activity) -> Option<Proposal> {
    let vote = activity
        .votes
        .iter()
        .find(|vote| Fingerprint::of(vote.message.as_bytes()) == activity.fingerprint)?;
    let envelope = quorate_common::json::parse(vote.message.as_bytes()).ok();
    let member = |name: &str| envelope.as_ref().and_then(|envelope| envelope.get(name));
    let text = |name: &str| member(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let stamped =
        member("timestampMs").and_then(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()));
    Some(Proposal {
        message: vote.message.clone(),
        fingerprint: Fingerprint::of(vote.message.as_bytes()),
        activity_type: text("type"),
        organization: text("organizationId"),
        stamped,
        parameters: member("parameters").cloned().unwrap_or_else(|| Value::Object(serde_json::Map::new())),
        extra: envelope.as_ref().map(extra).unwrap_or_default(),
        asker: vote.user_id,
        public_key: vote.public_key.clone(),
    })
}

fn extra(envelope: &Value) -> Vec<Field> {
    let mut rest = envelope.clone();
    if let Some(members) = rest.as_object_mut() {
        for known in ["type", "timestampMs", "organizationId", "parameters"] {
            members.remove(known);
        }
    }
    let mut fields = kinds::leaves(&rest);
    for field in &mut fields {
        field.name = format!("(envelope) {}", field.name);
    }
    fields
}

fn decoded(activity: &Activity, proposal: Option<&Proposal>, scene: &Scene<'_>) -> Decoded {
    if let Some(proposal) = proposal {
        return kinds::decode(&proposal.activity_type, &proposal.parameters, scene);
    }
    let reason = "no vote carries bytes that hash to the fingerprint";
    let mut decoded = kinds::undecoded(None, Vec::new(), reason.to_owned());
    let why = kinds::hidden(&activity.activity_type).map_or_else(String::new, |what| {
        what.clone_into(&mut decoded.story.brief);
        format!(
            " If it is that, {what} in what it keeps, so this machine cannot prove what was signed. Ask for the same \
             in a form that can be proven, or approve through the API if you trust the daemon's word."
        )
    });
    decoded.story.sentence = format!(
        "UNDECODED: {reason}. The daemon calls it {}; nothing here proves that.{why}",
        clean(&activity.activity_type)
    );
    decoded
}

fn asker(proposal: Option<&Proposal>, scene: &Scene<'_>) -> String {
    let Some(proposal) = proposal else { return "not known".to_owned() };
    let id = proposal.asker.to_string();
    match scene.user(&id) {
        Some(_) => scene.user_named(&id),
        None => format!("{id} (not a user of this organization)"),
    }
}

#[cfg(test)]
mod tests;
