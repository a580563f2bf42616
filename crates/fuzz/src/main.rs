//! The runner: `martite-fuzz [TARGET…] [--seconds N] [--seed S] [--input FILE] [--dir DIR]`; `cargo xtask fuzz` builds and
//! starts it.
//!
//! Without names all targets run, each for its share of the time. A failing input is written to
//! `DIR/<target>/failure-<hash>`, and how to repeat it is printed; exit code 1. An input that ends the process is in
//! `DIR/<target>/running`.

use martite_fuzz::engine::{self, name_of};
use martite_fuzz::{Failure, Options, Progress, Target, memory, targets};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

#[global_allocator]
static COUNTING: memory::Counting = memory::Counting;

const USAGE: &str = "usage: martite-fuzz [TARGET…] [--seconds N] [--seed S] [--input FILE] [--dir DIR] [--list]";

struct Args {
    targets: Vec<Target>,
    seconds: u64,
    seed: u64,
    input: Option<PathBuf>,
    dir: PathBuf,
}

fn args() -> Result<Args, String> {
    let mut args = Args { targets: Vec::new(), seconds: 60, seed: 1, input: None, dir: PathBuf::from("target/fuzz") };
    let mut rest = std::env::args().skip(1);
    while let Some(arg) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{arg} needs a value"));
        let number = |text: String| text.parse().map_err(|_| format!("{text} is no number"));
        match arg.as_str() {
            "--seconds" => args.seconds = number(value()?)?,
            "--seed" => args.seed = number(value()?)?,
            "--input" => args.input = Some(value()?.into()),
            "--dir" => args.dir = value()?.into(),
            "--list" => {
                targets::ALL.iter().for_each(|t| println!("{}", t.name));
                std::process::exit(0);
            }
            name if name.starts_with('-') => return Err(USAGE.to_owned()),
            name => {
                args.targets.push(targets::find(name).ok_or_else(|| format!("no target {name}; --list names all"))?)
            }
        }
    }
    if args.input.is_some() && args.targets.len() != 1 {
        return Err("--input needs one target".to_owned());
    }
    if args.targets.is_empty() {
        args.targets = targets::ALL.to_vec();
    }
    Ok(args)
}

fn main() -> ExitCode {
    let done = args().and_then(|args| match &args.input {
        Some(file) => repeat(args.targets[0], file),
        None => fuzz(&args),
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(what) => {
            eprintln!("{what}");
            ExitCode::from(2)
        }
    }
}

/// Runs one input, with panics printed as they are.
fn repeat(target: Target, file: &Path) -> Result<bool, String> {
    let input = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
    println!("{}: {} bytes: {}", target.name, input.len(), input[..input.len().min(200)].escape_ascii());
    let before = memory::begin();
    (target.run)(&input);
    let (used, allowed) = (memory::peak().saturating_sub(before), target.budget.bytes(input.len()));
    println!("{used} bytes in use at most, {allowed} are allowed");
    Ok(used <= allowed)
}

/// True: nothing failed.
fn fuzz(args: &Args) -> Result<bool, String> {
    let share = Duration::from_secs(args.seconds) / args.targets.len() as u32;
    if !engine::has_coverage() {
        println!("this build does not count coverage: inputs are made of seeds only");
    }
    for target in &args.targets {
        let dir = args.dir.join(target.name);
        std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
        let options = Options {
            seed: args.seed,
            time: share,
            corpus: Some(dir.join("corpus")),
            running: Some(dir.join("running")),
            ..Options::default()
        };
        let mut seconds = 0;
        let mut last = String::new();
        let mut report = |progress: &Progress| {
            seconds += 1;
            last = line(target.name, seconds, progress);
            if seconds % 10 == 0 {
                println!("{last}");
            }
        };
        let result = engine::run(*target, &options, &mut report).map_err(|e| format!("{}: {e}", target.name))?;
        println!("{}", if last.is_empty() { format!("{}: done", target.name) } else { last });
        if let Err(failure) = result {
            return tell(target, &dir, &failure, args.seed);
        }
    }
    Ok(true)
}

fn line(name: &str, seconds: u64, progress: &Progress) -> String {
    let executions = progress.executions.load(Relaxed);
    format!(
        "{name}: {seconds} s, {executions} executions ({} a second), corpus {}, edges {}, slowest {} ms",
        executions / seconds.max(1),
        progress.corpus.load(Relaxed),
        progress.edges.load(Relaxed),
        progress.slowest_us.load(Relaxed) / 1000,
    )
}

fn tell(target: &Target, dir: &Path, failure: &Failure, seed: u64) -> Result<bool, String> {
    let file = dir.join(format!("failure-{}", name_of(&failure.input)));
    std::fs::write(&file, &failure.input).map_err(|e| format!("{}: {e}", file.display()))?;
    println!("{} FAILED (seed {seed}): {}", target.name, failure.what);
    println!("input of {} bytes: {}", failure.input.len(), file.display());
    println!("repeat: cargo run -p martite-fuzz -- {} --input {}", target.name, file.display());
    Ok(false)
}
