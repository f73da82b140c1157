//! Stories about snapshots: rows, header and numbers.

use std::sync::Arc;
use std::time::Duration;

use super::support::*;
use crate::core::BatchStatus::{Completed, Error, Running};
use crate::core::*;

/// C-148
#[test]
fn an_empty_fleet_is_all_done_with_all_numbers_zero() {
    let header = Story::new(options(2, None)).snapshot().header;
    assert_eq!(header.kpis, Kpis::default());
    assert!(header.all_done && header.idle);
}

/// C-73
#[test]
fn the_numbers_add_up_over_agents_and_queue() {
    let tasks = ["one", "two", "three", "four"].map(free).to_vec();
    let (mut story, _) = play(options(2, None), vec![submit(1, tasks), Event::MeshKeys(3)]);
    let usage = Usage { input: 7, output: 3, cost: Some(cents(2)), ..Usage::default() };
    story.does(facts(A1, vec![Fact::Usage { id: Some("m1".to_owned()), usage }]));
    story.does(tool(A1, StepState::Start));
    story.does(facts(A1, vec![Fact::Smoke { ok: Some(true), text: String::new() }]));
    story.wait(Duration::from_secs(9));
    story.ends(A1, 0);
    story.does(gone(A2, 1));
    story.does(scanned(A2));
    story.wait(Duration::from_secs(4));
    let kpis = story.snapshot().header.kpis;
    let expected = Kpis {
        total: 4,
        running: 2,
        done: 1,
        failed: 1,
        queued: 0,
        validated: 1,
        mesh: 3,
        steps: 1,
        tokens: 10,
        cost: cents(2),
        elapsed: Duration::from_secs(4),
    };
    assert_eq!(kpis, expected);
}

/// C-74
#[test]
fn failed_sums_every_end_that_is_not_done_and_the_header_tells_them_apart() {
    let (mut story, _) = play(options(4, None), vec![submit(1, vec![free("task"); 4])]);
    story.ends(A1, 0);
    story.ends(A2, 1);
    story.does(stop(A3));
    story.ends(A3, 143);
    story.does(Event::TreeGone(A4, TreeEnd { timed_out: true, ..tree(ProcessEnd::Code(0)) }));
    story.does(scanned(A4));
    let header = story.snapshot().header;
    assert_eq!((header.kpis.done, header.kpis.failed), (1, 3));
    let apart = [Outcome::Done, Outcome::Failed, Outcome::Timeout, Outcome::Cancelled];
    assert_eq!(header.outcomes, apart.map(|outcome| (outcome, 1)));
}

#[test]
fn wall_time_counts_from_the_first_start_and_elapsed_is_the_longest_agent() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("one"), free("two")])]);
    let first = story.now;
    story.wait(Duration::from_secs(30));
    story.ends(A1, 0);
    story.wait(Duration::from_secs(20));
    let header = story.snapshot().header;
    assert_eq!(header.first_start, Some(first));
    assert_eq!(header.kpis.elapsed, Duration::from_secs(20));
    assert_eq!(story.row(A2).started, Some(Moment(31_000)));
}

/// C-113
#[test]
fn a_batch_is_completed_if_any_agent_is_done_and_an_empty_one_too() {
    let (mut story, _) = play(options(9, None), vec![submit(1, vec![free("task"); 2])]);
    story.does(submit(2, vec![free("task"); 2]));
    story.does(submit(3, Vec::new()));
    let statuses = |story: &mut Story| -> Vec<_> {
        story.snapshot().batches.iter().map(|view| view.status).collect()
    };
    assert_eq!(statuses(&mut story), [Running, Running, Completed]);
    story.ends(A1, 1);
    assert_eq!(statuses(&mut story), [Running, Running, Completed]);
    story.ends(A2, 0);
    story.ends(A3, 1);
    story.ends(A4, 2);
    assert_eq!(statuses(&mut story), [Completed, Error, Completed]);
}

#[test]
fn batches_are_tagged_from_1_and_rows_know_their_place() {
    let (mut story, _) = play(options(1, None), vec![submit(7, vec![free("task"); 2])]);
    story.does(submit(9, vec![free("task")]));
    let place = |row: Row| (row.batch, row.tag, row.index, row.of);
    assert_eq!(place(story.row(A2)), (batch(7), "set 1".to_owned(), 2, 2));
    assert_eq!(place(story.row(A3)), (batch(9), "set 2".to_owned(), 1, 1));
}

#[test]
fn a_row_is_shared_until_something_about_it_changes() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("one"), free("two")])]);
    let before = story.snapshot();
    story.does(Event::Started(A1));
    let after = story.snapshot();
    assert!(after.revision > before.revision);
    assert!(Arc::ptr_eq(&before.rows[1], &after.rows[1]));
    assert_eq!(after.rows[0].revision, after.revision);
    story.does(command(Command::Hold));
    let held = story.snapshot();
    assert!(Arc::ptr_eq(&held.rows[0], &after.rows[0]));
    assert_eq!(held.rows[1].phase, Phase::Waits(Waits::Hold));
    assert_eq!(held.rows[1].revision, held.revision);
}

#[test]
fn a_row_says_how_much_of_the_output_is_still_to_be_read() {
    let (mut story, _) = play(options(1, None), vec![submit(1, vec![free("one")])]);
    story.does(gone(A1, 0));
    story.does(Event::Behind(A1, 1_200_000_000));
    assert_eq!(story.row(A1).phase, Phase::Reading(1_200_000_000));
    // Its time stands still: what ran has ended.
    let later = story.now.after(Duration::from_mins(1));
    assert_eq!(story.row(A1).elapsed(later), Duration::from_secs(1));
    assert_eq!(story.status(A1), Status::Ending);
}

#[test]
fn an_unknown_cost_is_neither_zero_nor_in_the_sum() {
    let (mut story, _) = play(options(3, None), vec![submit(1, vec![paid("one"), free("two")])]);
    story.ends(A1, 0);
    story.ends_costing(A2, cents(5));
    let header = story.snapshot().header;
    assert_eq!((header.spent, header.cost_unknown), (cents(5), 1));
    assert_eq!((story.row(A1).cost, story.row(A1).cost_status), (None, CostStatus::Unknown));
}

#[test]
fn live_agents_without_a_budget_are_counted_if_they_may_cost_something() {
    let tasks = vec![paid("one"), budgeted("two", cents(9)), free("three")];
    let (mut story, _) = play(options(3, None), vec![submit(1, tasks)]);
    assert_eq!(story.snapshot().header.without_budget, 1);
    story.ends(A1, 0);
    assert_eq!(story.snapshot().header.without_budget, 0);
}
