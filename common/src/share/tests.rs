//! Tests of shares and letters: every subset, published shares, changed letters.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
use super::*;

/// Returns a generator of bytes: SHA-256 in counter mode, so that each run sees the same ones.
fn generator(seed: &'static str) -> impl FnMut(&mut [u8]) {
    let mut counter = 0_u64;
    move |bytes: &mut [u8]| {
        for chunk in bytes.chunks_mut(32) {
            counter += 1;
            let block = Sha256::new().chain_update(seed).chain_update(counter.to_be_bytes()).finalize();
            chunk.copy_from_slice(&block[..chunk.len()]);
        }
    }
}

fn places(threshold: u8, holders: u8) -> Vec<SharePlace> {
    let place = |index| SharePlace {
        store_id: "5f".repeat(16),
        set: "a1".repeat(16),
        index,
        threshold,
        holders,
        holder: format!("holder {index}"),
    };
    (1..=holders).map(place).collect()
}

fn combined(shares: &[Share]) -> Result<Zeroizing<Vec<u8>>, ShareError> {
    combine(&shares.iter().collect::<Vec<_>>())
}

/// Returns all sets of `size` of the numbers below `of`.
fn subsets(of: usize, size: usize) -> Vec<Vec<usize>> {
    let all = 0..1_usize << of;
    let members = |mask: usize| (0..of).filter(|bit| mask & (1 << bit) != 0).collect::<Vec<_>>();
    all.map(members).filter(|subset| subset.len() == size).collect()
}

#[test]
fn every_subset_of_the_threshold_restores_the_secret_and_no_smaller_one_does() {
    let mut fill = generator("subsets");
    for (threshold, holders) in [(2, 2), (2, 3), (3, 5), (5, 9), (16, 16), (2, 16)] {
        let mut secret = [0; SHARE_BYTES];
        fill(&mut secret);
        let values = split(&secret, threshold, holders, &mut fill).unwrap();
        let share = |at: usize| Share::new(places(threshold, holders)[at].clone(), &values[at]);
        let restored = |subset: &[usize]| combined(&subset.iter().map(|at| share(*at)).collect::<Vec<_>>());
        for subset in subsets(holders.into(), threshold.into()) {
            assert_eq!(restored(&subset).unwrap().as_slice(), secret, "{subset:?}");
            let reversed: Vec<usize> = subset.iter().rev().copied().collect();
            assert_eq!(restored(&reversed).unwrap().as_slice(), secret, "{reversed:?}");
        }
        for subset in subsets(holders.into(), usize::from(threshold) - 1) {
            assert!(restored(&subset).map_or(true, |value| value.as_slice() != secret), "{subset:?}");
        }
    }
}

/// Shares that another implementation published: QOS, `src/qos_crypto/src/shamir.rs`, 2 of 3, made in 2022.
#[test]
fn the_field_and_the_coordinates_are_those_of_published_shares() {
    let shares = [
        "01661fc0cc265daa4e7bde354c281dcc23a80c590249",
        "027bb5fb26d326e0fc421cf604e495e3d3e4bd24ab0e",
        "0370d31b89800f2f9255abb73ca0ed0f8329d20fcc33",
    ];
    let shares = shares.map(|share| const_hex::decode(share).unwrap());
    for (a, b) in [(0, 1), (1, 2), (0, 2), (2, 0)] {
        let secret = Gf256::combine_array([shares[a].clone(), shares[b].clone()]).unwrap();
        assert_eq!(secret, b"my cute little secret");
    }
}

/// A polynomial of a split to 2 of 2 is `secret + c x`, so that share 1 less the secret is the coefficient.
/// Coefficients that were never 0, or only odd, were defects of published libraries.
#[test]
fn coefficients_are_uniform() {
    let mut fill = generator("coefficients");
    let secret = [0; SHARE_BYTES];
    let (mut counts, mut total) = ([0_u32; 256], 0_u32);
    while total < 1_000_000 {
        for value in split(&secret, 2, 2, &mut fill).unwrap()[0].iter() {
            counts[usize::from(*value)] += 1;
            total += 1;
        }
    }
    let expected = f64::from(total) / 256.0;
    let chi_square: f64 = counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    // 255 degrees of freedom: below 180 or above 350 has a probability under 1 in 10,000. The bytes are fixed.
    assert!((180.0..350.0).contains(&chi_square), "{chi_square}");
}

