//! Telling agents more: who can be told, what is kept of it, and who goes on in whose session.

use std::collections::BTreeMap;

use super::support::*;
use crate::core::*;

/// Makes a story whose kinds can be told and gone on with as claude, codex and the rest can.
fn story(options: FleetOptions, tasks: Vec<Task>) -> Story {
    let mut story = Story::new(options);
    let talk = |messages, resumes| Talk { messages, interrupts: messages, resumes };
    let kinds = [("claude", talk(true, true)), ("codex", talk(false, true))];
    let talks: BTreeMap<_, _> =
        kinds.map(|(kind, talk)| (AgentKind(kind.to_owned()), talk)).into_iter().collect();
    story.fleet.set_talks(talks);
    story.does(submit(1, tasks));
    story
}

fn steer(id: AgentId, text: &str, number: u32) -> Event {
    command(Command::Steer(id, text.to_owned(), batch(number)))
}

fn told(id: AgentId, text: &str, outcome: Result<(), String>) -> Event {
    Event::Told { id, ticket: Ticket(0), what: Steering::Message(text.to_owned()), outcome }
}

/// What has to be done so that the first agent is told this.
fn tell(text: &str) -> Effect {
    Effect::Tell(A1, Ticket(0), Steering::Message(text.to_owned()))
}

fn interrupt(id: AgentId, text: Option<&str>) -> Event {
    command(Command::InterruptTurn(id, text.map(str::to_owned)))
}

fn interrupted(id: AgentId, text: Option<&str>, outcome: Result<(), String>) -> Event {
    let what = Steering::Interrupt(text.map(str::to_owned));
    Event::Told { id, ticket: Ticket(0), what, outcome }
}

/// The closing word of a turn that was cut off.
fn cut() -> Fact {
    Fact::Result(AgentResult {
        completed: Some(false),
        reason: Some(ExitReason::Signal),
        error: "was interrupted".to_owned(),
        ..AgentResult::default()
    })
}

fn codex(text: &str) -> Task {
    Task { kind: AgentKind("codex".to_owned()), ..paid(text) }
}

fn session(id: AgentId, name: &str) -> Event {
    facts(id, vec![Fact::Session(name.to_owned())])
}

#[track_caller]
fn refusal(story: &mut Story, event: Event) -> String {
    match story.asks(event) {
        Reply::Refused(refusal) => refusal.0,
        other => panic!("{other:?}"),
    }
}

/// Returns the refusal of what was asked with this ticket.
#[track_caller]
fn refusal_among(effects: &[Effect], asked: u64) -> String {
    let refused = effects.iter().find_map(|effect| match effect {
        Effect::Reply(Ticket(ticket), Reply::Refused(refusal)) if *ticket == asked => {
            Some(refusal.0.clone())
        }
        _ => None,
    });
    refused.unwrap_or_else(|| panic!("{effects:?}"))
}

fn answered() -> Fact {
    let answer = Some("done".to_owned());
    Fact::Result(AgentResult { completed: Some(true), answer, ..AgentResult::default() })
}

#[test]
fn a_message_is_recorded_before_it_is_told_and_answered_when_it_was() {
    let mut story = story(options(1, None), vec![paid("one")]);
    story.does(Event::Started(A1));
    let effects = story.apply(steer(A1, "more", 9));
    let record = Effect::Record(Record::Told(A1, "more".to_owned()));
    assert_eq!(effects, [record, tell("more")]);
    assert_eq!(story.asks(told(A1, "more", Ok(()))), Reply::Told(A1));
    assert_eq!((story.row(A1).told, story.row(A1).unheard), (1, vec!["more".to_owned()]));
    story.does(facts(A1, vec![Fact::Heard]));
    assert!(story.row(A1).unheard.is_empty());
    assert_eq!(story.row(A1).told, 1);
}

#[test]
fn one_that_could_not_be_written_counts_no_more_and_the_reason_is_told() {
    let mut story = story(options(1, None), vec![paid("one")]);
    story.does(Event::Started(A1));
    story.does(steer(A1, "first", 8));
    story.does(steer(A1, "second", 9));
    story.does(told(A1, "second", Ok(())));
    let why = refusal(&mut story, told(A1, "first", Err("it is full".to_owned())));
    assert_eq!(why, "#1 was not told: it is full");
    assert_eq!(story.row(A1).unheard, ["second"]);
    let mut restored = story.restored();
    assert_eq!(restored.row(A1).unheard, ["second"]);
}

