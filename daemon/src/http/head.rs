//! Checks the head of an HTTP/1 request before hyper parses it. hyper accepts bare line feeds, two `Host`
//! headers, targets of other hosts and repeated framing headers. It hides some of them from its callers.
//!
//! Only framing and target are checked (RFC 9112 §2.2, §3.2, §6.3); hyper still parses the whole head.

/// Result of a search for the end of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scan {
    /// More bytes are needed. Everything before this offset consists of complete lines.
    Incomplete(usize),
    /// Length of the head, including its empty line.
    End(usize),
    /// A line does not end in CR LF.
    Malformed,
}

/// Framing of the bytes after a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// A body of exactly this many bytes, followed by the next head.
    Length(u64),
    /// A chunked body. No further request is read from the connection.
    Chunked,
}

/// Finds the end of the head. `from` is the offset that the previous scan returned.
pub(super) fn scan(bytes: &[u8], from: usize) -> Scan {
    let mut start = from;
    loop {
        let rest = bytes.get(start..).unwrap_or_default();
        let Some(length) = rest.iter().position(|byte| *byte == b'\n') else {
            return Scan::Incomplete(start);
        };
        match rest.get(..length) {
            Some(b"\r") => return Scan::End(start + length + 1),
            Some([.., b'\r']) => start += length + 1,
            _ => return Scan::Malformed,
        }
    }
}

/// Checks a complete head. Returns `None` if it must be rejected.
pub(super) fn check(head: &[u8]) -> Option<Framing> {
    let mut lines = head.split(|byte| *byte == b'\n');
    let version = check_request_line(lines.next()?.strip_suffix(b"\r")?)?;
    let mut hosts = 0_u32;
    let mut length = None;
    let mut chunked = false;
    for line in lines {
        let Some(line) = line.strip_suffix(b"\r") else {
            // Nothing follows the last line feed.
            break;
        };
        if line.is_empty() {
            break;
        }
        let (name, value) = check_header(line)?;
        if name.eq_ignore_ascii_case(b"host") {
            hosts += 1;
            if !value.is_ascii() {
                return None;
            }
        } else if name.eq_ignore_ascii_case(b"content-length") {
            if length.replace(parse_length(value)?).is_some() {
                return None;
            }
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if chunked || !value.eq_ignore_ascii_case(b"chunked") {
                return None;
            }
            chunked = true;
        }
    }
    let host_fits = match version {
        Version::Http10 => hosts <= 1 && !chunked,
        Version::Http11 => hosts == 1,
    };
    match (host_fits, chunked, length) {
        (false, ..) | (true, true, Some(_)) => None,
        (true, true, None) => Some(Framing::Chunked),
        (true, false, length) => Some(Framing::Length(length.unwrap_or(0))),
    }
}

#[derive(Debug, Clone, Copy)]
enum Version {
    Http10,
    Http11,
}

/// Parses method, target in origin form without fragment, and version, each separated by one space.
fn check_request_line(line: &[u8]) -> Option<Version> {
    let mut parts = line.split(|byte| *byte == b' ');
    let (method, target, version) = (parts.next()?, parts.next()?, parts.next()?);
    let target_fits =
        target.first() == Some(&b'/') && target.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'#');
    if method.is_empty() || !target_fits || parts.next().is_some() {
        return None;
    }
    match version {
        b"HTTP/1.1" => Some(Version::Http11),
        b"HTTP/1.0" => Some(Version::Http10),
        _ => None,
    }
}

/// Splits a header into name and trimmed value. The name must not contain white space, so folded lines are
/// rejected. The value must not contain carriage returns or NUL bytes.
fn check_header(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (name, value) = (line.get(..colon)?, line.get(colon + 1..)?);
    let name_fits = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    let value = trim(value);
    (name_fits && !value.contains(&b'\r') && !value.contains(&0)).then_some((name, value))
}

fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

