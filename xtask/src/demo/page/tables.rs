//! The numbers as tables.

use std::fmt::Write;

use crate::demo::decisions::Decisions;
use crate::demo::results::{Results, Totals, millis};
use crate::demo::run::Way;

/// What both runs come to.
pub fn comparison(results: &Results) -> String {
    let totals = results.runs().map(|(_, record)| results.totals(record));
    let row = |what: &str, show: &dyn Fn(&Totals) -> String| {
        let cells: String = totals.iter().map(|totals| cell(&show(totals))).collect();
        format!("<tr>{}{cells}</tr>\n", cell(what))
    };
    let rows = [
        row("calls with a value", &|totals| format!("{:.0} %", totals.success() * 100.0)),
        row("well again after the outage", &|totals| results.recovery(totals)),
        row("most requests in a second", &|totals| totals.peak.to_string()),
        row("requests for each call", &|totals| format!("{:.2}", totals.amplification())),
    ];
    let head = ["", Way::With.title(), Way::Without.title()];
    table("comparison", &head, &rows.concat())
}

/// Both runs, host by host.
pub fn totals(results: &Results) -> String {
    let mut rows = String::new();
    for (way, record) in results.runs() {
        let mut sum = Row::default();
        for track in &record.tracks {
            let line = track.last();
            let row = Row {
                counts: [line.calls, line.ok, line.attempts, line.retries, line.refused],
                requests: record.requests.of_host(&track.name),
                lost: track.lost(),
            };
            sum = sum.plus(&row);
            row.write(&mut rows, way, &track.name);
        }
        sum.write(&mut rows, way, "all");
    }
    let head = [
        "",
        "host",
        "calls",
        "ok",
        "",
        "attempts",
        "retries",
        "refused",
        "at the server",
        "per call",
        "lost",
    ];
    table("totals", &head, &rows)
}

#[derive(Default)]
struct Row {
    /// Calls, ok, attempts, retries, refused.
    counts: [u64; 5],
    requests: u64,
    /// None: nobody knows.
    lost: Option<u64>,
}

impl Row {
    fn plus(self, other: &Self) -> Self {
        let first = self.counts == [0; 5];
        let lost = self.lost.zip(other.lost).map(|(a, b)| a + b);
        Self {
            counts: std::array::from_fn(|place| self.counts[place] + other.counts[place]),
            requests: self.requests + other.requests,
            lost: if first { other.lost } else { lost },
        }
    }

    fn write(&self, rows: &mut String, way: Way, host: &str) {
        let class = if host == "all" { " class=\"sum\"" } else { "" };
        let _ = write!(rows, "<tr{class}>{}{}", cell(way.title()), cell(host));
        let calls = self.counts[0].max(1) as f64;
        let [started, ok, attempts, retries, refused] = self.counts;
        let numbers = [
            started.to_string(),
            ok.to_string(),
            format!("{:.0} %", ok as f64 * 100.0 / calls),
            attempts.to_string(),
            retries.to_string(),
            refused.to_string(),
            self.requests.to_string(),
            format!("{:.2}", self.requests as f64 / calls),
            self.lost.map_or("?".into(), |lost| lost.to_string()),
        ];
        for number in numbers {
            rows.push_str(&cell(&number));
        }
        rows.push_str("</tr>\n");
    }
}

/// What each host decided in the scripted calls.
pub fn decisions(decisions: &Decisions) -> String {
    let mut rows = String::new();
    for call in decisions.calls() {
        let Some((_, first)) = call.first() else { continue };
        let agree = call.iter().all(|(_, other)| other == first);
        for (place, (host, call)) in call.iter().enumerate() {
            let class = if place == 0 { " class=\"first\"" } else { "" };
            let number = if place == 0 { call.call.to_string() } else { String::new() };
            let _ = write!(rows, "<tr{class}>{}{}", cell(&number), cell(host));
            for text in [&call.attempts.join(", "), &call.reason, &millis(&call.waits_ns)] {
                rows.push_str(&cell(text));
            }
            let verdict = match (place, agree) {
                (0, true) => "equal",
                (0, false) => "DIFFERENT",
                _ => "",
            };
            let _ = writeln!(rows, "{}</tr>", cell(verdict));
        }
    }
    let head = ["call", "host", "attempts ended in", "the call ended as", "waits in ms", ""];
    table("decisions", &head, &rows)
}

fn table(class: &str, head: &[&str], rows: &str) -> String {
    let cells: String = head.iter().map(|name| format!("<th>{name}</th>")).collect();
    format!(
        "<div class=\"wide\"><table class=\"{class}\"><thead><tr>{cells}</tr></thead>\n<tbody>{rows}</tbody></table></div>"
    )
}

fn cell(text: &str) -> String {
    format!("<td>{}</td>", super::escaped(text))
}
