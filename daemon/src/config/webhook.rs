//! Section `[webhook]`: which receivers are reachable beside public ones over https.

use std::str::FromStr;

use ipnet::IpNet;

use super::section::Section;
use crate::outbox::receiver::ReceiverPolicy;

pub(super) fn read(section: &mut Section<'_, '_>) -> ReceiverPolicy {
    let networks = section.parsed_list::<Network>("allow_networks").unwrap_or_default();
    ReceiverPolicy {
        allow_networks: networks.into_iter().map(|network| network.0).collect(),
        allow_http: section.flag("allow_http").unwrap_or_default(),
    }
}

struct Network(IpNet);

impl FromStr for Network {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let network: IpNet = text.parse().map_err(|_| r#"must be a network, such as "10.0.0.0/8""#)?;
        // 10.1.2.3/8 is a slip more often than a wish.
        if network.trunc() == network { Ok(Self(network)) } else { Err("has bits beyond its prefix length") }
    }
}
