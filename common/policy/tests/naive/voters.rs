//! Random electorates, and random consensus expressions over them.

use crate::dice::Dice;
use crate::facts::Pool;
use crate::generate::Generator;
use crate::people::{OwnCredential, People, User};
use crate::schema::CONSENSUS;
use crate::tree::{Operator, Quantifier, Tree};

const USERS: [&str; 6] = ["u1", "u2", "u3", "u4", "u5", "u6"];
const TAGS: [&str; 3] = ["ops", "sec", "fin"];
const API_KEY: &str = "CREDENTIAL_TYPE_API_KEY_P256";
const PASSKEY: &str = "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR";

/// Returns one to six users, some of whom have approved and most of the others could.
pub(crate) fn people(dice: &mut Dice) -> People {
    let count = dice.pick(&[1, 2, 3, 3, 4, 4, 5, 6]);
    let users: Vec<User> = USERS[..count].iter().map(|id| user(id, dice)).collect();
    let first = dice.below(count);
    let (mut approvals, mut later) = (Vec::new(), Vec::new());
    for step in 0..count {
        if step == 0 || dice.chance(15) {
            vote(&users[(first + step) % count], &mut approvals, &mut later, dice);
        }
    }
    approvals.append(&mut later);
    let proposer = if dice.chance(90) { users[first].id } else { dice.pick(&USERS) };
    let mut candidates: Vec<User> = users.into_iter().filter(|user| !user.credentials.is_empty()).collect();
    candidates.retain(|_| dice.chance(90));
    if !candidates.is_empty() {
        let rotation = dice.below(candidates.len());
        candidates.rotate_left(rotation);
    }
    People { proposer, is_root: dice.chance(15), approvals, candidates }
}

fn user(id: &'static str, dice: &mut Dice) -> User {
    let credentials =
        (0..dice.pick(&[0, 1, 1, 1, 2, 2, 3])).map(|number| credential(format!("{id}-{number}"), dice));
    let credentials = credentials.collect();
    let tags = TAGS.into_iter().filter(|_| dice.chance(50)).collect();
    User { id, tags, email: if dice.chance(30) { "" } else { id }, credentials }
}

fn credential(id: String, dice: &mut Dice) -> OwnCredential {
    if dice.chance(50) {
        OwnCredential { id, kind: API_KEY, credential_id: None }
    } else {
        OwnCredential { credential_id: Some(id.clone()), id, kind: PASSKEY }
    }
}

/// Adds a vote, sometimes with a credential that is no longer valid. Sometimes adds a second vote of the same
/// user, directly after the first or at the end.
fn vote(user: &User, approvals: &mut Vec<User>, later: &mut Vec<User>, dice: &mut Dice) {
    let mut credentials = user.credentials.clone();
    if credentials.is_empty() || dice.chance(10) {
        credentials.push(credential(format!("{}-old", user.id), dice));
    }
    let first = dice.below(credentials.len());
    approvals.push(User { credentials: vec![credentials[first].clone()], ..user.clone() });
    if dice.chance(15) {
        let second = dice.below(credentials.len());
        let target = if dice.chance(50) { approvals } else { later };
        target.push(User { credentials: vec![credentials[second].clone()], ..user.clone() });
    }
}

/// Returns a pool of texts that occur in electorates.
pub(crate) fn pool(dice: &mut Dice) -> Pool {
    let tag = dice.pick(&TAGS);
    Pool::of(vec![
        "u1",
        "u2",
        "u3",
        tag,
        dice.pick(&[API_KEY, PASSKEY]),
        dice.pick(&["u4", "", "u1-0", "u2-0"]),
    ])
}

/// Returns a random consensus expression, either arbitrary or after a pattern that policies use.
pub(crate) fn consensus(dice: &mut Dice) -> Tree {
    let pool = pool(dice);
    if dice.chance(50) {
        let depth = dice.pick(&[1, 2, 2, 3]);
        return Generator::new(dice, &pool, &CONSENSUS).truth(depth);
    }
    let count = dice.pick(&[1, 1, 2, 3]);
    let parts: Vec<Tree> = (0..count).map(|_| pattern(dice)).collect();
    match parts.len() {
        1 => parts.into_iter().next().unwrap(),
        _ if dice.chance(70) => Tree::And(parts),
        _ => Tree::Or(parts),
    }
}

