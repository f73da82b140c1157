//! The reader of a program that prints events: what all of them do alike, around what each event of one program means.
//!
//! What may go here: the shape of such a reader. What may not: the events of one program, what is kept of a run (`Told`).

use crate::adapters::causes::Named;
use crate::adapters::session_files::Recording;
use crate::adapters::{Closing, Ended, LineReader, SessionFiles};
use crate::core::Fact;

use super::Told;

/// What is peculiar to the stream of one program. Whatever has it is a [`LineReader`].
pub(in crate::adapters) trait EventStream: Send {
    /// What its sentences name.
    const NAMED: Named;

    /// What is known of the run.
    fn told(&self) -> &Told;

    /// The same, to add to it.
    fn told_mut(&mut self) -> &mut Told;

    /// Reads one event; `None` if it is none that can be understood. Events of an unknown type tell nothing.
    fn event(&mut self, line: &[u8], facts: &mut Vec<Fact>) -> Option<()>;

    /// Takes an output without any event.
    fn plain(&mut self, bytes: &[u8], _facts: &mut Vec<Fact>) {
        self.told_mut().take_plain(bytes);
    }

    /// Takes the end of the agent.
    fn close(&mut self, end: Ended<'_>, facts: &mut Vec<Fact>) {
        facts.extend(self.told_mut().unfinished(Self::NAMED, end));
    }

    /// What the program records beside its output, if that is read.
    fn recording(&self) -> Option<&Recording> {
        None
    }

    /// The same, to add to it.
    fn recording_mut(&mut self) -> Option<&mut Recording> {
        None
    }

    /// Says whether lines of its standard error are read while it runs.
    const READS_ERRORS: bool = false;

    /// Takes one line of that.
    fn standard_error(&mut self, _line: &[u8], _facts: &mut Vec<Fact>) {}
}

impl<S: EventStream> LineReader for S {
    fn reads_lines(&self) -> bool {
        true
    }

    fn line(&mut self, line: &[u8], facts: &mut Vec<Fact>) {
        match self.event(line, facts) {
            Some(()) => self.told_mut().hear(),
            None => facts.push(Fact::Unknown),
        }
    }

    fn reads_closing(&self) -> bool {
        !self.told().has_events()
    }

    fn closing(&mut self, closing: Closing<'_>, facts: &mut Vec<Fact>) -> Option<usize> {
        self.plain(closing.bytes, facts);
        None
    }

    fn ended(&mut self, end: Ended<'_>, facts: &mut Vec<Fact>) {
        self.close(end, facts);
    }

    fn notes(&self) -> Option<String> {
        self.told().notes()
    }

    fn is_text(&self, line: &[u8]) -> bool {
        !line.starts_with(b"{")
    }

    fn reads_session(&self) -> bool {
        self.recording().is_some_and(Recording::is_read)
    }

    fn session_files(&self) -> Option<SessionFiles> {
        self.recording()?.files()
    }

    fn session_line(&mut self, line: &[u8]) {
        if let Some(recording) = self.recording_mut() {
            recording.line(line);
        }
    }

    fn session_read(&mut self, facts: &mut Vec<Fact>) {
        if let Some(recording) = self.recording_mut() {
            recording.tell(facts);
        }
    }

    fn reads_errors(&self) -> bool {
        S::READS_ERRORS
    }

    fn error_line(&mut self, line: &[u8], facts: &mut Vec<Fact>) {
        self.standard_error(line, facts);
    }
}
