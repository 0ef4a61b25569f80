//! Reads the head of a request: its target, and the headers that authenticate the caller. Paths are compared
//! as sent.

use http::header::{HOST, HeaderName};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderValue, Uri, Version};
use quorate_core::authn::{Credentials, Header};

use crate::listener::Listener;
use crate::source::Proxies;

const STAMP: HeaderName = HeaderName::from_static("x-stamp");
const STAMP_WEBAUTHN: HeaderName = HeaderName::from_static("x-stamp-webauthn");
const STAMP_ATTESTED: HeaderName = HeaderName::from_static("x-stamp-attested");
const SESSION: HeaderName = HeaderName::from_static("x-session");
const PROXY_CONFIG: HeaderName = HeaderName::from_static("x-auth-proxy-config-id");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Reads the headers that authenticate the caller. Returns `None` if one of them contains bytes that are
/// invalid in a stamp or an address.
pub(super) fn credentials(listener: Listener, proxies: &Proxies, headers: &HeaderMap) -> Option<Credentials> {
    let forwarded: Option<Vec<&str>> = headers.get_all(FORWARDED_FOR).iter().map(visible).collect();
    Some(Credentials {
        stamp: header(headers, &STAMP)?,
        webauthn: header(headers, &STAMP_WEBAUTHN)?,
        attested: header(headers, &STAMP_ATTESTED)?,
        session: header(headers, &SESSION)?,
        source: proxies.source(listener, &forwarded?),
    })
}

/// Reads the header that names the configuration of the authentication proxy.
pub(super) fn proxy_config(headers: &HeaderMap) -> Option<String> {
    headers.get(&PROXY_CONFIG).and_then(visible).map(str::to_owned)
}

/// Reads one header. Returns `None` if it was sent once, with bytes that are not visible ASCII.
fn header(headers: &HeaderMap, name: &HeaderName) -> Option<Header> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Some(Header::Absent),
        (Some(value), None) => visible(value).map(|text| Header::Once(text.to_owned())),
        (Some(_), Some(_)) => Some(Header::Repeated),
    }
}

/// Returns a value of visible ASCII and spaces.
fn visible(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok().filter(|text| !text.contains('\t'))
}

/// Returns path and query, if the target is a path on this host and nothing else.
pub(super) fn target(uri: Uri, version: Version, headers: &HeaderMap) -> Option<PathAndQuery> {
    // In HTTP/2, a target always has an authority; in HTTP/1, only the forms for proxies have one.
    let fits = match version {
        Version::HTTP_2 => names_one_host(&uri, headers),
        _ => uri.authority().is_none() && uri.scheme().is_none(),
    };
    let target = uri.into_parts().path_and_query?;
    (fits && target.as_str().starts_with('/')).then_some(target)
}

/// Returns whether `:authority` or `Host` is present, and both name the same host if both are (RFC 9113
/// §8.3.1).
fn names_one_host(uri: &Uri, headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    match (uri.authority(), hosts.next(), hosts.next()) {
        (_, _, Some(_)) | (None, None, None) => false,
        (Some(_), None, None) => true,
        (authority, Some(host), None) => {
            let port = if uri.scheme() == Some(&Scheme::HTTPS) { 443 } else { 80 };
            let parts = |one: &Authority| {
                let has_user_info = one.as_str().contains('@');
                (!has_user_info).then(|| (one.host().to_ascii_lowercase(), one.port_u16().unwrap_or(port)))
            };
            let host = Authority::try_from(host.as_bytes()).ok().as_ref().and_then(parts);
            host.is_some() && authority.is_none_or(|authority| parts(authority) == host)
        }
    }
}
