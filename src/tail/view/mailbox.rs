//! Requests on their way to the view's thread. Putting one in never waits.
//!
//! What may go here: order, merging, bounds. What may not: what a request does.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::page::{Request, What};
use super::window::{Layout, Move};

/// Steps that wait at most. Neighbouring moves are one, so only a program can fill this; later moves are dropped.
const MOST_STEPS: usize = 64;

/// Something else to view.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) number: u64,
    pub(super) what: What,
    pub(super) has_ended: bool,
}

/// What is to be done to the view, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Move(Move),
    Search(String),
    NextHit,
    PreviousHit,
    ClearSearch,
    Copy,
}

/// Everything that came since the thread looked last.
#[derive(Debug, Default)]
pub(super) struct Orders {
    pub(super) open: Option<Opening>,
    pub(super) ended: Option<u64>,
    pub(super) closes: bool,
    pub(super) hides: Option<bool>,
    pub(super) layout: Option<Layout>,
    pub(super) steps: VecDeque<Step>,
    /// A file event said "look".
    pub(super) hint: bool,
    /// The search has found something.
    pub(super) found: bool,
    pub(super) stop: bool,
}

impl Orders {
    /// Says whether there is nothing to do.
    pub(super) fn is_empty(&self) -> bool {
        !self.was_asked() && !self.hint && !self.found && !self.stop
    }

    /// Says whether a door has asked for something: all but hints to look for news.
    pub(super) fn was_asked(&self) -> bool {
        self.open.is_some()
            || self.ended.is_some()
            || self.closes
            || self.hides.is_some()
            || self.layout.is_some()
            || !self.steps.is_empty()
    }

    fn put(&mut self, request: Request) {
        match request {
            Request::Open { number, what, has_ended } => {
                // What was asked of the text before means nothing for this one, but for the search.
                self.steps.retain(|step| matches!(step, Step::Search(_) | Step::ClearSearch));
                self.open = Some(Opening { number, what, has_ended });
                self.closes = false;
            }
            Request::Ended(number) => match &mut self.open {
                Some(open) if open.number == number => open.has_ended = true,
                Some(_) => {}
                None => self.ended = Some(number),
            },
            Request::Close => {
                self.steps.clear();
                self.open = None;
                self.closes = true;
            }
            Request::Hide(hides) => self.hides = Some(hides),
            Request::Layout(layout) => self.layout = Some(layout),
            Request::Move(way) => self.put_move(way),
            Request::Search(needle) => {
                self.steps.retain(|step| matches!(step, Step::Move(_) | Step::Copy));
                self.steps.push_back(Step::Search(needle));
            }
            Request::ClearSearch => {
                self.steps.retain(|step| matches!(step, Step::Move(_) | Step::Copy));
                self.steps.push_back(Step::ClearSearch);
            }
            Request::NextHit => self.push(Step::NextHit),
            Request::PreviousHit => self.push(Step::PreviousHit),
            Request::Copy => self.push(Step::Copy),
        }
    }

    fn put_move(&mut self, way: Move) {
        match (self.steps.back_mut(), way) {
            (Some(Step::Move(Move::Rows(rows))), Move::Rows(more))
            | (Some(Step::Move(Move::Pages(rows))), Move::Pages(more))
            | (Some(Step::Move(Move::Columns(rows))), Move::Columns(more)) => {
                *rows = rows.saturating_add(more);
            }
            (Some(Step::Move(last)), Move::Start | Move::End)
                if !matches!(last, Move::Columns(_)) =>
            {
                *last = way;
            }
            _ => self.push(Step::Move(way)),
        }
    }

    fn push(&mut self, step: Step) {
        if self.steps.len() < MOST_STEPS {
            self.steps.push_back(step);
        }
    }
}

/// The box itself. Bounded by [`MOST_STEPS`] and one order of each other sort.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    orders: Mutex<Orders>,
    came: Condvar,
}

impl Mailbox {
    pub(super) fn put(&self, request: Request) {
        self.change(|orders| orders.put(request));
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Orders)) {
        let mut orders = self.lock();
        let was_empty = orders.is_empty();
        change(&mut orders);
        // Whoever waits for a frame with orders in hand is not woken for each of a thousand events.
        if was_empty || orders.stop {
            self.came.notify_one();
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something comes, at most for `most`.
    pub(super) fn wait<'m>(
        &'m self,
        orders: MutexGuard<'m, Orders>,
        most: Option<Duration>,
    ) -> MutexGuard<'m, Orders> {
        match most {
            Some(most) => {
                self.came.wait_timeout(orders, most).unwrap_or_else(PoisonError::into_inner).0
            }
            None => self.came.wait(orders).unwrap_or_else(PoisonError::into_inner),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_STEPS, Mailbox, Move, Request, Step, What};

    #[test]
    fn moves_that_follow_each_other_are_one_and_the_newest_search_wins() {
        let mailbox = Mailbox::default();
        for _ in 0..1000 {
            mailbox.put(Request::Move(Move::Rows(3)));
        }
        mailbox.put(Request::Search("a".to_owned()));
        mailbox.put(Request::NextHit);
        mailbox.put(Request::Search("b".to_owned()));
        let steps: Vec<Step> = mailbox.lock().steps.iter().cloned().collect();
        assert_eq!(steps, [Step::Move(Move::Rows(3000)), Step::Search("b".to_owned())]);
    }

    #[test]
    fn the_box_is_bounded_and_emptied_of_moves_by_opening_something_else() {
        let mailbox = Mailbox::default();
        for number in 0..1000 {
            let way = if number % 2 == 0 { Move::Rows(1) } else { Move::Columns(1) };
            mailbox.put(Request::Move(way));
        }
        assert_eq!(mailbox.lock().steps.len(), MOST_STEPS);
        mailbox.put(Request::Open { number: 1, what: What::Text("x".into()), has_ended: false });
        mailbox.put(Request::Ended(1));
        let orders = mailbox.lock();
        assert!(orders.steps.is_empty());
        assert!(orders.open.as_ref().is_some_and(|open| open.has_ended));
        assert!(orders.ended.is_none());
    }
}
