//! The state machine's side of a line: what is printed goes into a grid of columns, colours are kept, the rest is
//! swallowed.
//!
//! What may go here: the meaning of control sequences. What may not: wrapping, files.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;
use vte::{Params, Parser, Perform};

use super::style_codes;
use super::{Cell, Emphasis, Line, Style, index};

/// Columns after which a tab is one blank, so that a line of tabs cannot need eight times its bytes.
const MOST_TAB_COLUMN: usize = 64 * 1024;
/// Zero bytes in a row that are told: a hole that a truncated file was written over. Fewer are only swallowed.
const TOLD_ZEROS: usize = 16;
/// Bytes of one grapheme; what is stacked beyond that is dropped.
const MOST_GRAPHEME_BYTES: usize = 64;

/// Interprets a raw line.
pub(super) fn line(raw: &[u8]) -> Line {
    let mut parser = Parser::new();
    let mut writer = Writer::default();
    let mut zeros = 0_usize;
    let mut start = 0_usize;
    let mut strings = StringEnds::default();
    let mut skip = 0_usize;
    for chunk in raw.utf8_chunks() {
        let replaced = (!chunk.invalid().is_empty()).then_some('\u{FFFD}');
        let valid = chunk.valid().char_indices();
        let all = valid.chain(replaced.map(|character| (chunk.valid().len(), character)));
        for (offset, character) in all {
            writer.raw = start + offset;
            if character == '\0' {
                zeros += 1;
                continue;
            }
            writer.put_zeros(std::mem::take(&mut zeros));
            if skip > 0 {
                skip -= 1;
                continue;
            }
            if character == '\u{1B}' {
                match strings.introduced(raw, writer.raw) {
                    Introduced::Other => {}
                    // Without an end only the introducer goes, so that no text is lost.
                    Introduced::EndlessCommand => {
                        skip = 1;
                        continue;
                    }
                    Introduced::EndlessData => {
                        writer.put_mark("[control data left out]");
                        return writer.into_line();
                    }
                }
            }
            let mut bytes = [0; 4];
            parser.advance(&mut writer, character.encode_utf8(&mut bytes).as_bytes());
        }
        start += chunk.valid().len() + chunk.invalid().len();
    }
    writer.put_zeros(zeros);
    writer.into_line()
}

/// What begins at an escape character.
enum Introduced {
    /// Nothing that needs an end of its own, or something that has one.
    Other,
    /// An operating system command (a title, a link) that never ends.
    EndlessCommand,
    /// Device data (an image), a privacy message or the like that never ends.
    EndlessData,
}

/// Knows from where on no string ends any more, so that a line of introducers is searched once.
#[derive(Default)]
struct StringEnds {
    no_command_end: bool,
    no_data_end: bool,
}

impl StringEnds {
    fn introduced(&mut self, raw: &[u8], escape: usize) -> Introduced {
        let rest = raw.get(escape + 2..).unwrap_or_default();
        match raw.get(escape + 1) {
            Some(b']') => {
                self.no_command_end = self.no_command_end
                    || !rest.iter().any(|byte| matches!(byte, 0x07 | 0x18 | 0x1A | 0x1B));
                if self.no_command_end { Introduced::EndlessCommand } else { Introduced::Other }
            }
            Some(b'P' | b'X' | b'^' | b'_') => {
                self.no_data_end =
                    self.no_data_end || !rest.iter().any(|byte| matches!(byte, 0x18 | 0x1A | 0x1B));
                if self.no_data_end { Introduced::EndlessData } else { Introduced::Other }
            }
            Some(_) | None => Introduced::Other,
        }
    }
}

/// Where text goes: one slot per column, as on a terminal that is wide enough.
#[derive(Default)]
struct Writer {
    arena: String,
    grid: Vec<Cell>,
    column: usize,
    style: Style,
    /// Characters that may still join into one grapheme, each with its raw offset.
    pending: String,
    pending_raw: Vec<(usize, usize)>,
    /// Raw offset of what is being interpreted.
    raw: usize,
}

impl Writer {
    fn into_line(mut self) -> Line {
        self.flush();
        self.grid.retain(|cell| cell.width > 0);
        Line { arena: self.arena, cells: self.grid }
    }

    fn put_zeros(&mut self, count: usize) {
        if count >= TOLD_ZEROS {
            self.put_mark(&format!("[{count} zero bytes]"));
        }
    }

    fn put_mark(&mut self, mark: &str) {
        self.flush();
        for character in mark.chars() {
            self.put(character.encode_utf8(&mut [0; 4]), 1, self.raw, Emphasis::Mark);
        }
    }

    /// Cuts what was printed into graphemes and puts them into their columns.
    fn flush(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let offsets = std::mem::take(&mut self.pending_raw);
        let mut offsets = offsets.into_iter().peekable();
        for (start, grapheme) in pending.grapheme_indices(true) {
            let mut raw = self.raw;
            while let Some((_, own)) = offsets.next_if(|(at, _)| *at <= start) {
                raw = own;
            }
            let mut grapheme = grapheme;
            while grapheme.len() > MOST_GRAPHEME_BYTES {
                let Some((last, _)) = grapheme.char_indices().next_back() else { break };
                grapheme = grapheme.get(..last).unwrap_or_default();
            }
            match UnicodeWidthStr::width(grapheme) {
                0 => self.join(grapheme),
                width => self.put(grapheme, width, raw, Emphasis::None),
            }
        }
        // The buffer is kept: lines have many runs.
        self.pending = pending;
        self.pending.clear();
    }