/// C-129
#[test]
fn messages_are_refused_where_they_cannot_be_taken_and_what_was_not_taken_up_is_in_the_result() {
    let tasks = vec![paid("told"), codex("cannot"), paid("queued")];
    let mut story = story(options(2, None), tasks);
    story.does(Event::Started(A1));
    story.does(Event::Started(A2));
    assert!(refusal(&mut story, steer(A1, " \n", 9)).contains("blank"));
    assert!(
        refusal(&mut story, steer(A2, "more", 9)).contains("codex takes no messages while it runs")
    );
    assert!(refusal(&mut story, steer(A3, "more", 9)).contains("has not started"));
    assert!(refusal(&mut story, steer(A4, "more", 9)).contains("no agent #4"));
    for text in ["one", "two"] {
        story.does(steer(A1, text, 9));
        story.does(told(A1, text, Ok(())));
    }
    story.does(facts(A1, vec![Fact::Heard]));
    story.ends(A1, 0);
    assert_eq!(story.row(A1).unheard, ["two"]);
    assert!(refusal(&mut story, steer(A1, "late", 9)).contains("before it named a session"));
    assert_eq!(story.restored().row(A1).unheard, ["two"]);
}

#[test]
fn an_agent_that_is_just_starting_is_told_when_it_runs_if_its_kind_can_be_told_at_all() {
    let mut story = story(options(2, None), vec![paid("claude"), free("sh")]);
    let refused = refusal(&mut story, steer(A2, "more", 2));
    assert!(refused.contains("sh takes no messages while it runs"), "{refused}");
    // Not even a record: should this host go, nobody was told and nobody has heard that it was.
    assert_eq!(story.apply(steer(A1, "first", 3)), []);
    assert_eq!(story.apply(steer(A1, "second", 4)), []);
    assert_eq!((story.row(A1).told, story.restored().row(A1).told), (0, 0));
    let refused = refusal(&mut story, interrupt(A1, None));
    assert!(refused.contains("has no turn"), "{refused}");
    let record = |text: &str| Effect::Record(Record::Told(A1, text.to_owned()));
    let expected = [record("first"), tell("first"), record("second"), tell("second")];
    assert_eq!(story.apply(Event::Started(A1)), expected, "in order, before anything newer");
    assert_eq!(story.apply(steer(A1, "third", 5)), [record("third"), tell("third")]);
    assert_eq!(story.row(A1).unheard, ["first", "second", "third"]);
}

#[test]
fn whoever_told_one_that_does_not_come_to_run_learns_why() {
    let mut story = story(options(2, None), vec![paid("stopped"), paid("begins late")]);
    for (id, number) in [(A1, 3), (A2, 4)] {
        let steered = Command::Steer(id, "more".to_owned(), batch(9));
        story.does(Event::Command { ticket: Ticket(number), command: steered });
    }
    let why = refusal_among(&story.apply(command(Command::Stop(Some(vec![A1])))), 3);
    assert!(why.contains("#1 is ending"), "{why}");
    let why = refusal_among(&story.apply(Event::NeverBegan(A2)), 4);
    assert!(why.contains("#2 has not started: edit its task"), "{why}");
    story.does(Event::Started(A2));
    assert_eq!(story.row(A2).told, 0);
}

#[test]
fn messages_for_one_that_is_starting_are_bounded() {
    let mut story = story(options(1, None), vec![paid("one")]);
    for _ in 0..64 {
        story.does(steer(A1, "more", 9));
    }
    assert!(refusal(&mut story, steer(A1, "more", 9)).contains("64 earlier messages"));
}

