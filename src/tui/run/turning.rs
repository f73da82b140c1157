//! Turning the screen to another fleet and back.
//!
//! What may go here: what becomes of the fleet that is left, and what the next one takes over. What may not: how fleets
//! are found (whoever composes the program knows that).

use std::sync::Arc;

use super::Running;
use super::fleets::{Brought, Fleets, Job};
use super::seat::{Around, Read, Seat};
use crate::core::Snapshot;
use crate::runtime::Gone;
use crate::tui::keymap::key_name;
use crate::tui::message::{FleetNews, Message, Request};
use crate::tui::session::{Made, Session};

impl Running {
    /// Asks something about other fleets.
    pub(super) fn ask_fleets(&mut self, job: Job) -> Option<Message> {
        let failed = |why: &str| Some(Message::Fleets(FleetNews::Failed(why.to_owned())));
        let Some(others) = &self.seat.others else {
            return failed("there are no other fleets to be seen from here");
        };
        if self.fleets.is_none() {
            match Fleets::start(others, &self.brings) {
                Ok(fleets) => self.fleets = Some(fleets),
                Err(error) => return failed(&format!("could not read fleets: {error}")),
            }
        }
        self.fleets.as_ref().and_then(|fleets| failed(fleets.ask(job).err()?))
    }

    /// Takes what came of it.
    pub(super) async fn take_brought(&mut self, brought: Brought) {
        match brought {
            Brought::News(news) => self.update(Message::Fleets(news)).await,
            Brought::Session(session, read) => self.turn_to(*session, read).await,
        }
    }

    /// Shows another fleet. The one that the screen began with stays as it is behind it, to go back to.
    async fn turn_to(&mut self, mut session: Session, mut read: Read) {
        let id = session.dir.id().clone();
        let is_behind = self.behind.as_ref().is_some_and(|seat| *seat.model.world.dir.id() == id);
        if is_behind {
            let brought = session.first.take();
            drop(session);
            self.go_back();
            self.bring(brought).await;
            return;
        }
        if *self.seat.model.world.dir.id() == id {
            self.bring(session.first.take()).await;
            let text = format!("fleet {id} is the one that is shown");
            self.update(Message::Fleets(FleetNews::Failed(text))).await;
            return;
        }
        let (shares, mouse) = self.seat.model.turned_away();
        read.1.shares = shares;
        session.mouse = mouse;
        let origin = self.behind.as_ref().unwrap_or(&self.seat);
        session.came_from = Some(origin.model.world.dir.id().clone());
        let world = &self.seat.model.world;
        let around = Around {
            theme: world.theme,
            zone: world.zone.clone(),
            now: self.clock.now(),
            size: self.size,
        };
        let seat = match Seat::take(session, read, around) {
            Ok(seat) => Box::new(seat),
            Err(error) => {
                let text = format!("could not show fleet {id}: {error}");
                self.update(Message::Fleets(FleetNews::Failed(text))).await;
                return;
            }
        };
        self.seat.save_draft();
        let left = std::mem::replace(&mut self.seat, seat);
        if self.behind.is_none() {
            left.rest(false);
            self.behind = Some(left);
        }
        self.seat.read_history();
        let link = self.seat.newest_link();
        self.link(link).await;
    }

    async fn bring(&mut self, made: Option<Made>) {
        let message = made.map(|made| Message::Bring(Box::new(made)));
        self.seat.later.extend(message);
        self.catch_up().await;
    }

    /// The fleet that the screen began with goes on behind the one that is shown. What it would ring for is told here.
    pub(super) async fn take_behind(&mut self, snapshot: Result<Arc<Snapshot>, Gone>) {
        let Some(seat) = &mut self.behind else { return };
        let Ok(snapshot) = snapshot else {
            // It is told when that fleet is shown again.
            seat.handle = None;
            return;
        };
        let requests = seat.model.update(self.clock.now(), Message::Snapshot(snapshot));
        let mut rings = false;
        for request in requests {
            match request {
                Request::Bell => rings = true,
                Request::Tail(asked) => seat.tail.ask(asked),
                _ => {}
            }
        }
        let header = &seat.model.world.snapshot.header;
        let what = if seat.model.world.snapshot.question.is_some() {
            "its cap is reached, and it asks what to do"
        } else if header.all_done {
            "all its agents have ended"
        } else {
            "something there is worth a look"
        };
        if rings {
            let back = key_name!(Agents, Back);
            let text = format!("fleet {}: {what} ({back} goes back to it)", header.fleet);
            self.perform(Request::Bell).await;
            self.update(Message::Told(text, true)).await;
        }
    }

    /// Shows the fleet again that the screen began with.
    pub(super) fn go_back(&mut self) {
        let Some(seat) = self.behind.take() else { return };
        self.seat.save_draft();
        self.seat = seat;
        self.seat.rest(true);
        // Also when it is the same: this draws everything. What has happened meanwhile is told after it.
        let (columns, rows) = self.size;
        self.seat.later.push_back(Message::Resize(columns, rows));
    }
}
