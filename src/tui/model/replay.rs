//! The run of the fleet once more: its states as they were at a moment that the person moves through it.
//!
//! What may go here: which moment is shown, and how it moves. What may not: how the fleet stood at a moment (`core`).

use std::sync::Arc;
use std::time::Duration;

use super::Model;
use crate::core::{Moment, Replay, Snapshot};
use crate::tui::keymap::{Action, key_name};
use crate::tui::message::Request;
use crate::tui::others::PastFleet;
use crate::tui::theme::Tone;
use crate::tui::world::ReplayStand;

/// How many times as fast as it was a replay plays. It begins with the first of these at which all of it is played within
/// [`PLAYED`], or with the last.
const SPEEDS: [u32; 3] = [1, 10, 60];
const PLAYED: Duration = Duration::from_secs(30);
/// Time between two frames of a replay that plays.
const FRAME: Duration = Duration::from_millis(100);
/// Steps in which a whole run is moved through, and the least of one.
const STEPS: u32 = 40;
const LEAST_STEP: Duration = Duration::from_secs(1);

/// A replay that is shown.
#[derive(Debug)]
pub(super) struct Replaying {
    replay: Replay,
    changes: Vec<Moment>,
    stand: ReplayStand,
    speed: usize,
    /// The moment of now up to which it has played; `None` while it stands.
    played: Option<Moment>,
    /// The fleet as it is.
    latest: Arc<Snapshot>,
}

impl Replaying {
    fn go_to(&mut self, moment: Moment) {
        self.stand.at = moment.clamp(self.stand.from, self.stand.to);
    }

    fn step(&self) -> Duration {
        (self.stand.to.since(self.stand.from) / STEPS).max(LEAST_STEP)
    }

    /// Does what a key means, at this moment of now.
    fn act(&mut self, action: Action, now: Moment) {
        let at = self.stand.at;
        match action {
            Action::Earlier => self.go_to(Moment(at.0.saturating_sub(millis(self.step())))),
            Action::Later => self.go_to(at.after(self.step())),
            Action::PreviousChange => {
                let before = self.changes.iter().rev().find(|change| **change < at).copied();
                self.go_to(before.unwrap_or(self.stand.from));
            }
            Action::NextChange => {
                let after = self.changes.iter().find(|change| **change > at).copied();
                self.go_to(after.unwrap_or(self.stand.to));
            }
            Action::Play if self.played.take().is_none() => {
                if at >= self.stand.to {
                    self.go_to(self.stand.from);
                }
                self.played = Some(now);
            }
            Action::Speed => {
                self.speed = (self.speed + 1) % SPEEDS.len();
            }
            _ => {}
        }
        self.tell_pace();
    }

    /// Moves on to this moment of now, if it plays; says whether it has come to its end by that.
    fn play(&mut self, now: Moment) -> bool {
        let Some(before) = self.played else { return false };
        self.played = Some(now);
        self.go_to(self.stand.at.after(now.since(before).saturating_mul(self.speed())));
        let is_over = self.stand.at >= self.stand.to;
        if is_over {
            self.played = None;
        }
        self.tell_pace();
        is_over
    }

    fn speed(&self) -> u32 {
        SPEEDS.get(self.speed).copied().unwrap_or(1)
    }

    fn tell_pace(&mut self) {
        (self.stand.speed, self.stand.plays) = (self.speed(), self.played.is_some());
    }
}

