//! Whose transcript it is, where it goes on, and the line about the end: what the writer of transcripts cannot know.
//!
//! What may go here: from a fleet to a transcript. What may not: the shape of a transcript (`tail` has it).

use jiff::tz::TimeZone;

use super::host::Host;
use crate::core::{AgentId, Record};
use crate::tail::transcript::{Header, Start, conclude, end_line};

impl Host {
    /// Returns the first lines of an agent's transcript, the same whenever it is asked for.
    pub(super) fn transcript_header(&self, id: AgentId) -> String {
        let (fleet, path) = (self.dir.id(), self.agent_dir(id).transcript());
        let header = || {
            let (batch, index) = self.fleet.batch_of(id)?;
            let (task, started) = (self.fleet.task(id)?, self.fleet.dispatched_at(id)?);
            Some(Header { fleet, id, batch, index, task, started, path: &path })
        };
        header().map(|header| header.to_text(&TimeZone::system())).unwrap_or_default()
    }

    /// Returns what an agent's transcript begins with, or goes on with if an earlier host has begun it.
    pub(super) fn transcript(&self, id: AgentId, is_adopted: bool) -> Option<Start> {
        let new = Start {
            path: self.agent_dir(id).transcript(),
            header: self.transcript_header(id),
            ..Start::default()
        };
        if !is_adopted {
            return Some(new);
        }
        let work = self.fleet.work(id)?;
        let (state, open_tools) = (work.transcript.clone(), work.open_tools.clone());
        Some(Start { state, open_tools, model: work.model.clone(), ..new })
    }

    /// Writes the last line of a transcript when its agent has been judged.
    ///
    /// Comes before the record of the end: a host that dies in between judges the agent again, and cuts off what it wrote
    /// here; one that dies later has written it. So it is there once, whatever happens.
    pub(super) fn conclude_transcript(&self, record: &Record) {
        let Record::Ended(id, end, work) = record else { return };
        let state = &work.transcript;
        if state.trouble.is_none() {
            let line = end_line(end, &TimeZone::system());
            // The end is in the journal and in the row as well; a disk that is full now takes nothing from them.
            let _ = conclude(&self.agent_dir(*id).transcript(), state.bytes, &line);
        }
    }
}
