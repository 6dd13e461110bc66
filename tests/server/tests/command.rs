//! The program: its one line, its ends, its exit codes.

mod client;

use client::{connect, request};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, ErrorKind};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};

/// A child that does not outlive its test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(arguments: &[&str]) -> (Program, u16, u16) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fault-server"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a program");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("a line");
    let ports: Value = serde_json::from_str(&line).expect("JSON");
    let port = |name| u16::try_from(ports[name].as_u64().expect(name)).expect("a port");
    (Program(child), port("port"), port("control_port"))
}

#[test]
fn it_says_where_it_listens() {
    let (_program, port, control_port) = start(&[]);
    assert_ne!(port, control_port);
    assert_eq!(request(port, "GET", "/", &[], b"").answer().status, 200);
}

#[test]
fn it_ends_with_its_stdin() {
    let (mut program, port, _) = start(&["--exit-with-stdin"]);
    drop(connect(port));
    drop(program.0.stdin.take());
    assert!(program.0.wait().expect("an end").success());
}

#[cfg(unix)]
#[test]
fn it_ends_on_sigterm_but_not_with_an_unwatched_stdin() {
    let (mut program, port, _) = start(&[]);
    drop(program.0.stdin.take());
    drop(connect(port));
    let sent = Command::new("kill").arg(program.0.id().to_string()).status().expect("kill");
    assert!(sent.success());
    assert!(program.0.wait().expect("an end").success());
}

#[test]
fn it_can_be_killed_over_http() {
    let (mut program, port, control_port) = start(&[]);
    assert_eq!(request(control_port, "POST", "/_/kill", &[], b"").answer().status, 200);
    let refused = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect_err("no listener");
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    assert!(program.0.wait().expect("an end").success());
}

#[test]
fn a_port_can_be_chosen_once() {
    let (first, port, _) = start(&[]);
    let second = run(&["--port", &port.to_string()]);
    assert_eq!(second.0, Some(1));
    drop(first);
    let (_third, again, _) = start(&["--port", &port.to_string()]);
    assert_eq!(again, port);
}

#[test]
fn misuse_is_exit_code_two_with_a_reason() {
    let file = std::env::temp_dir().join(format!("fault-server-{}.json", std::process::id()));
    let bad = r#"{"phases":[{"name":"a","until_ms":0,"mix":[{"weight":1,"step":200}]}]}"#;
    std::fs::write(&file, bad).expect("a file");
    let path = file.to_str().expect("a path");
    let (code, said) = run(&["--scenario", path]);
    std::fs::remove_file(&file).expect("the file");
    assert_eq!(code, Some(2));
    assert!(said.contains("phases[0]: until_ms is 0; allowed: 1 to 86400000"), "{said}");
    for arguments in [&["--scenario", "/no/such/file"][..], &["--port", "x"], &["--bogus"]] {
        assert_eq!(run(arguments).0, Some(2), "{arguments:?}");
    }
}

fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_fault-server"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("a program");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_journal_outlives_a_server_that_is_killed() {
    let folder = std::env::temp_dir().join(format!("fault-server-journal-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (scenario, journal) = (folder.join("scenario.json"), folder.join("journal.jsonl"));
    let phases = r#"[{"name":"p","until_ms":1000,"mix":[{"weight":1,"step":{"status":503,"headers":[["retry-after","2"]]}}]}]"#;
    std::fs::write(&scenario, format!(r#"{{"phases":{phases}}}"#)).expect("a scenario");
    let text = |path: &std::path::Path| path.to_str().expect("UTF-8").to_owned();
    let options = ["--scenario", &text(&scenario), "--journal", &text(&journal)];
    let (mut program, port, _) = start(&options);
    assert_eq!(request(port, "POST", "/pay", &[("x-call", "7")], b"ab").answer().status, 503);
    program.0.kill().expect("SIGKILL");
    let lines = std::fs::read_to_string(&journal).expect("a journal");
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let [seen, replied] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(
        (&seen["event"], &seen["method"], &seen["body_len"]),
        (&json!("request"), &json!("POST"), &json!(2))
    );
    assert!(seen["headers"].as_array().expect("lines").contains(&json!(["x-call", "7"])));
    assert_eq!((&replied["event"], &replied["number"]), (&json!("reply"), &seen["number"]));
    assert_eq!((&replied["status"], &replied["whole"]), (&json!(503), &json!(true)));
    assert!(replied["headers"].as_array().expect("lines").contains(&json!(["retry-after", "2"])));
    std::fs::remove_dir_all(folder).expect("the folder");
}
