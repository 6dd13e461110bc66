//! Phases, mixes, outages and capacity.

mod client;

use client::{Rig, connect, hear_head, hear_out, request, send_kept};
use fault_server::Scenario;
use serde_json::Value;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpStream};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

const MIXED: &str = r#"{"seed":7,"phases":[{"name":"mixed","until_ms":60000,"mix":[
    {"weight":70,"step":200},{"weight":20,"step":503},{"weight":10,"step":"reset_before"}]}]}"#;

fn outcomes(rig: &Rig, count: usize) -> Vec<u16> {
    let outcome = |_| match rig.hear("/any") {
        heard if heard.was_reset() => 0,
        heard => heard.answer().status,
    };
    (0..count).map(outcome).collect()
}

#[test]
fn a_mix_is_drawn_by_weight_and_again_by_the_same_seed() {
    let rig = Rig::playing(MIXED);
    let first = outcomes(&rig, 200);
    let share = |of| first.iter().filter(|outcome| **outcome == of).count();
    assert!((115..165).contains(&share(200)), "{}", share(200));
    assert!((22..62).contains(&share(503)), "{}", share(503));
    assert!((6..40).contains(&share(0)), "{}", share(0));
    assert_eq!(rig.control("POST", "/_/start", "").status, 200);
    assert_eq!(outcomes(&rig, 200), first);
    assert_eq!(rig.control("POST", "/_/scenario", &MIXED.replace("7,", "8,")).status, 200);
    assert_ne!(outcomes(&rig, 200), first);
}

#[test]
fn an_outage_refuses_resets_and_comes_back_on_the_same_port() {
    let rig = Rig::playing(
        r#"{"phases":[{"name":"up","until_ms":200,"mix":[{"weight":1,"step":200}]},
            {"name":"down","until_ms":500,"down":true},
            {"name":"back","until_ms":600,"mix":[{"weight":1,"step":201}]}]}"#,
    );
    let start = Instant::now();
    let port = rig.server.port();
    let mut kept = connect(port);
    send_kept(&mut kept, "/");
    assert!(hear_head(&mut kept).starts_with(b"HTTP/1.1 200"));
    assert!(hear_out(&mut kept).was_reset());
    assert!(start.elapsed() >= Duration::from_millis(100));
    let refused = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect_err("no listener");
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    assert_eq!(rig.ask("/_/connections")["open"], 0);
    sleep(Duration::from_millis(560).saturating_sub(start.elapsed()));
    assert_eq!(rig.get("/").status, 201);
    sleep(Duration::from_millis(650).saturating_sub(start.elapsed()));
    assert_eq!(rig.get("/").status, 201);
}

#[test]
fn a_loop_begins_again() {
    let rig = Rig::playing(
        r#"{"after":"loop","phases":[{"name":"a","until_ms":160,"mix":[{"weight":1,"step":200}]},
            {"name":"b","until_ms":320,"mix":[{"weight":1,"step":503}]}]}"#,
    );
    let start = Instant::now();
    let mut seen = Vec::new();
    for at in [80, 240, 400, 560] {
        sleep(Duration::from_millis(at).saturating_sub(start.elapsed()));
        seen.push(rig.get("/").status);
    }
    assert_eq!(seen, [200, 503, 200, 503]);
    let phases = rig.ask("/_/timeline")["phases"].clone();
    let starts: Vec<_> =
        phases.as_array().expect("phases").iter().map(|p| &p["start_ms"]).collect();
    assert_eq!(starts, [0, 160, 320, 480]);
}

const NARROW: &str = r#"{"capacity":{"workers":1,"service_ms":100,"queue":2,
    "when_full":{"status":429,"headers":[["retry-after","1"]]}},
    "phases":[{"name":"narrow","until_ms":60000,"mix":[{"weight":1,"step":200}]}]}"#;

#[test]
fn a_full_queue_refuses_and_the_rest_waits_in_line() {
    let rig = Rig::playing(NARROW);
    let port = rig.server.port();
    let start = Instant::now();
    let clients = [(); 5].map(|()| {
        spawn(move || {
            let answer = request(port, "GET", "/", &[], b"").answer();
            (start.elapsed(), answer.status)
        })
    });
    let mut seen = clients.map(|client| client.join().expect("an answer"));
    seen.sort();
    assert_eq!(seen.iter().filter(|(_, status)| *status == 429).count(), 2);
    assert_eq!(seen[4].1, 200, "who is refused need not wait");
    let served = seen.iter().filter(|(_, status)| *status == 200);
    for (place, (took, _)) in served.enumerate() {
        let least = Duration::from_millis(100 * (place as u64 + 1));
        assert!(*took >= least, "{place}: {took:?}");
    }
}

#[test]
fn a_worker_goes_on_when_its_client_has_gone() {
    let rig = Rig::playing(NARROW);
    let start = Instant::now();
    let mut stream = connect(rig.server.port());
    send_kept(&mut stream, "/");
    sleep(Duration::from_millis(10));
    drop(stream);
    assert_eq!(rig.get("/").status, 200);
    assert!(start.elapsed() >= Duration::from_millis(200));
}

#[test]
fn the_timeline_counts_by_host_and_result() {
    let rig = Rig::playing(
        r#"{"phases":[{"name":"one","until_ms":300,"mix":[{"weight":1,"step":503}]},
            {"name":"two","until_ms":400,"mix":[{"weight":1,"step":"reset"}]}]}"#,
    );
    let port = rig.server.port();
    for host in ["rust", "rust", "naive"] {
        request(port, "GET", "/", &[("x-host", host)], b"").answer();
    }
    sleep(Duration::from_millis(310));
    rig.hear("/");
    let timeline = rig.ask("/_/timeline?since_ms=0");
    assert_eq!(timeline["bucket_ms"], 100);
    assert_eq!(count(&timeline, "rust", "5xx"), 2);
    assert_eq!(count(&timeline, "naive", "5xx"), 1);
    assert_eq!(count(&timeline, "-", "reset_before"), 1);
    assert_eq!(timeline["phases"][0]["name"], "one");
    assert_eq!(timeline["phases"][0]["end_ms"], 300);
    let late = rig.ask("/_/timeline?since_ms=300");
    assert_eq!(count(&late, "rust", "5xx"), 0);
    assert_eq!(late["phases"][0]["name"], "two");
    for host in 0..100 {
        request(port, "GET", "/", &[("x-host", &format!("h{host}"))], b"");
    }
    assert!(count(&rig.ask("/_/timeline"), "other", "reset_before") > 30);
    assert_eq!(rig.control("GET", "/_/timeline?since_ms=x", "").status, 400);
}

fn count(timeline: &Value, host: &str, result: &str) -> u64 {
    let buckets = timeline["buckets"].as_array().expect("buckets");
    let counts = buckets.iter().flat_map(|bucket| bucket["counts"].as_array().expect("counts"));
    let ours = counts.filter(|count| count["host"] == host && count["result"] == result);
    ours.map(|count| count["count"].as_u64().expect("a count")).sum()
}

#[test]
fn the_scenarios_of_the_demo_are_good() {
    for name in ["storm.json", "storm-quick.json"] {
        let path = format!("{}/../scenarios/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).expect("a file");
        Scenario::parse(&text).unwrap_or_else(|invalid| panic!("{name}: {invalid}"));
    }
}
