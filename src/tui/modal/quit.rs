//! What happens to agents when the screen is left.
//!
//! What may go here: the question, and what is seen of a stop of everything until nothing lives. What may not: stopping.

use super::Content;
use super::sheet::{self, Sheet, Text};
use super::writer::{Writer, clean};
use crate::core::{Phase, Reply, Row};
use crate::journal::to_type;
use crate::runtime::Gone;
use crate::tui::keymap::{Action, Place};
use crate::tui::message::{Asked, Request};
use crate::tui::session::Left;
use crate::tui::theme::Tone;
use crate::tui::wish::Wish;
use crate::tui::world::World;
use crate::words::plain_text::{count, headline, one_line};
use crate::words::time_text;

/// Cells that its lines want.
const WIDTH: usize = 62;
/// Graphemes of a task that is named.
const GOAL: usize = 30;

/// The question, or the stop of everything.
#[derive(Debug)]
pub(crate) struct QuitModal {
    is_stopping: bool,
    is_killing: bool,
    note: Option<String>,
    sheet: Sheet,
}

impl QuitModal {
    pub(super) fn new(world: &World) -> Self {
        let mut modal =
            Self { is_stopping: false, is_killing: false, note: None, sheet: Sheet::default() };
        modal.lay_out(world);
        modal
    }

    fn stop(&mut self, world: &World) -> Vec<Wish> {
        if !world.can_ask() {
            self.note = Some("nobody can be asked to stop them now".to_owned());
            return Vec::new();
        }
        self.note = None;
        let mut wishes = vec![Wish::StopAllAndLeave];
        if std::mem::replace(&mut self.is_stopping, true) {
            self.is_killing = true;
            let text = "killing what has not ended";
            wishes.push(Wish::Flash(text.to_owned(), Tone::Warning));
        }
        wishes
    }

    fn lay_out(&mut self, world: &World) {
        let width = sheet::text_width(world, WIDTH);
        let mut writer = Writer::new(world.theme, width);
        writer.connection(world);
        let title = if self.is_stopping {
            write_stopping(&mut writer, world);
            "stopping everything"
        } else if world.is_demo {
            writer.text("Leaving ends the demonstration; nothing of it stays.", Tone::Strong);
            "quit"
        } else {
            write_question(&mut writer, world);
            "quit"
        };
        let mut foot = Writer::new(world.theme, width);
        if let Some(note) = &self.note {
            foot.text(note, Tone::Bad);
        }
        let text = Text {
            title: title.to_owned(),
            body: writer.into_lines(),
            foot: foot.into_lines(),
            caret: None,
            is_tall: false,
        };
        let renamed: sheet::Renamed<'_> = if world.is_demo {
            &[(Action::LeaveRunning, Some("leave")), (Action::StopEverything, None)]
        } else {
            &[]
        };
        self.sheet.lay_out(world, WIDTH, text, self.place(), renamed);
    }
}

impl Content for QuitModal {
    fn place(&self) -> Place {
        if self.is_stopping { Place::Stopping } else { Place::Quit }
    }

    fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    fn sheet_mut(&mut self) -> &mut Sheet {
        &mut self.sheet
    }

