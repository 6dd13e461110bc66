//! A course that ends in a disagreement, without the lines that do not matter.

use stormproof_model::{Document, Input};

use crate::course::{Course, Line};
use crate::play::Play;

/// Takes away lines, fields and words as long as the two still disagree, and tells the rest.
pub fn shortened(course: &Course) -> String {
    let mut document = course.document.clone();
    let mut lines = course.lines.clone();
    let mut told = String::new();
    while let Some((fewer, rest, difference)) = one_less(&document, &lines) {
        (document, lines, told) = (fewer, rest, difference);
    }
    told
}

/// The first smaller course that still ends in a disagreement.
fn one_less(document: &Document, lines: &[Line]) -> Option<(Document, Vec<Line>, String)> {
    let plain = (0..lines.len()).filter(|place| lines[*place].2 != 0).map(|place| {
        let mut lines = lines.to_vec();
        lines[place].2 = 0;
        (document.clone(), lines)
    });
    let shorter =
        (0..lines.len()).rev().map(|place| (document.clone(), without(document, lines, place)));
    let poorer = (0..document.fields.len()).map(|place| {
        let mut document = document.clone();
        document.fields.remove(place);
        (document, lines.to_vec())
    });
    let possible = shorter.chain(poorer).chain(plain);
    possible.into_iter().find_map(|(document, lines)| {
        let difference = disagreement(&document, &lines)?;
        Some((document, lines, difference))
    })
}

/// The course without one line; later ids move down by those that the line gave out.
fn without(document: &Document, lines: &[Line], place: usize) -> Vec<Line> {
    let ids_after = |count: usize| {
        let mut play = Play::new(document.clone(), false);
        lines[..count].iter().for_each(|line| _ = play.line(*line));
        play.model.ids
    };
    let (before, after) = (ids_after(place), ids_after(place + 1));
    let mut lines = lines.to_vec();
    lines.remove(place);
    for (_, input, _) in &mut lines[place..] {
        if let Input::Event(id, _) = input
            && *id > before
        {
            *id = before.max(*id - (after - before));
        }
    }
    lines
}

fn disagreement(document: &Document, lines: &[Line]) -> Option<String> {
    document.policy().check().ok()?;
    let mut play = Play::new(document.clone(), true);
    let played = lines.iter().try_for_each(|line| play.line(*line));
    played.and_then(|()| play.close()).err()
}
