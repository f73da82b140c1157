//! What the terminal does when there is a notice: it rings, and shows a notification.
//!
//! What may go here: when that is wanted. What may not: the bytes, when there is a notice.

use super::Model;
use crate::core::{Header, Notice};
use crate::tui::message::Request;

impl Model {
    /// The screen has come to its fleet, or to the fleet's next host.
    pub(super) fn join(&mut self, header: &Header) {
        if self.connections == 0 {
            self.heard.join(header);
        } else {
            self.heard.join_again(header);
        }
    }

    /// Lets the terminal tell what is new to somebody who looks elsewhere, or may do so: not every terminal tells that.
    pub(super) fn alert(&mut self) -> Vec<Request> {
        let header = &self.world.snapshot.header;
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