    fn harmless(&self) -> Option<&'static [Action]> {
        Some(&[Action::LeaveRunning, Action::Close])
    }

    fn act(&mut self, action: Action, world: &World) -> Vec<Wish> {
        match action {
            Action::LeaveRunning => vec![Wish::Ask(Request::Leave(Left::Detached))],
            // Whoever plays the demonstration ends it whichever way it is left.
            Action::StopEverything if world.is_demo => {
                vec![Wish::Ask(Request::Leave(Left::Detached))]
            }
            // A second time kills.
            Action::StopEverything => self.stop(world),
            Action::Close if self.is_stopping => vec![Wish::Stay, Wish::Close],
            Action::Close => vec![Wish::Close],
            _ => Vec::new(),
        }
    }

    fn replied(&mut self, asked: &Asked, reply: &Result<Reply, Gone>) -> Vec<Wish> {
        if *asked != Asked::StopAll || !self.is_stopping {
            return Vec::new();
        }
        self.note = match reply {
            Ok(Reply::Refused(refusal)) => Some(one_line(&refusal.0)),
            Ok(Reply::Done(killed)) if self.is_killing => {
                let text = format!("killing {}", count(number(*killed), "agent"));
                return vec![Wish::Flash(text, Tone::Warning)];
            }
            Ok(_) => return Vec::new(),
            Err(gone) => Some(format!("not done, as far as is known: {gone}")),
        };
        (self.is_stopping, self.is_killing) = (false, false);
        Vec::new()
    }

    fn refresh(&mut self, world: &World) -> Vec<Wish> {
        self.lay_out(world);
        Vec::new()
    }
}

fn number(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn write_question(writer: &mut Writer, world: &World) {
    let header = &world.snapshot.header;
    let (running, queued) = (number(header.kpis.running), number(header.kpis.queued));
    let runs = if running == 1 { "runs" } else { "run" };
    let waits = if queued == 1 { "waits" } else { "wait" };
    let running_text = format!("{} {runs}", count(running, "agent"));
    let queued_text = format!("{} {waits}", count(queued, "task"));
    let sentence = match (running, queued) {
        (0, 0) => "Nothing runs and nothing waits.".to_owned(),
        (_, 0) => format!("{running_text}."),
        (0, _) => format!("{queued_text} in the queue."),
        (_, _) => format!("{running_text} and {queued_text} in the queue."),
    };
    writer.text(&sentence, Tone::Strong);
    writer.gap();
    let fleet = clean(world, &header.fleet.0);
    let is_held = header.hold.is_some() || header.idle || world.snapshot.question.is_some();
    let goes_on = match (running, queued) {
        (_, 1..) if is_held => {
            let stays = if queued == 1 { "it stays" } else { "they stay" };
            if running == 0 {
                format!("{stays} queued: nothing starts until you decide")
            } else {
                "what runs goes on; what waits stays queued, held".to_owned()
            }
        }
        (_, _) => "all go on without this screen".to_owned(),
    };
    let on = format!("{goes_on}\n{} comes back", to_type(format_args!("attach {fleet}")));
    writer.field("leave", &on, Tone::Plain);
    let mut stop = "what runs is ended; the screen stays until it has".to_owned();
    if queued > 0 {
        stop = format!("{stop}\n{} starts what waits", to_type(format_args!("resume {fleet}")));
    }
    writer.field("stop all", &stop, Tone::Plain);
}

fn write_stopping(writer: &mut Writer, world: &World) {
    let live: Vec<&Row> =
        world.snapshot.rows.iter().map(AsRef::as_ref).filter(|row| row.status.is_live()).collect();
    if live.is_empty() {
        writer.text("Nothing lives any more.", Tone::Good);
        return;
    }
    writer.text(&format!("stopping {}:", count(live.len(), "agent")), Tone::Warning);
    writer.gap();
    for row in live {
        let goal = headline(&row.task.text, GOAL);
        let glyph = world.theme.words.glyph(row.status);
        let state = match &row.phase {
            Phase::Stopping(_, since) => {
                format!("asked {} ago", time_text::age(world.clock().since(*since)))
            }
            Phase::LeftBehind(left) => format!("ended, {left} left behind"),
            Phase::Reading(_) => "ended, its output is being read".to_owned(),
            Phase::Waits(_)
            | Phase::Works
            | Phase::InTool { .. }
            | Phase::Retries(..)
            | Phase::Interrupted(_)
            | Phase::Over => row.status.as_str().to_owned(),
        };
        writer.line(&[
            (&format!("{glyph} {} ", row.id), Tone::Warning),
            (&format!("{state}  "), Tone::Plain),
            (&goal, Tone::Dim),
        ]);
    }
}
