//! One viewed text with its window, its search and what is to be told about it.
//!
//! What may go here: how requests become a page. What may not: waiting, clocks, watchers.

use std::io;
use std::path::Path;

use super::super::lines::Lines;
use super::super::mailbox::Opening;
use super::super::page::{Copied, NewLines, Page, SearchState, What};
use super::super::search::{Matcher, Seeker, Way};
use super::super::window::{Highlight, Layout, Move, Visible, Window};
use crate::tail::follow::file::{Change, FollowedFile, Restart, Source};

/// Bytes in which new lines are counted per look: a millisecond of work.
const COUNTED_BYTES: u64 = 4 << 20;

#[derive(Debug)]
pub(super) struct Viewed {
    number: u64,
    lines: Lines,
    window: Window,
    has_ended: bool,
    /// Whether it was looked at after its end, so that nothing can change any more.
    is_settled: bool,
    generation: u32,
    /// That the text was cut or replaced.
    note: Option<String>,
    /// Why the last look or read failed.
    failure: Option<String>,
    /// New lines are counted up to this offset.
    counted: u64,
    new_lines: u64,
    search: Option<Search>,
    copied: Option<Copied>,
    /// Whether something has come up by itself that the newest page does not tell.
    has_news: bool,
}

#[derive(Debug)]
struct Search {
    state: SearchState,
    /// `None`: the needle is wrong or the thread could not be started.
    matcher: Option<Matcher>,
    number: u64,
    question: Option<u64>,
    /// Offset of the hit that the view stands on.
    current: Option<u64>,
}

