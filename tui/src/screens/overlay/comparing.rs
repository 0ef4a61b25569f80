//! Comparison of a review with a fingerprint from another source, or with the proof bundle of another member.

use ratatui::layout::Rect;
use tui_input::Input;

use super::{Overlay, wrapped};
use crate::canvas::{Canvas, Line};
use crate::kinds::count;
use crate::proof::{Bundle, bundle_differences};
use crate::text::{clean, date_time, grouped};

impl Overlay {
    /// Shows how the bundle in a file differs from this one, member by member.
    /// `other` has whether a check of it failed, or why the file cannot be read.
    pub(crate) fn compared(own: &Bundle, path: &str, other: Result<(Bundle, bool), String>) -> Self {
        let mut paragraphs = vec![format!("file: {}", clean(path))];
        match other {
            Err(error) => paragraphs.push(format!("[x] NOT COMPARED: {}", clean(&error))),
            Ok((other, is_blocked)) => {
                if is_blocked {
                    paragraphs.push("[x] a check of the file failed: quorate proof verify FILE".to_owned());
                }
                differences(own, &other, &mut paragraphs);
            }
        }
        Self::text("Compare with a file", paragraphs)
    }
}

fn differences(own: &Bundle, other: &Bundle, paragraphs: &mut Vec<String>) {
    paragraphs.push(format!("exported {} by the clock of its console", date_time(other.exported_at())));
    let (found, compared) = bundle_differences(own, other);
    if found.is_empty() {
        paragraphs.push(format!("[v] EQUAL: all {}", count(compared, "value")));
        return;
    }
    paragraphs.push(format!("[x] DIFFERENT: {} of {}", found.len(), count(compared, "value")));
    for one in &found {
        paragraphs.push(String::new());
        paragraphs.push(one.path.clone());
        paragraphs.push(format!("    here      {}", one.first));
        paragraphs.push(format!("    the file  {}", one.second));
    }
}

/// Returns whether the input is a path. A fingerprint contains neither a slash nor a dot.
pub(super) fn is_path(input: &str) -> bool {
    input.contains(['/', '.'])
}

pub(super) fn draw(own: &str, input: &Input, canvas: &mut Canvas<'_>, area: Rect) {
    let columns = usize::from(area.width.saturating_sub(4));
    let inner = canvas.framed(area, "Compare", "type or paste, Esc closes");
    let plain = |text: String| wrapped(&[text], columns).into_iter().map(Line::plain);
    let result = comparison(own, input.value());
    let hint = "Enter the fingerprint of another source, or the path of a file that another member exported.";
    // What changes with a key comes first, because a small terminal shows no more.
    let lines: Vec<Line> = plain(format!("to compare: {}_", clean(input.value())))
        .chain([Line::styled(result, canvas.theme.of_mark(result))])
        .chain(plain(format!("computed by this console: {}", grouped(own))))
        .chain(plain(hint.to_owned()))
        .collect();
    canvas.lines(inner, &lines, 0);
}

/// Compares two fingerprints. They are equal only if all digits match.
fn comparison(own: &str, given: &str) -> &'static str {
    let given: String =
        given.trim().trim_start_matches("sha256:").chars().filter(|letter| !letter.is_whitespace()).collect();
    if is_path(&given) {
        "Enter compares with this file"
    } else if given.is_empty() || own.is_empty() {
        "nothing to compare yet"
    } else if given.eq_ignore_ascii_case(own) {
        "[v] EQUAL: all 64 digits"
    } else if given.len() == 64 {
        "[x] DIFFERENT"
    } else {
        "[x] DIFFERENT: a fingerprint has 64 digits"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_fingerprints() {
        let own = "50f7170439bc7c86634c4dff6e123b156118132baaf02da39f33e20bcef53932";
        assert_eq!(comparison(own, ""), "nothing to compare yet");
        assert!(comparison(own, &format!("sha256:{own}")).contains("EQUAL"));
        assert!(comparison(own, &grouped(&own.to_uppercase())).contains("EQUAL"));
        assert!(comparison(own, &own.replace("3932", "3933")).contains("DIFFERENT"));
        assert!(comparison(own, "50f7").contains("64 digits"));
        assert!(comparison(own, "./ana.json").contains("this file"));
    }
}
