//! Steps in order of arrival, and the log of what came.

mod client;

use client::{Rig, connect, hear_head, request, send_kept};
use serde_json::json;
use std::io::{BufReader, Write};

fn statuses(rig: &Rig, path: &str, count: usize) -> Vec<u16> {
    (0..count).map(|_| rig.get(path).status).collect()
}

#[test]
fn the_last_step_repeats_unless_told_otherwise() {
    let rig = Rig::new();
    rig.script("a", r#"{"steps":[500,429,200]}"#);
    rig.script("b", r#"{"steps":[500,200],"after":"loop"}"#);
    rig.script("c", r#"{"steps":[500],"after":{"status":418}}"#);
    rig.script("d", r#"{"steps":[],"after":202}"#);
    rig.script("e", r#"{"steps":[500],"after":"reset"}"#);
    assert_eq!(statuses(&rig, "/s/a", 5), [500, 429, 200, 200, 200]);
    assert_eq!(statuses(&rig, "/s/b/deep/er?q", 4), [500, 200, 500, 200]);
    assert_eq!(statuses(&rig, "/s/c?q=1", 3), [500, 418, 418]);
    assert_eq!(statuses(&rig, "/s/d", 2), [202, 202]);
    assert_eq!(statuses(&rig, "/s/e", 1), [500]);
    assert!(rig.hear("/s/e").was_reset());
    rig.script("a", r#"{"steps":[404]}"#);
    assert_eq!(statuses(&rig, "/s/a", 1), [404]);
}

#[test]
fn the_log_shows_what_arrived() {
    let rig = Rig::scripted(r#"{"steps":[503,"reset"],"after":200}"#);
    let port = rig.server.port();
    let headers = [("idempotency-key", "k"), ("x-a", "1"), ("x-b", "2"), ("x-a", "3")];
    request(port, "POST", "/s/t/p?q=%20", &headers, b"hello");
    assert!(rig.hear("/s/t").was_reset());
    let mut kept = connect(port);
    for _ in 0..2 {
        send_kept(&mut kept, "/s/t");
        hear_head(&mut kept);
    }
    let log = rig.ask("/_/log/t");
    let entry = &log[0];
    assert_eq!(entry["method"], "POST");
    assert_eq!(entry["path"], "/s/t/p?q=%20");
    assert_eq!((&entry["body_base64"], &entry["body_len"]), (&json!("aGVsbG8="), &json!(5)));
    let lines = entry["headers"].as_array().expect("lines");
    let repeated: Vec<_> = lines.iter().filter(|line| line[0] == "x-a").collect();
    assert_eq!(repeated, [&json!(["x-a", "1"]), &json!(["x-a", "3"])]);
    let fields = |name| [0, 1, 2, 3].map(|index| log[index][name].as_u64().expect("a number"));
    assert_eq!(fields("step"), [0, 1, 2, 2]);
    assert_eq!(fields("connection"), [1, 2, 3, 3]);
    let times = [0, 1, 2, 3].map(|index| log[index]["at_ms"].as_f64().expect("a time"));
    assert!(times.is_sorted());
    assert_eq!(rig.control("DELETE", "/_/log/t", "").status, 200);
    assert_eq!(rig.ask("/_/log/t"), json!([]));
}

#[test]
fn the_log_keeps_the_newest_ten_thousand() {
    let rig = Rig::scripted(r#"{"steps":[200]}"#);
    let mut kept = connect(rig.server.port());
    let mut answers = BufReader::new(kept.try_clone().expect("a second hand"));
    for _ in 0..105 {
        let batch = "GET /s/t HTTP/1.1\r\nhost: test\r\n\r\n".repeat(100);
        kept.write_all(batch.as_bytes()).expect("a batch sent");
        for _ in 0..100 {
            hear_head(&mut answers);
        }
    }
    let log = rig.control("GET", "/_/log/t", "");
    assert_eq!(log.header("x-dropped"), Some("500"));
    assert_eq!(log.json().as_array().expect("entries").len(), 10_000);
}

#[test]
fn scripts_know_nothing_of_each_other() {
    let rig = Rig::new();
    rig.script("a", r#"{"steps":[500]}"#);
    rig.script("b", r#"{"steps":[429]}"#);
    assert_eq!((rig.get("/s/a").status, rig.get("/s/b").status), (500, 429));
    assert_eq!(rig.ask("/_/log/a").as_array().expect("entries").len(), 1);
    assert_eq!(rig.get("/s/none").status, 404);
    assert_eq!(rig.control("GET", "/_/log/none", "").status, 404);
}
