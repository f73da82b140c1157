//! What an agent finds when it starts, and what is said when it cannot.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use loki_fleet::core::ProcessEnd;
use loki_fleet::supervise::{Life, StdinFrom, StoppedBy, has_started, life, started};

use super::harness::{Agent, until, within};

#[tokio::test]
async fn an_exit_code_is_kept_with_what_was_printed() {
    let mut agent = Agent::sh("echo out; echo err >&2; exit 7").start().await;
    let record = agent.end().await;
    assert_eq!((record.code, record.signal, record.error), (Some(7), None, None));
    assert_eq!((record.stopped_by, record.escalated), (StoppedBy::None, false));
    assert!(record.ended_ms > 1_600_000_000_000, "{}", record.ended_ms);
    assert!(record.max_rss_kb > 0);
    assert_eq!(agent.out(), "out\n");
    assert_eq!(std::fs::read_to_string(agent.dir.err()).unwrap(), "err\n");
    for path in [agent.dir.out(), agent.dir.err(), agent.dir.exit(), agent.dir.started()] {
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
    let left: Vec<_> = std::fs::read_dir(agent.dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with('.'))
        .collect();
    assert!(left.is_empty(), "temporary files stay behind: {left:?}");
}

#[tokio::test]
async fn the_signal_that_ended_an_agent_is_named() {
    for (script, name) in
        [("kill -SEGV $$", "SIGSEGV"), ("kill -KILL $$", "SIGKILL"), ("kill -TERM $$", "SIGTERM")]
    {
        let end = Agent::sh(script).start().await.tree_end().await;
        assert_eq!(end.end, ProcessEnd::Signal(name.to_owned()));
        assert!(!end.signalled && !end.timed_out && !end.escalated, "{end:?}");
    }
}

#[tokio::test]
async fn exit_code_127_is_not_mistaken_for_a_missing_program() {
    let end = Agent::sh("exit 127").start().await.tree_end().await;
    assert_eq!(end.end, ProcessEnd::Code(127));
}

#[tokio::test]
async fn a_missing_program_is_named_with_what_to_do() {
    let why = Agent::new(&["nosuch-program"]).refusal().await;
    assert_eq!(
        why,
        "\"nosuch-program\" was not found (no such file or directory): install it or correct the command"
    );
}

#[tokio::test]
async fn a_missing_folder_and_a_file_in_its_place_are_told_apart() {
    let mut agent = Agent::new(&["true"]);
    agent.spec.root = agent.temp.path().join("gone");
    let why = agent.refusal().await;
    assert!(why.starts_with("folder ") && why.contains("gone does not exist"), "{why}");

    let mut agent = Agent::new(&["true"]);
    agent.spec.root = agent.temp.path().join("file");
    std::fs::write(&agent.spec.root, "").unwrap();
    let why = agent.refusal().await;
    assert!(why.contains("file is not a folder"), "{why}");
}

#[tokio::test]
async fn a_file_that_is_no_program_is_refused_with_its_reason() {
    let agent = Agent::new(&["./notes.txt"]);
    std::fs::write(agent.spec.root.join("notes.txt"), "notes").unwrap();
    let why = agent.refusal().await;
    assert_eq!(
        why,
        "\"./notes.txt\" may not be run (permission denied): it is not executable for this user"
    );

    let agent = Agent::new(&["./tool"]);
    install(&agent, "tool", b"#!/nonexistent/interpreter\n");
    let why = agent.refusal().await;
    assert!(why.contains("interpreter"), "{why}");
}

/// Puts a program into the agent's folder.
fn install(agent: &Agent, name: &str, content: &[u8]) {
    let path = agent.spec.root.join(name);
    std::fs::write(&path, content).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn a_program_of_another_system_is_no_puzzle_for_the_shell() {
    let agent = Agent::new(&["./tool"]);
    install(&agent, "tool", b"\xcf\xfa\xed\xfe\x0c\0\0\x01");
    let why = agent.refusal().await;
    assert_eq!(why, "\"./tool\" is not in a format that this system can run: correct the command");
}

#[tokio::test]
async fn a_script_without_a_first_line_of_its_own_runs_in_the_shell() {
    let agent = Agent::new(&["./tool", "a b"]);
    install(&agent, "tool", b"echo \"$# $1\"\nexit 6\n");
    let mut agent = agent.start().await;
    assert_eq!(agent.end().await.code, Some(6));
    assert_eq!(agent.out(), "1 a b\n");
}

#[tokio::test]
async fn a_writer_whose_reader_has_gone_is_ended_by_the_signal() {
    let mut agent = Agent::sh("yes | head -n 1; grep SigIgn /proc/$$/status").start().await;
    assert_eq!(agent.end().await.code, Some(0));
    let out = agent.out();
    let ignored = out.lines().last().unwrap().trim_start_matches("SigIgn:\t");
    assert_eq!(u64::from_str_radix(ignored, 16).unwrap() & 0x1000, 0, "SIGPIPE is ignored: {out}");
}

#[tokio::test]
async fn a_command_line_that_is_too_long_says_so() {
    let long = "x".repeat(4 << 20);
    let why = Agent::new(&["true", &long]).refusal().await;
    assert!(why.contains("too long") && why.contains("FLEET_TASK_FILE"), "{why}");
}

#[tokio::test]
async fn a_refusal_is_in_the_first_record_too_and_deletes_stored_values() {
    let mut agent = Agent::new(&["nosuch-program"]);
    let values = BTreeMap::from([("KEY".to_owned(), "secret".to_owned())]);
    agent.dir.write_env(&values).unwrap();
    agent.try_launch().unwrap();
    agent.shim_gone().await;
    let started = started(&agent.dir).unwrap().unwrap();
    assert!(started.error.unwrap().contains("nosuch-program"));
    assert_eq!(started.agent_pid, None);
    assert!(!agent.dir.env().exists());
}

#[tokio::test]
async fn an_agent_has_three_descriptors_and_nothing_of_its_shim_or_host() {
    let script = "ls -l /proc/$$/fd; echo ready; exec sleep 600";
    let agent = Agent::sh(script).behind("exec 7</dev/null 9>/dev/null").ready().await;
    let out = agent.out();
    assert_eq!(out.lines().filter(|line| line.contains(" -> ")).count(), 3, "{out}");
    assert!(out.contains("0 -> /dev/null"), "{out}");
    assert!(out.contains("1 -> ") && out.contains("/0007/out"), "{out}");
    assert!(out.contains("2 -> ") && out.contains("/0007/err"), "{out}");

    let shim: Vec<String> = std::fs::read_dir(format!("/proc/{}/fd", agent.shim_pid()))
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
        .map(|target| target.to_string_lossy().into_owned())
        .collect();
    assert_eq!(shim.iter().filter(|target| target.ends_with("/alive")).count(), 1, "{shim:?}");
    // Standard output after the byte, and standard error.
    assert_eq!(shim.iter().filter(|target| *target == "/dev/null").count(), 2, "{shim:?}");
    assert!(!shim.iter().any(|target| target.starts_with("pipe:")), "{shim:?}");
}

#[tokio::test]
async fn an_agent_that_reads_its_input_gets_the_end_at_once_or_its_prompt() {
    let mut agent = Agent::new(&["cat"]).start().await;
    assert_eq!(agent.end().await.code, Some(0));
    assert_eq!(agent.out(), "");

    let mut agent = Agent::new(&["cat"]);
    agent.dir.write(&agent.dir.stdin(), b"the prompt").unwrap();
    agent.spec.stdin = StdinFrom::File(agent.dir.stdin());
    let mut agent = agent.start().await;
    assert_eq!(agent.end().await.code, Some(0));
    assert_eq!(agent.out(), "the prompt");
}

#[tokio::test]
async fn signals_ignored_by_whoever_started_the_shim_are_not_ignored_by_the_agent() {
    let agent = Agent::new(&["grep", "SigIgn", "/proc/self/status"]);
    let mut agent = agent.behind("trap '' INT TERM HUP QUIT").start().await;
    assert_eq!(agent.end().await.code, Some(0));
    let out = agent.out();
    let ignored = u64::from_str_radix(out.trim().trim_start_matches("SigIgn:\t"), 16).unwrap();
    // The C library's own signals, 32 and above, are its business.
    assert_eq!(ignored & 0x7fff_ffff, 0, "{out}");
}

/// C-7
#[tokio::test]
async fn an_agent_leads_its_own_group_in_a_session_without_a_terminal() {
    // Fields after the name: state, parent, group, session, terminal.
    let script = "echo $$; sed 's/.*) //' /proc/$$/stat; exit 0";
    let mut agent = Agent::sh(script).start().await;
    agent.end().await;
    let out = agent.out();
    let mut lines = out.lines();
    let pid = lines.next().unwrap();
    let fields: Vec<&str> = lines.next().unwrap().split(' ').collect();
    assert_eq!(fields[2], pid, "it leads its group: {out}");
    assert_eq!(fields[3], agent.shim_pid().to_string(), "its session is the shim's: {out}");
    assert_eq!(fields[4], "0", "it has no terminal: {out}");
}

#[tokio::test]
async fn the_environment_is_what_was_inherited_with_the_spec_and_stored_values_over_it() {
    let mut agent = Agent::new(&["env"]);
    let path = std::env::var_os("PATH").unwrap();
    agent.environment = Some(BTreeMap::from([
        ("PATH".into(), path),
        ("KEPT".into(), "inherited".into()),
        ("OVER".into(), "inherited".into()),
        ("HIDDEN".into(), "inherited".into()),
        ("FLEET_AGENT".into(), "outer/1".into()),
    ]));
    agent.spec.env.insert("OVER".to_owned(), "spec".to_owned());
    agent.spec.env.insert("SECRET".to_owned(), "spec".to_owned());
    agent.spec.env_remove.push("HIDDEN".to_owned());
    agent.dir.write_env(&BTreeMap::from([("SECRET".to_owned(), "stored".to_owned())])).unwrap();
    let mut agent = agent.start().await;
    assert!(!agent.dir.env().exists(), "stored values are deleted once the agent has started");
    agent.end().await;
    let out = agent.out();
    let has = |line: &str| out.lines().any(|have| have == line);
    assert!(has("KEPT=inherited") && has("OVER=spec") && has("SECRET=stored"), "{out}");
    assert!(!out.contains("HIDDEN="), "{out}");
    assert!(has(&format!("FLEET_AGENT={}", agent.spec.mark)), "{out}");
    for path in [agent.dir.spec(), agent.dir.started(), agent.dir.exit()] {
        assert!(!std::fs::read_to_string(path).unwrap().contains("stored"));
    }
}

#[tokio::test]
async fn the_shim_carries_no_mark_and_says_whose_it_is() {
    let mut agent = Agent::sh("echo ready; exec sleep 600");
    agent.environment = Some(BTreeMap::from([
        ("PATH".into(), std::env::var_os("PATH").unwrap()),
        ("FLEET_AGENT".into(), "outer/1".into()),
    ]));
    let agent = agent.ready().await;
    let shim = format!("/proc/{}", agent.shim_pid());
    let environ = std::fs::read_to_string(format!("{shim}/environ")).unwrap();
    assert!(!environ.contains("FLEET_AGENT"), "{environ:?}");
    let name = std::fs::read_to_string(format!("{shim}/cmdline")).unwrap();
    assert!(name.starts_with("fleet: agent 7\0shim\0"), "{name:?}");
}

#[tokio::test]
async fn an_agent_gets_back_the_limit_of_open_files_that_its_host_raised() {
    let mut agent = Agent::sh("ulimit -Sn").behind("ulimit -Sn 200");
    agent.spec.nofile = Some(123);
    let mut agent = agent.start().await;
    agent.end().await;
    assert_eq!(agent.out(), "123\n");
}

/// C-5
#[tokio::test]
async fn agents_that_print_megabytes_on_both_outputs_do_not_wait_for_anybody() {
    let script = "head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2";
    let mut agents: Vec<Agent> = (0..4).map(|_| Agent::sh(script).launch()).collect();
    for agent in &mut agents {
        assert_eq!(agent.end().await.code, Some(0));
        for path in [agent.dir.out(), agent.dir.err()] {
            assert_eq!(std::fs::metadata(path).unwrap().len(), 5_000_000);
        }
    }
}

#[tokio::test]
async fn many_launches_at_once_keep_every_code() {
    let launching = (0..8).map(|thread| {
        std::thread::spawn(move || {
            (0..8)
                .map(|index| {
                    (
                        thread * 8 + index,
                        Agent::sh(&format!("exit {}", thread * 8 + index)).launch(),
                    )
                })
                .collect::<Vec<_>>()
        })
    });
    let threads: Vec<_> = launching.collect();
    for thread in threads {
        for (code, mut agent) in thread.join().unwrap() {
            assert_eq!(agent.end().await.code, Some(code));
        }
    }
}

#[tokio::test]
async fn the_byte_comes_after_the_record_names_the_agent() {
    let mut agent = Agent::sh("echo ready; while :; do sleep 600; done").launch();
    let pipe = agent.launched.as_ref().unwrap().started.try_clone().unwrap();
    assert!(within(has_started(pipe)).await.unwrap());
    let record = started(&agent.dir).unwrap().unwrap();
    let agent_pid = record.agent_pid.unwrap();
    assert_eq!(record.shim_pid, agent.shim_pid());
    until(|| agent.out().contains("ready").then_some(())).await;
    let name = std::fs::read_to_string(format!("/proc/{agent_pid}/cmdline")).unwrap();
    assert!(name.starts_with("sh\0"), "{name:?}");
    agent.stop(loki_fleet::core::Urgency::Kill);
    agent.end().await;
}

#[tokio::test]
async fn a_host_that_does_not_listen_costs_nothing() {
    let mut agent = Agent::sh("exit 5").launch();
    let launched = agent.launched.as_mut().unwrap();
    let (reader, _writer) = std::io::pipe().unwrap();
    // Closes the shim's pipe before it writes, or soon after.
    launched.started = reader.into();
    assert_eq!(agent.end().await.code, Some(5));
}

#[tokio::test]
async fn the_lock_is_held_from_before_the_shim_exists_until_there_is_a_record() {
    for _ in 0..20 {
        let mut agent = Agent::new(&["true"]).launch();
        let record = loop {
            match life(&agent.dir).unwrap() {
                Life::Lives { .. } => {}
                Life::Ended(record) => break record,
                other => panic!("a living agent was called {other:?}"),
            }
        };
        assert_eq!(record.code, Some(0));
        agent.shim_gone().await;
    }
}
