//! Every key that steers something answers: the screen changes, a remark says why not, or something leaves the screen.

use super::*;
use crate::core::Hold;
use crate::tui::keymap::{Action, Binding, KEYMAP};

const SIZES: [(u16, u16); 2] = [(80, 24), (40, 12)];

/// A fleet in a state in which a key may find nothing to do, with the agent that is selected.
struct Stand {
    name: &'static str,
    snapshot: Snapshot,
    selected: Option<AgentId>,
    connection: Connection,
    is_read_only: bool,
}

fn queued(id: u32) -> Row {
    Row { status: Status::Queued, started: None, ..row(id) }
}

fn stand(name: &'static str, rows: Vec<Row>, selected: u32) -> Stand {
    Stand {
        name,
        snapshot: snapshot(1, rows),
        selected: (selected > 0).then_some(AgentId(selected)),
        connection: Connection::Up,
        is_read_only: false,
    }
}

fn stands() -> Vec<Stand> {
    let busy = || vec![row(1), queued(2), queued(3), end(row(4), Outcome::Failed, "exit code 1")];
    let mut stopping = row(1);
    stopping.status = Status::Stopping;
    let mut retried = end(row(1), Outcome::Failed, "exit code 1");
    retried.retried_by = Some(AgentId(2));
    let mut held = stand("held by its owner", busy(), 2);
    held.snapshot.header.hold = Some(Hold::Owner);
    let mut at_cap = stand("held at the cap", busy(), 2);
    at_cap.snapshot.header.hold = Some(Hold::Cap);
    let mut asked = stand("asked about the cap", Vec::new(), 1);
    asked.snapshot = asking();
    let mut lost = stand("without a host", busy(), 1);
    lost.connection = Connection::Waiting("host gone: starting another".to_owned());
    let mut failed = stand("without a host for good", busy(), 2);
    failed.connection = Connection::Failed("the state folder is full".to_owned());
    let mut over = stand("only looked at", ended(), 1);
    over.is_read_only = true;
    vec![
        stand("empty", Vec::new(), 0),
        stand("one runs", vec![row(1)], 1),
        stand("one stops", vec![stopping], 1),
        stand("one waits", vec![queued(1)], 1),
        stand("one has ended", vec![end(row(1), Outcome::Done, "")], 1),
        stand("one was tried again", vec![retried, row(2)], 1),
        stand("the first waits", busy(), 2),
        stand("the last waits", busy(), 3),
        stand("one failed", busy(), 4),
        held,
        at_cap,
        asked,
        lost,
        failed,
        over,
    ]
}

/// The screen of such a fleet, where keys mean what they mean in a place. `None` if it cannot be there.
fn at(stand: &Stand, place: Place, (columns, rows): (u16, u16)) -> Option<Model> {
    let mut model = model(stand.snapshot.clone(), columns, rows);
    model.world.connection = stand.connection.clone();
    model.world.is_read_only = stand.is_read_only;
    model.seen_question = stand.snapshot.question.as_ref().map(|question| question.id);
    model.world.focus = match place {
        Place::Editor => Focus::Editor,
        Place::Tail => Focus::Tail,
        _ => Focus::Agents,
    };
    if let Some(id) = stand.selected {
        model.agents.select(id, &model.world);
    }
    let world = &model.world;
    model.modal = match place {
        Place::Everywhere
        | Place::Question
        | Place::Editor
        | Place::Agents
        | Place::Tail
        | Place::Prompt => None,
        Place::Cap | Place::CapByHand => Some(Modal::cap(world, None)),
        Place::FirstCap => Some(Modal::first_cap("ygg", world, None)),
        Place::Quit | Place::Stopping => Some(Modal::quit(world)),
        Place::Confirm => Some(Modal::confirm("sure?".to_owned(), Vec::new(), None)),
        Place::Help => Some(Modal::help(Place::Agents)),
        Place::Text => Some(Modal::results()),
        Place::Options => Some(Modal::options(world)),
        Place::Tell => Some(Modal::tell(AgentId(1), world)),
        Place::Fleets => Some(Modal::fleet_list()),
        Place::Again => Some(Modal::again()),
    };
    let _ = model.update(NOW, Message::Wake);
    match place {
        Place::Stopping => drop(press(&mut model, KeyCode::Char('s'))),
        Place::Prompt => drop(press(&mut model, KeyCode::Char('/'))),
        _ => {}
    }
    model.flash = None;
    (model.place() == place || place == Place::Everywhere).then_some(model)
}

/// Says whether a key goes somewhere in what is shown, or edits a text: at the end of it nothing happens, as everywhere.
fn moves_or_types(action: Action) -> bool {
    matches!(
        action,
        Action::Down
            | Action::Up
            | Action::PageDown
            | Action::PageUp
            | Action::HalfPageDown
            | Action::HalfPageUp
            | Action::First
            | Action::Last
            | Action::Left
            | Action::Right
            | Action::WordLeft
            | Action::WordRight
            | Action::LineHead
            | Action::LineEnd
            | Action::DeleteWord
    )
}

