//! Contrast, separation of colours for colour blindness, terminals, and theme files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
use ratatui::style::Color;

use super::palette::{BUILT_IN, DARK};
use super::*;
use crate::files::Folders;

/// How people with a kind of colour blindness see colours in linear light (Machado, Oliveira and Fernandes 2009, "A
/// Physiologically-based Model for Simulation of Color Vision Deficiency", severity 1.0).
type Vision = [[f64; 3]; 3];

const NORMAL: Vision = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
const PROTANOPIA: Vision = [
    [0.152_286, 1.052_583, -0.204_868],
    [0.114_503, 0.786_281, 0.099_216],
    [-0.003_882, -0.048_116, 1.051_998],
];
const DEUTERANOPIA: Vision = [
    [0.367_322, 0.860_646, -0.227_968],
    [0.280_085, 0.672_501, 0.047_413],
    [-0.011_820, 0.042_940, 0.968_881],
];
const TRITANOPIA: Vision = [
    [1.255_528, -0.076_749, -0.178_779],
    [-0.078_411, 0.930_809, 0.147_602],
    [0.004_733, 0.691_367, 0.303_900],
];

/// Difference in CIELAB that is plain at a glance; 2.3 is just noticeable.
const PLAIN: f64 = 40.0;

/// Returns the colour in CIELAB under D65, as it is seen.
fn seen(colour: Rgb, vision: Vision) -> [f64; 3] {
    let linear = colour.linear();
    let dot = |row: [f64; 3], column: [f64; 3]| row.iter().zip(column).map(|(a, b)| a * b).sum::<f64>();
    let linear = vision.map(|row| dot(row, linear).clamp(0.0, 1.0));
    let xyz = [
        dot([0.4124, 0.3576, 0.1805], linear) / 0.950_47,
        dot([0.2126, 0.7152, 0.0722], linear),
        dot([0.0193, 0.1192, 0.9505], linear) / 1.088_83,
    ];
    let [x, y, z] =
        xyz.map(|value| if value > 0.008_856 { value.cbrt() } else { 7.787 * value + 16.0 / 116.0 });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn difference(one: Rgb, other: Rgb, vision: Vision) -> f64 {
    let (one, other) = (seen(one, vision), seen(other, vision));
    one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

fn rgb(colour: Color) -> Rgb {
    let Color::Indexed(number) = colour else { panic!("{colour:?}") };
    let step = |number: u8| if number == 0 { 0 } else { 55 + 40 * number };
    match number {
        16..232 => Rgb(step((number - 16) / 36), step((number - 16) / 6 % 6), step((number - 16) % 6)),
        232.. => Rgb(8 + 10 * (number - 232), 8 + 10 * (number - 232), 8 + 10 * (number - 232)),
        ..16 => panic!("{number} differs between terminals"),
    }
}

#[test]
fn contrasts_are_those_of_the_guidelines() {
    let (black, white) = (Rgb(0, 0, 0), Rgb(255, 255, 255));
    // The two grays next to the limit of 4.5:1 on white.
    for (one, other, expected) in
        [(black, white, 21.0), (Rgb(119, 119, 119), white, 4.48), (Rgb(118, 118, 118), white, 4.54)]
    {
        assert!((one.contrast(other) - expected).abs() < 0.005, "{one:?}");
    }
}

#[test]
fn all_texts_are_readable_on_their_backgrounds() {
    for (name, palette) in BUILT_IN {
        for (role, text, background) in palette.pairs() {
            let exact = text.contrast(background);
            let indexed = [text, background].map(|colour| rgb(Depth::Indexed.colour(colour).unwrap()));
            assert!(exact >= 4.5, "{name} {role}: {exact}");
            assert!(indexed[0].contrast(indexed[1]) >= 4.5, "{name} {role} of 256 colours");
        }
        for background in [palette.production, palette.throwaway] {
            assert!(background.ink().contrast(background) >= 4.5, "{name}");
        }
        assert_ne!(palette.production, palette.throwaway, "{name}");
    }
}

#[test]
fn good_and_bad_differ_for_everybody() {
    let visions = |name| match name {
        "deuteranopia" => vec![NORMAL, DEUTERANOPIA, PROTANOPIA],
        "tritanopia" => vec![NORMAL, TRITANOPIA],
        _ => vec![NORMAL],
    };
    for (name, palette) in BUILT_IN {
        for vision in visions(name) {
            for bad in [palette.warning, palette.high, palette.error] {
                let difference = difference(palette.good, bad, vision);
                assert!(difference > PLAIN, "{name}: {bad:?} {difference}");
            }
        }
    }
    // The ordinary palette would not do.
    assert!(difference(DARK.good, DARK.high, DEUTERANOPIA) < PLAIN);
}

#[test]
fn the_terminal_decides_how_many_colours_there_are() {
    let depth = |variables: &[(&str, &str)]| {
        Depth::of(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    };
    for (variables, expected) in [
        (&[][..], Depth::None),
        (&[("TERM", "dumb")], Depth::None),
        (&[("TERM", "vt100")], Depth::None),
        (&[("TERM", "linux")], Depth::Sixteen),
        (&[("TERM", "xterm")], Depth::Sixteen),
        (&[("TERM", "screen-256color")], Depth::Indexed),
        (&[("TERM", "xterm-direct")], Depth::True),
        (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")], Depth::True),
        (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("NO_COLOR", "1")], Depth::None),
        (&[("TERM", "xterm-256color"), ("NO_COLOR", "")], Depth::Indexed),
    ] {
        assert_eq!(depth(variables), expected, "{variables:?}");
    }
    for (value, expected) in [
        (None, false),
        (Some("15;0"), false),
        (Some("0;15"), true),
        (Some("0;default;7"), true),
        (Some("x"), false),
    ] {
        assert_eq!(is_light(value), expected, "{value:?}");
    }
}

#[test]
fn sixteen_colours_keep_the_meaning_and_the_background_of_the_terminal() {
    for (name, palette) in BUILT_IN {
        let theme = Theme::new(palette, Depth::Sixteen);
        assert_eq!((theme.base().fg, theme.base().bg), (None, None), "{name}");
        assert_ne!(theme.good().fg, theme.warning().fg, "{name}");
        assert_ne!(theme.good().fg, theme.error().fg, "{name}");
    }
}

const FILE: &str = "background = \"#000000\"\ntext = \"#ffffff\"\nfaint = \"#bcbcbc\"\ngood = \"#5fff5f\"\n\
    stated = \"#87d7ff\"\nwarning = \"#ffff00\"\nhigh = \"#ffaf00\"\nerror = \"#ff8787\"\nproduction = \"#870000\"\n\
    throwaway = \"#5fff5f\"\n";

#[test]
fn a_theme_file_is_used_if_it_is_readable() {
    let folder = tempfile::tempdir().unwrap();
    let folders = Folders { config: folder.path().to_owned(), state: folder.path().to_owned() };
    std::fs::create_dir(folder.path().join("themes")).unwrap();
    let load_text = |text: &str| {
        std::fs::write(folder.path().join("themes/mine.toml"), text).unwrap();
        load(Some("mine"), false, &folders).map_err(|error| error.to_string())
    };
    assert_eq!(load_text(FILE).unwrap().high, Rgb(255, 175, 0));
    for (from, to, expected) in [
        (
            "#ffff00",
            "#333300",
            "warning: its contrast to the background is 1.6:1, at least 4.5:1 is required",
        ),
        ("#ffff00", "yellow", "warning = \"yellow\": expected a colour such as \"#d0d0d0\""),
        ("warning", "warnin", "unknown field `warnin`"),
        ("high = \"#ffaf00\"\n", "", "missing field `high`"),
    ] {
        let error = load_text(&FILE.replace(from, to)).unwrap_err();
        assert!(error.contains(expected) && error.contains("mine.toml"), "{error}");
    }
    for name in ["none", "../mine", ""] {
        let error = load(Some(name), false, &folders).unwrap_err().to_string();
        assert!(error.contains("the names are dark, light, high-contrast"), "{error}");
    }
    assert_eq!(load(None, true, &folders).unwrap().background, Rgb(255, 255, 255));
}

#[test]
fn the_documented_theme_is_the_dark_one() {
    let page = include_str!("../../../docs/src/reference/quorate.md");
    let block = page.split("```").find(|block| block.contains("background = ")).unwrap();
    let (_, colours) = block.split_once('\n').unwrap();
    assert_eq!(file::parse(colours.as_bytes()).unwrap(), DARK);
}

#[test]
fn the_locale_decides_whether_unicode_is_drawn() {
    let check = |variables: &[(&str, &str)], expected: bool| {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        assert_eq!(is_unicode(variable), expected, "{variables:?}");
    };
    check(&[], false);
    check(&[("LANG", "C")], false);
    check(&[("LANG", "C.UTF-8")], true);
    check(&[("LANG", "de_DE.utf8")], true);
    check(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "C")], false);
    check(&[("LANG", "C"), ("LC_ALL", ""), ("LC_CTYPE", "en_US.UTF-8")], true);
}
