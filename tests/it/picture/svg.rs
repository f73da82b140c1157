//! Cells of a terminal as SVG: text in runs of one style, lines and blocks as shapes, so that no gap shows between rows.
//!
//! What may go here: drawing. What may not: running anything.

use std::fmt::Write as _;

use vt100::{Cell, Color, Screen};

/// Size of a cell, in the picture's units.
const WIDTH: f32 = 8.4;
const HEIGHT: f32 = 18.0;
/// Size of letters, and where they stand in a cell.
const FONT: f32 = 14.0;
const BASELINE: f32 = 13.5;
/// Space around the cells.
const MARGIN: f32 = 14.0;

/// Colours of what has none of its own.
const INK: &str = "#d6dae2";
const PAPER: &str = "#15181e";

/// The sixteen colours of the terminal, normal ones first.
const PALETTE: [&str; 16] = [
    "#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4",
    "#6b7385", "#ff8b93", "#b5e08f", "#ffd88a", "#82c4ff", "#dd9bee", "#7fd6e0", "#ffffff",
];

/// How a cell looks.
#[derive(Debug, Clone, PartialEq)]
struct Look {
    ink: String,
    paper: Option<String>,
    bold: bool,
    dim: bool,
    italic: bool,
    underline: bool,
}

/// Draws a screen. `title` says in words what is to be seen.
pub(super) fn draw(screen: &Screen, title: &str) -> String {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let width = 2.0 * MARGIN + WIDTH * f32::from(columns);
    let height = 2.0 * MARGIN + HEIGHT * f32::from(rows);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
         height=\"{height:.0}\" font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace\" \
         font-size=\"{FONT}\">\n<title>{}</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{PAPER}\"/>\n",
        escape(title)
    );
    for row in 0..rows {
        papers(&mut svg, screen, row, columns);
        inks(&mut svg, screen, row, columns);
    }
    svg.push_str("</svg>\n");
    svg
}

fn left(column: u16) -> f32 {
    MARGIN + WIDTH * f32::from(column)
}

fn top(row: u16) -> f32 {
    MARGIN + HEIGHT * f32::from(row)
}

/// Draws what is behind the text of a row.
fn papers(svg: &mut String, screen: &Screen, row: u16, columns: u16) {
    let paper = |column| screen.cell(row, column).and_then(|cell| look(cell).paper);
    let mut column = 0;
    while column < columns {
        let Some(colour) = paper(column) else {
            column += 1;
            continue;
        };
        let start = column;
        while column < columns && paper(column).as_ref() == Some(&colour) {
            column += 1;
        }
        let width = WIDTH * f32::from(column - start);
        rectangle(svg, (left(start), top(row), width, HEIGHT), &colour);
    }
}

/// Draws the text of a row.
fn inks(svg: &mut String, screen: &Screen, row: u16, columns: u16) {
    let mut run: Option<(u16, String, Look)> = None;
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation())
        else {
            continue;
        };
        let (text, look) = (cell.contents(), look(cell));
        let is_blank = text.trim().is_empty() && !look.underline;
        if shape(svg, text, (left(column), top(row)), &look) || (is_blank && run.is_none()) {
            flush(svg, run.take(), row);
            continue;
        }
        let text = if text.is_empty() { " " } else { text };
        // Letters that are no ASCII may come from another font with other widths, so each begins at its own cell.
        let joins = text.is_ascii()
            && run
                .as_ref()
                .is_some_and(|(_, written, of_run)| written.is_ascii() && *of_run == look);
        match &mut run {
            Some((_, written, _)) if joins => written.push_str(text),
            _ => {
                flush(svg, run.take(), row);
                run = (!is_blank).then(|| (column, text.to_owned(), look));
            }
        }
    }
    flush(svg, run, row);
}

fn flush(svg: &mut String, run: Option<(u16, String, Look)>, row: u16) {
    let Some((column, text, look)) = run else { return };
    let text = text.trim_end();
    let mut style = String::new();
    for (is_so, attribute) in [
        (look.bold, " font-weight=\"bold\""),
        (look.dim, " opacity=\"0.65\""),
        (look.italic, " font-style=\"italic\""),
        (look.underline, " text-decoration=\"underline\""),
    ] {
        style.push_str(if is_so { attribute } else { "" });
    }
    if text.len() > 1 && text.is_ascii() {
        let cells = u16::try_from(text.len()).expect("a row is shorter than that");
        write!(style, " textLength=\"{:.1}\"", WIDTH * f32::from(cells)).unwrap();
    }
    writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{}\"{style} xml:space=\"preserve\">{}</text>",
        left(column),
        top(row) + BASELINE,
        look.ink,
        escape(text)
    )
    .unwrap();
}

fn look(cell: &Cell) -> Look {
    let (ink, paper) = (colour(cell.fgcolor(), cell.bold()), colour(cell.bgcolor(), false));
    let (ink, paper) = if cell.inverse() {
        (paper.unwrap_or_else(|| PAPER.to_owned()), Some(ink.unwrap_or_else(|| INK.to_owned())))
    } else {
        (ink.unwrap_or_else(|| INK.to_owned()), paper)
    };
    Look {
        ink,
        paper,
        bold: cell.bold(),
        dim: cell.dim(),
        italic: cell.italic(),
        underline: cell.underline(),
    }
}

fn colour(colour: Color, is_bright: bool) -> Option<String> {
    match colour {
        Color::Default => None,
        Color::Idx(index @ 0..8) => {
            Some(PALETTE[usize::from(index) + if is_bright { 8 } else { 0 }].to_owned())
        }
        Color::Idx(index @ 8..16) => Some(PALETTE[usize::from(index)].to_owned()),
        // The program uses no other; what an agent prints may.
        Color::Idx(index) => {
            let level = 40 + u32::from(index - 16) * 200 / 239;
            Some(format!("#{level:02x}{level:02x}{level:02x}"))
        }
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    }
}