/// Says whether something left the screen that shows by itself, or whose end is told.
fn shows_outside(request: &Request) -> bool {
    matches!(
        request,
        Request::Copy(..)
            | Request::ShowFile(_)
            | Request::EditFile(_)
            | Request::EditDraft(_)
            | Request::Suspend
            | Request::Redraw
            | Request::Leave(_)
            | Request::Tail(_)
    )
}

/// Presses every such key of a place; returns those that nothing answers.
fn silent(stand: &Stand, place: Place, size: (u16, u16)) -> (Vec<&'static Binding>, Vec<String>) {
    let mut pressed = Vec::new();
    let mut silent = Vec::new();
    let before = at(stand, place, size).map(|model| frame(&model, size.0, size.1));
    for binding in KEYMAP.iter().filter(|binding| !moves_or_types(binding.action)) {
        if binding.place != place && Some(binding.place) != place.shared() {
            continue;
        }
        let Some(mut model) = at(stand, place, size) else { continue };
        pressed.push(binding);
        model.drawn();
        let requests = model.update(NOW, Message::Key(binding.event()));
        let is_told = || Some(frame(&model, size.0, size.1)) != before;
        if !requests.iter().any(shows_outside) && !is_told() {
            let Binding { shown, action, .. } = binding;
            silent.push(format!("{}: {shown} ({action:?}) in {place:?} at {size:?}", stand.name));
        }
    }
    (pressed, silent)
}

/// C-146, with the next two.
#[test]
fn every_key_that_steers_something_answers_in_every_state() {
    let mut pressed = Vec::new();
    let mut silent_ones = Vec::new();
    for stand in stands() {
        for (place, size) in
            Place::ALL.into_iter().flat_map(|place| SIZES.map(|size| (place, size)))
        {
            let (some, quiet) = silent(&stand, place, size);
            pressed.extend(some.into_iter().map(|binding| (binding.place, binding.shown)));
            silent_ones.extend(quiet);
        }
    }
    assert!(silent_ones.is_empty(), "no answer:\n{}", silent_ones.join("\n"));
    for binding in KEYMAP.iter().filter(|binding| !moves_or_types(binding.action)) {
        let key = (binding.place, binding.shown);
        assert!(pressed.contains(&key), "never pressed: {key:?}");
    }
}

/// The second time kills, and says so whatever the answers to the first are.
#[test]
fn killing_what_was_asked_to_stop_is_told() {
    let mut model = model(snapshot(1, running()), 80, 24);
    control(&mut model, 'c');
    press(&mut model, KeyCode::Char('s'));
    press(&mut model, KeyCode::Char('k'));
    assert_eq!(shown(&model), "killing what has not ended");
    let _ = model.update(NOW, Message::Replied(Asked::StopAll, Ok(Reply::Done(2))));
    assert_eq!(shown(&model), "killing 2 agents");
}

#[test]
fn what_the_host_did_is_told_of_every_control() {
    let mut model = model(snapshot(1, running()), 80, 24);
    let mut told = |asked: Asked, reply: Reply| {
        model.flash = None;
        let _ = model.update(NOW, Message::Replied(asked, Ok(reply)));
        shown(&model).to_owned()
    };
    for (asked, said) in [
        (Asked::Stop(3), "stopping 3 agents: x again kills"),
        (Asked::StopAll, "stopping 3 agents"),
        (Asked::Kill(3), "killing 3 agents"),
        (Asked::Remove(3), "3 agents removed from the queue"),
        (Asked::Retry(3), "tried again: 3"),
        (Asked::Edit(AgentId(2)), "#2 changed"),
        (Asked::Tell(AgentId(2)), "#2 is told"),
        (Asked::Hold, "queue held: nothing starts until p"),
        (Asked::Release, "queue released"),
        (Asked::HoldAgents(3), "3 agents held: the others go on"),
        (Asked::ReleaseAgents(3), "3 agents released"),
        (Asked::Move, "moved"),
        (Asked::Cap, "cap changed"),
        (Asked::Answer, "answered"),
    ] {
        assert_eq!(told(asked, Reply::Done(3)), said);
    }
    let ended = Reply::AlreadyEnded(vec![AgentId(1), AgentId(2)]);
    assert_eq!(told(Asked::Stop(2), ended), "#1, #2 had already ended");
    assert_eq!(told(Asked::Stop(1), Reply::Done(0)), "nothing to stop");
    let refusal = Reply::Refused(Refusal("#9 is not there".to_owned()));
    assert_eq!(told(Asked::Kill(1), refusal), "#9 is not there");
}