    /// Adds what has no width of its own to the grapheme before it; with none before it, it is nothing.
    fn join(&mut self, text: &str) {
        let end = index(self.arena.len());
        let before = self.grid.iter_mut().rev().find(|cell| cell.width > 0);
        if let Some(cell) = before
            && cell.end == end
            && (end - cell.start) as usize + text.len() <= MOST_GRAPHEME_BYTES
        {
            self.arena.push_str(text);
            cell.end = index(self.arena.len());
            // Some joined text is wider than its parts.
            let joined = self.arena.get(cell.start as usize..).unwrap_or_default();
            if UnicodeWidthStr::width(joined) != usize::from(cell.width) {
                cell.end = end;
            }
        }
    }

    fn put(&mut self, text: &str, width: usize, raw: usize, emphasis: Emphasis) {
        let start = index(self.arena.len());
        self.arena.push_str(text);
        let end = index(self.arena.len());
        let cell = Cell {
            start,
            end,
            raw: index(raw),
            width: u16::try_from(width).unwrap_or(u16::MAX),
            style: self.style,
            emphasis,
        };
        self.fill_to(self.column);
        for slot in 0..width {
            let part = if slot == 0 { cell } else { Cell { width: 0, ..cell } };
            self.set(self.column + slot, part);
        }
        self.column += width;
        self.mend(self.column);
    }

    fn set(&mut self, column: usize, cell: Cell) {
        if let Some(old) = self.grid.get(column).copied() {
            if old.width == 0 && cell.width > 0 {
                self.blank_before(column);
            }
            if let Some(slot) = self.grid.get_mut(column) {
                *slot = cell;
            }
        } else {
            self.grid.push(cell);
        }
    }

    /// Makes blanks of the first part of a wide grapheme whose rest is being written over.
    fn blank_before(&mut self, column: usize) {
        let mut at = column;
        while at > 0 {
            at -= 1;
            let was_start = self.grid.get(at).is_some_and(|cell| cell.width > 0);
            self.blank(at);
            if was_start {
                break;
            }
        }
    }

    /// Makes blanks of the rest of a wide grapheme whose beginning was written over.
    fn mend(&mut self, from: usize) {
        let mut at = from;
        while self.grid.get(at).is_some_and(|cell| cell.width == 0) {
            self.blank(at);
            at += 1;
        }
    }

    fn blank(&mut self, column: usize) {
        let blank = self.blank_cell();
        if let Some(slot) = self.grid.get_mut(column) {
            *slot = Cell { raw: slot.raw, ..blank };
        }
    }

    fn blank_cell(&mut self) -> Cell {
        let start = index(self.arena.len());
        self.arena.push(' ');
        let end = index(self.arena.len());
        let (style, emphasis) = (Style::default(), Emphasis::None);
        Cell { start, end, raw: index(self.raw), width: 1, style, emphasis }
    }

    fn fill_to(&mut self, column: usize) {
        if self.grid.len() < column {
            let blank = self.blank_cell();
            self.grid.resize(column, blank);
        }
    }

    fn tab(&mut self) {
        self.flush();
        self.column =
            if self.column < MOST_TAB_COLUMN { (self.column / 8 + 1) * 8 } else { self.column + 1 };
        self.fill_to(self.column);
    }

    fn erase(&mut self, what: u16) {
        self.flush();
        match what {
            0 => {
                self.grid.truncate(self.column);
            }
            1 => {
                for column in 0..=self.column {
                    self.blank(column);
                }
                self.mend(self.column + 1);
            }
            2 => self.grid.clear(),
            _ => {}
        }
    }
}

impl Perform for Writer {
    fn print(&mut self, character: char) {
        if !is_shown(character) {
            return;
        }
        self.pending_raw.push((self.pending.len(), self.raw));
        self.pending.push(character);
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\r' => {
                self.flush();
                self.column = 0;
            }
            b'\t' => self.tab(),
            0x08 => {
                self.flush();
                self.column = self.column.saturating_sub(1);
            }
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignore: bool, last: char) {
        if ignore || !intermediates.is_empty() {
            return;
        }
        match last {
            'm' => {
                self.flush();
                style_codes::follow(&mut self.style, params);
            }
            'K' => {
                let what = params.iter().next().and_then(|part| part.first().copied());
                self.erase(what.unwrap_or(0));
            }
            _ => {}
        }
    }
}

/// Says whether a character is shown. Those that steer a terminal, reorder what stands around them or hide text
/// are not.
fn is_shown(character: char) -> bool {
    !(character.is_control()
        || matches!(character,
            '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180E}' | '\u{200B}' | '\u{200E}'
            | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}'))
}
