//! What all stories share: tasks, events in short form, and a fleet that keeps its journal.
//!
//! What may go here: builders without a verdict. What may not: assertions about behaviour.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::core::*;

pub(super) const CENT: u64 = 10_000_000;

pub(super) const A1: AgentId = AgentId(1);
pub(super) const A2: AgentId = AgentId(2);
pub(super) const A3: AgentId = AgentId(3);
pub(super) const A4: AgentId = AgentId(4);
pub(super) const Q1: QuestionId = QuestionId(1);
pub(super) const Q2: QuestionId = QuestionId(2);

/// Returns an amount in cents.
pub(super) const fn cents(cents: u64) -> NanoUsd {
    NanoUsd::from_nanos(cents * CENT)
}

/// Makes a task of a kind that costs nothing until it reports.
pub(super) fn free(text: &str) -> Task {
    let traits = KindTraits { prompt: false, pays: false, must_answer: false };
    Task::new(text, AgentKind("sh".to_owned()), traits, PathBuf::from("/project"))
}

/// Makes a task of a kind whose every run may cost money.
pub(super) fn paid(text: &str) -> Task {
    Task {
        kind: AgentKind("claude".to_owned()),
        traits: KindTraits { prompt: true, pays: true, must_answer: false },
        ..free(text)
    }
}

/// Makes a task with a budget.
pub(super) fn budgeted(text: &str, budget: NanoUsd) -> Task {
    Task { kind: AgentKind("codex".to_owned()), budget: Some(budget), ..paid(text) }
}

/// Makes a task for an engine.
pub(super) fn engine(name: &str) -> Task {
    Task { engine: Some(name.to_owned()), ..free(name) }
}

pub(super) fn batch(number: u32) -> BatchId {
    BatchId::from_bits(number)
}

/// Makes options with so many slots and this cap.
pub(super) fn options(slots: u32, cap: Option<NanoUsd>) -> FleetOptions {
    FleetOptions { max_parallel: Some(slots), cap, ..FleetOptions::default() }
}

pub(super) fn command(command: Command) -> Event {
    Event::Command { ticket: Ticket(0), command }
}

pub(super) fn submit(number: u32, tasks: Vec<Task>) -> Event {
    command(Command::Submit(Submission { id: batch(number), tasks, origin: None, inside: None }))
}

pub(super) fn stop(id: AgentId) -> Event {
    command(Command::Stop(Some(vec![id])))
}

pub(super) fn stop_all() -> Event {
    command(Command::Stop(None))
}

pub(super) fn interrupt() -> Event {
    command(Command::Interrupt("SIGINT".to_owned()))
}

pub(super) fn answer(id: QuestionId, answer: Answer) -> Event {
    command(Command::Answer(id, answer))
}

pub(super) fn set_cap(cap: Option<NanoUsd>) -> Event {
    command(Command::SetCap(cap))
}

pub(super) fn facts(id: AgentId, facts: Vec<Fact>) -> Event {
    Event::Facts { id, facts, offset: 0 }
}

/// Reports a running total of cost.
pub(super) fn costs(id: AgentId, total: NanoUsd) -> Event {
    facts(id, vec![Fact::TotalCost(total)])
}

pub(super) fn tool(id: AgentId, state: StepState) -> Event {
    facts(
        id,
        vec![Fact::Step {
            id: None,
            tool: "bash".to_owned(),
            text: "cargo test".to_owned(),
            state,
        }],
    )
}

/// Makes the end of a tree that nobody stopped.
pub(super) fn tree(end: ProcessEnd) -> TreeEnd {
    TreeEnd {
        end,
        timed_out: false,
        signalled: false,
        orphaned: false,
        owner_stop: false,
        at: Moment(0),
        run_time: Some(Duration::from_secs(1)),
        swept: Vec::new(),
        escalated: false,
    }
}

pub(super) fn gone(id: AgentId, code: i32) -> Event {
    Event::TreeGone(id, tree(ProcessEnd::Code(code)))
}

pub(super) fn scanned(id: AgentId) -> Event {
    Event::Scanned(id, Tails::default())
}

/// A fleet together with its journal.
#[derive(Debug, Clone)]
pub(super) struct Story {
    pub(super) fleet: Fleet,
    pub(super) now: Moment,
    pub(super) journal: Vec<(Moment, Arc<Record>)>,
    /// The journal folded so far, which is what `Fleet::restore` does record by record.
    pub(super) replayed: Fleet,
}

impl Story {
    pub(super) fn new(options: FleetOptions) -> Self {
        let now = Moment(1_000);
        let (fleet, effects) = Fleet::new(FleetId("k3f".to_owned()), options, now);
        let replayed = Fleet::restore(FleetId("k3f".to_owned()), []);
        let mut story = Self { fleet, now, journal: Vec::new(), replayed };
        story.keep(&effects);
        story
    }

