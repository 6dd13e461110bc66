//! What was found, beside what chance allows.

use super::fit::{
    FALSE_ALARM, chi_square, critical_chi_square, critical_distance, critical_peak, distance,
};

/// All statistics of a run.
pub struct Report {
    /// How many waits each law is judged by.
    pub samples: usize,
    rows: Vec<Row>,
    remarks: Vec<String>,
}

struct Row {
    law: String,
    statistic: &'static str,
    found: f64,
    critical: f64,
}

impl Report {
    pub fn new(samples: usize) -> Self {
        Self { samples, rows: Vec::new(), remarks: Vec::new() }
    }

    /// The sample follows `law`.
    pub fn follows(
        &mut self,
        name: impl Into<String>,
        sample: &mut [u64],
        law: impl Fn(u64) -> f64,
    ) {
        let found = distance(sample, law);
        self.row(name, "D", found, critical_distance(sample.len()));
    }

    /// The cells are equally likely.
    pub fn is_even(&mut self, name: impl Into<String>, counts: &[u64]) {
        self.row(name, "chi-square", chi_square(counts), critical_chi_square(counts.len()));
    }

    /// No cell has more than chance puts there. Answers with the largest count.
    pub fn has_no_peak(&mut self, name: impl Into<String>, counts: &[u64]) -> u64 {
        let peak = counts.iter().copied().max().unwrap_or(0);
        let critical = critical_peak(counts.iter().sum(), counts.len() as u64);
        self.row(name, "peak", peak as f64, critical as f64);
        peak
    }

    /// The mean of a sample whose values span at most `range` lies near `expected`: by Hoeffding's
    /// inequality `P(|mean − expected| > d) ≤ 2 exp(−2 n d² / range²)`.
    pub fn has_mean(&mut self, name: impl Into<String>, sample: &[u64], expected: f64, range: f64) {
        let mean = sample.iter().map(|wait| *wait as f64).sum::<f64>() / sample.len() as f64;
        let critical = critical_distance(sample.len()) * range;
        self.row(name, "mean", (mean - expected).abs(), critical);
    }

    pub fn remark(&mut self, text: String) {
        self.remarks.push(text);
    }

    pub fn line(&self) -> String {
        let most = |statistic: &str| {
            let rows = self.rows.iter().filter(|row| row.statistic == statistic);
            let most = rows.map(|row| row.found / row.critical).fold(0.0, f64::max);
            format!("{statistic} {most:.2}")
        };
        format!(
            "proof jitter: {} statistics of {} waits each, false alarm {FALSE_ALARM:e}; largest part of the critical value: {}, {}, {}, {}; {}",
            self.rows.len(),
            self.samples,
            most("D"),
            most("mean"),
            most("chi-square"),
            most("peak"),
            self.remarks.join("; "),
        )
    }

    pub fn close(&self) {
        let passed = |row: &&Row| row.found > row.critical;
        let wrong: Vec<_> = self.rows.iter().filter(passed).map(Row::text).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    fn row(&mut self, name: impl Into<String>, statistic: &'static str, found: f64, critical: f64) {
        self.rows.push(Row { law: name.into(), statistic, found, critical });
    }
}

impl Row {
    fn text(&self) -> String {
        format!("{}: {} {} > {}", self.law, self.statistic, self.found, self.critical)
    }
}
