//! What an agent may ask of the fleets around it: to add tasks, and to stop, steer or change those that it has added.
//!
//! A guard against accidents, no wall: an agent with a shell runs as its owner. What may go here: that rule. What may not:
//! who asks (doors know that), how deep agents may be nested (it is a matter of where tasks come from, not of a fleet).

use super::command::{Command, Refusal};
use super::id::AgentId;
use super::snapshot::Snapshot;

/// Returns why a command is refused that comes from inside of an agent with this mark.
pub fn refuse_inside(mark: &str, command: &Command, snapshot: &Snapshot) -> Option<Refusal> {
    let (what, ids) = match command {
        Command::Submit(_) => return None,
        Command::Stop(Some(ids)) => ("stop", ids.as_slice()),
        Command::Kill(Some(ids)) => ("kill", ids.as_slice()),
        Command::Remove(id) => ("remove", std::slice::from_ref(id)),
        Command::Move(id, _) => ("move", std::slice::from_ref(id)),
        Command::Edit(id, _) => ("edit", std::slice::from_ref(id)),
        Command::Steer(id, ..) => ("steer", std::slice::from_ref(id)),
        Command::InterruptTurn(id, _) => ("interrupt", std::slice::from_ref(id)),
        Command::Stop(None)
        | Command::Kill(None)
        | Command::Retry(..)
        | Command::Hold
        | Command::Release
        | Command::HoldAgents(_)
        | Command::ReleaseAgents(_)
        | Command::SetCap(_)
        | Command::Answer(..)
        | Command::Interrupt(_)
        | Command::Close => {
            return Some(Refusal(format!(
                "this comes from inside agent {}, which may only add tasks, and stop or steer agents of its own: do it \
                 outside of agents",
                short_mark(mark)
            )));
        }
    };
    let strange = ids.iter().find(|id| !is_added_by(mark, **id, snapshot))?;
    Some(Refusal(format!(
        "this comes from inside agent {}, which may {what} only agents whose tasks it has added itself, and not {strange}: do \
         it outside of agents",
        short_mark(mark)
    )))
}

/// Says whether the task of an agent came from inside of the agent with this mark.
fn is_added_by(mark: &str, id: AgentId, snapshot: &Snapshot) -> bool {
    let batch = snapshot.batches.iter().map(|view| &view.batch).find(|it| it.agents.contains(&id));
    batch.is_some_and(|batch| batch.inside.as_deref() == Some(mark))
}

/// Returns a mark as people know fleets and agents: `k3f/7`.
pub fn short_mark(mark: &str) -> String {
    match mark.split_once('/') {
        Some((fleet, number)) => format!("{}/{number}", fleet.split('.').next().unwrap_or(fleet)),
        None => mark.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::{row, snapshot};
    use crate::core::{Answer, BatchId, Direction, QuestionId, Submission};

    const MARK: &str = "k3f.00000000000000ff/7";

    /// A fleet of which the second agent's task came from inside of an agent.
    fn fleet() -> Snapshot {
        let mut second = row(2);
        (second.batch, second.tag) = (BatchId::from_bits(2), "set 2".to_owned());
        let mut fleet = snapshot(1, vec![row(1), second]);
        for view in &mut fleet.batches {
            let is_second = view.batch.agents.contains(&AgentId(2));
            view.batch.inside = is_second.then(|| MARK.to_owned());
        }
        fleet
    }

    #[test]
    fn an_agent_stops_and_steers_what_it_has_added_and_nothing_else() {
        let fleet = fleet();
        let batch = || BatchId::from_bits(9);
        let of = |id: u32| {
            let id = AgentId(id);
            let task = Box::new((*fleet.rows[0].task).clone());
            [
                Command::Stop(Some(vec![AgentId(2), id])),
                Command::Kill(Some(vec![id])),
                Command::Remove(id),
                Command::Move(id, Direction::Up),
                Command::Edit(id, task),
                Command::Steer(id, "more".to_owned(), batch()),
                Command::InterruptTurn(id, None),
            ]
        };
        for command in of(2) {
            assert_eq!(refuse_inside(MARK, &command, &fleet), None, "{command:?}");
            let other = refuse_inside("k3f.00000000000000ff/8", &command, &fleet);
            assert!(other.is_some(), "{command:?}");
        }
        for command in of(1).into_iter().chain(of(3)) {
            let refusal = refuse_inside(MARK, &command, &fleet).unwrap();
            assert!(
                refusal.0.starts_with("this comes from inside agent k3f/7, which"),
                "{refusal:?}"
            );
        }
    }

    #[test]
    fn an_agent_decides_nothing_about_a_fleet() {
        let fleet = fleet();
        for command in [
            Command::Stop(None),
            Command::Kill(None),
            Command::Retry(BatchId::from_bits(9), vec![AgentId(2)]),
            Command::Hold,
            Command::Release,
            Command::HoldAgents(vec![AgentId(2)]),
            Command::ReleaseAgents(vec![AgentId(2)]),
            Command::SetCap(None),
            Command::Answer(QuestionId(1), Answer::Drop),
            Command::Interrupt("SIGINT".to_owned()),
            Command::Close,
        ] {
            assert!(refuse_inside(MARK, &command, &fleet).is_some(), "{command:?}");
        }
        let submission =
            Submission { id: BatchId::from_bits(9), tasks: Vec::new(), origin: None, inside: None };
        assert_eq!(refuse_inside(MARK, &Command::Submit(submission), &fleet), None);
    }
}