fn first_speed(run: Duration) -> usize {
    let fits = |speed: &u32| run / (*speed).max(1) <= PLAYED;
    SPEEDS.iter().position(fits).unwrap_or(SPEEDS.len() - 1)
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

impl Model {
    /// Does what a key of the replay means; the first one asks for what the journal tells.
    pub(super) fn replay(&mut self, action: Action, requests: &mut Vec<Request>) {
        let now = self.world.now;
        if let Some(replaying) = &mut self.replaying {
            replaying.act(action, now);
            self.show_moment();
        } else if !self.world.has_others {
            self.flash("the demonstration cannot be replayed".to_owned(), Tone::Warning);
        } else if action == Action::Speed {
            let play = key_name!(Agents, Play);
            self.flash(format!("nothing is replayed: {play} begins"), Tone::Warning);
        } else {
            let is_read = self.wanted_replay.replace(action).is_some();
            self.flash("reading what the journal tells…".to_owned(), Tone::Plain);
            if !is_read {
                requests.push(Request::ReadPast);
            }
        }
    }

    /// Begins with what was asked for: where a key moves from, or at the start if it plays.
    pub(super) fn begin_replay(&mut self, past: PastFleet) {
        if past.listed.id != *self.world.dir.id() {
            return;
        }
        let Some(action) = self.wanted_replay.take() else { return };
        // What a modal decides is about the fleet as it is.
        if self.modal.is_some() {
            return;
        }
        let replay = Replay::new(past.listed.id, past.records);
        let changes = replay.as_ref().map(Replay::changes).unwrap_or_default();
        let (Some(replay), Some(from), Some(to)) = (replay, changes.first(), changes.last()) else {
            self.flash(
                "nothing was ever queued, so there is nothing to replay".to_owned(),
                Tone::Warning,
            );
            return;
        };
        let (from, to) = (*from, *to);
        let is_backward = matches!(action, Action::Earlier | Action::PreviousChange);
        let at = if is_backward { to } else { from };
        let mut replaying = Replaying {
            replay,
            changes,
            stand: ReplayStand { at, from, to, speed: 1, plays: false },
            speed: first_speed(to.since(from)),
            played: None,
            latest: Arc::clone(&self.world.snapshot),
        };
        replaying.act(action, self.world.now);
        self.replaying = Some(Box::new(replaying));
        let names = [key_name!(Agents, Earlier), key_name!(Agents, Later)].join(", ");
        let text = format!(
            "replay: {names} and {}, {} move, {} plays, {} ends",
            key_name!(Agents, PreviousChange),
            key_name!(Agents, NextChange),
            key_name!(Agents, Play),
            key_name!(Agents, Back)
        );
        self.flash(text, Tone::Plain);
        self.show_moment();
    }

    /// Shows the fleet as it is again; says whether a replay was shown.
    pub(super) fn end_replay(&mut self, requests: &mut Vec<Request>) -> bool {
        let Some(replaying) = self.replaying.take() else { return false };
        self.world.replay = None;
        self.flash("the replay has ended: this is the fleet as it is".to_owned(), Tone::Plain);
        // What has happened meanwhile is said in place of that.
        requests.extend(self.snapshot(replaying.latest));
        true
    }

    /// Moves on with a replay that plays.
    pub(super) fn play_on(&mut self) {
        let now = self.world.now;
        let Some(replaying) = self.replaying.as_mut().filter(|it| it.played.is_some()) else {
            return;
        };
        let is_over = replaying.play(now);
        self.show_moment();
        if is_over {
            let text = format!("the end of the replay: {} plays it again", key_name!(Agents, Play));
            self.flash(text, Tone::Plain);
        }
    }

    /// Returns when a replay that plays moves on.
    pub(super) fn next_moment(&self) -> Option<Moment> {
        Some(self.replaying.as_ref()?.played?.after(FRAME))
    }

    /// Keeps what the fleet has come to for the end of a replay; returns it where none is shown.
    pub(super) fn behind_replay(&mut self, snapshot: Arc<Snapshot>) -> Option<Arc<Snapshot>> {
        match &mut self.replaying {
            Some(replaying) => {
                let asks = |snapshot: &Snapshot| snapshot.question.as_ref().map(|it| it.id);
                let is_asked =
                    asks(&snapshot).is_some() && asks(&snapshot) != asks(&replaying.latest);
                replaying.latest = snapshot;
                if is_asked {
                    let back = key_name!(Agents, Back);
                    let text = format!("the cap is reached: {back} ends the replay, and asks");
                    self.flash(text, Tone::Warning);
                }
                None
            }
            None => Some(snapshot),
        }
    }

    fn show_moment(&mut self) {
        let Some(replaying) = &mut self.replaying else { return };
        self.world.snapshot = Arc::new(replaying.replay.at(replaying.stand.at));
        self.world.replay = Some(replaying.stand);
    }
}
