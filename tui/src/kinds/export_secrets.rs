//! Takes secrets out.

use super::scene::{count, listed};
use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version, secret, taken_out};
use crate::text::{clean, grouped};

pub(super) struct ExportSecrets;

impl Kind for ExportSecrets {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_EXPORT_SECRETS",
            intent: "exportSecretsIntent",
            shape: "secrets[]:ExportedSecret",
        }]
    }

    fn title(&self) -> &'static str {
        "Export secrets"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let secrets = parameters.list("secrets")?;
        let told = secrets.iter().map(|one| told(one, scene)).collect::<Result<Vec<_>, _>>()?;
        let those = count(secrets.len(), "secret");
        let mut story = Story::new(
            those.clone(),
            format!(
                "Take {those} out of this service: {}. Whoever holds a target key, below in full, has a copy from then \
                 on, for good.",
                listed(told)
            ),
        );
        story.flag(Level::High, "secret-exported", "whoever has the copy reads it without this service");
        let mut targets: Vec<&str> = Vec::new();
        for one in &secrets {
            let (id, target) = (one.text("secretId")?, one.text("targetPublicKey")?);
            let named = scene.secret_named(id);
            story.fact(&format!("target key of {named}, in full"), grouped(&clean(target)));
            if !targets.contains(&target) {
                taken_out::flag_target(&mut story, target, scene);
                targets.push(target);
            }
            if scene.secret(id).is_none() {
                story.flag(Level::Med, "unknown-secret", format!("{named} is not in this organization now"));
            }
        }
        if let Some(first) = secrets.first() {
            let name = scene.secret(first.text("secretId")?).and_then(|found| found.name.as_deref());
            let prompt = "the NAME of the first secret that is exported, or EXPORT if it has none";
            story.danger(prompt, &clean(name.unwrap_or("EXPORT")));
        }
        Ok(story)
    }
}

/// A secret to be taken out, in words.
fn told(one: &Reader<'_>, scene: &Scene<'_>) -> Result<String, Undecodable> {
    secret::encryption(one)?;
    let named = scene.secret_named(one.text("secretId")?);
    Ok(match secret::pairs(one, "requestContext")? {
        Some(context) => format!("{named}, of which the asker says {context}"),
        None => named,
    })
}
