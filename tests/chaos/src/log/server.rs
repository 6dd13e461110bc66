//! The journals of the servers.

use std::collections::HashMap;
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::read;

/// A request that a server saw.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The call of the host.
    pub call: u64,
    /// The attempt of the call.
    pub n: u32,
    /// The idempotency key.
    pub key: Option<String>,
    /// Since 1970.
    pub wall_ms: f64,
    /// `None` where it was lost with its server, or its client had gone.
    pub reply: Option<Reply>,
}

/// What a server sent.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// `None` for what is no HTTP.
    pub status: Option<u16>,
    /// Not cut off on purpose.
    pub whole: bool,
    /// The class of the status, or the name of the fault.
    pub result: String,
    /// The wait that the answer asks for.
    pub retry_after_ms: Option<f64>,
}

#[derive(Deserialize)]
struct Line {
    event: String,
    number: u64,
    wall_ms: f64,
    headers: Vec<(String, String)>,
    status: Option<u16>,
    whole: Option<bool>,
    result: Option<String>,
}

/// Everything that the servers of a host saw, in their order, and how many servers there were.
pub fn read_all(folder: &Path) -> Result<(Vec<Seen>, usize)> {
    let mut seen = Vec::new();
    for life in 0.. {
        let path = folder.join(format!("server-{life}.jsonl"));
        if !path.exists() {
            return Ok((seen, life));
        }
        seen.extend(requests(read(&path, true)?).with_context(|| path.display().to_string())?);
    }
    unreachable!("a folder has an end")
}

fn requests(lines: Vec<Line>) -> Result<Vec<Seen>> {
    let mut seen: Vec<Seen> = Vec::new();
    let mut places = HashMap::new();
    for line in lines {
        if line.event == "request" {
            places.insert(line.number, seen.len());
            seen.push(request(&line)?);
            continue;
        }
        let place = places.get(&line.number).context("a reply to no request")?;
        seen[*place].reply = Some(Reply {
            status: line.status,
            whole: line.whole.unwrap_or(false),
            retry_after_ms: retry_after_ms(&line),
            result: line.result.unwrap_or_default(),
        });
    }
    Ok(seen)
}

fn request(line: &Line) -> Result<Seen> {
    let number = |name| match header(line, name) {
        Some(text) => text.parse::<u64>().with_context(|| format!("{name}: {text:?}")),
        None => bail!("a request without {name}"),
    };
    Ok(Seen {
        call: number("x-call")?,
        n: number("x-attempt")? as u32,
        key: header(line, "idempotency-key").map(str::to_owned),
        wall_ms: line.wall_ms,
        reply: None,
    })
}

fn header<'a>(line: &'a Line, name: &str) -> Option<&'a str> {
    line.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// Whole seconds, or a date beside the answer's own.
fn retry_after_ms(line: &Line) -> Option<f64> {
    let asked = header(line, "retry-after")?;
    if let Ok(seconds) = asked.parse::<f64>() {
        return Some(seconds * 1e3);
    }
    let instant = |text| httpdate::parse_http_date(text).ok();
    let date: SystemTime = instant(header(line, "date")?)?;
    Some(instant(asked)?.duration_since(date).ok()?.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_find_their_requests() {
        let text = r#"
            {"event":"request","number":1,"wall_ms":5.0,"headers":[["x-call","7"],["x-attempt","2"]]}
            {"event":"request","number":2,"wall_ms":6.0,"headers":[["x-call","8"],["x-attempt","1"],["idempotency-key","k"]]}
            {"event":"reply","number":2,"wall_ms":7.0,"result":"4xx","status":429,"whole":true,"headers":[["retry-after","2"]]}
            {"event":"reply","number":1,"wall_ms":8.0,"result":"5xx","status":503,"whole":true,"headers":[["date","Sun, 06 Nov 1994 08:49:37 GMT"],["retry-after","Sun, 06 Nov 1994 08:49:38 GMT"]]}
        "#;
        let lines = text.trim().lines().map(|line| serde_json::from_str(line.trim()).unwrap());
        let seen = requests(lines.collect()).unwrap();
        assert_eq!((seen[0].call, seen[0].n), (7, 2));
        assert_eq!(seen[0].reply.as_ref().unwrap().retry_after_ms, Some(1_000.0));
        assert_eq!(seen[1].key.as_deref(), Some("k"));
        let reply = seen[1].reply.as_ref().unwrap();
        assert_eq!((reply.status, reply.retry_after_ms), (Some(429), Some(2_000.0)));
    }
}
