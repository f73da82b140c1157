//! Whether the host is heard: one that lives and says nothing, because it is paused or its disk does not answer, must not
//! look like one whose agents go on.
//!
//! What may go here: when it last gave a sign of life, and for how long it may give none. What may not: the connection
//! itself. A host says something every three seconds while agents run. One with nothing to do says nothing and owes nothing,
//! until it is asked.

use std::time::Duration;

use super::{Model, replies};
use crate::core::Moment;
use crate::tui::message::{Message, Request};
use crate::tui::world::Connection;
use crate::words::time_text;

/// Without a sign of life for so long, a host with agents that run counts as silent: two signs are missing then.
const SILENCE: Duration = Duration::from_secs(7);

/// A host that was asked something owes its answer sooner.
const ANSWER: Duration = Duration::from_secs(3);

/// What was heard and is waited for.
#[derive(Debug, Default)]
pub(super) struct Hearing {
    /// The last sign of life.
    heard: Moment,
    /// Commands that were sent and not answered, and when the first of them was sent.
    asked: usize,
    asked_at: Moment,
    /// It has been said that the host is silent.
    is_silent: bool,
}

impl Model {
    /// Takes note of what a message tells about the host. Comes before the message is taken.
    pub(super) fn listen(&mut self, now: Moment, message: &Message) {
        let has_slept = now.since(self.world.now) > ANSWER;
        let owes = self.owes_a_sign();
        let hearing = &mut self.hearing;
        match message {
            Message::Link(_) => *hearing = Hearing { heard: now, ..Hearing::default() },
            Message::Snapshot(_) => hearing.heard = now,
            Message::Replied(_, reply) => {
                hearing.asked = hearing.asked.saturating_sub(1);
                if reply.is_ok() {
                    hearing.heard = now;
                }
            }
            _ if self.replaying.is_some() => hearing.heard = now,
            // Who wakes up late, after having been paused with the machine or by hand, has not listened.
            _ if has_slept && owes && !hearing.is_silent => hearing.heard = now,
            _ => return,
        }
        if hearing.is_silent && hearing.heard == now {
            hearing.is_silent = false;
            self.world.connection = Connection::Up;
        }
    }

    /// Takes note of what the host is about to be asked.
    pub(super) fn note_asks(&mut self, requests: &[Request]) {
        for request in requests {
            if matches!(request, Request::Send(..) | Request::Submit(..)) {
                if self.hearing.asked == 0 {
                    self.hearing.asked_at = self.world.now;
                }
                self.hearing.asked += 1;
            }
            if let Request::Send(command, asked) = request {
                self.ending = replies::ending(command, asked).or(self.ending.take());
            }
        }
    }

    /// Returns when times that grow are to be drawn again, if nothing comes from the host until then.
    pub(super) fn next_second(&self) -> Moment {
        Moment((self.world.now.0 / 1000 + 1) * 1000)
    }

    /// Says that the host is silent as soon as it is.
    pub(super) fn notice_silence(&mut self) {
        if !self.owes_a_sign() {
            return;
        }
        let is_busy = self.world.snapshot.header.kpis.running > 0;
        let Hearing { heard, asked, asked_at, .. } = self.hearing;
        let now = self.world.now;
        let is_silent = is_busy && now.since(heard) >= SILENCE
            || asked > 0 && now.since(heard.max(asked_at)) >= ANSWER;
        let silent = now.since(if is_busy { heard } else { heard.max(asked_at) });
        if is_silent {
            self.hearing.is_silent = true;
            let silent = time_text::duration(silent);
            let what = format!("the host has not answered for {silent}");
            self.world.connection = Connection::Waiting(what);
        }
    }

    /// Says whether a host that lives says something within a second or so. While it does the screen wakes every second.
    pub(super) fn owes_a_sign(&self) -> bool {
        if self.replaying.is_some() {
            // What is shown is not what the host watches.
            return false;
        }
        let is_up = self.world.connection == Connection::Up || self.hearing.is_silent;
        let is_asked = self.hearing.asked > 0;
        is_up && (is_asked || self.world.snapshot.header.kpis.running > 0)
    }
}
