//! Joins the reader of outputs to agents: who is read from where, with which reader.

use std::sync::Arc;

use super::host::Host;
use crate::adapters::{self, LineReader, Prices, ReaderStart, Seen};
use crate::core::{AgentId, Event, Fleet, Moment};
use crate::supervise::{AgentDir, read_spec};
use crate::tail::scan::{self, Follow, Scanner};

/// Bytes read at once when a whole output is read by the one who asks for it.
const BUFFER_BYTES: usize = 256 * 1024;

impl Host {
    /// Begins to read an agent's output, after what was already learned from it.
    pub(super) fn follow(&mut self, id: AgentId, is_adopted: bool) {
        let dir = self.agent_dir(id);
        if let Some((reader, offset)) = reader(&self.fleet, &dir, id) {
            let (out, err, report) = (dir.out(), dir.err(), dir.report());
            let transcript = self.transcript(id, is_adopted);
            let follow = Follow { id, out, err, report, offset, reader, transcript, is_adopted };
            self.scan.follow(follow);
        }
    }

    pub(super) fn output(&mut self, news: scan::News) {
        match news {
            scan::News::Facts { id, facts, offset } => {
                self.apply(Event::Facts { id, facts, offset });
            }
            scan::News::Progress(id) => self.apply(Event::Progress(id)),
            scan::News::Behind(id, bytes) => self.apply(Event::Behind(id, bytes)),
            scan::News::CaughtUp(id) => self.caught_up(id),
            scan::News::Scanned(id, tails) => {
                self.scanned(id, self.diagnosed(id, tails));
                self.caught_up(id);
            }
        }
    }
}

/// Reads what an agent has written since its last checkpoint, and tells the fleet as it goes, so that nothing but the
/// fleet grows with it; to the very end if the agent has `ended`. Nothing starts because of it.
pub(super) fn read_all(fleet: &mut Fleet, now: Moment, dir: &AgentDir, id: AgentId, ended: bool) {
    let Some((reader, offset)) = reader(fleet, dir, id) else { return };
    let mut scanner = Scanner::new(dir.out(), dir.err(), offset, reader).with_report(dir.report());
    let code = fleet.exit_code(id);
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut facts = Vec::new();
    let mut tell = |event| drop(fleet.observe(now, event));
    scanner.adopt();
    while scanner.turn(u64::MAX, &mut buffer, &mut facts) > 0 {
        let offset = scanner.offset();
        tell(Event::Facts { id, facts: std::mem::take(&mut facts), offset });
    }
    let tails = ended.then(|| scanner.finish(code, &mut facts));
    if !facts.is_empty() {
        tell(Event::Facts { id, facts, offset: scanner.offset() });
    }
    if let Some(tails) = tails {
        tell(Event::Scanned(id, tails));
    }
}

fn reader(fleet: &Fleet, dir: &AgentDir, id: AgentId) -> Option<(Box<dyn LineReader>, u64)> {
    let task = fleet.task(id)?;
    let adapter = adapters::adapter_of(task)?;
    let work = fleet.work(id)?;
    let is_strict = fleet.options().strict_protocol;
    // The program of a model says in its command line what its output may not: which model, which session.
    let spec = (is_strict || task.traits.pays).then(|| read_spec(dir)).flatten();
    let sessions = spec.as_ref().and_then(|spec| spec.sessions.clone());
    let (argv, env) = spec.map(|spec| (spec.argv, spec.env)).unwrap_or_default();
    // A reader that cannot find the token believes nothing.
    let token = is_strict.then(|| env.get("FLEET_TOKEN").cloned().unwrap_or_default());
    let seen = Seen {
        steps: work.steps > 0,
        smokes: work.smokes_green > 0 || work.smokes_red > 0,
        result: work.result.is_some(),
    };
    let prices = Arc::new(Prices::new(fleet.options().prices.clone()));
    let (notes, session) = (work.notes.clone(), work.session.clone());
    let start = ReaderStart { token, seen, notes, prices, argv, session, sessions };
    Some((adapter.reader(start), work.offset))
}
