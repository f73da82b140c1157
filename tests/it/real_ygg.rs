//! The real `ygg` against a scripted stand-in for its model: what Fleet makes of a program that it does not control.
//!
//! Where ygg is not installed these tests say so and pass; with `FLEET_REAL_AGENTS=1` they fail then.

use serde_json::Value;

use crate::harness::{GENEROUS, ModelService, Ran, Terminal, World, path_with, wait_until};

/// A world in which `ygg` and the stand-in for its model are there.
struct Ygg {
    world: World,
    service: ModelService,
}

impl Ygg {
    /// Starts the stand-in; `None` where ygg is not installed.
    fn start() -> Option<Self> {
        let path = path_with(&["ygg"])?;
        let mut world = World::new();
        world.set("PATH", &path);
        world.set("YGG_LOKI_AUTO_INSTALL", "0");
        Some(Self { world, service: ModelService::start(&[]) })
    }

    /// Lets the free engine follow this script.
    fn free(&mut self, scenario: &str) {
        let url = format!("{}/s/{scenario}", self.service.url());
        self.world.set("OLLAMA_HOST", &url);
    }

    /// Lets the engine with prices follow this script.
    fn dear(&mut self, scenario: &str) {
        let url = format!("{}/s/{scenario}/v1", self.service.url());
        self.world.set("OPENAI_BASE_URL", &url);
        self.world.set("OPENAI_API_KEY", "no-key");
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.world.fleet(&[&["run", "--json", "--agent", "ygg"], args].concat())
    }
}

/// C-149.
#[test]
fn ygg_writes_a_file_and_all_of_it_is_counted() {
    let Some(mut ygg) = Ygg::start() else { return };
    ygg.free("ygg-hello");
    let ran = ygg.run(&["--engine", "ollama", "write hello.py and check it"]).expect_code(0);
    let agent = &ran.json()["agents"][0];
    assert_eq!(agent["status"], "done", "{ran:#?}");
    assert_eq!(agent["steps"], 3);
    assert_eq!(agent["tokens"], 480);
    assert_eq!(agent["cost_usd"].as_f64(), Some(0.0));
    assert_eq!(agent["cost_status"], "reported");
    assert_eq!(agent["validated"], true);
    assert_eq!(agent["files_changed"], serde_json::json!(["hello.py"]));
    assert_eq!(agent["answer"], "hello.py is written and runs.");
    assert_eq!(agent["exit_reason"], "completed");
    assert_eq!(agent["error"], "");
    assert_eq!(ygg.world.read("hello.py"), "print('hello')\n");
    assert_eq!(ran.json()["kpis"]["validated"], 1);
    ygg.world.assert_nothing_runs();
}

/// C-150: ygg exits with 0 here, so only its own words tell.
#[test]
fn ygg_that_runs_out_of_steps_has_failed() {
    let Some(mut ygg) = Ygg::start() else { return };
    ygg.free("ygg-endless");
    let ran =
        ygg.run(&["--engine", "ollama", "--max-steps", "2", "never finish this"]).expect_code(1);
    let agent = &ran.json()["agents"][0];
    assert_eq!(agent["status"], "failed", "{ran:#?}");
    assert_eq!(agent["exit_code"], 0);
    assert_eq!(agent["exit_reason"], "max_steps");
    assert!(agent["error"].as_str().unwrap().contains("reached max_steps"), "{ran:#?}");
    assert_eq!(agent["steps"], 2, "what it did counts all the same");
    assert_eq!(agent["tokens"], 240);
}

