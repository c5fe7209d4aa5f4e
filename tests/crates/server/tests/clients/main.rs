//! Several clients of several servers, each with a model of its tensors on the host.

mod failing;
mod model;

use cuprum_testing::{child, executors};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};

use cuprum::context::{Context, ContextFlags};
use cuprum::{ContextRef, Driver, Library, Shared};
use cuprum_emulator::Message;
use cuprum_test_server::{Server, Work};
use model::{LEN, Model, QUEUES, bytes_of};

const SERVERS: usize = 2;
const CLIENTS: usize = 3;
const PTX: &str = include_str!("../../../../../kernels/saxpy.ptx");

/// Reports of the device.
static REPORTS: AtomicUsize = AtomicUsize::new(0);

fn heard(message: &Message<'_>) {
    REPORTS.fetch_add(1, Ordering::Relaxed);
    eprintln!("{message}");
}

fn context(library: Library) -> Shared<ContextRef> {
    let device = Driver::init(library).unwrap().device(0).unwrap();
    Context::create(device, ContextFlags::empty()).unwrap().share()
}

/// Values that were compared, and pieces of work that were refused.
#[derive(Debug, Default)]
struct Outcome {
    compared: usize,
    refused: usize,
}

/// Makes calls fail from now on, or no longer.
type Fail<'a> = Option<&'a (dyn Fn(bool) + Sync)>;

/// Runs servers with clients. Calls `fail`, if there is one, when calls may begin to fail and when
/// they may not any more.
fn run(library: Library, seed: u64, commands: usize, fail: Fail<'_>) -> Outcome {
    let sum = Mutex::new(Outcome::default());
    let started = Barrier::new(SERVERS);
    std::thread::scope(|scope| {
        for number in 0..SERVERS {
            let (sum, started) = (&sum, &started);
            scope.spawn(move || {
                let outcome =
                    one(library, seed.wrapping_add((number * CLIENTS) as u64), commands, started, fail);
                let mut sum = sum.lock().unwrap();
                sum.compared += outcome.compared;
                sum.refused += outcome.refused;
            });
        }
    });
    sum.into_inner().unwrap()
}

/// Runs a server with clients.
fn one(library: Library, seed: u64, commands: usize, started: &Barrier, fail: Fail<'_>) -> Outcome {
    // One more queue loads the weights, which all clients use.
    let (server, client) = Server::start(context(library), CLIENTS * QUEUES + 1, PTX);
    let weights: Vec<f32> = (0..LEN).map(|at| at as f32 / 8.0).collect();
    // A server that fails must not leave the other at a barrier, so failures are looked at after
    // the second one.
    let created = client.work(CLIENTS * QUEUES, Work::Create(0, bytes_of(&weights)));
    started.wait();
    fail.inspect(|fail| fail(true));
    let models = std::thread::scope(|clients| {
        let one = |at: usize| {
            let mut model = Model::new(client.clone(), at, (0, weights.clone()), seed, fail.is_some());
            clients.spawn(move || {
                model.run(commands);
                (model.compared, model.refused, model.late)
            })
        };
        let clients: Vec<_> = (0..CLIENTS).map(one).collect();
        clients.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>()
    });
    started.wait();
    created.unwrap();
    fail.inspect(|fail| fail(false));
    drop(client);
    server.join().unwrap();
    let mut sum = Outcome::default();
    for (compared, refused, late) in models.into_iter().map(Result::unwrap) {
        sum.compared += compared;
        sum.refused += refused;
        // Reads outlive the server, and all that it had.
        for (read, expected) in late {
            assert_eq!(read.wait().unwrap().elements::<f32>().unwrap(), expected);
            sum.compared += LEN;
        }
    }
    sum
}

const CHECKED: [(&str, &str); 3] = [
    ("CUPRUM_EMULATOR_RACECHECK", "1"),
    ("CUPRUM_EMULATOR_INITCHECK", "1"),
    ("CUPRUM_EMULATOR_LEAKCHECK", "1"),
];

#[test]
fn clients_find_what_they_have_computed_in_all_modes() {
    let modes = ["eager", "async", "deferred", "shuffled:1", "shuffled:2", "shuffled:3"];
    let all = std::env::var("CUPRUM_TESTS").is_ok_and(|amount| amount == "all");
    let mut environments: Vec<Vec<(&str, &str)>> = Vec::new();
    for mode in modes {
        let [races, init, leaks] = CHECKED;
        environments.push(vec![("CUPRUM_EMULATOR_MODE", mode), races, init, leaks]);
    }
    let environments: Vec<&[(&str, &str)]> = environments.iter().map(Vec::as_slice).collect();
    let name = concat!(module_path!(), "::clients_find_what_they_have_computed_in_all_modes");
    child::in_children(name, &environments, || {
        cuprum_emulator::set_message_hook(heard);
        let swallowed = cuprum::swallowed::count();
        let (runs, commands) = if all { (4, 250) } else { (1, 120) };
        let library = cuprum_emulator::library();
        let compared: usize = (0..runs).map(|seed| run(library, seed, commands, None).compared).sum();
        println!("{compared} values");
        assert!(compared > runs as usize * SERVERS * CLIENTS * commands * LEN / 40, "{compared}");
        assert_eq!(cuprum::swallowed::count(), swallowed);
        assert_eq!(cuprum_emulator::alive().len(), 0, "{:?}", cuprum_emulator::alive());
        assert_eq!(REPORTS.load(Ordering::Relaxed), 0);
    });
}