/// Draws a line or a block; says whether the text was one.
fn shape(svg: &mut String, text: &str, (x, y): (f32, f32), look: &Look) -> bool {
    // From the middle of the cell to its left, right, top and bottom.
    let arms = match text {
        "─" | "━" | "╌" | "┄" | "═" => [true, true, false, false],
        "│" | "┃" | "╎" | "┆" | "║" => [false, false, true, true],
        "┌" | "╭" | "┏" | "╔" => [false, true, false, true],
        "┐" | "╮" | "┓" | "╗" => [true, false, false, true],
        "└" | "╰" | "┗" | "╚" => [false, true, true, false],
        "┘" | "╯" | "┛" | "╝" => [true, false, true, false],
        "├" | "┣" | "╠" => [false, true, true, true],
        "┤" | "┫" | "╣" => [true, false, true, true],
        "┬" | "┳" => [true, true, false, true],
        "┴" | "┻" => [true, true, true, false],
        "┼" | "╋" => [true; 4],
        _ => return block(svg, text, (x, y), look),
    };
    let is_heavy = matches!(text, "━" | "┃" | "┏" | "┓" | "┗" | "┛" | "┣" | "┫" | "┳" | "┻" | "╋");
    let is_double = matches!(text, "═" | "║" | "╔" | "╗" | "╚" | "╝" | "╠" | "╣");
    let stroke = if is_heavy { 2.2 } else { 1.1 };
    let offsets: &[f32] = if is_double { &[-1.5, 1.5] } else { &[0.0] };
    let (middle, centre) = (x + WIDTH / 2.0, y + HEIGHT / 2.0);
    let [to_left, to_right, to_top, to_bottom] = arms;
    let mut path = String::new();
    for offset in offsets {
        for (is_there, end_x) in [(to_left, x), (to_right, x + WIDTH)] {
            if is_there {
                let level = centre + offset;
                write!(path, "M{middle:.1} {level:.1}L{end_x:.1} {level:.1}").unwrap();
            }
        }
        for (is_there, end_y) in [(to_top, y), (to_bottom, y + HEIGHT)] {
            if is_there {
                let level = middle + offset;
                write!(path, "M{level:.1} {centre:.1}L{level:.1} {end_y:.1}").unwrap();
            }
        }
    }
    let opacity = if look.dim { " opacity=\"0.65\"" } else { "" };
    writeln!(
        svg,
        "<path d=\"{path}\" stroke=\"{}\" stroke-width=\"{stroke}\" stroke-linecap=\"square\"{opacity}/>",
        look.ink
    )
    .unwrap();
    true
}

/// Draws a block that fills a part of its cell from the left, or from the bottom.
fn block(svg: &mut String, text: &str, (x, y): (f32, f32), look: &Look) -> bool {
    const FROM_LEFT: [&str; 8] = ["▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];
    const FROM_BOTTOM: [&str; 7] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇"];
    let eighths = |blocks: &[&str]| {
        let place = blocks.iter().position(|block| *block == text)?;
        Some(f32::from(u8::try_from(place).expect("there are eight")) / 8.0 + 0.125)
    };
    let area = if let Some(part) = eighths(&FROM_LEFT) {
        (x, y, WIDTH * part, HEIGHT)
    } else if let Some(part) = eighths(&FROM_BOTTOM) {
        (x, y + HEIGHT * (1.0 - part), WIDTH, HEIGHT * part)
    } else {
        return false;
    };
    rectangle(svg, area, &look.ink);
    true
}

fn rectangle(svg: &mut String, (x, y, width, height): (f32, f32, f32, f32), colour: &str) {
    writeln!(
        svg,
        "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\"/>"
    )
    .unwrap();
}

/// Makes text harmless: no markup, and nothing that a picture must not contain.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

mod tests {
    use std::num::NonZeroU16;

    use super::*;

    fn drawn(bytes: &str) -> String {
        let size = |cells| NonZeroU16::new(cells).unwrap();
        let mut parser = vt100::Parser::new(size(3), size(20), 0);
        parser.process(bytes.as_bytes());
        draw(parser.screen(), "a <test>")
    }

    #[test]
    fn text_keeps_its_style_and_cannot_become_markup() {
        let svg = drawn("\x1b[1;31mred\x1b[0m <b>&");
        assert!(svg.contains("<title>a &lt;test&gt;</title>"), "{svg}");
        assert!(svg.contains("fill=\"#ff8b93\" font-weight=\"bold\""), "{svg}");
        assert!(svg.contains(">red</text>") && svg.contains("&lt;b&gt;&amp;</text>"), "{svg}");
        assert_eq!(svg.matches('<').count(), svg.matches('>').count(), "{svg}");
    }

    #[test]
    fn wide_letters_begin_at_their_cells_and_lines_are_shapes() {
        let svg = drawn("日本x\r\n╭─╮\r\n█▌\x1b[7m  \x1b[0m");
        for (column, text) in [(0, "日"), (2, "本"), (4, "x")] {
            let at = format!("<text x=\"{:.1}\"", left(column));
            let line = svg.lines().find(|line| line.starts_with(&at)).expect(&at);
            assert!(line.ends_with(&format!(">{text}</text>")), "{line}");
        }
        assert_eq!(svg.matches("<path ").count(), 3, "{svg}");
        assert!(!svg.contains('╭') && !svg.contains('█'), "{svg}");
        // The paper, two blocks, one run of inverse cells.
        assert_eq!(svg.matches("<rect ").count(), 4, "{svg}");
    }
}