#[test]
fn counts_that_are_not_offered_and_numbers_that_repeat_are_rejected() {
    let mut fill = generator("counts");
    for (threshold, holders) in [(0, 0), (0, 3), (1, 3), (4, 3), (2, 1), (2, 17), (17, 17), (2, 255)] {
        let result = split(&[7; SHARE_BYTES], threshold, holders, &mut fill);
        assert_eq!(result.err(), Some(ShareError::Counts), "{threshold} of {holders}");
    }
    let share = |index| {
        let place = SharePlace { index, ..places(2, 3)[0].clone() };
        Share::new(place, &[7; SHARE_BYTES])
    };
    for numbers in [&[][..], &[1], &[1, 1], &[0, 1], &[1, 2, 1]] {
        let shares: Vec<Share> = numbers.iter().map(|number| share(*number)).collect();
        assert_eq!(combined(&shares).err(), Some(ShareError::Combine), "{numbers:?}");
    }
}

#[test]
fn a_letter_opens_with_the_key_of_its_holder_only_and_shows_every_change() {
    let mut fill = generator("letters");
    let (mira, other) = (TargetKey::generate(&mut fill), TargetKey::generate(&mut fill));
    let values = split(&[9; SHARE_BYTES], 2, 3, &mut fill).unwrap();
    let share = Share::new(places(2, 3)[1].clone(), &values[1]);
    let letter = share.letter(mira.public(), &mut fill).unwrap();
    let text = letter.to_json().unwrap();
    assert!(!text.contains(&const_hex::encode(values[1].as_slice())));
    let read = ShareLetter::parse(text.as_bytes()).unwrap();
    let opened = read.open(&mira).unwrap();
    assert_eq!(*opened.value, values[1]);
    assert_eq!(opened.place(), share.place());
    assert_eq!(read.open(&other).err(), Some(ShareError::OtherKey("holder 2".to_owned())));

    for at in 0..text.len() {
        let mut changed = text.clone().into_bytes();
        changed[at] ^= 1;
        let opens = ShareLetter::parse(&changed).and_then(|letter| letter.open(&mira));
        // White space between members may change.
        let same = serde_json::from_slice::<ShareLetter>(&changed).is_ok_and(|changed| changed == letter);
        assert!(same || opens.is_err(), "byte {at}");
        let cut = ShareLetter::parse(&text.as_bytes()[..at]).err();
        assert!(at == text.len() - 1 || cut == Some(ShareError::Letter), "cut at {at}: {cut:?}");
    }
    // A letter whose writer computed the checksum again.
    let forged = |change: &dyn Fn(&mut ShareLetter)| {
        let mut letter = letter.clone();
        change(&mut letter);
        letter.checksum = letter.computed().unwrap();
        ShareLetter::parse(letter.to_json().unwrap().as_bytes()).unwrap().open(&mira).err()
    };
    assert_eq!(forged(&|_| {}), None);
    assert!(matches!(forged(&|letter| letter.place.index = 3), Some(ShareError::OtherKey(_))));
    assert!(matches!(forged(&|letter| letter.place.threshold = 1), Some(ShareError::OtherKey(_))));
    assert!(matches!(
        forged(&|letter| letter.place.holder = "zoe".to_owned()),
        Some(ShareError::OtherKey(_))
    ));
    assert!(matches!(forged(&|letter| letter.commitment = "00".repeat(32)), Some(ShareError::Commitment(_))));
    let newer = ShareLetter { version: 2, ..letter.clone() }.to_json().unwrap();
    assert_eq!(ShareLetter::parse(newer.as_bytes()), Err(ShareError::Version(2)));
}

#[test]
fn a_given_share_opens_in_its_attempt_and_at_its_place_only() {
    let mut fill = generator("given");
    let (attempt, later) = (TargetKey::generate(&mut fill), TargetKey::generate(&mut fill));
    let values = split(&[9; SHARE_BYTES], 2, 3, &mut fill).unwrap();
    let share = |at: usize| Share::new(places(2, 3)[at].clone(), &values[at]);
    let given = share(0).give(attempt.public(), &mut fill).unwrap();
    assert_eq!(given.open(&attempt, places(2, 3)[0].clone()).unwrap().value.as_ref(), &values[0]);
    assert!(given.open(&later, places(2, 3)[0].clone()).is_err());
    assert!(given.open(&attempt, places(2, 3)[1].clone()).is_err());
    let mira = share(0).letter(attempt.public(), &mut fill).unwrap();
    let as_given = GivenShare { sealed: mira.sealed, ..given };
    assert!(as_given.open(&attempt, places(2, 3)[0].clone()).is_err());
}
