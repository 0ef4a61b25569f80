//! What receivers of webhooks can do to signing: they are silent, reset, lie, are slow or redirect, while signatures are
//! made and timed. Nothing of it may change how long a signature takes.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::caller::Caller;
use crate::receiver::{Answer, Receiver};
use crate::requests::{self, SIGN};

/// How a receiver behaves, by name. The first one is what the others are compared with.
pub const CONDUCTS: [(&str, Answer); 6] = [
    ("answers", Answer::Status(200)),
    ("is silent", Answer::Never),
    ("resets", Answer::Reset),
    ("answers without end", Answer::Endless),
    ("is slow", Answer::Slowly(Duration::from_secs(5))),
    ("redirects", Answer::Redirect),
];

/// How long signatures took while the receivers behaved in one way.
#[derive(Debug, Clone)]
pub struct Figures {
    /// How they behaved.
    pub conduct: &'static str,
    /// Median.
    pub median: Duration,
    /// 99th percentile.
    pub p99: Duration,
    /// The median divided by that beside receivers that answer.
    pub ratio: f64,
}

/// Measures signing in an organization, each of whose webhook endpoints is a receiver that behaves in each way of
/// [`CONDUCTS`]. The ways alternate, so that other work on the machine touches all of them alike.
pub async fn signing_beside(
    caller: &Caller,
    endpoints: usize,
    rounds: usize,
    signatures: usize,
) -> Vec<Figures> {
    let receiver = Receiver::start().await;
    let address = requests::make_wallet(caller, "webhook faults").await;
    for number in 0..endpoints {
        let endpoint = json!({"name": format!("endpoint {number}"), "url": receiver.url(&format!("/{number}")),
            "subscriptions": [{"eventType": "ACTIVITY_UPDATES"}]});
        caller.completed("ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT", &endpoint).await;
    }
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); CONDUCTS.len()];
    for round in 0..rounds {
        for ((name, answer), times) in CONDUCTS.iter().zip(&mut times) {
            receiver.answer(*answer);
            for number in 0..signatures {
                let parameters = requests::sign(&address, &format!("{name} {round} {number}"));
                let begun = Instant::now();
                caller.completed(SIGN, &parameters).await;
                times.push(begun.elapsed());
            }
        }
    }
    let median = |times: &[Duration]| times[times.len() / 2];
    for times in &mut times {
        times.sort_unstable();
    }
    let usual = median(&times[0]).as_secs_f64();
    let figures = CONDUCTS.iter().zip(&times).map(|((conduct, _), times)| Figures {
        conduct,
        median: median(times),
        p99: times[times.len() * 99 / 100],
        ratio: median(times).as_secs_f64() / usual,
    });
    figures.collect()
}
