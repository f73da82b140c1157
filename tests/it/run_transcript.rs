//! The account of each agent's work, as whoever follows `transcript.log` finds it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::Signal;

use crate::harness::{GENEROUS, Live, World, wait_until};

/// Says something by the line protocol; `"$2"` is more fields.
const SAY: &str = r#"say() { printf '{"fleet":"text","text":"%s"%s}\n' "$1" "$2"; }"#;
/// Waits for a file in the work folder.
const WAIT: &str = "await() { until [ -e $1 ]; do sleep 0.02; done; }";

fn path(world: &World, id: u32) -> PathBuf {
    world.agent_folder(id).join("transcript.log")
}

fn read(world: &World, id: u32) -> String {
    std::fs::read_to_string(path(world, id)).unwrap_or_default()
}

/// The lines after the header, without the time of day that each begins with.
#[track_caller]
fn lines(world: &World, id: u32) -> Vec<String> {
    let all = read(world, id);
    let (_, lines) = all.split_once("====\n").unwrap_or_else(|| panic!("no header: {all}"));
    let words = |line: &str| {
        let (time, words) = line.split_once(' ').unwrap_or_else(|| panic!("no time: {line}"));
        let is_time = time.len() == 8 && time.split(':').all(|part| part.parse::<u8>().is_ok());
        assert!(is_time, "no time: {line}");
        words.to_owned()
    };
    assert!(all.ends_with('\n'), "a torn line: {all}");
    lines.lines().map(words).collect()
}

#[track_caller]
fn wait_for(world: &World, id: u32, words: &str) {
    wait_until(words, GENEROUS, || {
        let seen = read(world, id);
        // The header has the task, and that can have the words too.
        let told = seen.split_once("====\n").map_or("", |(_, told)| told);
        if told.contains(words) { Ok(()) } else { Err(seen) }
    });
}

#[track_caller]
fn kill(mut live: Live<'_>) {
    live.signal(Signal::KILL);
    wait_until("the host is gone", GENEROUS, || {
        if live.has_ended() { Ok(()) } else { Err("lives".to_owned()) }
    });
}

/// C-86: the files are there before the agent starts, and what it prints is told from its first byte on; the path is
/// shown, and `tail -f` follows it. C-87: the files stay after the end.
#[test]
fn an_account_is_there_before_its_agent_and_can_be_followed_to_its_end() {
    let world = World::new();
    let task = format!(
        "{SAY}; {WAIT}; say first; dir=${{FLEET_TASK_FILE%/task}}; ls $dir > files; cat $dir/transcript.log > header; \
         echo up >> ran; await go; say last; echo plain"
    );
    let live = world.start(&["run", "--json", "--agent", "sh", &task]);
    world.wait_lines("ran", 1);
    let files = world.lines("files");
    for name in ["err", "out", "transcript.log"] {
        assert!(files.iter().any(|file| file == name), "{name} is not there: {files:?}");
    }
    let header = world.read("header");
    assert!(header.contains("/0001, sh\n") && header.contains("1 of 1 in set 1"), "{header}");
    let path = path(&world, 1);
    let followed = world.file("followed");
    let mut tail = world
        .command("tail")
        .args(["-n", "+1", "-f"])
        .arg(&path)
        .stdout(std::fs::File::create(&followed).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("first is told", GENEROUS, || {
        let seen = world.read("followed");
        if seen.contains("assistant| first\n") { Ok(()) } else { Err(seen) }
    });
    std::fs::write(world.file("go"), "").unwrap();
    let ran = live.end().expect_code(0);
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        wait_until("the end is told", GENEROUS, || {
            let seen = world.read("followed");
            if seen.contains(" end      | ") { Ok(()) } else { Err(seen) }
        });
    }));
    tail.kill().unwrap();
    tail.wait().unwrap();
    assert!(ended.is_ok(), "{}", world.read("followed"));
    assert_eq!(world.read("followed"), read(&world, 1));
    assert_eq!(ran.column("transcript"), [path.to_str().unwrap()]);
    assert!(header.contains(&format!("tail -f {}\n", path.display())), "{header}");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let told = lines(&world, 1);
    assert_eq!(told[..2], ["assistant| first", "assistant| last"]);
    assert!(
        told[2].starts_with("end      | status=done exit_reason=completed duration="),
        "{told:?}"
    );
    assert_eq!(told.len(), 3, "what it prints for people is in out: {told:?}");
    for name in ["out", "err"] {
        assert!(world.agent_folder(1).join(name).exists(), "{name} is gone");
    }
    let batches = world.agent_folder(1).ancestors().nth(2).unwrap().join("batches");
    let manifest = std::fs::read_dir(batches).unwrap().next().unwrap().unwrap().path();
    let manifest = std::fs::read_to_string(manifest).unwrap();
    assert!(manifest.contains(&format!("\"log\": \"{}\"", path.display())), "{manifest}");
}

