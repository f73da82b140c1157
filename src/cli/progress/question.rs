//! Asks the cap question while the fleet is shown.
//!
//! What may go here: when the question opens and closes here, and sending the answer. What may not: its texts.

use std::collections::VecDeque;
use std::future::{Future, pending};
use std::pin::Pin;

use super::{Clock, Display};
use crate::cli::prompt::{
    AnswerSource, Key, KeyDecoder, OpenInput, Opening, Pressed, Prompt, after_reply, why_gone,
};
use crate::core::{Answer, Command, Question, QuestionId, Reply, Snapshot};
use crate::runtime::{FleetHandle, Gone};

/// Keys that wait while an answer is on its way; more than a person types in that time, and a paste is cut there.
const WAITING: usize = 256;

type Sending = Pin<Box<dyn Future<Output = Result<Reply, Gone>> + Send>>;

/// The question as far as this door has to do with it.
pub(super) struct Asking<'a> {
    handle: FleetHandle,
    answers: Option<&'a mut dyn AnswerSource>,
    open: Option<Open>,
    /// The question that was answered here: a snapshot from before the answer does not open it again.
    settled: Option<QuestionId>,
    /// It waits until Fleet is in the foreground; that has been said.
    postponed: bool,
}

struct Open {
    question: Question,
    prompt: Prompt,
    input: OpenInput,
    decoder: KeyDecoder,
    keys: VecDeque<Key>,
    /// The answer that is on its way.
    sending: Option<(Answer, Sending)>,
}

impl<'a> Asking<'a> {
    pub(super) fn new(handle: FleetHandle, answers: Option<&'a mut dyn AnswerSource>) -> Self {
        Self { handle, answers, open: None, settled: None, postponed: false }
    }

    /// Says whether it should be looked at again though nothing changes.
    pub(super) fn is_postponed(&self) -> bool {
        self.postponed
    }

    /// Opens, changes or closes the question as the snapshot has it.
    pub(super) fn look(&mut self, snapshot: &Snapshot, display: &mut Display<'_>) {
        let now = snapshot.question.as_ref();
        if let Some(open) = &mut self.open {
            match now {
                Some(question) if question.id == open.question.id => {
                    open.question = question.clone();
                    return;
                }
                // The reply to the own answer will say how it went.
                _ if open.sending.is_some() => return,
                _ => {
                    display.say(&[why_gone(snapshot, open.question.cap)]);
                    self.close();
                }
            }
        }
        match now {
            Some(question) if self.settled != Some(question.id) => {
                self.begin(question, snapshot, display);
            }
            Some(_) | None => self.postponed = false,
        }
    }

    fn begin(&mut self, question: &Question, snapshot: &Snapshot, display: &mut Display<'_>) {
        let Some(answers) = &mut self.answers else { return };
        // A question that nobody can see is not asked.
        let opening = if display.is_redrawn() { answers.open() } else { Opening::Unavailable };
        match opening {
            Opening::Ready(input) => {
                self.postponed = false;
                display.say(&Prompt::opening(snapshot, question, display.style()));
                self.open = Some(Open {
                    question: question.clone(),
                    prompt: Prompt::new(question),
                    input,
                    decoder: KeyDecoder::default(),
                    keys: VecDeque::new(),
                    sending: None,
                });
            }
            Opening::Background => {
                if !self.postponed {
                    display.say(&[
                        "cap reached: bring fleet to the foreground (fg) to answer".to_owned()
                    ]);
                }
                self.postponed = true;
            }
            Opening::Unavailable => {
                self.answers = None;
                display.say(&[
                    "cap reached, and there is no terminal to ask on: the queue stays held"
                        .to_owned(),
                ]);
                self.settled = Some(question.id);
                let handle = self.handle.clone();
                let command = Command::Answer(question.id, Answer::Hold);
                // Nobody can hear the reply; if the host has gone, watching ends by itself.
                tokio::spawn(async move { drop(handle.send(command).await) });
            }
        }
    }

    fn close(&mut self) {
        self.open = None;
        self.postponed = false;
    }

    /// Draws the bottom line: the prompt while the question is open, else the status line.
    pub(super) fn draw(&mut self, clock: &Clock, display: &mut Display<'_>) {
        match &mut self.open {
            Some(open) => {
                let line =
                    open.prompt.bottom_line(&open.question, display.style(), display.width());
                display.draw_text(&line);
            }
            None => display.draw(&clock.snapshot, clock.now()),
        }
    }

    /// Waits for a key or a reply and does what it leads to; waits forever while no question is open. May be dropped
    /// at any time without losing either.
    pub(super) async fn turn(&mut self, display: &mut Display<'_>) {
        let Some(open) = &mut self.open else { return pending().await };
        if let Some((answer, sending)) = &mut open.sending {
            let reply = sending.await;
            let answer = *answer;
            open.sending = None;
            let (line, closed) = match &reply {
                Ok(reply) => after_reply(answer, reply),
                Err(gone) => (gone.to_string(), true),
            };
            display.say(&[line]);
            // Once the input has ended, a refusal cannot be answered with anything better.
            if closed || open.input.pieces.is_closed() {
                self.settled = Some(open.question.id);
                self.close();
            }
            return;
        }
        let Some(key) = open.keys.pop_front() else {
            let piece = open.input.pieces.recv().await.unwrap_or_default();
            let room = WAITING.saturating_sub(open.keys.len());
            open.keys.extend(open.decoder.keys(&piece).into_iter().take(room));
            return;
        };
        match open.prompt.press(key) {
            Pressed::Typed => {}
            Pressed::Refused(why) => display.say(&[display.style().text(&why)]),
            Pressed::Answer(answer) => {
                let handle = self.handle.clone();
                let command = Command::Answer(open.prompt.id(), answer);
                open.sending = Some((answer, Box::pin(async move { handle.send(command).await })));
            }
        }
    }
}
