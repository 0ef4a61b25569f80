//! One term per idea: terms that are not used anywhere in the tree, each with its replacement.

use crate::tree::{self, none};

/// A term that is not used.
struct Term {
    /// The term in lower case. A bar, which is removed, keeps this file from containing it.
    old: &'static str,
    /// What to write instead.
    new: &'static str,
    /// Whether the term is also rejected as a part of longer words.
    in_words: bool,
}

/// Returns a term that is rejected as a whole word.
const fn word(old: &'static str, new: &'static str) -> Term {
    Term { old, new, in_words: false }
}

/// Returns a term that is rejected anywhere, also as a part of identifiers.
const fn part(old: &'static str, new: &'static str) -> Term {
    Term { old, new, in_words: true }
}

const TERMS: &[Term] = &[
    part("fl|aw", "error"),
    word("as|ker", "proposer, or caller"),
    word("as|kers", "proposers, or callers"),
    part("look-a|like", "similar address"),
    part("look_a|like", "similar address"),
    part("left|over", "tombstone"),
    part("sh|elf", "collection"),
    part("sh|elves", "collections"),
    word("de|parted", "deleted user"),
    part("by and| by", "in the background"),
    word("ro|ster", "known keys"),
    word("ro|sters", "known keys"),
    word("reque|ster", "proposer, or caller"),
    word("reque|sters", "proposers, or callers"),
    part("the found|er", "the creator, the root user"),
    word("found|ers", "creators, root users"),
    word("found|ed", "created"),
    word("found|ing", "creating"),
    word("found|s", "creates"),
    word("lap|se", "expire"),
    word("lap|ses", "expires"),
    word("lap|sed", "expired"),
    word("refu|sal", "error, reason"),
    word("refu|sals", "errors, reasons"),
    word("se|at", "position, slot"),
    word("se|ats", "positions, slots"),
    word("sta|nd", "be stored, appear; mean"),
    word("sta|nds", "is stored, appears; means"),
    word("sto|od", "was stored, appeared"),
    part("in its| place", "there, at its path"),
    word("pla|ced", "stored, shown"),
    word("do|or", "listener, boundary"),
    word("do|ors", "listeners, boundaries"),
    part("the wa|ll ", "the boundary"),
    part("the hou|se ", "the crate"),
    word("ro|oms", "modules"),
    word("te|ll", "report, show, describe; distinguish"),
    word("te|lls", "reports, shows, describes"),
    word("te|lling", "reporting, showing, describing"),
    word("to|ld", "reported, shown, described"),
    word("sa|ys", "reports, states, defines"),
    word("sa|id", "reported, stated, defined"),
    word("as|ks", "proposes, requests, queries, prompts"),
    word("as|ked", "proposed, requested, queried, prompted"),
    word("as|king", "proposing, requesting, querying, prompting"),
    part("ask| for", "propose, request, query, prompt for"),
    word("gath|er", "collect"),
    word("gath|ers", "collects"),
    word("gath|ered", "collected"),
    word("gath|ering", "collecting"),
    word("set|tle", "commit, record"),
    word("set|tles", "commits, records"),
    word("set|tled", "committed, recorded"),
    word("set|tling", "committing, recording"),
    word("vac|ant", "empty, missing"),
    word("ri|ng", "notify"),
    word("ri|ngs", "notifies"),
    word("ne|ws", "outbox event, change event"),
    part("is |taken", "is already in use"),
    part("name_|taken", "name_in_use"),
    word("swe|ep", "cleanup"),
    word("swe|eps", "cleanups"),
    word("swe|eping", "removing"),
    word("swe|pt", "removed"),
    part("\"tu|rn.", "attempt"),
    word("who|ever", "the user, the caller, anyone who"),
    part("taken| out", "exported"),
    part("brought| in", "imported"),
    part("handed| over", "delivered"),
    word("an|ew", "again"),
    part("people| needed", "approval threshold"),
    word("st|ory", "scenario"),
    word("st|ories", "scenarios"),
    word("fore|ign", "third-party, external, untrusted"),
    word("stran|ger", "unknown recipient, anonymous client"),
    word("stran|gers", "unknown recipients, anonymous clients"),
    part("neigh|bour", "similar, adjacent, other"),
    part("swee|per", "cleanup"),
    part("opened| keys", "key cache"),
    part("an organization without| a parent", "top-level organization"),
    part("organizations without| a parent", "top-level organizations"),
    part("tried on the| vectors", "tested against the vectors"),
];

/// Files whose words are data: inputs of parsers, vectors, licence texts, lock files. The pages on the policy
/// language are documentation.
fn is_data(path: &str) -> bool {
    path.starts_with("assets/corpora/")
        || (path.starts_with("assets/vectors/") && !path.starts_with("assets/vectors/policy/"))
        || tree::extension(path) == Some("lock")
        || path.ends_with("package-lock.json")
        || path == "LICENSE"
}

/// Returns whether a line contains a term.
///
/// A name in quotation marks or backticks is not a word: users and their scripts depend on published names, such
/// as the earlier name of a command, of a file or of a member.
fn contains(line: &str, term: &Term) -> bool {
    let (lower, old) = (line.to_lowercase(), term.old.replace('|', ""));
    lower.match_indices(&old).any(|(start, found)| {
        let (before, rest) = lower.split_at(start);
        let after = rest.get(found.len()..).unwrap_or_default();
        let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphabetic);
        let is_word = !is_letter(before.chars().next_back()) && !is_letter(after.chars().next());
        (term.in_words || is_word) && !is_name(line, start, start + found.len())
    })
}

/// Returns whether this range of a line belongs to a name: lower-case letters and full stops between two quotation
/// marks or backticks.
fn is_name(line: &str, start: usize, end: usize) -> bool {
    let is_inside = |letter: &char| letter.is_ascii_lowercase() || *letter == '.';
    let (Some(before), Some(found), Some(after)) = (line.get(..start), line.get(start..end), line.get(end..))
    else {
        return false;
    };
    let opening = before.chars().rev().find(|letter| !is_inside(letter));
    let closing = after.chars().find(|letter| !is_inside(letter));
    found.chars().all(|letter| is_inside(&letter)) && matches!(opening, Some('"' | '`')) && opening == closing
}

#[test]
fn old_terms_are_not_used() {
    let mut violations = Vec::new();
    for path in tree::files().iter().filter(|path| tree::is_text(path) && !is_data(path)) {
        for (number, line) in tree::read(path).lines().enumerate() {
            for term in TERMS.iter().filter(|term| contains(line, term)) {
                let old = term.old.replace('|', "");
                violations.push(format!("{path}:{}: \"{old}\": write \"{}\"", number + 1, term.new));
            }
        }
    }
    none(&violations, "a term of the list is used");
}

#[test]
fn the_check_finds_terms() {
    let finds = |line: &str, term: &Term| contains(&line.replace('|', ""), term);
    let term = word("st|ory", "scenario");
    assert!(finds("the st|ory of a key", &term) && finds("one_st|ory_here", &term));
    assert!(!finds("the history of a key", &term));
    assert!(finds("type keyfl|aw", &part("fl|aw", "error")));
    let term = word("ro|ster", "known keys");
    for text in ["a ro|ster", "\"the ro|ster\"", "`quorate ro|ster`", "\"Ro|ster\"", "`ro|ster\""] {
        assert!(finds(text, &term), "{text}");
    }
    for name in ["`ro|ster`", "alias = \"ro|ster\"", "join(\"ro|ster.json\")"] {
        assert!(!finds(name, &term), "{name}");
    }
}
