//! What the terminal does when there is a notice: it rings, and shows a notification.
//!
//! What may go here: when that is wanted. What may not: the bytes, when there is a notice.

use super::Model;
use crate::core::{Header, Notice, Snapshot};
use crate::tui::message::Request;
use crate::tui::theme::Tone;
use crate::words::plain_text::one_line;

impl Model {
    /// The screen has come to its fleet, or to the fleet's next host.
    pub(super) fn join(&mut self, header: &Header) {
        if self.connections == 0 {
            self.heard.join(header);
        } else {
            self.heard.join_again(header);
        }
    }

    /// Says once that a notice was not told, and why; the header goes on saying that.
    pub(super) fn say_trouble(&mut self, before: &Snapshot) {
        let trouble = &self.world.snapshot.header.notice_trouble;
        if let Some(why) = trouble.as_ref().filter(|_| *trouble != before.header.notice_trouble) {
            self.flash(format!("a notice was not told: {}", one_line(why)), Tone::Bad);
        }
    }

    /// Lets the terminal tell what is new to somebody who looks elsewhere, or may do so: not every terminal tells that.
    pub(super) fn alert(&mut self, header: &Header) -> Vec<Request> {
        let news = self.heard.news(header).filter(|notice| self.alerts.is_for(notice));
        let news: Vec<&Notice> = news.collect();
        if news.is_empty() || self.has_focus == Some(true) || self.is_leaving {
            return Vec::new();
        }
        let bell = self.alerts.bell.then_some(Request::Bell);
        let told = news.into_iter().filter(|_| self.alerts.notification);
        let told = told.map(|notice| Request::Notify(Box::new(header.clone()), notice.clone()));
        bell.into_iter().chain(told).collect()
    }
}
