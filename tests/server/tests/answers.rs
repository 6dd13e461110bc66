//! Statuses, headers, bodies, dates and latency of ordinary answers.

mod client;

use client::{Rig, request};
use std::time::{Duration, Instant, SystemTime};

#[test]
fn any_status_with_any_header() {
    let rig = Rig::scripted(
        r#"{"steps":[
            {"status":599,"headers":[["x-a","1"],["x-a","2"],["x-raw",{"base64":"6f8="}],["retry-after","2"]]},
            204, 304, 999]}"#,
    );
    let first = rig.get("/s/t");
    assert_eq!(first.status, 599);
    let repeated = first.headers.iter().filter(|(name, _)| name == "x-a");
    assert_eq!(repeated.map(|(_, value)| &value[..]).collect::<Vec<_>>(), [b"1", b"2"]);
    let raw = first.headers.iter().find(|(name, _)| name == "x-raw").expect("raw bytes");
    assert_eq!(raw.1, [0xe9, 0xff]);
    assert_eq!(first.header("retry-after"), Some("2"));
    assert_eq!([204, 304, 999], [(); 3].map(|()| rig.get("/s/t").status));
}

#[test]
fn bodies_of_every_kind() {
    let rig = Rig::scripted(
        r#"{"steps":[{"body":"text"},{"body":{"json":{"a":[1,null]}}},{"body":{"json":null}},
            {"body":{"bytes":300000}},{"body":{"echo":true}},{}]}"#,
    );
    assert_eq!(rig.get("/s/t").text(), "text");
    let json = rig.get("/s/t");
    assert_eq!(json.text(), r#"{"a":[1,null]}"#);
    assert_eq!(json.header("content-type"), Some("application/json"));
    assert_eq!(rig.get("/s/t").text(), "null");
    let pattern = rig.get("/s/t").body;
    let expected = (0..300_000).map(|index| b'a' + (index % 26) as u8);
    assert!(pattern.iter().copied().eq(expected));
    let kind = [("content-type", "x/y")];
    let echo = request(rig.server.port(), "PUT", "/s/t", &kind, b"\0\xffhello").answer();
    assert_eq!(echo.body, b"\0\xffhello");
    assert_eq!(echo.header("content-type"), Some("x/y"));
    assert!(rig.get("/s/t").body.is_empty());
}

#[test]
fn a_slow_body_comes_in_steps() {
    let rig = Rig::scripted(r#"{"steps":[{"body":{"bytes":5000,"chunk":1000,"every_ms":30}}]}"#);
    let start = Instant::now();
    let answer = rig.get("/s/t");
    assert_eq!(answer.body.len(), 5000);
    assert!(start.elapsed() >= Duration::from_millis(120));
}

#[test]
fn head_requests_have_the_length_without_the_body() {
    let rig = Rig::scripted(r#"{"steps":[{"body":"12345"}]}"#);
    let answer = request(rig.server.port(), "HEAD", "/s/t", &[], b"").cut_answer();
    assert_eq!((answer.header("content-length"), answer.body.len()), (Some("5"), 0));
}

#[test]
fn retry_after_lies_behind_the_date_beside_it() {
    let rig = Rig::scripted(
        r#"{"steps":[{"status":503,"retry_after_date_ms":1500},
            {"status":429,"retry_after_date_ms":2000,"date_skew_ms":-86400000}]}"#,
    );
    for skew in [0, 86_400] {
        let answer = rig.get("/s/t");
        let date = |name| httpdate::parse_http_date(answer.header(name).expect(name));
        let sent = date("date").expect("a date");
        let again = date("retry-after").expect("a date");
        assert_eq!(again.duration_since(sent).expect("later"), Duration::from_secs(2));
        let behind = SystemTime::now().duration_since(sent).expect("no future").as_secs();
        assert!(behind >= skew && behind <= skew + 2, "{behind}");
    }
}

#[test]
fn latency_holds_back_the_head() {
    let rig = Rig::scripted(r#"{"steps":[{"latency_ms":60}]}"#);
    let start = Instant::now();
    assert_eq!(rig.get("/s/t").status, 200);
    assert!(start.elapsed() >= Duration::from_millis(60));
}
