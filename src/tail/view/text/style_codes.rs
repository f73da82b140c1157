//! The numbers with which agents ask for colours and styles.
//!
//! What may go here: the meaning of one such sequence. What may not: text.

use vte::Params;

use super::Style;
use super::colour::Color16;

/// Follows a sequence of colours and styles.
pub(super) fn follow(style: &mut Style, params: &Params) {
    let mut parts = params.iter();
    while let Some(part) = parts.next() {
        let code = part.first().copied().unwrap_or(0);
        match code {
            0 => *style = Style::default(),
            1 => style.is_bold = true,
            2 => style.is_dim = true,
            3 => style.is_italic = true,
            4 => style.is_underlined = part.get(1) != Some(&0),
            7 => style.is_reversed = true,
            21 => style.is_underlined = true,
            22 => (style.is_bold, style.is_dim) = (false, false),
            23 => style.is_italic = false,
            24 => style.is_underlined = false,
            27 => style.is_reversed = false,
            30..=37 => style.foreground = Color16::new(code - 30),
            39 => style.foreground = None,
            40..=47 => style.background = Color16::new(code - 40),
            49 => style.background = None,
            90..=97 => style.foreground = Color16::new(code - 90 + 8),
            100..=107 => style.background = Color16::new(code - 100 + 8),
            38 | 48 | 58 => {
                let colour = match part.get(1..) {
                    Some(values) if !values.is_empty() => colour_of(values),
                    Some(_) | None => {
                        let mut value = || parts.next().and_then(|next| next.first().copied());
                        match value() {
                            Some(5) => value().and_then(Color16::from_256),
                            Some(2) => {
                                let parts = [value(), value(), value()];
                                let [red, green, blue] = parts.map(Option::unwrap_or_default);
                                Some(rgb(red, green, blue))
                            }
                            Some(_) | None => None,
                        }
                    }
                };
                match (code, colour) {
                    (38, Some(colour)) => style.foreground = Some(colour),
                    (48, Some(colour)) => style.background = Some(colour),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// Reads `5, number` or `2, red, green, blue` as they stand between colons; a colour space may stand before red.
fn colour_of(values: &[u16]) -> Option<Color16> {
    match values {
        [5, number, ..] => Color16::from_256(*number),
        [2, _, red, green, blue, ..] | [2, red, green, blue] => Some(rgb(*red, *green, *blue)),
        _ => None,
    }
}

fn rgb(red: u16, green: u16, blue: u16) -> Color16 {
    Color16::from_rgb(red.min(255), green.min(255), blue.min(255))
}