#[test]
fn an_interrupt_of_which_a_host_that_has_gone_may_have_told_nobody_can_be_given_again() {
    let mut story = story(options(1, None), vec![paid("one")]);
    story.does(Event::Started(A1));
    story.does(interrupt(A1, None));
    let mut next = story.restored();
    next.fleet.set_talks(story.fleet.talks.clone());
    next.does(Event::Adopted(A1, None));
    let again = Effect::Tell(A1, Ticket(0), Steering::Interrupt(None));
    assert_eq!(next.does(interrupt(A1, None)), [again]);
    assert!(refusal(&mut next, interrupt(A1, None)).contains("already being interrupted"));
    next.does(interrupted(A1, None, Err("it is full".to_owned())));
    next.does(interrupt(A1, None));
    // Both may have been told: one end of the turn answers them.
    assert_eq!(next.does(facts(A1, vec![cut()])), []);
    assert!(matches!(next.row(A1).phase, Phase::Interrupted(_)));
    next.does(steer(A1, "more", 9));
    next.does(facts(A1, vec![Fact::Heard, answered()]));
    next.ends(A1, 0);
    assert_eq!(next.row(A1).status, Status::Ended(Outcome::Done));
}

#[test]
fn an_agent_is_told_at_the_cap_and_while_the_queue_is_held() {
    let mut story = story(options(1, Some(cents(10))), vec![paid("one"), paid("two")]);
    story.does(Event::Started(A1));
    story.does(costs(A1, cents(20)));
    story.does(command(Command::Hold));
    let effects = story.does(steer(A1, "more", 9));
    assert_eq!(effects, [tell("more")]);
}

#[test]
fn the_input_is_closed_after_the_last_word_and_again_by_a_host_that_takes_over() {
    let mut story = story(options(2, None), vec![paid("one"), codex("two")]);
    story.does(Event::Started(A1));
    story.does(Event::Started(A2));
    assert_eq!(story.does(facts(A1, vec![answered()])), [Effect::CloseInput(A1)]);
    assert_eq!(story.does(facts(A2, vec![answered()])), []);
    assert!(refusal(&mut story, steer(A1, "more", 9)).contains("about to end"));
    assert_eq!(story.does(Event::Adopted(A1, None)), [Effect::CloseInput(A1)]);
    story.ends(A1, 0);
    assert_eq!(story.does(Event::Adopted(A1, None)), []);
}

#[test]
fn an_ended_agent_is_gone_on_with_by_one_with_its_options_that_pays_for_itself_alone() {
    let task = Task { read_only: true, context: Some("common".to_owned()), ..codex("one") };
    let mut story = story(options(1, None), vec![task]);
    story.does(session(A1, "s-1"));
    let total =
        |input| Fact::SessionTotal(SessionTotal { usage: Usage { input, ..Usage::default() } });
    story.does(facts(A1, vec![total(5400)]));
    story.ends(A1, 0);
    assert_eq!(story.asks(steer(A1, "and tests", 2)), Reply::Queued(batch(2), vec![A2]));
    assert_eq!(story.asks(steer(A1, "and tests", 2)), Reply::Queued(batch(2), vec![A2]));
    let row = story.row(A2);
    let continues = Continues { agent: A1, session: "s-1".to_owned() };
    assert_eq!((&*row.task.text, &row.task.continues), ("and tests", &Some(continues)));
    assert_eq!((row.task.read_only, &row.task.context), (true, &None));
    let why = refusal(&mut story, steer(A1, "more", 3));
    assert!(why.contains("tell #2 instead"), "{why}");
    story.does(facts(A2, vec![total(8700)]));
    assert_eq!(story.row(A2).tokens.total(), 3300);
    story.ends(A2, 0);
    // What #2 has used is no later one's, whichever of the two is named.
    assert_eq!(story.asks(steer(A1, "more", 4)), Reply::Queued(batch(4), vec![A3]));
    story.does(facts(A3, vec![total(9000)]));
    assert_eq!(story.row(A3).tokens.total(), 300);
    assert_eq!(story.restored().row(A2).tokens.total(), 3300);
}

#[test]
fn kinds_and_command_lines_that_cannot_go_on_say_what_can_be_done_instead() {
    let given = Task { command: Some(vec!["claude".to_owned()]), ..paid("given") };
    let mut story = story(options(3, None), vec![free("sh"), given, codex("odd")]);
    story.does(session(A2, "s-2"));
    story.does(session(A3, "--dangerous"));
    for id in [A1, A2, A3] {
        story.ends(id, 0);
    }
    assert!(refusal(&mut story, steer(A1, "more", 2)).contains("sh cannot go on in a session"));
    assert!(refusal(&mut story, steer(A2, "more", 2)).contains("command line"));
    assert!(refusal(&mut story, steer(A3, "more", 2)).contains("session"));
    assert_eq!(story.snapshot().rows.len(), 3);
}

