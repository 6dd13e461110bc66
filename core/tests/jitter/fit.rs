//! How far a sample lies from its law, and how far chance alone would put it.
//!
//! - **Distance** (Kolmogorov–Smirnov): the largest gap between the share of the sample up to x and
//!   the law's, over all x. By the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's
//!   constant, `P(D > d) ≤ 2 exp(−2 n d²)` for every law and every n, discrete ones included; so the
//!   critical distance is `sqrt(ln(2 / alarm) / 2n)`: 0.0074 for 2^17 waits, 0.0026 for 2^20.
//!   By the same inequality a law that is wrong by twice that anywhere (1.5 % of the waits too
//!   early or too late at some instant; 0.5 % for 2^20) is found but for once in a million.
//! - **Chi-square** over k equally likely cells: the tail of a chi-square variable with k degrees of
//!   freedom is at most `exp(−x)` beyond `k + 2 sqrt(k x) + 2 x` (Laurent and Massart, 2000, lemma 1),
//!   which with `x = ln(1 / alarm)` is the critical value. With 2^17 pairs in 256 cells it finds what
//!   moves the cells by 5 % of their share: a correlation of 0.05 (0.02 for 2^20).

/// How often a right sample is called wrong, for each statistic.
pub const FALSE_ALARM: f64 = 1e-6;

/// The largest gap between the sample and `law`, which tells how likely a wait is at most so long.
pub fn distance(sample: &mut [u64], law: impl Fn(u64) -> f64) -> f64 {
    sample.sort_unstable();
    let size = sample.len() as f64;
    let mut largest: f64 = 0.0;
    let mut before = 0;
    for equal in sample.chunk_by(|a, b| a == b) {
        let shorter = equal[0].checked_sub(1).map_or(0.0, &law);
        largest = largest.max((before as f64 / size - shorter).abs());
        before += equal.len();
        largest = largest.max((before as f64 / size - law(equal[0])).abs());
    }
    largest
}

/// The distance that chance passes once in [`FALSE_ALARM`] at most.
pub fn critical_distance(size: usize) -> f64 {
    ((2.0 / FALSE_ALARM).ln() / (2.0 * size as f64)).sqrt()
}

/// Pearson's statistic for cells that are equally likely.
pub fn chi_square(counts: &[u64]) -> f64 {
    let expected = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum()
}

/// The statistic that chance passes once in [`FALSE_ALARM`] at most.
pub fn critical_chi_square(cells: usize) -> f64 {
    let (freedom, x) = (cells as f64 - 1.0, (1.0 / FALSE_ALARM).ln());
    freedom + 2.0 * (freedom * x).sqrt() + 2.0 * x
}

/// The largest count that one of `cells` equally likely cells gets of `thrown`, but for once in
/// [`FALSE_ALARM`]: the binomial tail, times the number of cells.
pub fn critical_peak(thrown: u64, cells: u64) -> u64 {
    let (size, part) = (thrown as f64, 1.0 / cells as f64);
    let mut chance = (size * (1.0 - part).ln()).exp();
    let mut tail = 1.0;
    let mut count = 0;
    while tail * cells as f64 > FALSE_ALARM {
        tail -= chance;
        chance *= (size - count as f64) / (count as f64 + 1.0) * part / (1.0 - part);
        count += 1;
    }
    count
}

/// The law of a wait that is uniform over `low..=high`.
pub fn uniform(low: u64, high: u64) -> impl Fn(u64) -> f64 {
    let width = (high - low) as f64 + 1.0;
    move |wait| match wait.checked_sub(low) {
        Some(above) => ((above as f64 + 1.0) / width).min(1.0),
        None => 0.0,
    }
}

/// Where in `low..=high` the wait lies, from 0 to just below 1.
pub fn place(wait: u64, low: u64, high: u64) -> f64 {
    assert!((low..=high).contains(&wait), "{wait} lies outside {low}..={high}");
    (wait - low) as f64 / ((high - low) as f64 + 1.0)
}

/// Counts of equal parts of the unit interval.
pub struct Cells(Vec<u64>);

impl Cells {
    pub fn new(parts: usize) -> Self {
        Self(vec![0; parts])
    }

    pub fn add(&mut self, place: f64) {
        let parts = self.0.len();
        self.0[(place * parts as f64) as usize] += 1;
    }

    pub fn counts(&self) -> &[u64] {
        &self.0
    }
}

/// Counts of equal squares of the unit square, [`SIDE`] × `SIDE`.
pub struct Squares(Vec<u64>);

const SIDE: usize = 16;

impl Squares {
    pub fn new() -> Self {
        Self(vec![0; SIDE * SIDE])
    }

    pub fn add(&mut self, first: f64, second: f64) {
        let part = |place: f64| (place * SIDE as f64) as usize;
        self.0[part(first) * SIDE + part(second)] += 1;
    }

    pub fn counts(&self) -> &[u64] {
        &self.0
    }
}
