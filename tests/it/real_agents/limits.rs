//! Programs that keep to a limit of their task by themselves: what they did until then is told, and which limit it was.
//!
//! What may go here: ends for a budget and for a number of turns. What may not: limits that Fleet alone enforces.

use super::{CLAUDE, PATIENCE, QWEN, Stage, task};

/// Its answer costs $0.00108 and is complete when it stops; a host that reads it before the program ends stops it as well.
#[test]
fn claude_past_its_budget_is_over_budget_whoever_stops_it() {
    let Some(stage) = Stage::set(&[CLAUDE.name], &[]) else { return };
    let args = ["run", "--json", "--agent", "claude", "--model", "claude-sonnet-5-5"];
    let more = ["--budget", "0.0001", &task("text")];
    let ran = stage.world.start(&[&args[..], &more].concat()).end_within(PATIENCE).expect_code(1);
    let agent = &ran.json()["agents"][0];
    assert_eq!(
        (&agent["status"], &agent["exit_reason"]),
        (&"over_budget".into(), &"budget".into()),
        "{ran:#?}"
    );
    assert_eq!(agent["cost_usd"].as_f64(), Some(0.00108), "{ran:#?}");
    assert!(agent["error"].as_str().unwrap().contains("budget"), "{ran:#?}");
    stage.world.assert_nothing_runs();
}

#[test]
fn turns_that_are_used_up_are_a_failure_for_that_reason() {
    for kind in [CLAUDE, QWEN] {
        let Some(stage) = Stage::set(&[kind.name], &[]) else { return };
        let (name, model) = kind.options[0];
        let model = format!("--{name}={model}");
        let args = ["run", "--json", "--agent", kind.name, &model, "--allow-shell"];
        let more = ["--max-steps", "2", &task("loop")];
        let live = stage.world.start(&[&args[..], &more].concat());
        let ran = live.end_within(PATIENCE).expect_code(1);
        let agent = &ran.json()["agents"][0];
        assert_eq!(
            (&agent["status"], &agent["exit_reason"]),
            (&"failed".into(), &"max_steps".into()),
            "{ran:#?}"
        );
        assert!(agent["error"].as_str().unwrap().contains("--max-steps"), "{ran:#?}");
        stage.world.assert_nothing_runs();
    }
}
