//! Which of the terminal's 16 colours comes nearest to what an agent asked for.
//!
//! What may go here: numbers of colours. What may not: the screen's own colours, which have names.

/// One of the terminal's own 16 colours: 0 to 7 as ANSI numbers them, 8 to 15 the bright ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Color16(u8);

impl Color16 {
    /// Takes one of 0 to 15; `None` for any other number.
    pub fn new(number: u16) -> Option<Self> {
        u8::try_from(number).ok().filter(|number| *number < 16).map(Self)
    }

    /// Returns the number, 0 to 15.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Returns what comes nearest to one of the 256 colours of xterm; `None` for a larger number.
    pub(super) fn from_256(number: u16) -> Option<Self> {
        match number {
            0..=15 => Self::new(number),
            16..=231 => {
                // A cube of 6 by 6 by 6, whose steps are 0, 95, 135, 175, 215 and 255.
                let step = |place: u16| match (number - 16) / place % 6 {
                    0 => 0,
                    step => 55 + 40 * step,
                };
                Some(Self::from_rgb(step(36), step(6), step(1)))
            }
            232..=255 => {
                let grey = 8 + 10 * (number - 232);
                Some(Self::from_rgb(grey, grey, grey))
            }
            _ => None,
        }
    }

    /// Returns what comes nearest to red, green and blue of 0 to 255 each.
    pub(super) fn from_rgb(red: u16, green: u16, blue: u16) -> Self {
        let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
        // Too little colour to have a name: one of the four greys, told apart by brightness.
        if most - least < 48 {
            return Self(match most {
                0..=63 => 0,
                64..=159 => 8,
                160..=223 => 7,
                _ => 15,
            });
        }
        // A part belongs to the colour if it lies in the upper half of what this colour spans.
        let half = least + (most - least) / 2;
        let part = |value: u16, bit: u8| if value > half { bit } else { 0 };
        let hue = part(red, 1) | part(green, 2) | part(blue, 4);
        Self(if most >= 224 { hue | 8 } else { hue })
    }
}

#[cfg(test)]
mod tests {
    use super::Color16;

    #[test]
    fn indexed_and_true_colours_come_to_the_nearest_of_sixteen() {
        let of_256 = |number| Color16::from_256(number).map(Color16::number);
        assert_eq!(of_256(3), Some(3));
        assert_eq!(of_256(196), Some(9), "pure red");
        assert_eq!(of_256(22), Some(2), "dark green");
        assert_eq!(of_256(21), Some(12), "pure blue");
        assert_eq!(of_256(232), Some(0));
        assert_eq!(of_256(244), Some(8));
        assert_eq!(of_256(255), Some(15));
        assert_eq!(of_256(256), None);
        assert_eq!(Color16::from_rgb(255, 255, 0).number(), 11);
        assert_eq!(Color16::from_rgb(128, 0, 128).number(), 5);
    }
}
