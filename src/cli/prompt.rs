//! The cap question on a terminal: what is asked, and what an answer means.
//!
//! What may go here: texts of the question and the line that is being typed, without a terminal. What may not: reading
//! the terminal (`terminal`), deciding about money: whether an amount is high enough, the core says.

mod keys;
mod terminal;

pub use keys::{Key, KeyDecoder};
pub use terminal::{AnswerSource, OpenInput, Opening, TerminalInput};

use crate::core::{Answer, NanoUsd, Question, QuestionId, Reply, Snapshot};
use crate::words::plain_text::{count, cut_cells, cut_graphemes, one_line};
use crate::words::report_line::exact;
use crate::words::style::{Meaning, Style};

/// Longest line that is taken; no amount is longer.
const LONGEST: usize = 64;

/// An open question with the line that is being typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    id: QuestionId,
    /// The amount that Enter stands for, as it was last shown.
    shown_default: NanoUsd,
    line: String,
}

/// What a key leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pressed {
    /// The line changed, or nothing did.
    Typed,
    /// The question is answered.
    Answer(Answer),
    /// The line is no answer; a sentence says why.
    Refused(String),
}

impl Prompt {
    /// Opens the prompt of a question.
    pub fn new(question: &Question) -> Self {
        Self { id: question.id, shown_default: question.default, line: String::new() }
    }

    /// Returns which question this is about.
    pub fn id(&self) -> QuestionId {
        self.id
    }

    /// Takes a key.
    pub fn press(&mut self, key: Key) -> Pressed {
        match key {
            Key::Character(character) => {
                if self.line.chars().count() < LONGEST {
                    self.line.push(character);
                }
            }
            Key::Backspace => {
                self.line.pop();
            }
            Key::KillLine => self.line.clear(),
            Key::Escape => return Pressed::Answer(Answer::Hold),
            Key::EndOfInput if self.line.is_empty() => return Pressed::Answer(Answer::Hold),
            Key::EndOfInput | Key::Other => {}
            Key::Enter => return self.enter(),
        }
        Pressed::Typed
    }

    fn enter(&mut self) -> Pressed {
        let line = std::mem::take(&mut self.line);
        match line.trim().to_lowercase().as_str() {
            "" => Pressed::Answer(Answer::Raise(self.shown_default)),
            "d" | "drop" => Pressed::Answer(Answer::Drop),
            "h" | "hold" => Pressed::Answer(Answer::Hold),
            "s" | "stop" => Pressed::Answer(Answer::Stop),
            text => match text.parse() {
                Ok(amount) => Pressed::Answer(Answer::Raise(amount)),
                Err(error) => {
                    let shown = cut_graphemes(&one_line(&line), 40);
                    Pressed::Refused(format!("'{shown}' {error}; or answer d, h or s"))
                }
            },
        }
    }

    /// Returns the lines that open the question.
    pub fn opening(snapshot: &Snapshot, question: &Question, style: Style) -> Vec<String> {
        let header = &snapshot.header;
        let mut facts = vec![format!("{} of {} spent", header.spent, exact(question.cap))];
        if question.committed > header.spent {
            facts.push(format!("counted as {} with what is unknown", question.committed));
        }
        if header.reserved > NanoUsd::ZERO {
            facts.push(format!("{} reserved", header.reserved));
        }
        let kpis = &header.kpis;
        facts.push(format!("{} done", kpis.done));
        for (number, word) in [(kpis.failed, "not done"), (kpis.running, "running")] {
            if number > 0 {
                facts.push(format!("{number} {word}"));
            }
        }
        let queued = count(usize::try_from(question.queued).unwrap_or(usize::MAX), "task");
        facts.push(match question.queue_estimate {
            Some(estimate) => format!("{queued} queued (about {estimate} at the average so far)"),
            None => format!("{queued} queued"),
        });
        let how = [
            format!("Enter raises it to {}", exact(question.default)),
            "an amount such as 12.50 raises it to that".to_owned(),
            "d drops the queue".to_owned(),
            "h keeps holding".to_owned(),
            "s stops everything".to_owned(),
        ];
        vec![
            style.paint(
                Meaning::Warning,
                &style.text(&format!("cap reached: {}", facts.join(", "))),
            ),
            style.text(&how.join(style.dot())),
        ]
    }

    /// Returns the line at the bottom, never wider than `width`. What is typed stays in sight. From here on, Enter
    /// stands for the default that this line shows.
    pub fn bottom_line(&mut self, question: &Question, style: Style, width: usize) -> String {
        self.shown_default = question.default;
        let typed = style.text(&one_line(&self.line));
        let long = format!("new cap [{}], d, h or s: {typed}", exact(question.default));
        let short = format!("[{}]: {typed}", exact(question.default));
        [long, short]
            .into_iter()
            .find(|line| crate::words::plain_text::cells(line) <= width)
            .unwrap_or_else(|| cut_cells(&typed, width))
    }
}

/// Returns what a reply to the answer means: a line for the person, and whether the question is closed.
pub fn after_reply(answer: Answer, reply: &Reply) -> (String, bool) {
    match reply {
        Reply::Refused(refusal) => (one_line(&refusal.0), false),
        Reply::AlreadyAnswered(how) => (format!("already answered: {}", one_line(how)), true),
        Reply::Done(_)
        | Reply::Told(_)
        | Reply::TurnInterrupted(_)
        | Reply::Queued(..)
        | Reply::AlreadyEnded(_) => (
            match answer {
                Answer::Raise(cap) => format!("raised to {}", exact(cap)),
                Answer::Drop => "the queue is dropped".to_owned(),
                Answer::Hold => "the queue stays held".to_owned(),
                Answer::Stop => "stopping everything".to_owned(),
            },
            true,
        ),
    }
}

/// Says why a question that this door did not answer has gone.
pub fn why_gone(snapshot: &Snapshot, cap_before: NanoUsd) -> String {
    let header = &snapshot.header;
    if let Some(signal) = &header.interrupted {
        return format!("the question is closed: {signal}");
    }
    match header.cap {
        None => "the question is closed: the cap was taken away".to_owned(),
        Some(cap) if cap != cap_before => format!("answered elsewhere: raised to {}", exact(cap)),
        Some(_) if header.kpis.queued == 0 => {
            "the question is closed: nothing is queued any more".to_owned()
        }
        Some(_) if header.hold.is_some() => "answered elsewhere: the queue stays held".to_owned(),
        Some(_) => "answered elsewhere".to_owned(),
    }
}

#[cfg(test)]
mod tests;
