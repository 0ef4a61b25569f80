//! Webhook receivers that are silent, reset, answer without end, are slow or redirect, while signatures are
//! created and timed. None of this may change the time of a signature.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::caller::Caller;
use crate::receiver::{Answer, Receiver};
use crate::requests::{self, SIGN};

/// Behaviours of a receiver, by name. The first one is the baseline of the others.
pub const BEHAVIORS: [(&str, Answer); 6] = [
    ("answers", Answer::Status(200)),
    ("is silent", Answer::Never),
    ("resets", Answer::Reset),
    ("answers without end", Answer::Endless),
    ("is slow", Answer::Slowly(Duration::from_secs(5))),
    ("redirects", Answer::Redirect),
];

/// Signing times with one behaviour of the receivers.
#[derive(Debug, Clone)]
pub struct Figures {
    /// Name of the behaviour.
    pub behavior: &'static str,
    /// Median.
    pub median: Duration,
    /// 99th percentile.
    pub p99: Duration,
    /// Ratio of the median to that of the baseline.
    pub ratio: f64,
}

/// Measures signing in an organization whose webhook endpoints all show each behaviour of [`BEHAVIORS`]. The
/// behaviours alternate, so that other work on the machine affects all of them alike.
pub async fn signing_times(
    caller: &Caller,
    endpoints: usize,
    rounds: usize,
    signatures: usize,
) -> Vec<Figures> {
    let receiver = Receiver::start().await;
    let address = requests::create_wallet(caller, "webhook faults").await;
    for number in 0..endpoints {
        let endpoint = json!({"name": format!("endpoint {number}"), "url": receiver.url(&format!("/{number}")),
            "subscriptions": [{"eventType": "ACTIVITY_UPDATES"}]});
        caller.completed("ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT", &endpoint).await;
    }
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); BEHAVIORS.len()];
    for round in 0..rounds {
        for ((name, answer), times) in BEHAVIORS.iter().zip(&mut times) {
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
    let baseline = median(&times[0]).as_secs_f64();
    let figures = BEHAVIORS.iter().zip(&times).map(|((behavior, _), times)| Figures {
        behavior,
        median: median(times),
        p99: times[times.len() * 99 / 100],
        ratio: median(times).as_secs_f64() / baseline,
    });
    figures.collect()
}
