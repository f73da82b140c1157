//! Programs of six kinds in one fleet with one cap.
//!
//! What may go here: what kinds have to do with each other. What may not: what one kind does by itself.

use serde_json::json;

use super::{CLAUDE, CODEX, Cost, GEMINI, Kind, OPENCODE, PATIENCE, QWEN, Stage, YGG, task};

/// One line of a task file.
fn line(kind: Kind, scenario: &str) -> String {
    let mut task = json!({"task": task(scenario), "agent": kind.name, "allow_shell": true});
    for (name, value) in kind.options {
        task[name] = json!(value);
    }
    format!("{task}\n")
}

/// The cap is reached when the last of the first six has ended, whichever that is. What comes to be known of them is
/// $0.03665; the one whose cost nobody knows goes on to count with the $0.02 that each reserves which no other has told;
/// the cap is a little less than the two together. No other costs more than it has reserved, so nothing more can start
/// while one of the six runs.
#[test]
fn six_kinds_share_a_cap_that_is_reached_and_the_seventh_task_is_dropped() {
    let kinds = [CLAUDE, CODEX, OPENCODE, GEMINI, QWEN, YGG, CLAUDE];
    let Some(stage) = Stage::set(&kinds.map(|kind| kind.name), &[]) else { return };
    let scenario = |kind: Kind| if kind.name == "ygg" { "ygg-answer" } else { "default" };
    let tasks: String = kinds.iter().map(|kind| line(*kind, scenario(*kind))).collect();
    std::fs::write(stage.world.file("tasks.jsonl"), tasks).unwrap();
    let options = ["-j", "3", "--cap", "0.0566", "--assume-cost", "0.02", "-f", "tasks.jsonl"];
    let live = stage.world.start(&[&["run", "--json"], &options[..]].concat());
    let ran = live.end_within(PATIENCE).expect_code(3);
    let statuses = ["done", "done", "done", "done", "done", "done", "dropped"];
    assert_eq!(ran.column("status"), statuses, "{ran:#?}");
    let costs: Vec<Cost> = (1..=6).map(|id| Cost::of(&stage.row(id))).collect();
    let expected = [
        Cost::reported("0.00615"),
        Cost::estimated("0.01626"),
        Cost::reported("0.00957"),
        Cost::estimated("0.00422"),
        Cost::Unknown,
        Cost::reported("0.00045"),
    ];
    assert_eq!(costs, expected, "{ran:#?}");
    let summary = ran.json();
    assert_eq!(summary["spent_usd"].as_f64(), Some(0.03665), "{ran:#?}");
    assert_eq!(summary["cost_unknown"], 1, "{ran:#?}");
    assert_eq!(summary["kpis"]["tokens"], 5 * 5_462 + 120, "{ran:#?}");
    assert_eq!(summary["kpis"]["done"], 6);
    stage.world.assert_no_agent_runs_now();
    stage.world.assert_nothing_runs();
}
