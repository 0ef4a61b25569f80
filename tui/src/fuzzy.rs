//! Ranks texts by words that were typed. Pure and bounded: a score is computed in one pass over the text for each word.

/// Scores of one word, from the best match to the weakest.
const WHOLE: u32 = 500;
const START: u32 = 400;
const WORD_START: u32 = 300;
const INSIDE: u32 = 200;
const SCATTERED: u32 = 100;
/// Minimum length of a word whose letters may be scattered over the text. Shorter ones would match nearly anything.
const SCATTERED_LETTERS: usize = 3;

/// A text in which words are searched, in lower case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Haystack {
    /// What the thing is called: the letters of a word may be scattered here.
    name: String,
    /// More text, which must contain a word as it is.
    more: String,
    /// Ids and addresses, which match at their start only, because short words occur in them by chance.
    ids: Vec<String>,
}

impl Haystack {
    /// Creates a text from a name, more text, and ids.
    pub(crate) fn new(name: &str, more: &str, ids: &[&str]) -> Self {
        let ids = ids.iter().map(|id| id.to_lowercase()).collect();
        Self { name: name.to_lowercase(), more: more.to_lowercase(), ids }
    }

    /// Returns the score of the words, which must be in lower case; `None` if one of them does not match.
    pub(crate) fn score(&self, words: &str) -> Option<u32> {
        let name = self.name.as_str();
        if !words.trim().is_empty() && name == words.trim() {
            return Some(WHOLE.saturating_mul(10));
        }
        words.split_whitespace().try_fold(0_u32, |sum, word| Some(sum.saturating_add(self.word(word)?)))
    }

    fn word(&self, word: &str) -> Option<u32> {
        let in_name = contained(&self.name, word);
        let by_id = || self.ids.iter().any(|id| id.starts_with(word)).then_some(START);
        let in_more = || contained(&self.more, word).map(|score| score / 2);
        let scattered = || {
            let gaps = gaps(&self.name, word).filter(|_| word.chars().count() >= SCATTERED_LETTERS)?;
            Some(SCATTERED.saturating_sub(gaps).max(1))
        };
        in_name.or_else(by_id).or_else(in_more).or_else(scattered)
    }
}

/// Returns the score of a word that the text contains.
fn contained(text: &str, word: &str) -> Option<u32> {
    let at = text.find(word)?;
    if text == word {
        return Some(WHOLE);
    }
    if at == 0 {
        return Some(START);
    }
    let is_boundary = |at: usize| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|letter| !letter.is_alphanumeric())
    };
    let starts = text.match_indices(word).any(|(at, _)| is_boundary(at));
    Some(if starts { WORD_START } else { INSIDE })
}

/// Returns how many letters of the text are skipped between the letters of a word, which occur in their order.
fn gaps(text: &str, word: &str) -> Option<u32> {
    let mut letters = text.chars();
    let (mut skipped, mut is_inside) = (0_u32, false);
    for wanted in word.chars() {
        loop {
            if letters.next()? == wanted {
                break;
            }
            skipped = skipped.saturating_add(u32::from(is_inside));
        }
        is_inside = true;
    }
    Some(skipped)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn better_matches_have_higher_scores() {
        let names = ["payouts", "payouts eu", "eu payouts", "supayouts", "p-a-y-o-uts"];
        let scores = names.map(|name| Haystack::new(name, "", &[]).score("payout").unwrap());
        assert!(scores.is_sorted_by(|one, other| one >= other), "{scores:?}");
        let [start, _, word, inside, scattered] = scores;
        assert!(start > word && word > inside && inside > scattered, "{scores:?}");
        assert!(Haystack::new("payouts", "", &[]).score("payouts").unwrap() > start);
    }

    #[test]
    fn every_word_must_match_and_ids_match_at_their_start() {
        let text = Haystack::new("mira", "root user of acme", &["51d0c7aa-0000", "0x9F3A"]);
        for (words, expected) in [
            ("", true),
            ("mira acme", true),
            ("acme root", true),
            ("0x9f", true),
            ("51d0", true),
            ("c7aa", false),
            ("mira nobody", false),
            ("mra", true),
            ("ma", false),
            ("arim", false),
            ("\u{202e}", false),
        ] {
            assert_eq!(text.score(words).is_some(), expected, "{words:?}");
        }
    }
}
