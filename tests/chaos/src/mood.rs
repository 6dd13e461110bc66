//! What a server is like for a while.

use serde_json::{Value, json};

/// Answers, almost always.
pub const HEALTHY: &str = "healthy";

/// The others. `down` has no listener.
pub const BAD: [&str; 9] = [
    "unwell",
    "throttling",
    "throttling by date",
    "slow",
    "resets",
    "cuts",
    "garbage",
    "everything",
    "down",
];

/// The steps of a mood and how often each comes; `None` where there is no listener.
pub fn mix(name: &str) -> Option<Value> {
    let well = json!({"status": 200, "latency_ms": [60, 260], "body": "ok"});
    let busy = |seconds: &str| {
        let headers = json!([["retry-after", seconds]]);
        json!({"status": 429, "latency_ms": [1, 30], "headers": headers})
    };
    let dated = json!({"status": 503, "latency_ms": [1, 30], "retry_after_date_ms": 1_000});
    let unwell = json!({"status": 503, "latency_ms": [5, 60]});
    let trickle = json!({"status": 200, "body": {"bytes": 400, "chunk": 40, "every_ms": 40}});
    let steps: Vec<(f64, Value)> = match name {
        HEALTHY => vec![(97.0, well), (1.0, unwell), (1.0, json!(404)), (1.0, json!("reset"))],
        "unwell" => vec![(50.0, well), (40.0, unwell), (10.0, json!(500))],
        "throttling" => {
            vec![(40.0, well), (30.0, busy("1")), (20.0, busy("2")), (10.0, busy("3"))]
        }
        "throttling by date" => vec![(60.0, well), (40.0, dated)],
        "slow" => vec![
            (50.0, json!({"status": 200, "latency_ms": [300, 3_000], "body": "late"})),
            (40.0, trickle),
            (10.0, json!("hang")),
        ],
        "resets" => vec![
            (40.0, well),
            (30.0, json!("reset_before")),
            (15.0, json!("reset_inside")),
            (15.0, json!("close_before")),
        ],
        "cuts" => vec![
            (40.0, well),
            (30.0, json!("cut_body")),
            (10.0, json!({"fault": "cut_body", "status": 503})),
            (10.0, json!("half_closed")),
            (10.0, trickle),
        ],
        "garbage" => vec![(60.0, well), (30.0, json!("garbage")), (10.0, json!("huge_headers"))],
        "everything" => vec![
            (40.0, well),
            (10.0, unwell),
            (10.0, busy("1")),
            (5.0, dated),
            (10.0, json!("reset_before")),
            (5.0, json!("reset_inside")),
            (5.0, json!("cut_body")),
            (5.0, json!("garbage")),
            (3.0, json!("hang")),
            (7.0, json!(400)),
        ],
        _ => return None,
    };
    let shares = steps.into_iter().map(|(weight, step)| json!({"weight": weight, "step": step}));
    Some(Value::from_iter(shares))
}
