//! A script that drives a fleet: what the README shows of it, run with the real binary.

use crate::harness::World;

/// Feeds thirty tasks, raises the cap when the queue is held at it, tries the failed ones again once, prints the blocks.
const SCRIPT: &str = r#"
fleet() { "$FLEET" "$@"; }
id=$(fleet dispatch -f tasks.txt --agent sh -j 4 --cap 1 --origin script --json | sed 's/.*"delegation_id":"\([^"]*\)".*/\1/')
fleet wait "$id"
code=$?; echo "wait: $code" >> codes
if [ $code = 3 ]; then fleet cap 5 && fleet wait "$id"; fi
echo "then: $?" >> codes
fleet retry failed && fleet wait
echo "retried: $?" >> codes
fleet results --compact && fleet results "$id"
"#;

#[test]
fn thirty_tasks_are_fed_paid_for_tried_again_and_read_by_a_script() {
    let mut world = World::new();
    world.set("FLEET", env!("CARGO_BIN_EXE_fleet"));
    let task = |number: u32| {
        let costs = r#"echo '{"fleet":"cost","total_usd":0.05}'"#;
        let fails = format!("[ -e tried.{number} ] || {{ : > tried.{number}; exit 3; }}");
        let fails = if number.is_multiple_of(3) { fails } else { "true".to_owned() };
        format!("{costs}; echo {number} >> ran; {fails}; echo answer of {number}\n")
    };
    std::fs::write(world.file("tasks.txt"), (1..=30).map(task).collect::<Vec<_>>().concat())
        .unwrap();
    let mut command = world.command("sh");
    command.args(["-c", SCRIPT]);
    let ran = world.start_command(command).end().expect_code(0);
    assert_eq!(world.lines("codes"), ["wait: 3", "then: 1", "retried: 0"], "{ran:#?}");
    assert_eq!(world.lines("ran").len(), 40, "each once, and the ten that failed once more");
    let summary = world.fleet(&["results", "--json"]).expect_code(0).json();
    assert_eq!((&summary["kpis"]["done"], &summary["kpis"]["failed"]), (&30.into(), &10.into()));
    assert_eq!((&summary["spent_usd"], &summary["cap_usd"]), (&2.0.into(), &5.0.into()));
    assert!(ran.stderr.contains("held at the cap of $1.00: `fleet cap USD --fleet "), "{ran:#?}");
    assert!(ran.stdout.contains("=== set 1 · deleg_") && ran.stdout.contains("Origin: script"));
    world.end_fleets();
}
