//! A screen without a terminal for tests: a fixed moment, a task maker that only splits lines, frames as text. Only
//! compiled for tests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::draw::draw;
use super::layout::{self, Focus, Shares, Wanted};
use super::message::{Message, Request};
use super::model::Model;
use super::others::{FleetList, OtherFleets, PastFleet};
use super::session::{Kept, KindInfo, Link, Made, Problem, Session, TaskMaker, TaskOptions};
use super::theme::Theme;
use super::world::{Connection, World};
use crate::core::{AgentKind, FleetId, KindTraits, Moment, NoticeKind, Snapshot, Task};
use crate::journal::FleetDir;
use crate::words::notice_line::Alerts;
use crate::words::style::Style;

/// Now, in every test: the moment at which `core::testing::snapshot` is taken.
pub(crate) const NOW: Moment = Moment(21_000);

/// Colours and more than ASCII.
pub(crate) const THEME: Theme =
    Theme { words: Style { terminal: true, colour: true, unicode: true } };

/// One task a line; `bad` is refused; three kinds.
pub(crate) struct Lines;

impl TaskMaker for Lines {
    fn kinds(&self) -> Vec<KindInfo> {
        let kind = |name: &str, is_installed, is_prompt, pays| KindInfo {
            name: name.to_owned(),
            is_installed,
            is_prompt,
            pays,
            counts_as: None,
        };
        vec![
            kind("ygg", true, true, true),
            kind("claude", false, true, true),
            kind("sh", true, false, false),
        ]
    }

    fn count(&self, draft: &str, _: &TaskOptions) -> usize {
        texts(draft).count()
    }

    fn make(&self, draft: &str, options: &TaskOptions) -> Made {
        let mut made = Made::default();
        for (number, text) in (1..).zip(texts(draft)) {
            if text == "bad" {
                let sentence = "this is a placeholder: write what is to be done".to_owned();
                made.problems.push(Problem { line: Some(number), sentence });
                continue;
            }
            let traits = KindTraits {
                prompt: options.kind != "sh",
                pays: options.kind != "sh",
                must_answer: false,
            };
            let kind = AgentKind(options.kind.clone());
            made.tasks.push(Task::new(text.to_owned(), kind, traits, options.root.clone()));
        }
        made
    }

    fn read_variable(&self, word: &str) -> Result<(String, Option<String>), String> {
        match word.split_once('=') {
            Some(("", _)) => Err("has no name".to_owned()),
            Some((name, value)) => Ok((name.to_owned(), Some(value.to_owned()))),
            None => Ok((word.to_owned(), None)),
        }
    }

    fn missing(&self, made: &Made) -> Option<String> {
        let is_there = |kind: &AgentKind| {
            self.kinds().iter().any(|known| known.name == kind.0 && known.is_installed)
        };
        let absent = made.tasks.iter().find(|task| !is_there(&task.kind))?;
        Some(format!("\"{}\" was not found on PATH: install it", absent.kind.0))
    }
}

/// There are no other fleets.
struct NoFleets;

impl OtherFleets for NoFleets {
    fn list(&self, _: Option<&Path>, say: &mut dyn FnMut(FleetList) -> bool) -> Result<(), String> {
        say(FleetList::default());
        Ok(())
    }

    fn open(&self, id: &FleetId) -> Result<Session, String> {
        Err(format!("fleet {id} is gone"))
    }

    fn read(&self, id: &FleetId) -> Result<PastFleet, String> {
        Err(format!("fleet {id} is gone"))
    }

    fn again(&self, of: &FleetId, _: Vec<Task>) -> Result<Session, String> {
        Err(format!("fleet {of} is gone"))
    }
}

fn texts(draft: &str) -> impl Iterator<Item = &str> {
    draft.split("\n---\n").map(str::trim).filter(|text| !text.is_empty())
}

pub(crate) fn options() -> TaskOptions {
    TaskOptions { kind: "sh".to_owned(), root: PathBuf::from("/repo"), ..TaskOptions::default() }
}

