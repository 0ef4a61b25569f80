//! Policies of an organization on a stage.

use super::*;

#[test]
fn the_catalogue_is_readable() {
    assert!(kinds::all().count() > 60);
    let sign = kinds::of_type("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2").and_then(|kind| kind.acts.clone());
    assert_eq!(sign, Some(("SIGN".to_owned(), "PRIVATE_KEY".to_owned())));
    assert!(types().len() > 50);
}
