//! Finds the known name that was probably meant.

/// Similarity from which a name is suggested, as in the command line library.
const SIMILAR: f64 = 0.8;

/// Returns the known name that is most similar to a typed one, if any is similar.
pub(crate) fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|name| (strsim::jaro_winkler(typed, name), name));
    let best = scored.max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.filter(|(score, _)| *score >= SIMILAR).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_name_is_found_and_another_one_is_not() {
        let known = ["create-wallet", "create-webhook-endpoint", "delete-wallets"];
        for (typed, expected) in [
            ("create-walet", Some("create-wallet")),
            ("delete-wallet", Some("delete-wallets")),
            ("zzz", None),
        ] {
            assert_eq!(nearest(typed, known), expected, "{typed}");
        }
        assert_eq!(nearest("any", []), None);
    }
}
