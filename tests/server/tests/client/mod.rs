//! A server of our own in this process, and a client that sees every byte and every error.
#![allow(dead_code, reason = "each test file uses its part")]

use fault_server::{Scenario, Server};
use serde_json::Value;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Past this a test is lost.
const PATIENCE: Duration = Duration::from_secs(5);

/// A running server.
pub struct Rig {
    runtime: Runtime,
    pub server: Server,
}

/// What came back before the socket ended, and how it ended.
#[derive(Debug)]
pub struct Heard {
    pub bytes: Vec<u8>,
    pub end: io::Result<()>,
}

/// A whole HTTP answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, Vec<u8>)>,
    pub body: Vec<u8>,
}

impl Rig {
    pub fn new() -> Self {
        Self::with(Scenario::default())
    }

    pub fn playing(scenario: &str) -> Self {
        Self::with(Scenario::parse(scenario).expect("a good scenario"))
    }

    fn with(scenario: Scenario) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let server = {
            let _entered = runtime.enter();
            Server::start(scenario, 0).expect("two ports")
        };
        Self { runtime, server }
    }

    /// A server whose script `t` is `script`.
    pub fn scripted(script: &str) -> Self {
        let rig = Self::new();
        rig.script("t", script);
        rig
    }

    pub fn script(&self, id: &str, script: &str) {
        let answer = self.control("POST", &format!("/_/script/{id}"), script);
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    pub fn control(&self, method: &str, path: &str, body: &str) -> Answer {
        request(self.server.control_port(), method, path, &[], body.as_bytes()).answer()
    }

    pub fn ask(&self, path: &str) -> Value {
        let answer = self.control("GET", path, "");
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    pub fn hear(&self, path: &str) -> Heard {
        request(self.server.port(), "GET", path, &[], b"")
    }

    pub fn get(&self, path: &str) -> Answer {
        self.hear(path).answer()
    }

    /// Waits until `open` sockets are open on the port that fails.
    pub fn wait_for_open(&self, open: u64) {
        let start = Instant::now();
        while self.ask("/_/connections")["open"] != open {
            assert!(start.elapsed() < PATIENCE, "{}", self.ask("/_/connections"));
            sleep(Duration::from_millis(2));
        }
    }

    pub fn wait_for_end(&self) {
        self.runtime.block_on(self.server.ended());
    }
}

pub fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("a listener");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

/// Sends one request on a socket of its own and hears it out.
pub fn request(
    port: u16,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Heard {
    let mut stream = connect(port);
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("content-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).expect("a head sent");
    stream.write_all(body).expect("a body sent");
    hear_out(&mut stream)
}

pub fn hear_out(stream: &mut TcpStream) -> Heard {
    let mut bytes = Vec::new();
    let end = stream.read_to_end(&mut bytes).map(drop);
    Heard { bytes, end }
}

/// Sends a request that keeps its socket.
pub fn send_kept(stream: &mut TcpStream, path: &str) {
    write!(stream, "GET {path} HTTP/1.1\r\nhost: test\r\n\r\n").expect("a request sent");
}

/// Reads up to the end of a head.
pub fn hear_head(stream: &mut impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("a head");
        bytes.push(byte[0]);
    }
    bytes
}

impl Heard {
    /// The answer, which has to be whole and end with a FIN.
    pub fn answer(self) -> Answer {
        self.end.as_ref().expect("a FIN");
        let answer = self.cut_answer();
        let declared = answer.header("content-length").map(|text| text.parse().expect("a length"));
        assert!(declared.is_none_or(|length: usize| length == answer.body.len()));
        answer
    }

    /// The answer, whether or not its body is whole.
    pub fn cut_answer(&self) -> Answer {
        let end = self.bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no head in {self:?}"));
        let mut lines = self.bytes[..end].split(|byte| *byte == b'\n');
        let status = String::from_utf8_lossy(lines.next().expect("a status line")).into_owned();
        let headers = lines.map(|line| {
            let colon = line.iter().position(|byte| *byte == b':').expect("a colon");
            let name = String::from_utf8(line[..colon].to_vec()).expect("a name");
            (name, line[colon + 1..].trim_ascii().to_vec())
        });
        Answer {
            status: status.split(' ').nth(1).expect("a status").parse().expect("a number"),
            headers: headers.collect(),
            body: self.bytes[end + 4..].to_vec(),
        }
    }

    pub fn was_reset(&self) -> bool {
        matches!(&self.end, Err(error) if error.kind() == io::ErrorKind::ConnectionReset)
    }
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(known, _)| known == name)?;
        Some(std::str::from_utf8(value).expect("text"))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}
