//! Session profiles.

use quorate_common::console::OrganizationDetail;
use quorate_common::wire::SessionProfile;

use super::unknown_names;
use crate::kinds::section::{Item, Listed, Row, SectionData, cells};
use crate::text::{clean, date_time, duration, quoted};

impl Listed for SessionProfile {
    fn all(organization: &OrganizationDetail) -> &[Self] {
        &organization.session_profiles
    }

    fn item(&self, _: &SectionData<'_>) -> Item {
        let life = match self.expiration_seconds.as_deref().map(str::parse::<u64>) {
            None => "no limit of its own".to_owned(),
            Some(Ok(seconds)) => format!("at most {}", duration(seconds.saturating_mul(1000))),
            Some(Err(_)) => "invalid lifetime".to_owned(),
        };
        let notes = self.notes.as_deref().filter(|notes| !notes.is_empty());
        let mut lines = vec![
            format!("id        {} added {}", self.session_profile_id, date_time(self.created_at.millis())),
            format!("scope     {}", clean(&self.scope)),
            format!("lifetime  {life}"),
            format!("notes     {}", notes.map_or_else(|| "none".to_owned(), clean)),
        ];
        lines.extend(unknown_names(&self.scope).iter().map(|text| format!("[!]       {}", clean(text))));
        let row = cells([(&self.session_profile_name, 24)], &life);
        Item::new(&self.session_profile_name, row, lines)
    }

    fn line(&self, _: &OrganizationDetail) -> Row {
        let (name, scope) = (quoted(&self.session_profile_name), quoted(&self.scope));
        let marks: Vec<String> =
            unknown_names(&self.scope).iter().map(|text| format!(" [!] {}", clean(text))).collect();
        ("profile", format!("{} {name}: {scope}{}", self.session_profile_id, marks.concat()))
    }
}