fn parse_length(value: &[u8]) -> Option<u64> {
    let digits_only = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    digits_only.then(|| std::str::from_utf8(value).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_end_of_a_head_received_in_pieces() {
        let head = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nrest";
        for cut in 0..head.len() {
            let first = scan(head.get(..cut).unwrap_or_default(), 0);
            let from = match first {
                Scan::Incomplete(from) => from,
                Scan::End(end) => {
                    assert!(end <= cut);
                    0
                }
                Scan::Malformed => unreachable!("well-formed"),
            };
            assert_eq!(scan(head, from), Scan::End(head.len() - 4), "cut at {cut}");
        }
        assert_eq!(scan(b"GET / HTTP/1.1\nHost: a\n\n", 0), Scan::Malformed);
        assert_eq!(scan(b"GET / HTTP/1.1\r\nHost: a\n", 16), Scan::Malformed);
        assert_eq!(scan(b"\n", 0), Scan::Malformed);
    }

    fn check_rows(request_line: &str, headers: &str, expected: Option<Framing>) {
        let head = format!("{request_line}\r\n{headers}\r\n");
        assert_eq!(check(head.as_bytes()), expected, "{head:?}");
    }

    #[test]
    fn checks_request_lines() {
        let none = Some(Framing::Length(0));
        for (line, expected) in [
            ("GET / HTTP/1.1", none),
            ("POST /public/v1/query/whoami?a=b HTTP/1.1", none),
            ("GET /a//../%2e%00 HTTP/1.1", none),
            ("GET http://a/ HTTP/1.1", None),
            ("CONNECT a:443 HTTP/1.1", None),
            ("OPTIONS * HTTP/1.1", None),
            ("GET /a#b HTTP/1.1", None),
            ("GET /ä HTTP/1.1", None),
            ("GET  / HTTP/1.1", None),
            ("GET / HTTP/1.1 ", None),
            ("GET /", None),
            ("GET / HTTP/1.2", None),
            ("GET / HTTP/2.0", None),
            (" / HTTP/1.1", None),
            ("", None),
        ] {
            check_rows(line, "Host: a\r\n", expected);
        }
    }

    #[test]
    fn checks_headers() {
        for (headers, expected) in [
            ("Host: a\r\n", Some(Framing::Length(0))),
            ("hOST:a\r\nX: \u{e4}\r\n", Some(Framing::Length(0))),
            ("Host: a\r\nContent-Length: 12\r\n", Some(Framing::Length(12))),
            ("Host: a\r\nTransfer-Encoding: \tChunked \r\n", Some(Framing::Chunked)),
            ("", None),
            ("Host: a\r\nHost: a\r\n", None),
            ("Host: \u{e4}\r\n", None),
            ("Host: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n", None),
            ("Host: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n", None),
            ("Host: a\r\nContent-Length: 1, 1\r\n", None),
            ("Host: a\r\nContent-Length: +1\r\n", None),
            ("Host: a\r\nContent-Length: -1\r\n", None),
            ("Host: a\r\nContent-Length: 0x1\r\n", None),
            ("Host: a\r\nContent-Length:\r\n", None),
            ("Host: a\r\nContent-Length: 99999999999999999999\r\n", None),
            ("Host: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n", None),
            ("Host: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n", None),
            ("Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", None),
            ("Host: a\r\nTransfer-Encoding: gzip, chunked\r\n", None),
            ("Host: a\r\nTransfer-Encoding: identity\r\n", None),
            ("Host: a\r\nContent-Length : 1\r\n", None),
            ("Host: a\r\n Content-Length: 1\r\n", None),
            ("Host: a\r\nX: 1\r\n folded\r\n", None),
            ("Host: a\r\nX: 1\rY: 2\r\n", None),
            ("Host: a\r\nX: \0\r\n", None),
            ("Host: a\r\n: 1\r\n", None),
            ("Host: a\r\nnocolon\r\n", None),
        ] {
            check_rows("POST / HTTP/1.1", headers, expected);
        }
        check_rows("GET / HTTP/1.0", "", Some(Framing::Length(0)));
        check_rows("GET / HTTP/1.0", "Host: a\r\nHost: b\r\n", None);
        check_rows("POST / HTTP/1.0", "Transfer-Encoding: chunked\r\n", None);
    }
}
