//! Each fault as a client sees it on its socket.

mod client;

use client::{Rig, connect, hear_head, hear_out, send_kept};
use std::io::{ErrorKind, Read, Write};
use std::thread::sleep;
use std::time::{Duration, Instant};

#[test]
fn reset_before_sends_nothing_but_rst() {
    let rig = Rig::scripted(r#"{"steps":["reset_before"]}"#);
    let heard = rig.hear("/s/t");
    assert!(heard.was_reset(), "{heard:?}");
    assert!(heard.bytes.is_empty());
}

#[test]
fn reset_inside_sends_head_and_bytes_then_rst() {
    let rig = Rig::scripted(
        r#"{"steps":[{"fault":"reset_inside","after_bytes":7,"status":503,"headers":[["a","b"]]}]}"#,
    );
    for _ in 0..20 {
        let heard = rig.hear("/s/t");
        assert!(heard.was_reset(), "{heard:?}");
        let answer = heard.cut_answer();
        assert_eq!((answer.status, answer.body.as_slice()), (503, &b"abcdefg"[..]));
        assert_eq!(answer.header("a"), Some("b"));
        assert_eq!(answer.header("content-length"), Some("1007"));
    }
}

#[test]
fn close_before_is_a_fin_without_an_answer() {
    let rig = Rig::scripted(r#"{"steps":["close_before"]}"#);
    let heard = rig.hear("/s/t");
    heard.end.expect("a FIN");
    assert!(heard.bytes.is_empty());
}

#[test]
fn cut_body_is_a_fin_before_the_promised_end() {
    let rig = Rig::scripted(r#"{"steps":["cut_body"]}"#);
    let heard = rig.hear("/s/t");
    let answer = heard.cut_answer();
    heard.end.expect("a FIN");
    assert_eq!(answer.body.len(), 10);
    assert_eq!(answer.header("content-length"), Some("1010"));
}

#[test]
fn half_closed_ends_its_side_and_reads_on() {
    let rig = Rig::scripted(r#"{"steps":["half_closed"]}"#);
    let mut stream = connect(rig.server.port());
    send_kept(&mut stream, "/s/t");
    let heard = hear_out(&mut stream);
    heard.end.as_ref().expect("a FIN");
    assert_eq!(heard.cut_answer().header("content-length"), Some("1000"));
    for _ in 0..3 {
        stream.write_all(b"more").expect("the server still reads");
        sleep(Duration::from_millis(5));
    }
    rig.wait_for_open(1);
    drop(stream);
    rig.wait_for_open(0);
}

#[test]
fn garbage_is_not_http() {
    let rig = Rig::scripted(r#"{"steps":["garbage"]}"#);
    let heard = rig.hear("/s/t");
    heard.end.expect("a FIN");
    assert!(!heard.bytes.is_empty() && !heard.bytes.starts_with(b"HTTP"));
}

#[test]
fn hang_says_nothing_until_the_client_goes() {
    let rig = Rig::scripted(r#"{"steps":["hang"]}"#);
    let mut stream = connect(rig.server.port());
    stream.set_read_timeout(Some(Duration::from_millis(80))).expect("a timeout");
    send_kept(&mut stream, "/s/t");
    let error = stream.read(&mut [0]).expect_err("silence");
    assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
    rig.wait_for_open(1);
    drop(stream);
    rig.wait_for_open(0);
}

#[test]
fn huge_headers_are_many_and_long() {
    let rig = Rig::scripted(r#"{"steps":[{"fault":"huge_headers","count":3000,"bytes":50}]}"#);
    let answer = rig.get("/s/t");
    let fillers = answer.headers.iter().filter(|(name, _)| name.starts_with("x-filler-"));
    assert_eq!(fillers.filter(|(_, value)| value.len() == 50).count(), 3000);
}

#[test]
fn raw_bytes_go_out_as_they_are() {
    let rig = Rig::scripted(
        r#"{"steps":[{"fault":"raw","parts":[
            {"text":"HTTP/1.1 103 Early Hints\r\n\r\n","times":3},
            {"text":"HTTP/1.1 000 \u00e9\r\nretry-after: "},
            {"text":"9","times":300000},
            {"text":"\r\n\r\n"}]}]}"#,
    );
    let heard = rig.hear("/s/t");
    heard.end.expect("a FIN");
    let hints = b"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(3);
    let rest = heard.bytes.strip_prefix(hints.as_slice()).expect("three hints");
    let rest = rest.strip_prefix("HTTP/1.1 000 \u{e9}\r\nretry-after: ".as_bytes());
    let rest = rest.expect("a status that is none");
    assert_eq!(rest.len(), 300_004);
    assert!(rest.ends_with(b"9\r\n\r\n"));
}

#[test]
fn raw_bytes_drip_until_the_client_goes() {
    let rig = Rig::scripted(
        r#"{"steps":[{"fault":"raw","parts":[{"text":"a","times":100000,"every_ms":10}]}]}"#,
    );
    let mut stream = connect(rig.server.port());
    send_kept(&mut stream, "/s/t");
    let start = Instant::now();
    stream.read_exact(&mut [0; 5]).expect("five drops");
    assert!(start.elapsed() >= Duration::from_millis(40));
    rig.wait_for_open(1);
    drop(stream);
    rig.wait_for_open(0);
}

#[test]
fn raw_bytes_that_nobody_reads_end_with_the_client() {
    let rig = Rig::scripted(
        r#"{"steps":[{"fault":"raw","parts":[{"text":"abcdefgh","times":100000000}]}]}"#,
    );
    let mut stream = connect(rig.server.port());
    send_kept(&mut stream, "/s/t");
    stream.read_exact(&mut [0; 100_000]).expect("some of it");
    drop(stream);
    rig.wait_for_open(0);
}

#[test]
fn a_fault_follows_an_answer_on_the_same_socket() {
    let rig = Rig::scripted(r#"{"steps":[200,"reset"]}"#);
    let mut stream = connect(rig.server.port());
    send_kept(&mut stream, "/s/t");
    assert!(hear_head(&mut stream).starts_with(b"HTTP/1.1 200"));
    send_kept(&mut stream, "/s/t");
    assert!(hear_out(&mut stream).was_reset());
    rig.wait_for_open(0);
}

#[test]
fn a_fault_waits_for_its_latency() {
    let rig = Rig::scripted(r#"{"steps":[{"fault":"reset_before","latency_ms":[60,70]}]}"#);
    let start = Instant::now();
    assert!(rig.hear("/s/t").was_reset());
    assert!(start.elapsed() >= Duration::from_millis(60));
}

#[test]
fn a_client_that_leaves_early_leaves_nothing_behind() {
    let rig = Rig::scripted(r#"{"steps":[{"status":200,"latency_ms":600000}]}"#);
    let mut stream = connect(rig.server.port());
    send_kept(&mut stream, "/s/t");
    rig.wait_for_open(1);
    drop(stream);
    rig.wait_for_open(0);
}
