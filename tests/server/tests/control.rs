//! The control surface, and what hostile clients get.

mod client;

use client::{Rig, connect, hear_head, hear_out, request, send_kept};
use fault_server::{Scenario, Script, Step};
use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, TcpStream};

#[test]
fn connections_are_counted_without_the_asking_one() {
    let rig = Rig::new();
    let port = rig.server.port();
    let mut kept = connect(port);
    send_kept(&mut kept, "/");
    hear_head(&mut kept);
    let open = |port| request(port, "GET", "/_/connections", &[], b"").answer().json();
    assert_eq!(open(rig.server.control_port())["open"], 1);
    assert_eq!(open(rig.server.control_port())["opened_total"], 1);
    assert_eq!(open(port)["open"], 1);
}

#[test]
fn both_ports_serve_control_but_only_one_fails() {
    let rig = Rig::scripted(r#"{"steps":[200]}"#);
    let (fault, control) = (rig.server.port(), rig.server.control_port());
    let status = |port, path| request(port, "GET", path, &[], b"").answer().status;
    assert_eq!((status(fault, "/_/log/t"), status(control, "/_/log/t")), (200, 200));
    assert_eq!((status(fault, "/s/t"), status(control, "/s/t")), (200, 404));
    assert_eq!((status(fault, "/_/nothing"), status(control, "/")), (404, 404));
}

#[test]
fn kill_resets_everything_and_ends() {
    let rig = Rig::scripted(r#"{"steps":["hang"]}"#);
    let port = rig.server.port();
    let mut hanging = connect(port);
    send_kept(&mut hanging, "/s/t");
    let mut idle = connect(port);
    send_kept(&mut idle, "/");
    hear_head(&mut idle);
    assert_eq!(rig.control("POST", "/_/kill", "").status, 200);
    let refused = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect_err("no listener");
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    assert!(hear_out(&mut hanging).was_reset());
    assert!(hear_out(&mut idle).was_reset());
    rig.wait_for_end();
}

#[test]
fn a_bad_step_is_named_with_what_is_allowed() {
    for (step, said) in [
        (r#"{"status":99}"#, "status is 99; allowed: 200 to 999"),
        ("70000", "status is 70000; allowed: 200 to 999"),
        (r#"{"statsu":200}"#, "statsu: unknown field `statsu`, expected one of `latency_ms`"),
        (r#"{"fault":"refuse"}"#, "fault: unknown variant `refuse`, expected one of"),
        (r#"{"fault":"hang","body":"x"}"#, "body has no meaning for hang; allowed: latency_ms"),
        (r#"{"after_bytes":1}"#, "after_bytes has no meaning for an answer; allowed"),
        (r#"{"latency_ms":[5,2]}"#, "latency_ms: range is [5, 2]; allowed: 0 <= low <= high"),
        (r#"{"latency_ms":[1,2,3]}"#, "latency_ms"),
        (r#"{"headers":[["a b","c"]]}"#, "headers[0][0]: header name is \"a b\"; allowed"),
        (r#"{"headers":[["a","b\r\nc"]]}"#, "headers[0][1]: header value is"),
        (r#"{"headers":[["content-length","5"]]}"#, "see cut_body"),
        (r#"{"headers":[["a",{"base64":"!"}]]}"#, "base64 is \"!\""),
        (r#"{"body":{"bytes":9999999999}}"#, "bytes is 9999999999; allowed: 0 to 1073741824"),
        (r#"{"body":{"echo":true,"bytes":1}}"#, "a body is one of"),
        (r#"{"body":{"bytes":1,"chunk":0}}"#, "chunk is 0; allowed"),
        (r#"{"retry_after_date_ms":-1}"#, "retry_after_date_ms is -1; allowed: 0 to"),
        (r#"{"date_skew_ms":9e99}"#, "date_skew_ms"),
        (r#"{"fault":"huge_headers","count":99999999}"#, "count is 99999999; allowed: 1 to 20000"),
        (r#""raw""#, "length of parts is 0; allowed: 1 to 16"),
        (
            r#"{"fault":"raw","parts":[{"text":"ab","times":0}]}"#,
            "times is 0; allowed: 1 to 536870912",
        ),
        (r#"{"fault":"raw","parts":[{"text":""}]}"#, "length of text is 0; allowed: 1 to 65536"),
    ] {
        let error = Step::parse(step).expect_err(step).to_string();
        assert!(error.contains(said), "{step}: {error}");
    }
}

#[test]
fn a_bad_script_is_named_with_what_is_allowed() {
    for (script, said) in [
        (r#"{"steps":[]}"#, "steps is []; allowed: at least one step"),
        (r#"{"steps":[200],"then":1}"#, "unknown field `then`"),
        (r#"{"steps":[200,{"status":1}]}"#, "steps[1]: status is 1"),
        (r#"{"steps":[200]} x"#, "trailing characters"),
    ] {
        let error = Script::parse(script).expect_err(script).to_string();
        assert!(error.contains(said), "{script}: {error}");
    }
}

#[test]
fn a_bad_scenario_is_named_with_what_is_allowed() {
    let phase = r#"{"name":"a","until_ms":5,"mix":[{"weight":1,"step":200}]}"#;
    for (scenario, said) in [
        (r#"{"phases":[]}"#.to_owned(), "phases is []; allowed: at least one phase"),
        (
            format!(r#"{{"phases":[{phase},{phase}]}}"#),
            "until_ms of phase \"a\" is 5; allowed: more than 5",
        ),
        (format!(r#"{{"phases":[{phase}],"after":"x"}}"#), "after: unknown variant `x`"),
        (r#"{"phases":[{"name":"a","until_ms":5}]}"#.to_owned(), "mix is 0 steps long; allowed"),
        (format!(r#"{{"phases":[{}]}}"#, phase.replace("\":1,", "\":0,")), "weight is 0; allowed"),
        (
            format!(
                r#"{{"capacity":{{"workers":0,"service_ms":1,"queue":1}},"phases":[{phase}]}}"#
            ),
            "workers is 0",
        ),
    ] {
        let error = Scenario::parse(&scenario).expect_err(&scenario).to_string();
        assert!(error.contains(said), "{scenario}: {error}");
    }
}

#[test]
fn refusals_over_http_are_400_with_the_reason() {
    let rig = Rig::new();
    for (path, body) in [("/_/script/a", "{"), ("/_/script/%20", "{}"), ("/_/scenario", "[]")] {
        let answer = rig.control("POST", path, body);
        assert_eq!(answer.status, 400, "{path}");
        assert!(answer.json()["error"].is_string());
    }
}

#[test]
fn hostile_bytes_harm_nobody() {
    let rig = Rig::scripted(r#"{"steps":[200]}"#);
    let noise: Vec<u8> = (0..4096_u32).map(|index| (index * 31 + 7) as u8).collect();
    for bytes in [
        &noise[..],
        b"\r\n\r\n\r\n",
        b"GET /s/t HTTP/1.1\r\ncontent-length: 99999999999999999999\r\n\r\n",
        b"POST /s/t HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        b"GET /s/t HTTP/9.9\r\n\r\n",
        b"CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET * HTTP/1.1\r\nhost: x\r\nx-host: \xff\xfe\r\nconnection: close\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
        b"GET /s/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
    ] {
        let mut stream = connect(rig.server.port());
        // The server may refuse before it has read everything.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        hear_out(&mut stream);
    }
    assert_eq!(rig.get("/s/t").status, 200);
    rig.wait_for_open(0);
}

#[test]
fn a_body_beyond_the_limit_is_refused() {
    let rig = Rig::scripted(r#"{"steps":[200]}"#);
    let answer = request(rig.server.control_port(), "POST", "/_/scenario", &[], &[b' '; 17 << 20]);
    assert_eq!(answer.cut_answer().status, 413);
}
