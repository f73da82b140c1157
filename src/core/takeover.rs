//! What a host does with a fleet that another one has left.
//!
//! What may go here: what becomes of options and of the queue. What may not: what became of agents.

use super::event::{Effect, Event};
use super::fleet::Fleet;
use super::moment::Moment;
use super::options::FleetOptions;
use super::record::Record;

impl Fleet {
    /// Takes a fleet over after another host has gone: new options, and whatever held the queue is let go.
    #[must_use]
    pub fn resume(&mut self, now: Moment, options: FleetOptions) -> Vec<Effect> {
        self.now = self.now.max(now);
        let mut effects = Vec::new();
        let cap = options.cap;
        if options != self.options {
            self.record(Record::Options(options), &mut effects);
        }
        if cap != self.cap {
            self.record(Record::Cap(cap), &mut effects);
        }
        self.record(Record::Resumed, &mut effects);
        effects
    }

    /// Takes a fleet over after another host has gone without anybody's word: holds, kinds that are held, the deadline
    /// and how often a task was tried stay as they are. Nothing is recorded.
    pub fn carry_on(&mut self, now: Moment) {
        self.now = self.now.max(now);
    }

    /// Says of how many live agents it is still to be read what they wrote without a host: until then more may be spent than
    /// is known.
    pub fn set_unread(&mut self, agents: u32) {
        self.unread = agents;
    }

    /// Dispatches what may start and opens the cap question when it is due; called once after [`Fleet::resume`] or
    /// [`Fleet::carry_on`], when the facts of each live agent are known.
    #[must_use]
    pub fn settle_resumed(&mut self, now: Moment) -> Vec<Effect> {
        self.apply(now, Event::Tick)
    }

    /// Holds a queue that has waited without a host `since` then, for a host that nobody told to go on.
    #[must_use]
    pub fn hold_back(&mut self, now: Moment, since: Moment) -> Vec<Effect> {
        self.now = self.now.max(now);
        let mut effects = Vec::new();
        self.record(Record::HeldBack(since), &mut effects);
        effects
    }
}
