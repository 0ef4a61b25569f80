//! Tests of the mouse: it selects and scrolls, and never opens or decides anything.

use super::*;

fn mouse(console: &mut TestConsole, mouse: Mouse) -> Vec<Effect> {
    let effects = update(&mut console.model, Msg::Mouse(mouse));
    drawn(&mut console.model);
    effects
}

/// Clicks on every cell of the screen. Returns the effects.
fn click_everywhere(console: &mut TestConsole) -> Vec<Effect> {
    let (columns, rows) = console.model.shared.size;
    let places = (0..rows).flat_map(|row| (0..columns).step_by(3).map(move |column| (column, row)));
    places.flat_map(|(column, row)| mouse(console, Mouse::Click(column, row))).collect()
}

#[test]
fn no_click_opens_answers_or_decides_anything() {
    let (fixture, records) = two_proposals();
    for size in [(80, 24), (40, 12)] {
        let mut console = TestConsole::new(&fixture, &records, size);
        console.link(Answer::Organization(Arc::new(fixture.with_all_records())));
        for tab in SCREENS {
            console.press(tab.show.keys[0]);
            let effects = click_everywhere(&mut console);
            assert!(!signs_or_sends(&effects));
            assert!(console.model.review.is_none() && console.model.opening.is_none(), "{}", tab.title);
            assert!(!effects.contains(&Effect::Quit));
        }
        console.press(Key::Char('1'));
        console.press(Key::Char('g'));
        console.open(&records[0]);
        let before = console.shown();
        assert!(click_everywhere(&mut console).is_empty());
        assert_eq!(console.shown(), before, "a review has nothing to click");
        for _ in 0..40 {
            mouse(&mut console, Mouse::WheelDown);
        }
        console.press(Key::Char('a'));
        assert!(console.is_deciding(), "the wheel shows every flag: {}", console.model.notice);
        console.wait(1100);
        console.press(Key::Char('1'));
        assert!(!signs_or_sends(&click_everywhere(&mut console)));
        for _ in 0..10 {
            assert!(mouse(&mut console, Mouse::WheelDown).is_empty());
            assert!(mouse(&mut console, Mouse::WheelUp).is_empty());
        }
        assert!(console.shown().contains("[ 1_ ]"), "{}", console.shown());
    }
}

#[test]
fn a_click_selects_a_row_or_a_tab_and_the_wheel_moves() {
    let (fixture, _) = tag_proposal();
    let rows: Vec<ReviewRecord> = (0..40)
        .map(|index| {
            let name = serde_json::json!({"userTagName": format!("t{index:02}"), "userIds": []});
            fixture.propose(1, "ACTIVITY_TYPE_CREATE_USER_TAG", "createUserTagIntent", &name)
        })
        .collect();
    let mut console = TestConsole::new(&fixture, &rows, (120, 36));
    let selected = |console: &TestConsole| {
        let shown = console.shown();
        let row = shown.lines().find(|row| row.contains("\u{2502} > ")).unwrap();
        row.split('"').nth(1).unwrap().to_owned()
    };
    for _ in 0..30 {
        console.press(Key::Down);
    }
    for row in [6, 12, 4, 10] {
        let shown = console.shown();
        let line = shown.lines().nth(row).unwrap();
        let name = line.split('"').nth(1).unwrap().to_owned();
        mouse(&mut console, Mouse::Click(30, u16::try_from(row).unwrap()));
        assert_eq!(selected(&console), name, "{shown}");
    }
    let before = selected(&console);
    mouse(&mut console, Mouse::WheelDown);
    assert_ne!(selected(&console), before);
    mouse(&mut console, Mouse::WheelUp);
    assert_eq!(selected(&console), before);
    // What is no row selects nothing.
    for (column, row) in [(30, 0), (30, 2), (30, 3), (30, 35)] {
        mouse(&mut console, Mouse::Click(column, row));
        assert_eq!(selected(&console), before, "{column} {row}");
    }
    for tab in SCREENS {
        let shown = console.shown();
        let title = format!("{} {}", tab.show.key(), tab.title);
        let at = u16::try_from(shown.lines().nth(1).unwrap().find(&title).unwrap()).unwrap();
        mouse(&mut console, Mouse::Click(at + 2, 1));
        assert!(console.shown().contains(&format!("[{title}")), "{title}: {}", console.shown());
    }
}