/// What was told after the last checkpoint is told again and cut off first; a text whose pieces lie on both sides of it
/// is one line.
#[test]
fn a_host_that_is_killed_leaves_an_account_that_the_next_one_goes_on_with() {
    let world = World::new();
    let task = format!(
        "{SAY}; {WAIT}; piece() {{ say \"$1\" ',\"piece\":true'; }}; say one; piece 'half '; \
         until [ -e second ]; do piece .; sleep 0.1; done; piece ' whole'; say two; await go; say three"
    );
    let live = world.start(&["run", "--json", "--agent", "sh", &task]);
    wait_for(&world, 1, "| one");
    let journal = world.agent_folder(1).ancestors().nth(2).unwrap().join("journal.jsonl");
    wait_until("a checkpoint", GENEROUS, || {
        let seen = std::fs::read_to_string(&journal).unwrap_or_default();
        if seen.contains("\"half .") { Ok(()) } else { Err(seen) }
    });
    std::fs::write(world.file("second"), "").unwrap();
    wait_for(&world, 1, "| two");
    kill(live);
    let live = world.start(&["resume", "--json", &world.only_fleet()]);
    std::fs::write(world.file("go"), "").unwrap();
    live.end().expect_code(0);
    let told = lines(&world, 1);
    let out = std::fs::read_to_string(world.agent_folder(1).join("out")).unwrap();
    let dots = ".".repeat(out.matches("\".\"").count());
    let streamed = format!("assistant| half {dots} whole");
    let expected = ["assistant| one", &streamed, "assistant| two", "assistant| three"];
    assert_eq!(told[..4], expected);
    assert!(told[4].starts_with("end      | status=done"), "{told:?}");
    assert_eq!(told.len(), 5, "{told:?}");
}

/// The host is killed again and again at whatever moment it happens to be in.
#[test]
fn however_often_the_host_is_killed_each_line_is_told_once() {
    let world = World::new();
    let task = format!(
        "{SAY}; i=0; while [ $i -lt 120 ]; do i=$((i+1)); say \"line $i.\"; echo $i >> ran; sleep 0.02; done"
    );
    let mut live = world.start(&["run", "--json", "--agent", "sh", &task, "exit 3"]);
    for count in [1, 20, 45, 80] {
        world.wait_lines("ran", count);
        kill(live);
        live = world.start(&["resume", "--json", &world.only_fleet()]);
    }
    live.end().expect_code(1);
    let told = lines(&world, 1);
    let expected: Vec<String> =
        (1..=120).map(|number| format!("assistant| line {number}.")).collect();
    assert_eq!(told[..120], expected);
    assert!(told[120].starts_with("end      | status=done") && told.len() == 121, "{told:?}");
    let told = lines(&world, 2);
    assert!(told[0].starts_with("end      | status=failed exit_reason=error"), "{told:?}");
    assert!(told[0].ends_with("error: exit code 3") && told.len() == 1, "{told:?}");
}

