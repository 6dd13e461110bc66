//! The numbers as tables.

use std::fmt::Write;

use crate::demo::decisions::Decisions;
use crate::demo::results::{Results, Totals, millis};
use crate::demo::run::Way;

/// Sums of both runs, host by host.
pub fn totals(results: &Results) -> String {
    let mut rows = String::new();
    for (way, record) in results.runs() {
        for track in &record.tracks {
            let line = track.last();
            let totals = Totals {
                calls: line.calls,
                ok: line.ok,
                attempts: line.attempts,
                requests: record.requests.of_host(&track.name),
                ..Totals::default()
            };
            let lost = track.lost().map_or("?".into(), |lost| lost.to_string());
            let (retries, refused) = (line.retries.to_string(), line.refused.to_string());
            row(&mut rows, way, &track.name, &totals, [&retries, &refused, &lost, "", ""]);
        }
        let totals = results.totals(record);
        let (peak, recovery) = (totals.peak.to_string(), results.recovery(&totals));
        row(&mut rows, way, "all", &totals, ["", "", "", &peak, &recovery]);
    }
    let head = [
        "",
        "host",
        "calls",
        "ok",
        "",
        "attempts",
        "at the server",
        "per call",
        "retries",
        "refused",
        "lost",
        "peak/s",
        "well again",
    ];
    table("totals", &head, &rows)
}

fn row(rows: &mut String, way: Way, host: &str, totals: &Totals, rest: [&str; 5]) {
    let class = if host == "all" { " class=\"sum\"" } else { "" };
    let _ = write!(rows, "<tr{class}>{}{}", cell(way.title()), cell(host));
    let numbers = [
        totals.calls.to_string(),
        totals.ok.to_string(),
        format!("{:.0} %", totals.success() * 100.0),
        totals.attempts.to_string(),
        totals.requests.to_string(),
        format!("{:.2}", totals.amplification()),
    ];
    for number in numbers.iter().map(String::as_str).chain(rest) {
        rows.push_str(&cell(number));
    }
    rows.push_str("</tr>\n");
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
