//! `f3`: power cuts, in two models. The writes of a block device are recorded and replayed up to any point,
//! with a random subset of what was not flushed. The file system under a running daemon is shut down without
//! its journal.

use std::path::Path;

use quorate_tests::choices::Choices;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::disk::Disk;
use quorate_tests::load::{Load, Mix, Unavailable};

use crate::recorder::Recorder;
use crate::scenario::{Longest, Scenario, is_long, variable};

/// Sizes of bodies in bytes, and how many of each are acknowledged before the last cut in the long form.
const BODIES: [(usize, u32); 5] = [(1_000, 20), (12_000, 20), (60_000, 15), (300_000, 10), (4_000_000, 3)];

fn mix(size: usize) -> Mix {
    Mix { bodies: vec![size], unavailable: Unavailable::Repeats, ..Mix::default() }
}

/// Returns the sizes in the variable `BODIES`, or all. The short form uses the sizes given here and one body
/// of each.
fn sizes(short: &[usize]) -> Vec<(usize, u32)> {
    let chosen = variable::<String>("BODIES");
    let is_chosen = |size: usize| match &chosen {
        Some(chosen) => chosen.split(',').any(|one| one == size.to_string()),
        None => is_long() || short.contains(&size),
    };
    let sizes = BODIES.into_iter().filter(|(size, _)| is_chosen(*size));
    sizes.map(|(size, count)| (size, if is_long() { count } else { 1 })).collect()
}

/// Starts a daemon on an image that a power cut left, and cuts the power again before or just after it is ready.
async fn cut_again(options: &Options, image: &Path, choices: &mut Choices) {
    let recorder = Recorder::mount_image(image).expect("an image that can be mounted");
    let mut copy = Daemon::start_on(options.clone(), &recorder.root().join("data")).await;
    let events = recorder.events();
    copy.kill();
    recorder.write_image(choices.below(events + 1), choices, image);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f3_recorded_power_cuts() {
    let mut scenario = Scenario::begin("f3 recorded power cuts", 1, 50);
    if !scenario.engine().has_files() {
        return;
    }
    let (mut images, mut repeated, mut due, mut opened) = (0, 0, 0, Longest::default());
    for (size, count) in sizes(&[1_000, 12_000, 60_000, 300_000]) {
        let bytes = if size > 1_000_000 { 2 << 30 } else { 512 << 20 };
        let recorder = match Recorder::mount(bytes) {
            Ok(recorder) => recorder,
            Err(cause) => {
                eprintln!("SKIPPED: recorded power cuts need root, loop devices and FUSE ({cause})");
                return;
            }
        };
        let data = recorder.root().join("data");
        let options = scenario.engine().options(1, 1);
        let mut daemon = Daemon::start_on(options.clone(), &data).await;
        let mut load = Load::prepare_mix(&daemon, mix(size)).await;
        recorder.record(load.clock());
        let mut running = load.start(&daemon);
        running.until_large_acknowledged(count).await;
        let events = recorder.events();
        daemon.kill();
        running.join().await;
        let folder = tempfile::tempdir().expect("a folder");
        for round in 0..scenario.rounds() {
            let mut choices = scenario.choices(round);
            let cut = choices.below(events + 1);
            scenario.step(format!("bodies of {size} bytes, image {round}, cut at event {cut}"));
            let image = folder.path().join("image");
            recorder.write_image(cut, &mut choices, &image);
            if round % 2 == 0 {
                scenario.step(format!(
                    "bodies of {size} bytes, image {round}, cut at event {cut} and during the repair"
                ));
                cut_again(&options, &image, &mut choices).await;
                repeated += 1;
            }
            let disk = Disk::of_image(&image).expect("an image that can be mounted");
            let begun = std::time::Instant::now();
            let copy = Daemon::start_on(options.clone(), &disk.root().join("data")).await;
            opened.add(begun.elapsed());
            let clock = u64::try_from(cut).expect("a small number");
            due += load.examine_copy(&copy, clock).await;
            images += 1;
            drop(copy);
        }
    }
    let opened = opened.millis();
    scenario.close(format!("{images} images, {repeated} of them cut again during the repair, {due} acknowledged requests due in them, 0 lost, 0 partial; opened within {opened} ms"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f3_shut_down_file_systems() {
    let mut scenario = Scenario::begin("f3 shut down file systems", 1, 50);
    if !scenario.engine().has_files() {
        return;
    }
    let (mut cuts, mut acknowledged) = (0, 0);
    for (size, count) in sizes(&[4_000_000]) {
        let Some(mut disk) = Disk::or_skip() else { return };
        let mut daemon = Daemon::start_on(scenario.engine().options(1, 1), &disk.root().join("data")).await;
        let mut load = Load::prepare_mix(&daemon, mix(size)).await;
        for round in 0..scenario.rounds() {
            scenario.step(format!("bodies of {size} bytes, cut {round}"));
            let mut running = load.start(&daemon);
            let before =
                u32::try_from(scenario.choices(round).below(count as usize)).expect("a small number");
            running.until_large_acknowledged(1 + before).await;
            let unsynced = format!("unsynced-{round}");
            disk.write_unsynced(&unsynced);
            daemon.freeze().await;
            disk.cut();
            daemon.kill();
            running.join().await;
            disk = disk.remount();
            disk.assert_lost(&unsynced);
            daemon.restart().await;
            load.examine(&daemon).await;
            cuts += 1;
        }
        acknowledged += load.acknowledged();
        drop(daemon);
        drop(disk);
    }
    scenario.close(format!("{cuts} cuts, {acknowledged} requests acknowledged, 0 lost, 0 partial"));
}