#[test]
fn an_edit_leaves_a_follow_up_in_its_session() {
    let mut story = story(options(1, None), vec![codex("one")]);
    story.does(session(A1, "s-1"));
    story.ends(A1, 0);
    story.does(command(Command::Hold));
    story.asks(steer(A1, "and tests", 2));
    let edit = |task| command(Command::Edit(A2, Box::new(task)));
    assert_eq!(story.asks(edit(codex("and docs"))), Reply::Done(1));
    let task = story.row(A2).task;
    assert_eq!((&*task.text, task.continues.is_some()), ("and docs", true));
    assert!(refusal(&mut story, edit(paid("other"))).contains("only its own kind"));
}

#[test]
fn messages_that_are_taken_up_are_bounded_as_well() {
    let mut story = story(options(1, None), vec![paid("one")]);
    story.does(Event::Started(A1));
    for _ in 0..1_000 {
        story.does(steer(A1, "more", 9));
        story.does(told(A1, "more", Ok(())));
        story.does(facts(A1, vec![Fact::Heard]));
    }
    assert!(refusal(&mut story, steer(A1, "more", 9)).contains("1000 messages"));
}

#[test]
fn messages_that_nobody_takes_up_are_bounded() {
    let mut story = story(options(1, None), vec![paid("one")]);
    story.does(Event::Started(A1));
    for _ in 0..64 {
        story.does(steer(A1, "more", 9));
        story.does(told(A1, "more", Ok(())));
    }
    assert!(refusal(&mut story, steer(A1, "more", 9)).contains("64 earlier messages"));
}

#[test]
fn an_interrupted_turn_is_no_end_of_the_agent_and_what_it_cost_counts() {
    let mut story = story(options(1, None), vec![paid("one")]);
    story.does(Event::Started(A1));
    story.does(tool(A1, StepState::Start));
    let effects = story.apply(interrupt(A1, Some("otherwise")));
    let text = Some("otherwise".to_owned());
    let tell = Effect::Tell(A1, Ticket(0), Steering::Interrupt(text.clone()));
    assert_eq!(effects, [Effect::Record(Record::TurnInterrupted(A1, text)), tell]);
    let reply = story.asks(interrupted(A1, Some("otherwise"), Ok(())));
    assert_eq!(reply, Reply::TurnInterrupted(A1));
    assert!(refusal(&mut story, interrupt(A1, None)).contains("already being interrupted"));
    story.does(costs(A1, cents(20)));
    assert_eq!(story.does(facts(A1, vec![cut()])), [], "its input stays open");
    assert_eq!((story.row(A1).phase, story.row(A1).unheard.len()), (Phase::Works, 1));
    story.does(facts(A1, vec![Fact::Heard]));
    assert_eq!(story.row(A1).status, Status::Running);
    story.does(facts(A1, vec![Fact::TotalCost(cents(30))]));
    assert_eq!(story.does(facts(A1, vec![answered()])), [Effect::CloseInput(A1)]);
    story.ends(A1, 0);
    let row = story.row(A1);
    assert_eq!((row.status, row.cost), (Status::Ended(Outcome::Done), Some(cents(30))));
    assert_eq!(row.answer, "done");
}