    /// Keeps the records among the effects, as the runtime does.
    fn keep(&mut self, effects: &[Effect]) {
        for effect in effects {
            if let Effect::Record(record) = effect {
                self.replayed.now = self.now;
                self.replayed.fold(record);
                self.journal.push((self.now, Arc::new(record.clone())));
            }
        }
    }

    /// Applies one event and returns all effects. A tree of which nothing else is said ends now.
    pub(super) fn apply(&mut self, mut event: Event) -> Vec<Effect> {
        if let Event::TreeGone(_, tree) = &mut event
            && tree.at == Moment(0)
        {
            tree.at = self.now;
        }
        let effects = self.fleet.apply(self.now, event);
        self.keep(&effects);
        effects
    }

    /// Applies one event and returns what has to be done beside records and replies.
    pub(super) fn does(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = self.apply(event);
        effects.retain(|effect| !matches!(effect, Effect::Record(_) | Effect::Reply(..)));
        effects
    }

    /// Applies one command and returns the reply.
    #[track_caller]
    pub(super) fn asks(&mut self, event: Event) -> Reply {
        let effects = self.apply(event);
        match effects.last() {
            Some(Effect::Reply(_, reply)) => reply.clone(),
            other => panic!("the last effect is a reply, not {other:?}"),
        }
    }

    /// Lets the agent run to its end with an exit code, and returns what has to be done because of it.
    pub(super) fn ends(&mut self, id: AgentId, code: i32) -> Vec<Effect> {
        let mut effects = self.does(Event::Started(id));
        effects.extend(self.does(gone(id, code)));
        effects.extend(self.does(scanned(id)));
        effects
    }

    /// Lets the agent run to its end after it has reported a total cost.
    pub(super) fn ends_costing(&mut self, id: AgentId, cost: NanoUsd) -> Vec<Effect> {
        let mut effects = self.does(costs(id, cost));
        effects.extend(self.ends(id, 0));
        effects
    }

    /// Lets the agent fail with this structured reason.
    pub(super) fn fails_with(&mut self, id: AgentId, reason: ExitReason) -> Vec<Effect> {
        let result = AgentResult { reason: Some(reason), ..AgentResult::default() };
        let mut effects = self.does(facts(id, vec![Fact::Result(result)]));
        effects.extend(self.ends(id, 1));
        effects
    }

    /// Lets time pass, without telling the fleet.
    pub(super) fn wait(&mut self, span: Duration) -> &mut Self {
        self.now = self.now.after(span);
        self
    }

    /// Lets time pass and ticks.
    pub(super) fn tick_after(&mut self, span: Duration) -> Vec<Effect> {
        self.wait(span).does(Event::Tick)
    }

    pub(super) fn snapshot(&mut self) -> Snapshot {
        self.fleet.snapshot(self.now)
    }

    #[track_caller]
    pub(super) fn row(&mut self, id: AgentId) -> Row {
        let snapshot = self.snapshot();
        let row = snapshot.rows.iter().find(|row| row.id == id);
        row.unwrap_or_else(|| panic!("no row {id} in {:?}", snapshot.rows)).as_ref().clone()
    }

    pub(super) fn status(&mut self, id: AgentId) -> Status {
        self.row(id).status
    }

    #[track_caller]
    pub(super) fn end(&mut self, id: AgentId) -> End {
        let row = self.row(id);
        *row.end.unwrap_or_else(|| panic!("{id} has not ended but is {:?}", row.status))
    }

    /// Rebuilds the fleet from the journal so far.
    pub(super) fn restored(&self) -> Self {
        let id = FleetId("k3f".to_owned());
        let records = self.journal.iter().map(|(at, record)| (*at, record.as_ref().clone()));
        let fleet = Fleet::restore(id, records);
        Self { fleet, ..self.clone() }
    }
}

/// Plays events into a new fleet; returns it with everything it wanted done beside records and replies.
pub(super) fn play(options: FleetOptions, events: Vec<Event>) -> (Story, Vec<Effect>) {
    let mut story = Story::new(options);
    let effects = events.into_iter().flat_map(|event| story.does(event)).collect();
    (story, effects)
}

/// Returns the agents that are spawned, in order.
pub(super) fn spawned(effects: &[Effect]) -> Vec<AgentId> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::Spawn(id) => Some(*id),
            Effect::Record(_)
            | Effect::Stop(..)
            | Effect::Tell(..)
            | Effect::CloseInput(_)
            | Effect::Reply(..)
            | Effect::Forget(_)
            | Effect::Notify(_) => None,
        })
        .collect()
}
