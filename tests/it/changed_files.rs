//! Files that agents change and do not tell of, seen by git: a stand-in for `hermes` does what its task says.
//!
//! What may go here: lists that come from git, and where there is none. What may not: lists that programs tell.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::harness::{GENEROUS, Ran, World, processes_running, wait_until};

/// Runs its task as a script, and reports that it has completed it.
const HERMES: &str = r#"#!/bin/sh
report=$4
for word; do :; done
sh -c "${word#--oneshot=}"
echo '{"completed": true}' > "$report"
echo done
"#;

fn program(world: &World, name: &str, text: &str) {
    let path = world.home().join("bin").join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A world whose folder is no work tree yet.
fn world() -> World {
    let mut world = World::new();
    program(&world, "hermes", HERMES);
    let path = std::env::var("PATH").unwrap();
    world.set("PATH", &format!("{}:{path}", world.home().join("bin").display()));
    for (name, value) in [("AUTHOR", "a"), ("COMMITTER", "c")] {
        world.set(&format!("GIT_{name}_NAME"), value);
        world.set(&format!("GIT_{name}_EMAIL"), "x@example.org");
    }
    world
}

#[track_caller]
fn git(world: &World, args: &[&str]) {
    let mut command = world.command("git");
    command.args(args);
    world.start_command(command).end().expect_code(0);
}

/// A world whose folder is a work tree with a commit and some changes.
fn repository() -> World {
    let world = world();
    git(&world, &["init", "-q"]);
    for name in ["edited", "removed", "same", "committed"] {
        std::fs::write(world.file(name), name).unwrap();
    }
    std::fs::write(world.file(".gitignore"), "ignored\n").unwrap();
    git(&world, &["add", "."]);
    git(&world, &["commit", "-q", "-m", "first"]);
    for name in ["dirty", "dirty too"] {
        std::fs::write(world.file(name), name).unwrap();
    }
    // Says when a look is over, and the agent waits for the first one: no program that is meant here is faster.
    let git = "#!/bin/sh\nPATH=${PATH#*:}\ngit \"$@\"\ncode=$?\n\
        case $* in *porcelain*) touch \"$HOME/looked\";; esac\nexit $code\n";
    program(&world, "git", git);
    let patient =
        HERMES.replace("sh -c", "until [ -e \"$HOME/looked\" ]; do sleep 0.02; done\nsh -c");
    program(&world, "hermes", &patient);
    world
}

#[track_caller]
fn run(world: &World, args: &[&str]) -> Ran {
    let hermes = ["run", "--json", "--agent", "hermes"];
    world.fleet(&[&hermes[..], args].concat()).expect_code(0)
}

fn files(ran: &Ran, agent: usize) -> (Value, Value) {
    let agent = &ran.json()["agents"][agent];
    (agent["files_changed"].clone(), agent["files_from"].clone())
}

const NOTHING: (Value, Value) = (Value::Array(Vec::new()), Value::Null);

#[test]
fn what_changed_while_an_agent_ran_is_listed_and_nothing_else() {
    let world = repository();
    let index = std::fs::read(world.file(".git/index")).unwrap();
    let task = "echo more >> edited; rm removed; touch ignored; mkdir -p sub; echo x > 'sub/new file'; echo >> 'dirty too'";
    let ran = run(&world, &[task]);
    let expected = json!(["dirty too", "edited", "removed", "sub/new file"]);
    assert_eq!(files(&ran, 0), (expected.clone(), json!("git")), "{ran:#?}");
    assert_eq!(ran.json()["files_changed"], expected);
    assert_eq!(std::fs::read(world.file(".git/index")).unwrap(), index, "the index was written");
    let results = world.fleet(&["results"]).expect_code(0);
    let told = "sub/new file (by git: changed in its folder while it ran)";
    assert!(results.stdout.contains(told), "{}", results.stdout);
    // What is dirty now was so before the next one.
    assert_eq!(files(&run(&world, &["true"]), 0), NOTHING);
}

#[test]
fn what_an_agent_commits_is_listed_and_what_was_dirty_before_is_not_its_own() {
    let world = repository();
    let task = "echo more >> committed; git add .; git commit -q -m second; echo x > after";
    let ran = run(&world, &[task]);
    assert_eq!(files(&ran, 0), (json!(["after", "committed"]), json!("git")), "{ran:#?}");
}

#[test]
fn only_the_folder_of_the_agent_counts() {
    let world = repository();
    std::fs::create_dir(world.file("part")).unwrap();
    let ran = run(&world, &["--root", "part", "echo x > inside; echo x > ../outside"]);
    assert_eq!(files(&ran, 0), (json!(["inside"]), json!("git")), "{ran:#?}");
}

/// Each waits for the other's file, so that both run at once.
#[test]
fn of_agents_that_ran_at_once_in_one_folder_it_is_said_that_they_cannot_be_told_apart() {
    let world = repository();
    let task = |mine: &str, other: &str| {
        format!("echo x > {mine}; until [ -s {other} ]; do sleep 0.02; done")
    };
    let ran = run(&world, &["-j", "2", &task("one", "two"), &task("two", "one")]);
    for agent in 0..2 {
        assert_eq!(files(&ran, agent), (json!(["one", "two"]), json!("git_shared")), "{ran:#?}");
    }
    let results = world.fleet(&["results"]).expect_code(0);
    assert!(results.stdout.contains("while it and other agents ran there"), "{}", results.stdout);
    // One after another they can be. Between them the clock of the files moves on.
    let first =
        "echo y > one; until touch ignored; find ignored -newer one | grep -q .; do :; done";
    let ran = run(&world, &["-j", "1", first, "echo y > two"]);
    assert_eq!(files(&ran, 0), (json!(["one"]), json!("git")), "{ran:#?}");
    assert_eq!(files(&ran, 1), (json!(["two"]), json!("git")), "{ran:#?}");
}

#[test]
fn without_a_work_tree_there_is_no_list_and_no_trouble() {
    let world = world();
    assert_eq!(files(&run(&world, &["echo x > new"]), 0), NOTHING);
    git(&world, &["init", "-q", "--bare", "bare.git"]);
    assert_eq!(files(&run(&world, &["--root", "bare.git", "echo x > new"]), 0), NOTHING);
    // Before the first commit there is one.
    git(&world, &["init", "-q", "young"]);
    let ran = run(&world, &["--root", "young", "echo x > new"]);
    assert_eq!(files(&ran, 0), (json!(["new"]), json!("git")));
}

#[test]
fn a_submodule_is_left_out_and_an_agent_inside_of_it_is_in_a_work_tree_of_its_own() {
    let world = repository();
    git(&world, &["init", "-q", "library"]);
    git(&world, &["-C", "library", "commit", "-q", "--allow-empty", "-m", "first"]);
    git(
        &world,
        &["-c", "protocol.file.allow=always", "submodule", "add", "-q", "./library", "inner"],
    );
    git(&world, &["commit", "-q", "-m", "with a submodule"]);
    let ran = run(&world, &["echo x > inner/new; echo x > new"]);
    assert_eq!(files(&ran, 0), (json!(["new"]), json!("git")), "{ran:#?}");
    let ran = run(&world, &["--root", "inner", "echo x > other"]);
    assert_eq!(files(&ran, 0), (json!(["other"]), json!("git")), "{ran:#?}");
}

/// Git that never answers holds up no start, and no end for long; nothing of it is left.
#[test]
fn a_git_that_never_answers_is_given_up() {
    let world = repository();
    let seconds = format!("1000.{:09}", fastrand::u32(..1_000_000_000));
    program(&world, "git", &format!("#!/bin/sh\nsleep {seconds} & sleep {seconds}\n"));
    program(&world, "hermes", HERMES);
    let ran = run(&world, &["echo x > new"]);
    assert_eq!(files(&ran, 0), NOTHING, "{ran:#?}");
    assert_eq!(world.read("new"), "x\n");
    wait_until("nothing of it is left", GENEROUS, || {
        let left = processes_running(&seconds);
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    });
}

/// The settings of a repository can name programs that git starts. An agent can write such settings, also where only an
/// included file changes, and the next agent's first look must not run them either.
#[test]
fn programs_that_the_settings_of_a_repository_name_are_not_run() {
    let world = repository();
    std::fs::write(world.file("settings"), "").unwrap();
    git(&world, &["config", "include.path", "../settings"]);
    let task = "git config filter.bad.clean 'touch ran; cat'; git config filter.bad.required true; \
        git config core.fsmonitor 'touch ran; :'; \
        git config -f settings filter.worse.process 'touch ran; :'; \
        printf '* filter=bad\\nsame filter=worse\\n' > .gitattributes; echo x >> edited; touch same";
    let ran = run(&world, &[task]);
    let expected = json!([".gitattributes", "edited", "settings"]);
    assert_eq!(files(&ran, 0), (expected, json!("git")), "{ran:#?}");
    let ran = run(&world, &["touch same; echo x >> edited"]);
    assert_eq!(files(&ran, 0), (json!(["edited"]), json!("git")), "{ran:#?}");
    assert!(!world.file("ran").exists());
    // A name that cannot be given in words gives no list.
    git(&world, &["config", "filter.a=b.clean", "touch ran; cat"]);
    assert_eq!(files(&run(&world, &["echo x >> edited"]), 0), NOTHING);
    assert!(!world.file("ran").exists());
}

/// What another user's repository says is nothing to go by. Only root can make one here.
#[expect(clippy::print_stdout, reason = "a test that did not run has to say so")]
#[test]
fn the_repository_of_another_user_is_not_looked_at() {
    let world = repository();
    let other = world.start_command({
        let mut chown = world.command("chown");
        chown.args(["-R", "12345", "."]);
        chown
    });
    if other.end().code != Some(0) {
        println!("skipped, because files cannot be given to another user");
        return;
    }
    assert_eq!(files(&run(&world, &["echo x > new"]), 0), NOTHING);
    git(&world, &["config", "--global", "safe.directory", "*"]);
    let ran = run(&world, &["echo x > newer"]);
    assert_eq!(files(&ran, 0), (json!(["newer"]), json!("git")), "the owner trusts it: {ran:#?}");
}

/// A pipe that nobody writes to, where git would have its files.
#[test]
fn a_pipe_in_the_place_of_a_repository_holds_up_nothing() {
    let world = world();
    let mut command = world.command("mkfifo");
    command.arg(".git");
    world.start_command(command).end().expect_code(0);
    let three = ["-j", "3", "echo x > one", "echo x > two", "echo x > three"];
    let ran = run(&world, &three);
    for agent in 0..3 {
        assert_eq!(files(&ran, agent), NOTHING, "{ran:#?}");
    }
}

/// Commands of `sh` are no agents that edit, and what a program tells of itself goes before what git says.
#[test]
fn only_agents_that_may_change_files_unseen_are_looked_at() {
    let world = repository();
    let ran = world.fleet(&["run", "--json", "--agent", "sh", "echo x > by-sh"]).expect_code(0);
    assert_eq!(files(&ran, 0), NOTHING);
    program(
        &world,
        "ygg",
        "#!/bin/sh\necho x > unseen\necho '{\"completed\": true, \"answer\": \"ok\", \"files_changed\": [\"told.py\"]}'\n",
    );
    let ran = world.fleet(&["run", "--json", "--agent", "ygg", "do it"]).expect_code(0);
    assert_eq!(files(&ran, 0), (json!(["told.py"]), json!("told")), "{ran:#?}");
    program(
        &world,
        "ygg",
        "#!/bin/sh\necho x > unseen-too\necho '{\"completed\": true, \"answer\": \"ok\", \"files_changed\": []}'\n",
    );
    let ran = world.fleet(&["run", "--json", "--agent", "ygg", "do it"]).expect_code(0);
    assert_eq!(files(&ran, 0), (json!(["unseen-too"]), json!("git")), "{ran:#?}");
}

/// Agents of a fleet with a shared folder work there, not in the folders of their tasks.
#[test]
fn in_a_shared_folder_the_files_that_an_agent_tells_of_are_looked_at_there() {
    let world = repository();
    program(
        &world,
        "ygg",
        "#!/bin/sh\necho x > there\necho '{\"completed\": true, \"answer\": \"ok\", \"files_changed\": [\"there\", \"gone\"]}'\n",
    );
    let args = ["run", "--agent", "ygg", "--mesh", "shared", "do it"];
    let ran = world.fleet(&args).expect_code(0);
    assert!(world.file("shared/there").exists(), "{ran:#?}");
    let results = world.fleet(&["results"]).expect_code(0);
    let told = "not there, or older than the agent: gone\n";
    assert!(results.stdout.contains(told), "{}", results.stdout);
}