#[test]
fn an_agent_that_was_interrupted_without_a_message_waits_for_one_also_with_another_host() {
    let mut story = story(options(1, None), vec![paid("one")]);
    story.does(Event::Started(A1));
    story.does(tool(A1, StepState::Start));
    story.does(interrupt(A1, None));
    assert_eq!(story.asks(interrupted(A1, None, Ok(()))), Reply::TurnInterrupted(A1));
    assert_eq!(story.does(facts(A1, vec![cut()])), []);
    assert!(matches!(story.row(A1).phase, Phase::Interrupted(_)), "{:?}", story.row(A1).phase);
    assert!(refusal(&mut story, interrupt(A1, None)).contains("tell it what to go on with"));
    assert_eq!(story.does(Event::Adopted(A1, None)), [], "its input stays open");
    // With a message there is no turn to be ended any more.
    assert_eq!(story.does(interrupt(A1, Some("more"))), [tell("more")]);
    story.does(told(A1, "more", Ok(())));
    assert_eq!(story.row(A1).phase, Phase::Works);
    story.does(facts(A1, vec![Fact::Heard]));
    // A signal from elsewhere is no interrupt that anybody asked for.
    assert_eq!(story.does(facts(A1, vec![cut()])), [Effect::CloseInput(A1)]);
    story.ends(A1, 0);
    assert_eq!(story.row(A1).status, Status::Ended(Outcome::Failed));
}

#[test]
fn a_turn_that_ends_before_it_is_interrupted_has_ended() {
    let mut story = story(options(1, None), vec![paid("one")]);
    story.does(Event::Started(A1));
    story.does(interrupt(A1, None));
    story.does(interrupted(A1, None, Ok(())));
    assert_eq!(story.does(facts(A1, vec![answered()])), [Effect::CloseInput(A1)]);
    story.ends(A1, 0);
    assert_eq!(story.row(A1).status, Status::Ended(Outcome::Done));
}

#[test]
fn an_interrupt_that_could_not_be_written_counts_no_more() {
    let mut story = story(options(1, None), vec![paid("one")]);
    story.does(Event::Started(A1));
    story.does(interrupt(A1, Some("otherwise")));
    let outcome = Err("it is full".to_owned());
    let why = refusal(&mut story, interrupted(A1, Some("otherwise"), outcome));
    assert_eq!(why, "#1 was not told: it is full");
    assert!(story.row(A1).unheard.is_empty());
    assert!(story.restored().row(A1).unheard.is_empty());
    story.does(facts(A1, vec![cut()]));
    story.ends(A1, 0);
    assert_eq!(story.row(A1).status, Status::Ended(Outcome::Failed));
}

#[test]
fn a_turn_that_cannot_be_interrupted_says_what_can_be_done_instead() {
    let tasks = vec![paid("one"), codex("two"), free("three"), paid("four")];
    let mut story = story(options(3, None), tasks);
    for id in [A1, A2, A3] {
        story.does(Event::Started(id));
    }
    let mut why = |id, text| refusal(&mut story, interrupt(id, text));
    assert!(why(A1, Some(" ")).contains("blank"));
    let codex = why(A2, None);
    assert!(codex.contains("codex cannot be interrupted: stop it, and what it is told"), "{codex}");
    assert!(why(A3, None).contains("sh cannot be interrupted: stop it and submit"));
    assert!(why(A4, None).contains("has not started"));
    story.does(facts(A1, vec![answered()]));
    assert!(refusal(&mut story, interrupt(A1, None)).contains("about to end"));
    story.ends(A1, 0);
    assert!(refusal(&mut story, interrupt(A1, None)).contains("nothing to interrupt"));
}

#[test]
fn a_host_that_takes_over_knows_which_interrupts_have_had_their_effect() {
    let mut story = story(options(1, None), vec![paid("one")]);
    story.does(Event::Started(A1));
    story.does(interrupt(A1, None));
    story.does(interrupted(A1, None, Ok(())));
    // Not this one yet: the next closing word is that of its turn.
    let talks = story.fleet.talks.clone();
    let mut before = story.restored();
    before.fleet.set_talks(talks.clone());
    before.does(Event::Adopted(A1, None));
    assert_eq!(before.does(facts(A1, vec![cut()])), []);
    assert!(matches!(before.row(A1).phase, Phase::Interrupted(_)));
    story.does(facts(A1, vec![cut()]));
    story.tick_after(std::time::Duration::from_secs(6));
    let mut after = story.restored();
    after.fleet.set_talks(talks);
    assert_eq!(after.does(Event::Adopted(A1, None)), []);
    assert!(matches!(after.row(A1).phase, Phase::Interrupted(_)));
    after.does(steer(A1, "more", 9));
    after.does(facts(A1, vec![Fact::Heard]));
    assert_eq!(after.does(facts(A1, vec![cut()])), [Effect::CloseInput(A1)]);
}
