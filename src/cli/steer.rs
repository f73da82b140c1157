//! `fleet steer`: tells one agent more, while it runs or by a new one that goes on in its session.
//!
//! What may go here: which agent and which text are meant, and the words of the answer. What may not: finding a host
//! (`start`), who can be told what (`core`).

use std::io::{self, Read};

use super::act::{Failure, fleet_to, no_fleet, own_of_agent, state_dir};
use super::arguments::{GlobalArguments, SteerArguments};
use super::exit_code::DONE;
use super::look::print;
use super::{Ask, selectors};
use crate::core::{AgentId, BatchId, Command, FleetId, Hold, Reply};
use crate::journal::{Purpose, to_type};
use crate::runtime::foresee;
use crate::words::plain_text::one_line;

/// Most of standard input that is read, in bytes: more than any fleet takes as a message.
const STDIN_BYTES: u64 = 2 << 20;

/// Tells one agent more.
pub(super) fn steer(
    arguments: &SteerArguments,
    global: &GlobalArguments,
    ask: Ask,
) -> Result<u8, Failure> {
    let selectors =
        selectors::parse(std::slice::from_ref(&arguments.agent)).map_err(Failure::input)?;
    let text = text(&arguments.text)?;
    let state = state_dir(global)?;
    let inspection = fleet_to(&state, global.fleet.as_deref(), Purpose::Read)?.inspection()?;
    let ids = selectors::select(&selectors, &inspection.snapshot).map_err(Failure::input)?;
    let [id] = ids[..] else {
        return Err(Failure::input(format!(
            "{} agents are meant, and a message is for one: name it, such as {}",
            ids.len(),
            to_type("steer 7 'also update the changelog'")
        )));
    };
    let command = if arguments.interrupt {
        Command::InterruptTurn(id, text)
    } else {
        let batch = BatchId::from_bits(fastrand::u32(..));
        Command::Steer(id, text.unwrap_or_default(), batch)
    };
    let is_told = matches!(&command, Command::InterruptTurn(_, Some(_)));
    own_of_agent(&command, &inspection.snapshot)?;
    if !inspection.has_host
        && let Some(refusal) = foresee(&inspection.dir, command.clone()).map_err(no_fleet)?
    {
        return Err(Failure::input(one_line(&refusal.0)));
    }
    let (reply, hold) = ask(&state, &inspection.dir, command)?;
    let fleet = inspection.dir.id();
    let said = said(id, is_told, &reply, fleet, hold.as_ref()).map_err(Failure::input)?;
    if global.json {
        print(&json(id, &reply, fleet).to_string(), true)?;
    } else {
        print(&said, false)?;
    }
    Ok(DONE)
}

/// Returns the message: the words with blanks between them; `-` alone is standard input. `None` without any words.
fn text(words: &[String]) -> Result<Option<String>, Failure> {
    if words != ["-"] {
        return Ok((!words.is_empty()).then(|| words.join(" ")));
    }
    let mut text = String::new();
    let read = io::stdin().lock().take(STDIN_BYTES).read_to_string(&mut text);
    read.map_err(|error| Failure::input(format!("standard input could not be read: {error}")))?;
    text.truncate(text.trim_end().len());
    Ok(Some(text))
}

/// Returns what came of it, for people; an error is the refusal. `is_told`: an interrupt came with a message.
fn said(
    id: AgentId,
    is_told: bool,
    reply: &Reply,
    fleet: &FleetId,
    hold: Option<&Hold>,
) -> Result<String, String> {
    match reply {
        Reply::Told(_) => Ok(format!("{id} is told: it takes that up in its current turn")),
        Reply::TurnInterrupted(_) if is_told => {
            Ok(format!("{id} is interrupted and told: it goes on with that"))
        }
        Reply::TurnInterrupted(_) => Ok(format!(
            "{id} is interrupted: it waits until it is told something ({}) or is stopped",
            to_type(format_args!("steer {} 'TEXT'", id.0))
        )),
        Reply::Queued(_, new) => {
            let new = new.first().map(ToString::to_string).unwrap_or_default();
            let held = hold.map(|hold| {
                let command = match hold {
                    Hold::Cap => to_type(format_args!("cap USD --fleet {fleet}")),
                    Hold::Owner | Hold::Back(_) | Hold::Interrupted(_) | Hold::NotSaved(_) => {
                        to_type(format_args!("release {fleet}"))
                    }
                };
                format!("; the queue is held, and `{command}` lets it go on")
            });
            Ok(format!("{id} has ended: {new} goes on in its session{}", held.unwrap_or_default()))
        }
        Reply::Refused(refusal) => Err(one_line(&refusal.0)),
        Reply::Done(_) | Reply::AlreadyEnded(_) | Reply::AlreadyAnswered(_) => {
            Ok(format!("nothing had to be done for {id}"))
        }
    }
}

/// Returns the same for machines.
fn json(id: AgentId, reply: &Reply, fleet: &FleetId) -> serde_json::Value {
    match reply {
        Reply::Queued(batch, new) => serde_json::json!({
            "fleet": fleet, "status": "queued", "agent": new.first(), "continues": id,
            "delegation_id": batch,
        }),
        Reply::TurnInterrupted(_) => {
            serde_json::json!({ "fleet": fleet, "status": "interrupted", "agent": id })
        }
        Reply::Told(_)
        | Reply::Refused(_)
        | Reply::Done(_)
        | Reply::AlreadyEnded(_)
        | Reply::AlreadyAnswered(_) => {
            serde_json::json!({ "fleet": fleet, "status": "told", "agent": id })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_of_a_message_is_said_and_a_refusal_is_an_error() {
        let fleet = FleetId("k3f".to_owned());
        let id = AgentId(7);
        let said = |reply: &Reply, hold: Option<&Hold>| said(id, false, reply, &fleet, hold);
        let told = said(&Reply::Told(id), None).unwrap();
        assert_eq!(told, "#7 is told: it takes that up in its current turn");
        let queued = Reply::Queued(BatchId::from_bits(1), vec![AgentId(8)]);
        let goes_on = said(&queued, None).unwrap();
        assert_eq!(goes_on, "#7 has ended: #8 goes on in its session");
        let held = said(&queued, Some(&Hold::Owner)).unwrap();
        assert!(held.contains("held") && held.contains("fleet release k3f"), "{held}");
        let at_cap = said(&queued, Some(&Hold::Cap)).unwrap();
        assert!(at_cap.contains("fleet cap USD --fleet k3f"), "{at_cap}");
        let refused = Reply::Refused(crate::core::Refusal("no\u{1b}[2J".to_owned()));
        assert!(!said(&refused, None).unwrap_err().contains('\u{1b}'));
        let cut = Reply::TurnInterrupted(id);
        assert!(said(&cut, None).unwrap().contains("#7 is interrupted: it waits"), "{cut:?}");
        let goes_on = super::said(id, true, &cut, &fleet, None).unwrap();
        assert_eq!(goes_on, "#7 is interrupted and told: it goes on with that");
        assert_eq!(json(id, &cut, &fleet)["status"], "interrupted");
        let json = json(id, &queued, &fleet);
        assert_eq!((&json["agent"], &json["continues"]), (&8.into(), &7.into()));
    }

    #[test]
    fn words_are_one_message() {
        let words = ["also", "update", "the changelog"].map(str::to_owned);
        assert_eq!(text(&words).unwrap().as_deref(), Some("also update the changelog"));
        assert_eq!(text(&[]).unwrap(), None);
    }
}