fn pattern(dice: &mut Dice) -> Tree {
    let approvers = Tree::Name("approvers");
    match dice.below(17) {
        0..=2 => sized(approvers, dice),
        3 => sized(Tree::Name("credentials"), dice),
        4..=5 => approvers.lambda(Quantifier::Any, "u", is_user(dice)),
        6..=7 => approvers.lambda(dice.pick(&[Quantifier::Any, Quantifier::All]), "u", is_tagged("u", dice)),
        8..=9 => sized(approvers.lambda(Quantifier::Filter, "u", is_tagged("u", dice)), dice),
        10 => {
            let quantifier = dice.pick(&[Quantifier::Any, Quantifier::Any, Quantifier::All]);
            Tree::Name("credentials").lambda(quantifier, "c", is_kind(dice))
        }
        11..=12 => {
            let quantifier = dice.pick(&[Quantifier::Any, Quantifier::Any, Quantifier::All]);
            approvers.lambda(quantifier, "u", Tree::And(vec![is_tagged("u", dice), owns(dice)]))
        }
        13 => each_tag(dice),
        14..=15 => {
            let index = Tree::Number(dice.pick(&["0", "1", "1", "2"]).to_owned());
            let id = Tree::Text(dice.pick(&USERS[..3]).to_owned());
            approvers.at(index).member("id").compared(Operator::Equal, id)
        }
        _ => {
            let chosen = approvers.lambda(Quantifier::Filter, "u", is_tagged("u", dice));
            let tagged = is_tagged("v", dice);
            let predicate = if dice.chance(50) { tagged } else { Tree::Not(Box::new(tagged)) };
            chosen.lambda(dice.pick(&[Quantifier::Any, Quantifier::All]), "v", predicate)
        }
    }
}

/// Returns an expression that requires approvers with each tag of a list, or with one of them.
fn each_tag(dice: &mut Dice) -> Tree {
    let tags = TAGS.into_iter().filter(|_| dice.chance(50)).map(|tag| Tree::Text(tag.to_owned()));
    let tags = Tree::List(tags.collect());
    let tagged = Tree::Contains(Box::new(Tree::Name("u").member("tags")), Box::new(Tree::Name("t")));
    let quantifier = dice.pick(&[Quantifier::Any, Quantifier::Any, Quantifier::All]);
    let someone = Tree::Name("approvers").lambda(quantifier, "u", tagged);
    tags.lambda(dice.pick(&[Quantifier::All, Quantifier::Any]), "t", someone)
}

/// Returns a comparison of the length of a list.
fn sized(list: Tree, dice: &mut Dice) -> Tree {
    let list = Box::new(list);
    let count = if dice.chance(30) { Tree::BareCount(list) } else { Tree::Count(list) };
    let operator = dice.pick(&[Operator::AtLeast, Operator::AtLeast, Operator::Equal, Operator::AtMost]);
    count.compared(operator, Tree::Number(dice.pick(&["1", "2", "2", "2", "3", "4"]).to_owned()))
}

fn is_user(dice: &mut Dice) -> Tree {
    let id = Tree::Name("u").member("id");
    if dice.chance(70) {
        return id.compared(Operator::Equal, Tree::Text(dice.pick(&USERS[..3]).to_owned()));
    }
    let ids = vec![Tree::Text(dice.pick(&USERS).to_owned()), Tree::Text(dice.pick(&USERS).to_owned())];
    Tree::In(Box::new(id), Box::new(Tree::List(ids)))
}

fn is_tagged(variable: &'static str, dice: &mut Dice) -> Tree {
    let tag = Tree::Text(dice.pick(&TAGS).to_owned());
    let tags = Tree::Name(variable).member("tags");
    if dice.chance(20) {
        return tags.lambda(Quantifier::Any, "t", Tree::Name("t").compared(Operator::Equal, tag));
    }
    Tree::Contains(Box::new(tags), Box::new(tag))
}

fn is_kind(dice: &mut Dice) -> Tree {
    let kind = Tree::Text(dice.pick(&[API_KEY, PASSKEY]).to_owned());
    Tree::Name("c").member("type").compared(dice.pick(&[Operator::Equal, Operator::Unequal]), kind)
}

/// Returns `credentials.any(c, c.user_id == u.id && c.type == …)` or its negation.
fn owns(dice: &mut Dice) -> Tree {
    let is_own = Tree::Name("c").member("user_id").compared(Operator::Equal, Tree::Name("u").member("id"));
    let kind = Tree::Text(dice.pick(&[API_KEY, PASSKEY]).to_owned());
    let is_kind = Tree::Name("c").member("type").compared(Operator::Equal, kind);
    let own = Tree::Name("credentials").lambda(Quantifier::Any, "c", Tree::And(vec![is_own, is_kind]));
    if dice.chance(20) { Tree::Not(Box::new(own)) } else { own }
}
