//! The script marks untrusted text as the console does.

use super::*;

#[tokio::test]
async fn script_marks_text_like_the_console() {
    let Some(browser) = Browser::start().await else { return };
    let daemon = Daemon::start(Options::quorum(1, 1).with_pages()).await;
    browser.open(&format!("http://localhost:{}/pages/approve", daemon.address().port())).await;
    browser.shows("#sign-in h2", "Sign in").await;
    let list = json!(include_str!("../../../assets/vectors/hidden.txt"));
    let differing = format!(
        "const lines = {list}.split('\\n').filter((line) => line && !line.startsWith('#'));
         const ranges = lines.map((line) => line.split('-').map((hex) => parseInt(hex, 16)));
         const isListed = (code) => ranges.some(([first, last = first]) => first <= code && code <= last);
         return Array.from({{ length: 0x110000 }}, (_, code) => code).filter((code) => {{
             const text = `a${{String.fromCodePoint(code)}}`;
             return (clean(text) !== text) !== isListed(code);
         }});"
    );
    assert_eq!(
        browser.run(&differing).await,
        json!([]),
        "code points that console and page treat differently"
    );
    for (text, is_mixed, imitates) in [
        ("\u{430}\u{440}\u{440}\u{4cf}\u{435}", false, true),
        ("pay \u{441}\u{43e}\u{440}-1", false, true),
        ("\u{39f}\u{3a1}\u{395}\u{39d}", false, true),
        ("\u{1d586}bc", false, true),
        ("\u{430}\u{434}\u{43c}\u{438}\u{43d}", false, false),
        ("\u{430}dmin", true, true),
        ("\u{430}\u{3a9}", true, false),
        ("\u{65e5}\u{672c}\u{8a9e}", false, false),
        ("C\u{e6}sar \u{fc}ber", false, false),
    ] {
        let marks = browser.run(&format!("return [isMixed({0}), imitatesLatin({0})]", json!(text))).await;
        assert_eq!(marks[1], imitates, "{text}: looks Latin");
        assert!(marks[0] == is_mixed || imitates, "{text}: mixes scripts");
    }
    expect_silence(&browser).await;
    browser.close().await;
}