/// C-93: secrets that an agent prints stay in its own output; the account has the names of their keys, and ordinary
/// text as it was. The same holds for what its owner wrote into a task, in the account and in the manifest.
#[test]
fn secrets_that_an_agent_tells_are_in_its_output_alone() {
    let world = World::new();
    let token = "q9W8e7R6t5Y4u3I2o1P0";
    let said = [
        format!("OPENAI_API_KEY={token} is set"),
        format!("Authorization: Bearer {token}"),
        format!("token sk-{token} and ghp_{token}"),
        format!(r"-----BEGIN RSA PRIVATE KEY-----\nMII{token}\n-----END RSA PRIVATE KEY-----"),
        "an ordinary sentence, with key names such as API_KEY.".to_owned(),
    ];
    let lines_of =
        |text: &String| format!("{{\"fleet\":\"text\",\"role\":\"result\",\"text\":\"{text}\"}}\n");
    let printed: String = said.iter().map(lines_of).collect();
    std::fs::write(world.file("printed"), printed).unwrap();
    let task = "cat printed; exit 0; DB_PASSWORD=s3cr3tw0rdX1 make";
    world.fleet(&["run", "--json", "--agent", "sh", task]).expect_code(0);
    assert_eq!(world.state_files_with(token), [world.agent_folder(1).join("out")]);
    let told = lines(&world, 1);
    let expected = [
        "result   | OPENAI_API_KEY=[redacted] is set",
        "result   | Authorization: Bearer [redacted]",
        "result   | token [redacted] and [redacted]",
        "result   | [redacted]",
        "result   | an ordinary sentence, with key names such as API_KEY.",
    ];
    assert_eq!(told[..5], expected);
    assert!(read(&world, 1).contains("exit 0; DB_PASSWORD=[redacted] make\n"));
    for file in world.state_files_with("s3cr3tw0rdX1") {
        let is_ours =
            file.ends_with("transcript.log") || file.parent().unwrap().ends_with("batches");
        assert!(!is_ours, "{}", file.display());
    }
}

/// C-94: where the account of an agent cannot be written it ends, the agent runs on and says so, and others have theirs.
/// A limit on the size of files stands for a full disk: the system takes nothing more, for this file alone.
#[test]
fn an_account_that_cannot_be_written_ends_and_its_agent_runs_on() {
    let world = World::new();
    let gone = format!(
        "{SAY}; {WAIT}; file=${{FLEET_TASK_FILE%/task}}/transcript.log; say told; \
         until grep -q '^[0-9:]* assistant. told' $file; do sleep 0.02; done; rm $file; mkdir $file; say lost; await go; \
         echo '{{\"fleet\":\"result\",\"completed\":true,\"answer\":\"all the same\"}}'"
    );
    // The agent's own output is not limited.
    let full = format!(
        "ulimit -S -f unlimited; {SAY}; i=0; while [ $i -lt 900 ]; do i=$((i+1)); say \"$(printf '%0500d' $i)\"; done; echo out"
    );
    let fine = format!("{SAY}; say fine");
    let limited = "trap '' XFSZ; ulimit -S -f 200; exec \"$@\"";
    let mut command = world.command("sh");
    let fleet = world.fleet_command(&[]).get_program().to_owned();
    command.args(["-c", limited, "sh"]).arg(fleet);
    command.args(["run", "--json", "--agent", "sh", &gone, &full, &fine]);
    let live = world.start_command(command);
    wait_until("the notice of both", GENEROUS, || {
        let seen = live.stderr();
        let told = |id: &str| {
            seen.contains(&format!("{id}: its transcript is not complete: could not write"))
        };
        if told("#1") && told("#2") { Ok(()) } else { Err(seen) }
    });
    std::fs::write(world.file("go"), "").unwrap();
    let ran = live.end().expect_code(0);
    assert_eq!(ran.column("status"), ["done", "done", "done"], "{ran:#?}");
    assert_eq!(ran.column("answer")[0], "all the same", "{ran:#?}");
    let out = std::fs::read_to_string(world.agent_folder(2).join("out")).unwrap();
    assert!(out.ends_with("\nout\n") && out.lines().count() == 901, "it did not run on");
    assert_eq!(ran.column("transcript")[0], "null", "{ran:#?}");
    // What was written before the disk was full is whole lines.
    assert!(lines(&world, 2).iter().all(|line| line.starts_with("assistant| 000")));
    let told = lines(&world, 3);
    assert!(told[0] == "assistant| fine" && told[1].starts_with("end "), "{told:?}");
}

#[test]
fn a_flood_of_plain_text_leaves_the_account_alone() {
    let world = World::new();
    let ran = world
        .fleet(&["run", "--json", "--agent", "sh", "yes plain | head -n 500000"])
        .expect_code(0);
    assert_eq!(ran.column("status"), ["done"]);
    let told = lines(&world, 1);
    assert!(told.len() == 1 && told[0].starts_with("end "), "{told:?}");
}

#[test]
fn an_agent_that_could_not_start_has_an_account_of_that() {
    let world = World::new();
    world.fleet(&["run", "--json", "--", "/nonexistent/program", "x"]).expect_code(1);
    let told = lines(&world, 1);
    assert!(told[0].starts_with("end      | status=failed exit_reason=spawn error: "), "{told:?}");
    assert_eq!(told.len(), 1, "{told:?}");
}