impl Viewed {
    pub(super) fn open(opening: Opening, layout: Layout) -> Self {
        let is_file = matches!(opening.what, What::File(_));
        let (source, is_settled) = match opening.what {
            What::File(path) => (Source::File(FollowedFile::new(path)), false),
            What::Text(text) => (Source::Text(text), true),
        };
        let counted = source.size().unwrap_or(0);
        Self {
            number: opening.number,
            lines: Lines::new(source),
            window: Window::new(layout, is_file),
            has_ended: opening.has_ended,
            is_settled,
            generation: 0,
            note: None,
            failure: None,
            // A text in memory has no lines that came later; of a file the first look says.
            counted,
            new_lines: 0,
            search: None,
            copied: None,
            has_news: true,
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the path of a file; `None` for a text in memory.
    pub(super) fn path(&self) -> Option<&Path> {
        match self.lines.pieces.source() {
            Source::File(file) => Some(file.path()),
            Source::Text(_) => None,
        }
    }

    /// Says whether a look may show anything new.
    pub(super) fn may_change(&self) -> bool {
        !self.is_settled
    }

    /// Says whether new lines are still being counted.
    pub(super) fn counts(&self) -> bool {
        !self.window.follows() && self.counted < self.lines.pieces.size()
    }

    /// Says whether a page would tell something that the newest one does not, apart from what was asked for since.
    pub(super) fn has_news(&self) -> bool {
        self.has_news
    }

    /// Nobody writes any more.
    pub(super) fn end(&mut self) {
        self.has_ended = true;
    }

    pub(super) fn set_layout(&mut self, layout: Layout) {
        self.window.set_layout(layout);
    }

    /// Looks at the file; says whether it has changed.
    pub(super) fn look(&mut self, at_path: bool, seeker: Option<&mut Seeker>) -> bool {
        let change = self.lines.pieces.source_mut().look(at_path);
        self.is_settled |= self.has_ended;
        let change = match change {
            Ok(change) => {
                self.has_news |= self.failure.take().is_some() || change != Change::None;
                change
            }
            Err(error) => {
                self.fail(&error);
                return false;
            }
        };
        match change {
            Change::None => return false,
            Change::Grown => {
                if let (Some(seeker), Some(_)) = (seeker, &self.search) {
                    seeker.grow(self.lines.pieces.size());
                }
            }
            Change::Restarted(restart) => {
                self.note = match restart {
                    Restart::Appeared => None,
                    Restart::Truncated => Some("the file was cut and is shown anew".to_owned()),
                    Restart::Replaced => {
                        Some("another file has taken its place and is shown now".to_owned())
                    }
                };
                if restart != Restart::Appeared {
                    self.generation = self.generation.wrapping_add(1);
                }
                self.lines.forget();
                self.window.restart();
                (self.counted, self.new_lines) = (0, 0);
                if let Some(search) = self.search.take() {
                    self.search(search.state.needle, seeker, false);
                }
            }
        }
        true
    }

    /// Counts some more of the lines that came since following stopped.
    pub(super) fn count_lines(&mut self) {
        let size = self.lines.pieces.size();
        if self.window.follows() {
            (self.counted, self.new_lines) = (size, 0);
            return;
        }
        let end = size.min(self.counted.saturating_add(COUNTED_BYTES));
        if self.counted < end {
            self.has_news = true;
            match self.lines.pieces.newlines(self.counted..end) {
                Ok(count) => {
                    self.new_lines += count;
                    self.counted = end;
                }
                Err(error) => {
                    self.fail(&error);
                    self.counted = size;
                }
            }
        }
    }

    pub(super) fn go(&mut self, way: Move) {
        self.moving(|window, lines| window.go(lines, way));
    }

    /// Runs what may stop or begin following, and remembers from where on lines are new.
    fn moving(&mut self, go: impl FnOnce(&mut Window, &mut Lines) -> io::Result<()>) {
        let did_follow = self.window.follows();
        if let Err(error) = go(&mut self.window, &mut self.lines) {
            self.fail(&error);
        }
        if did_follow != self.window.follows() {
            (self.counted, self.new_lines) = (self.lines.pieces.size(), 0);
        }
    }

    /// Searches the text, and goes to the nearest hit if `goes`.
    pub(super) fn search(&mut self, needle: String, seeker: Option<&mut Seeker>, goes: bool) {
        let state = SearchState { needle, is_done: true, ..SearchState::default() };
        let mut search = Search { state, matcher: None, number: 0, question: None, current: None };
        match (Matcher::new(&search.state.needle), seeker) {
            (Err(error), _) => search.state.problem = Some(error.to_string()),
            (Ok(_), None) => {
                search.state.problem = Some("the system gave no thread to search with".to_owned());
            }
            (Ok(matcher), Some(seeker)) => match self.lines.pieces.source().share() {
                Ok(Some(source)) => {
                    let size = self.lines.pieces.size();
                    search.number = seeker.search(source, size, matcher.clone());
                    search.matcher = Some(matcher);
                    search.state.is_done = size == 0;
                    if goes {
                        search.question = Some(seeker.ask(Way::Nearest, self.top()));
                        search.state.is_seeking = true;
                    }
                }
                // Nothing was written yet; the search begins when something is.
                Ok(None) => search.matcher = Some(matcher),
                Err(error) => self.fail(&error),
            },
        }
        self.search = Some(search);
    }

    pub(super) fn next_hit(&mut self, seeker: Option<&mut Seeker>) {
        let top = self.top();
        self.ask(seeker, Way::Forwards, |current| current.map_or(top, |current| current + 1));
    }

    pub(super) fn previous_hit(&mut self, seeker: Option<&mut Seeker>) {
        let top = self.top();
        self.ask(seeker, Way::Backwards, |current| current.unwrap_or(top));
    }

    fn ask(&mut self, seeker: Option<&mut Seeker>, way: Way, from: impl Fn(Option<u64>) -> u64) {
        if let (Some(search), Some(seeker)) = (&mut self.search, seeker)
            && search.number > 0
        {
            search.question = Some(seeker.ask(way, from(search.current)));
            search.state.is_seeking = true;
        }
    }

    pub(super) fn clear_search(&mut self) {
        self.search = None;
    }

    /// Takes over what the search has found, and goes to the hit that was asked for.
    pub(super) fn take_hits(&mut self, seeker: &Seeker) {
        let Some(search) = &mut self.search else { return };
        let mut goes_to = None;
        let before = search.state.clone();
        {
            let found = seeker.found();
            if found.search != search.number {
                return;
            }
            search.state.total = found.total;
            search.state.is_done = found.is_done;
            search.state.problem.clone_from(&found.error);
            if let Some(target) = found.target
                && search.question == Some(target.number)
            {
                search.question = None;
                search.state.is_seeking = false;
                goes_to = target.offset;
                if target.offset.is_some() {
                    search.current = target.offset;
                }
            }
            search.state.has_current = search.current.is_some();
            search.state.rank = search.current.and_then(|current| found.rank(current));
        }
        self.has_news |= search.state != before;
        if let Some(offset) = goes_to {
            self.moving(|window, lines| window.show(lines, offset));
        }
    }

    /// Puts a line into the next page.
    pub(super) fn copy(&mut self, number: u64) {
        let text = self.line_to_copy().and_then(|start| self.lines.line(start));
        match text {
            Ok(line) => self.copied = Some(Copied { number, text: line.plain() }),
            Err(error) => self.fail(&error),
        }
    }

    fn line_to_copy(&mut self) -> io::Result<u64> {
        let visible = self.window.visible(&mut self.lines, Highlight::default())?;
        let current = self.search.as_ref().and_then(|search| search.current);
        if let Some(current) = current.filter(|at| (self.window.top()..visible.end).contains(at)) {
            return self.lines.pieces.start_of(current);
        }
        let row = if self.window.follows() { visible.rows.last() } else { visible.rows.first() };
        Ok(row.map_or(0, |row| row.offset))
    }

    /// Offset of the top line, also while the end is followed.
    fn top(&mut self) -> u64 {
        // A failure shows when the page is made.
        let _ = self.window.settle(&mut self.lines);
        self.window.top()
    }

    /// Makes the page of what is visible now.
    pub(super) fn page(&mut self) -> Page {
        self.has_news = false;
        let search = self.search.as_ref();
        let highlight = Highlight {
            matcher: search.and_then(|search| search.matcher.as_ref()),
            current: search.and_then(|search| search.current),
        };
        let visible = match self.window.visible(&mut self.lines, highlight) {
            Ok(visible) => visible,
            Err(error) => {
                self.fail(&error);
                Visible::default()
            }
        };
        let size = self.lines.pieces.size();
        let follows = self.window.follows();
        let percent =
            if visible.at_end { 100 } else { visible.end.saturating_mul(100) / size.max(1) };
        Page {
            number: self.number,
            generation: self.generation,
            rows: visible.rows,
            top: self.window.top(),
            column: self.window.column(),
            wraps: self.window.layout().wraps,
            size: self.lines.pieces.source().size(),
            is_at_end: visible.at_end,
            follows,
            new_lines: NewLines {
                count: if follows { 0 } else { self.new_lines },
                has_more: !follows && self.counted < size,
            },
            percent: u8::try_from(percent).unwrap_or(100),
            search: self.search.as_ref().map(|search| search.state.clone()),
            copied: self.copied.clone(),
            note: self.failure.clone().or_else(|| self.note.clone()),
        }
    }

    fn fail(&mut self, error: &io::Error) {
        let failure = Some(format!("could not be read: {error}"));
        self.has_news |= self.failure != failure;
        self.failure = failure;
    }
}