/// C-151: the message is on stdout, and stderr is empty.
#[test]
fn ygg_without_an_engine_has_failed_with_its_own_reason() {
    let Some(mut ygg) = Ygg::start() else { return };
    // A port on which nothing answers, so that an engine on the tester's machine is not found.
    ygg.world.set("OLLAMA_HOST", "http://127.0.0.1:9");
    let ran = ygg.run(&["add a README"]).expect_code(1);
    let agent = &ran.json()["agents"][0];
    assert_eq!(agent["status"], "failed", "{ran:#?}");
    assert_eq!(agent["exit_code"], 1);
    assert!(agent["error"].as_str().unwrap().contains("no reasoning engine available"), "{ran:#?}");
    assert_eq!(std::fs::read_to_string(agent["err"].as_str().unwrap()).unwrap(), "");
}

#[test]
fn ygg_whose_check_is_red_is_not_validated() {
    let Some(mut ygg) = Ygg::start() else { return };
    ygg.free("ygg-red");
    let ran = ygg.run(&["--engine", "ollama", "check it"]).expect_code(0);
    assert_eq!(ran.column("validated"), ["false"], "{ran:#?}");
    assert_eq!(ran.json()["kpis"]["validated"], 0);
}

/// A word that begins with a dash is a task and no option of ygg's.
#[test]
fn ygg_takes_a_task_that_looks_like_an_option() {
    let Some(mut ygg) = Ygg::start() else { return };
    ygg.free("ygg-answer");
    std::fs::write(ygg.world.file("tasks.jsonl"), "{\"task\": \"--verbose\"}\n").unwrap();
    let ran = ygg.run(&["--engine", "ollama", "-f", "tasks.jsonl"]).expect_code(0);
    assert_eq!(ran.column("answer"), ["Forty-two."], "{ran:#?}");
}

/// Half of row 152, without a screen: prices reach the totals, and the cap is really reached by what agents report.
/// Each of these costs half a dollar: two responses of 100,000 tokens at $2.50 per million.
#[test]
fn three_dear_agents_reach_a_cap_and_the_fourth_is_dropped() {
    let Some(mut ygg) = Ygg::start() else { return };
    ygg.dear("ygg-dear");
    let options =
        ["--engine", "openai", "--tier", "deep", "-j", "3", "--cap", "1.5", "--assume-cost", "0.1"];
    let ran = ygg
        .run(&[&options[..], &["one thing", "two things", "three things", "four things"]].concat());
    let ran = ran.expect_code(3);
    assert_eq!(ran.column("status"), ["done", "done", "done", "dropped"], "{ran:#?}");
    assert_eq!(ran.column("cost_usd")[..3], ["0.5", "0.5", "0.5"]);
    assert_eq!(ran.json()["spent_usd"].as_f64(), Some(1.5));
    assert_eq!(ran.json()["kpis"]["tokens"], 600_000);
    ygg.world.assert_nothing_runs();
}

/// C-152: cost in the totals, a budget per agent, and the question on a terminal.
#[test]
fn a_dear_agent_with_a_budget_leads_to_the_cap_question() {
    let Some(mut ygg) = Ygg::start() else { return };
    ygg.dear("ygg-dear-endless");
    let args = [
        "run", "--agent", "ygg", "--engine", "openai", "--tier", "deep", "-j", "1", "--budget",
        "0.4",
    ];
    let more = ["--cap", "0.3", "one thing", "two things"];
    let mut terminal = Terminal::start(&ygg.world, &[&args[..], &more].concat(), 24, 120);
    terminal.wait_written("cap reached: ", 1);
    terminal.wait_for("$0.5");
    terminal.send("d\r");
    assert_eq!(terminal.end(), 3, "{}", terminal.screen());
    let results = ygg.world.fleet(&["results", "--json"]).expect_code(0);
    // ygg looks at its budget before each turn, so two turns of a quarter go past 0.40 and no third begins.
    assert_eq!(results.json()["kpis"]["cost"].as_f64(), Some(0.5), "{results:#?}");
    assert_eq!(results.column("status")[1], "dropped", "{results:#?}");
    assert_eq!(results.column("status")[0], "over_budget", "{results:#?}");
    assert_eq!(results.column("exit_reason")[0], "budget", "{results:#?}");
    ygg.world.assert_nothing_runs();
}

