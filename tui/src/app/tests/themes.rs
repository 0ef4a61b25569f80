//! Tests of the colours on every screen.
#![allow(clippy::panic, reason = "tests")]

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};

use super::*;
use crate::theme::{self, BUILT_IN, Depth, Rgb};

/// Returns the colours of a cell as they are drawn: of the text and of what is behind it.
fn colours(cell: &Cell) -> [Rgb; 2] {
    let rgb = |colour| match colour {
        Color::Rgb(red, green, blue) => Rgb(red, green, blue),
        other => panic!("{other:?} is no colour of the theme, in {cell:?}"),
    };
    let [text, background] = [rgb(cell.fg), rgb(cell.bg)];
    if cell.modifier.contains(Modifier::REVERSED) { [background, text] } else { [text, background] }
}

/// Opens every screen, a review, an overlay and a decision, one after the other.
fn each_view(size: (u16, u16), mut visit: impl FnMut(&str, &TestConsole)) {
    let (fixture, record) = threshold_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), size);
    console.link(Answer::Organization(Arc::new(fixture.with_all_records())));
    for (index, tab) in SCREENS.iter().enumerate() {
        console.press(tab.show.keys[0]);
        if tab.title == "Webhooks" {
            console.webhooks();
        }
        if tab.title == "Journal" {
            console.journal();
        }
        visit(&format!("screen {index}"), &console);
    }
    console.press(Key::Char('?'));
    visit("keys", &console);
    console.press(Key::Esc);
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), size);
    console.open(&record);
    visit("review", &console);
    for _ in 0..60 {
        console.press_after(Key::PageDown, 10);
        console.press_after(Key::Char('a'), 10);
        if console.is_deciding() {
            break;
        }
    }
    assert!(console.is_deciding(), "{size:?}: {}", console.model.notice);
    visit("decision", &console);
}

#[test]
fn every_text_of_every_screen_is_readable_in_every_theme() {
    for size in SIZES {
        each_view(size, |what, console| {
            let plain = console.drawn(Theme::uncoloured());
            for (name, palette) in BUILT_IN {
                let drawn = console.drawn(Theme::new(palette, Depth::True));
                assert_eq!(drawn.to_string(), plain.to_string(), "{what}: colours change no text");
                for cell in drawn.buffer().content() {
                    let [text, background] = colours(cell);
                    let contrast = text.contrast(background);
                    assert!(cell.symbol() == " " || contrast >= 4.5, "{what} in {name}: {contrast} {cell:?}");
                }
            }
        });
    }
}

#[test]
fn without_colours_nothing_is_coloured_and_the_selected_row_is_marked() {
    for size in SIZES {
        each_view(size, |what, console| {
            let drawn = console.drawn(Theme::uncoloured());
            let cells = drawn.buffer().content();
            assert!(cells.iter().all(|cell| (cell.fg, cell.bg) == (Color::Reset, Color::Reset)), "{what}");
            assert!(cells.iter().any(|cell| cell.modifier.contains(Modifier::REVERSED)), "{what}");
        });
    }
}

#[test]
fn marks_have_the_colour_of_their_meaning_and_production_one_of_its_own() {
    let (fixture, record) = threshold_proposal();
    let mut console = TestConsole::new(&fixture, std::slice::from_ref(&record), (120, 36));
    console.open(&record);
    let palette = theme::BUILT_IN[0].1;
    let draw = |console: &TestConsole| console.drawn(Theme::new(palette, Depth::True)).buffer().clone();
    let throwaway = draw(&console);
    let of_mark = |mark: &str| {
        let cells = throwaway.content();
        // The selected row is in reverse video as a whole.
        let is_mark = |three: &[Cell]| {
            let is_reversed = three.iter().any(|cell| cell.modifier.contains(Modifier::REVERSED));
            !is_reversed && three.iter().map(Cell::symbol).collect::<String>() == mark
        };
        let at = cells.windows(3).position(is_mark);
        colours(&cells[at.unwrap_or_else(|| panic!("no {mark}"))])[0]
    };
    assert_eq!(of_mark("[v]"), palette.good);
    assert_eq!(of_mark("[s]"), palette.stated);
    assert_eq!(of_mark("[!]"), palette.warning);
    if let Some(daemon) = &mut console.model.shared.daemon {
        daemon.mode = Mode::Production;
    }
    let production = draw(&console);
    let headers = [&throwaway, &production].map(|buffer| colours(&buffer.content()[0])[1]);
    assert_eq!(headers, [palette.throwaway, palette.production]);
}
