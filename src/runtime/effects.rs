//! Does what the core says, each thing when the records before it are safe.
//!
//! What may go here: the order of effects, passing each on. What may not: deciding, the loop.

use super::halt::Shim;
use super::host::Host;
use crate::core::{Effect, NoticeKind, Urgency};
use crate::journal::Sequence;

impl Host {
    /// Appends the records, does what need not wait, and queues what must.
    pub(super) fn perform(&mut self, effects: Vec<Effect>) {
        let mut records = Vec::new();
        let mut later = Vec::new();
        let mut stops = Vec::new();
        let mut unsaved = None;
        for effect in effects {
            match effect {
                Effect::Record(record) => {
                    self.paper.note(&record);
                    self.conclude_transcript(&record);
                    records.push(record);
                }
                // This one does not hurry, and without its record it would be a signal that nobody has sent.
                Effect::Stop(_, Urgency::AskPatiently) => later.push(effect),
                Effect::Stop(id, urgency) => stops.push((id, urgency)),
                Effect::CloseInput(id) => self.close_input(id),
                // That nothing can be saved cannot wait until something is.
                Effect::Notify(notice) if notice.kind == NoticeKind::NotSaved => {
                    unsaved = Some(notice);
                }
                Effect::Spawn(_)
                | Effect::Tell(..)
                | Effect::Reply(..)
                | Effect::Forget(_)
                | Effect::Notify(_) => later.push(effect),
            }
        }
        if !records.is_empty() {
            self.last = self.journal.append(self.clock.now(), records);
        }
        for effect in later {
            if let Effect::Spawn(id) = effect {
                self.shims.insert(id, Shim::default());
            }
            self.waiting.push_back((self.last, effect));
        }
        for (id, urgency) in stops {
            self.stop(id, urgency);
        }
        if let Some(notice) = unsaved {
            self.pass_on(notice);
        }
        self.release();
    }

    /// Does what has waited long enough.
    pub(super) fn release(&mut self) {
        if std::mem::replace(&mut self.releasing, true) {
            return;
        }
        let through = self.saved.borrow().through;
        let is_safe = |(sequence, _): &mut (Sequence, Effect)| *sequence <= through;
        while let Some((_, effect)) = self.waiting.pop_front_if(is_safe) {
            match effect {
                Effect::Spawn(id) => self.spawn(id),
                Effect::Tell(id, ticket, what) => self.tell(id, ticket, what),
                Effect::Reply(ticket, reply) => {
                    self.show(true);
                    if let Some(sender) = self.replies.remove(&ticket) {
                        // A door that has left needs no reply.
                        let _ = sender.send(reply);
                    }
                }
                Effect::Forget(id) => {
                    // Nothing is there for most agents, and what cannot be deleted lies in a private folder.
                    let _ = self.agent_dir(id).forget_env();
                }
                Effect::Notify(notice) => self.pass_on(notice),
                Effect::Stop(id, urgency) => self.stop(id, urgency),
                Effect::Record(_) | Effect::CloseInput(_) => {}
            }
        }
        self.releasing = false;
    }
}
