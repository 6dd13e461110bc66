//! The colours of the plots. The drawing library knows fixed colours only; each of ours stands for
//! a variable of the style sheet, which has one value for light and one for dark.

use plotters::style::{Color, RGBColor, ShapeStyle};

/// What a colour means. The values in `style.css` are from the palette of Okabe and Ito, whose
/// colours stay apart for every kind of colour blindness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Letters.
    Text,
    /// Axes.
    Axis,
    /// Lines of a grid.
    Grid,
    /// Behind a phase in which some calls fail.
    Trouble,
    /// Behind a phase in which all calls fail.
    Dead,
    /// The run with stormproof.
    With,
    /// The run without.
    Without,
    /// What the server can do.
    Capacity,
    /// A closed circuit.
    Closed,
    /// A half-open one.
    HalfOpen,
    /// An open one.
    Open,
}

const ALL: [(Ink, &str); 11] = [
    (Ink::Text, "text"),
    (Ink::Axis, "axis"),
    (Ink::Grid, "grid"),
    (Ink::Trouble, "trouble"),
    (Ink::Dead, "dead"),
    (Ink::With, "with"),
    (Ink::Without, "without"),
    (Ink::Capacity, "capacity"),
    (Ink::Closed, "closed"),
    (Ink::HalfOpen, "half-open"),
    (Ink::Open, "open"),
];

impl Ink {
    /// The colour that stands for this one until [`themed`].
    pub fn color(self) -> RGBColor {
        RGBColor(1, 2, self as u8)
    }

    /// A line of this colour.
    pub fn line(self, width: u32) -> ShapeStyle {
        self.color().stroke_width(width)
    }
}

/// The picture with the colours of the style sheet.
pub fn themed(svg: &str) -> String {
    ALL.iter().fold(svg.to_owned(), |svg, (ink, name)| {
        let RGBColor(red, green, blue) = ink.color();
        svg.replace(&format!("#{red:02X}{green:02X}{blue:02X}"), &format!("var(--{name})"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ink_has_a_value_for_light_and_dark() {
        let style = include_str!("style.css");
        for (ink, name) in ALL {
            assert_eq!(style.matches(&format!("--{name}: ")).count(), 2, "{ink:?}");
        }
    }

    #[test]
    fn a_fixed_colour_becomes_a_variable() {
        assert_eq!(themed(r##"<p fill="#010200"/>"##), r#"<p fill="var(--text)"/>"#);
    }
}