/// C-153, C-154: one publishes a key while the store is read again and again.
#[test]
fn two_agents_share_a_mesh() {
    let Some(mut ygg) = Ygg::start() else { return };
    ygg.free("ygg-answer");
    std::fs::create_dir(ygg.world.file("shared")).unwrap();
    let publisher = "publish the schema [[scenario:ygg-publish]]";
    let args =
        ["run", "--json", "--agent", "ygg", "--engine", "ollama", "--max-local", "2", "-j", "2"];
    let live =
        ygg.world.start(&[&args[..], &["--mesh", "shared", publisher, "read the schema"]].concat());
    let mesh = || -> Result<Value, String> {
        let text = std::fs::read_to_string(ygg.world.file("shared/mesh.json"))
            .map_err(|error| error.to_string())?;
        Ok(serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("half a roster, {error}: {text}")))
    };
    wait_until("the published key is counted", GENEROUS, || {
        let roster = mesh()?;
        if roster["kpis"]["mesh"] == 1 { Ok(()) } else { Err(roster.to_string()) }
    });
    let ran = live.end().expect_code(0);
    assert_eq!(ran.column("status"), ["done", "done"], "{ran:#?}");
    assert_eq!(ran.json()["kpis"]["mesh"], 1, "{ran:#?}");
    let roster = mesh().unwrap();
    let ids: Vec<&Value> =
        roster["agents"].as_array().unwrap().iter().map(|agent| &agent["id"]).collect();
    assert_eq!(ids, [1, 2]);
    let store = std::fs::read_to_string(ygg.world.file("shared/mesh-kv.json")).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&store).unwrap(),
        serde_json::json!({"schema": "id, name"})
    );
}

#[test]
fn three_free_agents_share_one_accelerator() {
    let Some(mut ygg) = Ygg::start() else { return };
    ygg.free("ygg-hello");
    let ran = ygg
        .run(&["--engine", "ollama", "-j", "3", "one thing", "two things", "three things"])
        .expect_code(0);
    assert_eq!(ran.column("status"), ["done", "done", "done"], "{ran:#?}");
    assert_eq!(ran.column("tokens"), ["480", "480", "480"]);
    assert_eq!(
        ran.json()["files_changed"],
        serde_json::json!(["hello.py"]),
        "a union, each file once"
    );
    ygg.world.assert_nothing_runs();
}

#[test]
fn ygg_that_is_stopped_leaves_nothing_behind() {
    let Some(mut ygg) = Ygg::start() else { return };
    ygg.free("ygg-endless");
    let args = [
        "run",
        "--json",
        "--agent",
        "ygg",
        "--engine",
        "ollama",
        "--max-steps",
        "100000",
        "never finish",
    ];
    let live = ygg.world.start(&args);
    wait_until("ygg has printed its head", GENEROUS, || {
        let seen =
            std::fs::read_to_string(ygg.world.agent_folder(1).join("out")).unwrap_or_default();
        if seen.contains("never finish") { Ok(()) } else { Err(seen) }
    });
    ygg.world.fleet(&["stop", "all"]).expect_code(0);
    let ran = live.end().expect_code(1);
    assert_eq!(ran.column("status"), ["cancelled"], "{ran:#?}");
    ygg.world.assert_nothing_runs();
}

#[test]
fn the_doctor_knows_the_version_of_ygg_and_that_it_can_be_used() {
    let Some(ygg) = Ygg::start() else { return };
    let report = ygg.world.fleet(&["doctor", "--json"]).json();
    let kinds = report["kinds"].as_array().unwrap();
    let seen = kinds.iter().find(|kind| kind["kind"] == "ygg").unwrap();
    assert_eq!((&seen["usable"], &seen["tested"]), (&true.into(), &true.into()), "{report:#}");
    ygg.world.assert_nothing_runs();
}
