//! The review of something that is not asked for yet: the same facts, changes and flags that everybody else will see, and
//! what would come of it.

use quorate_common::activity::{Activity, Selection, Status, Vote};
use quorate_common::console::{ActivityRow, Grounds, OrganizationDetail, ReviewRecord};
use quorate_common::ids::{ActivityId, UserId, VoteId};
use quorate_common::wire::Timestamp;
use quorate_policy::decide::PolicyOutcome;
use serde_json::json;

use super::{Check, Evidence, Mark, Review, Siblings, Viewer, rule};
use crate::ballot::{Ballot, Wish};
use crate::book::Book;
use crate::kinds::{Level, Scene};
use crate::policies::verdict_word;
use crate::roster::Roster;
use crate::text::clean;

/// Who asks, where and when.
pub(crate) struct Ground<'a> {
    /// The organization as it is.
    pub(crate) organization: &'a OrganizationDetail,
    /// Who asks.
    pub(crate) viewer: &'a Viewer,
    /// With which key.
    pub(crate) public_key: &'a str,
    /// Whether a denying policy that fails denies.
    pub(crate) strict_deny_errors: bool,
    /// Milliseconds since 1970.
    pub(crate) now: u64,
}

/// What was thought of, and what would come of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draft {
    /// What is asked for.
    pub(crate) wish: Wish,
    /// The bytes that will be signed.
    pub(crate) ballot: Ballot,
    /// What would come of it, in words.
    pub(crate) outlook: String,
}

impl Review {
    /// Reviews a proposal that the viewer might sign, for the pinned organization only.
    ///
    /// # Errors
    ///
    /// Says why the viewer cannot propose: no user is chosen, or the organization is not the pinned one.
    pub(crate) fn of_wish(wish: &Wish, ground: &Ground<'_>) -> Result<Self, String> {
        let nobody = || "no user and key are chosen: see quorate key add and config.toml".to_owned();
        let user = ground.viewer.user.ok_or_else(nobody)?;
        let Ground { organization, public_key, now, .. } = *ground;
        let stated = organization.head.organization_id;
        match ground.viewer.organization {
            Some(pinned) if pinned == stated => {}
            Some(pinned) => {
                return Err(format!("the daemon shows organization {stated}, pinned is {pinned}"));
            }
            None => {
                let text = "no organization is pinned: name it with --organization ID or in config.toml";
                return Err(text.to_owned());
            }
        }
        let ballot = Ballot::proposal(wish, stated, now);
        let record = ReviewRecord {
            row: ActivityRow { activity: unsent(&ballot, wish, ground, user), waiting: None },
            organization: organization.clone(),
            grounds: Some(Grounds { strict_deny_errors: ground.strict_deny_errors, ..Grounds::default() }),
        };
        let evidence = Evidence {
            record: &record,
            siblings: &Siblings::default(),
            roster: &Roster::default(),
            book: &Book::EMPTY,
            viewer: ground.viewer,
            now,
            reference: None,
        };
        let mut review = Self::of(&evidence);
        let unread = || "the proposal cannot be read back".to_owned();
        let proposal = review.proposal.as_ref().ok_or_else(unread)?;
        let scene = Scene::of(organization);
        let (check, open_to, outlook) = match rule::reckon(&evidence, proposal, &[(user, public_key)]) {
            Err(why) => (Mark::Care, Vec::new(), format!("not known: {}", clean(&why))),
            Ok(reckoning) => {
                let simulation = reckoning.simulation;
                let told = format!("{}: {}", verdict_word(simulation.verdict), clean(&simulation.because));
                let open_to = simulation.open_to.iter().filter_map(|id| id.parse().ok()).collect();
                let mark = match simulation.verdict {
                    PolicyOutcome::Allow | PolicyOutcome::RequiresConsensus => Mark::Stated,
                    _ => Mark::Failed,
                };
                (mark, open_to, told)
            }
        };
        let names: Vec<String> =
            open_to.iter().map(|user: &UserId| scene.user_short(&user.to_string())).collect();
        let outlook =
            if names.is_empty() { outlook } else { format!("{outlook}; can approve: {}", names.join(", ")) };
        // Whatever is about votes and records has nothing to look at yet.
        review.checks.retain(|check| check.id == "K3");
        review.checks.push(Check {
            id: "K8",
            mark: check,
            text: format!("evaluated here, as stated: {outlook}"),
        });
        review.flags.retain(|flag| !flag.name.starts_with("asker"));
        review.risk = review.flags.iter().map(|flag| flag.level).max().unwrap_or(Level::Low);
        review.votes.clear();
        review.tally.open_to = open_to;
        review.draft = Some(Draft { wish: wish.clone(), ballot, outlook });
        Ok(review)
    }
}

/// The activity that would come of it, with a vote that nobody has signed.
fn unsent(ballot: &Ballot, wish: &Wish, ground: &Ground<'_>, user: UserId) -> Activity {
    let (id, at) = (ActivityId::from_bytes([0; 16]), Timestamp::of_millis(ground.now));
    let vote = Vote {
        id: VoteId::from_bytes([0; 16]),
        user_id: user,
        user: None,
        activity_id: id,
        selection: Selection::Approved,
        message: ballot.message.clone(),
        public_key: ground.public_key.to_owned(),
        signature: String::new(),
        scheme: String::new(),
        created_at: at.clone(),
    };
    Activity {
        id,
        organization_id: ground.organization.head.organization_id,
        status: Status::Created,
        activity_type: wish.activity_type.to_owned(),
        intent: json!({}),
        result: json!({}),
        votes: vec![vote],
        app_proofs: Vec::new(),
        fingerprint: ballot.fingerprint,
        can_approve: false,
        can_reject: false,
        created_at: at.clone(),
        updated_at: at,
        failure: None,
    }
}