/// What surrounds panes on a terminal of this size, connected, with the focus on this pane.
pub(crate) fn world(snapshot: Snapshot, columns: u16, rows: u16, focus: Focus) -> World {
    let wanted = Wanted {
        size: (columns, rows),
        focus,
        is_zoomed: false,
        editor_rows: 1,
        shares: Shares::default(),
    };
    World {
        snapshot: Arc::new(snapshot),
        connection: Connection::Up,
        now: NOW,
        theme: THEME,
        panes: layout::panes(wanted),
        focus,
        dir: dir(),
        folder: PathBuf::from("/repo"),
        maker: Box::new(Lines),
        options: options(),
        is_read_only: false,
        is_demo: false,
        replay: None,
        has_others: true,
        came_from: None,
        zone: jiff::tz::TimeZone::UTC,
    }
}

fn dir() -> FleetDir {
    FleetDir::new(PathBuf::from("/state/fleets/k3f"), FleetId("k3f".to_owned()))
}

/// The whole screen on a terminal of this size, connected to a fleet that stands like this.
pub(crate) fn model(snapshot: Snapshot, columns: u16, rows: u16) -> Model {
    let (mut model, _) = model_of(None, "sh", columns, rows);
    let (handle, _end) = crate::runtime::channel(snapshot);
    let _ = model.update(NOW, Message::Link(Link::Up { handle, away_since: None }));
    model
}

/// The whole screen before there is a connection, with tasks of the command line, as many as the text has parts, and
/// those.
pub(crate) fn model_of(
    first: Option<&str>,
    kind: &str,
    columns: u16,
    rows: u16,
) -> (Model, Option<Made>) {
    let options = TaskOptions { kind: kind.to_owned(), ..options() };
    let first = first.map(|texts| Lines.make(texts, &options));
    let (_, link) = tokio::sync::watch::channel(Link::Waiting("the host".to_owned()));
    let session = Session {
        link,
        dir: dir(),
        folder: PathBuf::from("/repo"),
        maker: Box::new(Lines),
        options,
        first: first.clone(),
        is_read_only: false,
        is_demo: false,
        draft: None,
        history: None,
        remark: None,
        sizes: None,
        mouse: true,
        alerts: Alerts { bell: true, notification: true, on: NoticeKind::ALL.to_vec() },
        others: Some(Arc::new(NoFleets)),
        came_from: None,
        keep: None,
    };
    let zone = jiff::tz::TimeZone::UTC;
    (Model::new(session, THEME, zone, NOW, (columns, rows), Kept::default()), first)
}

/// Takes a message from somebody who has seen the last frame; returns what is to be done, but for what the reader of
/// outputs is told at each change of the layout or the selection.
pub(crate) fn update(model: &mut Model, message: Message) -> Vec<Request> {
    model.drawn();
    let mut requests = model.update(NOW, message);
    requests.retain(|request| !matches!(request, Request::Tail(_)));
    requests
}

/// The whole screen as text.
pub(crate) fn frame(model: &Model, columns: u16, rows: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw(model, frame)).unwrap();
    text(terminal.backend().buffer())
}

/// What a pane draws into an area of its own.
pub(crate) fn pane(columns: u16, rows: u16, draw: impl FnOnce(Rect, &mut Buffer)) -> String {
    let area = Rect::new(0, 0, columns, rows);
    let mut buffer = Buffer::empty(area);
    draw(area, &mut buffer);
    text(&buffer)
}

/// The symbols of a buffer, a line for each row, without blanks at the ends.
pub(crate) fn text(buffer: &Buffer) -> String {
    let mut lines = Vec::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut line = String::new();
        let mut skip = 0;
        for x in buffer.area.left()..buffer.area.right() {
            if skip > 0 {
                skip -= 1;
                continue;
            }
            let symbol = buffer[(x, y)].symbol();
            skip = crate::words::plain_text::cells(symbol).saturating_sub(1);
            line.push_str(symbol);
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}
