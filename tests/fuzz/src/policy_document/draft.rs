//! Documents that are mostly right, and numbers whose fate is known beforehand.

use arbitrary::{Result, Unstructured};
use serde_json::{Map, Value as Json, json};
use stormproof::classify::StatusClass;
use stormproof::policy::{Domain, Knob, Section};
use stormproof::{ErrorCode, Policy, Preset};

/// A document of up to 31 fields.
pub fn document(source: &mut Unstructured<'_>) -> Result<Map<String, Json>> {
    let mut fields = Map::new();
    for _ in 0..source.int_in_range(0..=31)? {
        if source.is_empty() {
            break;
        }
        let (path, value) = field(source)?;
        put(&mut fields, &path, value);
    }
    Ok(fields)
}

fn field(source: &mut Unstructured<'_>) -> Result<(String, Json)> {
    Ok(match source.int_in_range(0..=19u8)? {
        0 => ("preset".into(), json!(source.choose(Preset::NAMES)?)),
        1 => {
            let section = source.choose(Section::ALL)?;
            (section.path().into(), json!(source.ratio(1, 2)?))
        }
        2 | 3 => {
            let class = source.choose(StatusClass::NAMES)?;
            let few = source.int_in_range(0..=4)?;
            let statuses = (0..few).map(|_| source.int_in_range(90..=1_010u16));
            (format!("classify.{class}"), json!(statuses.collect::<Result<Vec<_>>>()?))
        }
        4 => (source.choose(STRANGE)?.to_string(), odd(source)?),
        5 => (source.choose(Knob::ALL)?.row().path.into(), odd(source)?),
        _ => {
            let knob = *source.choose(Knob::ALL)?;
            (knob.row().path.into(), fit(source, knob)?)
        }
    })
}

/// Names that no field has.
const STRANGE: &[&str] =
    &["retry.baseMS", "", ".", "a.b", "\\", "retry", "classify", "bréaker", "classify.odd"];

/// A value that the knob takes by itself.
fn fit(source: &mut Unstructured<'_>, knob: Knob) -> Result<Json> {
    let row = knob.row();
    if row.nullable && source.ratio(1, 6)? {
        return Ok(Json::Null);
    }
    Ok(match row.domain {
        Domain::Count(min, max) => json!(within(source, min, max, 1)?),
        Domain::Span(min, max) => json!(within(source, min, max, 1_000_000)? as f64 / 1e6),
        Domain::Thousandths(min, max) => json!(within(source, min, max, 1)? as f64 / 1e3),
        Domain::ThousandthsOrAuto(..) if source.ratio(1, 3)? => json!("auto"),
        Domain::ThousandthsOrAuto(min, max) => json!(within(source, min, max, 1)? as f64 / 1e3),
        Domain::Flag => json!(source.ratio(1, 2)?),
        Domain::Choice(names) => json!(source.choose(names)?),
        Domain::Text(_) => json!("x-name"),
    })
}

/// The ends of the range, and small multiples of a unit.
fn within(source: &mut Unstructured<'_>, min: u64, max: u64, unit: u64) -> Result<u64> {
    let few = u64::from(source.arbitrary::<u16>()?);
    Ok(match source.int_in_range(0..=7u8)? {
        0 => min,
        1 => max,
        2 => min.saturating_add(few),
        _ => few * unit,
    }
    .clamp(min, max))
}

/// A value of any type.
fn odd(source: &mut Unstructured<'_>) -> Result<Json> {
    Ok(match source.int_in_range(0..=9u8)? {
        0 => Json::Null,
        1 => json!(true),
        2 => json!({}),
        3 => json!({"baseMs": 5, "a.b": {"c": []}}),
        4 => json!([100, 999, 1_000, "200", null]),
        5 => json!("auto"),
        6 => json!(source.arbitrary::<u64>()?),
        7 => json!(source.arbitrary::<i64>()?),
        8 => json!(source.arbitrary::<f64>()?),
        _ => json!(source.arbitrary::<&str>()?),
    })
}

fn put(fields: &mut Map<String, Json>, path: &str, value: Json) {
    let Some((section, field)) = path.split_once('.').filter(|(section, _)| !section.is_empty())
    else {
        fields.insert(path.into(), value);
        return;
    };
    match fields.entry(section).or_insert_with(|| json!({})) {
        Json::Object(section) => _ = section.insert(field.into(), value),
        // The section was switched off.
        other => *other = json!({field: value}),
    }
}

/// A number at one knob, written out digit by digit: too fine, out of range, or taken.
pub fn number(source: &mut Unstructured<'_>) {
    let knob = *source.choose(Knob::ALL).unwrap_or(&Knob::Base);
    let (places, min, max) = match knob.row().domain {
        Domain::Count(min, max) => (0, min, max),
        Domain::Span(min, max) => (6, min, max),
        Domain::Thousandths(min, max) | Domain::ThousandthsOrAuto(min, max) => (3, min, max),
        Domain::Flag | Domain::Choice(_) | Domain::Text(_) => return,
    };
    // Fifteen digits, which a double keeps, one of them beyond the knob's unit.
    let digits = source.arbitrary::<u64>().unwrap_or(0) % 10u64.pow(15);
    let (whole, part) = (digits / 10u64.pow(places + 1), digits % 10u64.pow(places + 1));
    let text = format!("{whole}.{part:0width$}", width = places as usize + 1);
    let document = match knob.row().path.split_once('.') {
        Some((section, field)) => format!(r#"{{"{section}": {{"{field}": {text}}}}}"#),
        None => format!(r#"{{"{}": {text}}}"#, knob.row().path),
    };
    let error = Policy::from_json(&document).err().map(|error| error.code);
    let units = digits / 10;
    if !digits.is_multiple_of(10) {
        let refused = matches!(error, Some(ErrorCode::TooFine | ErrorCode::OutOfRange));
        assert!(refused, "{document}: {error:?}");
    } else if (min..=max).contains(&units) {
        let taken = matches!(error, None | Some(ErrorCode::Contradiction));
        assert!(taken, "{document}: {error:?}");
    } else {
        assert_eq!(error, Some(ErrorCode::OutOfRange), "{document}");
    }
}
