//! Session profiles.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::SessionProfile;

use crate::kinds::section::{Item, Row, Section, SectionData, cells};
use crate::text::{clean, date_time, duration, quoted};

pub(in crate::kinds) const SECTION: Section =
    Section { name: "Profiles", count: |detail| detail.session_profiles.len(), items: profiles };

fn profiles(data: &SectionData<'_>) -> Vec<Item> {
    let item = |one: &SessionProfile| {
        let life = match one.expiration_seconds.as_deref().map(str::parse::<u64>) {
            None => "no limit of its own".to_owned(),
            Some(Ok(seconds)) => format!("at most {}", duration(seconds.saturating_mul(1000))),
            Some(Err(_)) => "invalid lifetime".to_owned(),
        };
        let notes = one.notes.as_deref().filter(|notes| !notes.is_empty());
        let lines = vec![
            format!("id        {} added {}", one.session_profile_id, date_time(one.created_at.millis())),
            format!("scope     {}", clean(&one.scope)),
            format!("lifetime  {life}"),
            format!("notes     {}", notes.map_or_else(|| "none".to_owned(), clean)),
        ];
        let row = cells([(&one.session_profile_name, 24)], &life);
        Item::new(&one.session_profile_name, row, lines)
    };
    data.detail.session_profiles.iter().map(item).collect()
}

/// Returns the lines of `quorate org get`.
pub(in crate::kinds) fn lines(organization: &OrganizationDetail) -> Vec<Row> {
    let line = |one: &SessionProfile| {
        let (name, scope) = (quoted(&one.session_profile_name), quoted(&one.scope));
        ("profile", format!("{} {name}: {scope}", one.session_profile_id))
    };
    organization.session_profiles.iter().map(line).collect()
}
