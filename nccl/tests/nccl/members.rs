//! Members in processes of their own, which end at every step.

use std::io::{BufRead, BufReader};
use std::process::{Child, Output};
use std::time::{Duration, Instant};

use cuprum::{Buffer, Stream};
use cuprum_nccl::{Config, MemberError, Members, Reduction, World};

use crate::support::{Any, Failure, SOON, device, is_child, nccl, rerun};

/// Steps at which a member is to end, in the order of its work.
const STEPS: [&str; 6] = ["start", "joined", "exchanged", "communicator", "queued", "summed"];

fn free_port() -> Result<String, Failure> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string())
}

/// Ends this process without a word if it is to end here.
fn step(rank: u32, name: &str) {
    let variable = |name| cuprum::sys::environment::variable(name).and_then(|text| text.into_string().ok());
    if variable("TEST_END_RANK") == Some(rank.to_string())
        && variable("TEST_END_STEP").as_deref() == Some(name)
    {
        if variable("TEST_SLEEP").is_some() {
            println!("asleep");
            loop {
                std::thread::sleep(SOON);
            }
        }
        std::process::exit(9);
    }
}

/// The work of a member of the tests.
#[test]
#[ignore = "started by other tests"]
fn child_member() -> Result<(), Failure> {
    if !is_child() {
        return Ok(());
    }
    let world = World::from_environment()?;
    let rank = world.rank();
    step(rank, "start");
    let limit = cuprum::sys::environment::variable("TEST_LIMIT").map_or(SOON, |_| Duration::from_millis(700));
    let result = member(world, limit);
    match &result {
        Ok(sum) => println!("member {rank} has {sum}"),
        Err(error) => println!("member {rank} failed: {error}"),
    }
    result.map(drop)
}

fn member(world: World, limit: Duration) -> Result<u32, Failure> {
    let rank = world.rank();
    let local_rank = world.local_rank();
    let members = Members::join(world, limit)?;
    step(rank, "joined");
    let all = members.exchange(&rank.to_le_bytes())?;
    assert_eq!(all.len(), members.world().size() as usize);
    step(rank, "exchanged");
    let nccl = nccl()?;
    let found = device(local_rank)?.enter_as::<Any, _>(|cx| {
        let member = members.communicator(nccl, cx, Config::default())?;
        step(rank, "communicator");
        let (stream, mut sum) = (Stream::new(cx)?, Buffer::from_slice(cx, &[rank + 1])?);
        for _ in 0..2 {
            cx.scope(&stream, |scope| {
                let lent = scope.lend(&mut sum)?;
                member.all_reduce(scope, &lent, &lent, Reduction::Sum)?;
                step(rank, "queued");
                Ok(())
            })?;
            members.check()?;
            step(rank, "summed");
        }
        member.finalize()?;
        Ok(sum.to_vec(cx)?[0])
    });
    let found = found.map_err(|error| error.0)?;
    members.leave()?;
    Ok(found)
}

/// Starts members with these variables.
fn start(size: u32, variables: &[(&str, &str)]) -> Result<Vec<Child>, Failure> {
    let (port, size_text) = (free_port()?, size.to_string());
    let one = |rank: u32| {
        let rank = rank.to_string();
        let mut all = vec![
            ("RANK", rank.as_str()),
            ("WORLD_SIZE", &size_text),
            ("LOCAL_RANK", &rank),
            ("MASTER_ADDR", "127.0.0.1"),
            ("MASTER_PORT", &port),
        ];
        all.extend(variables);
        rerun("members::child_member", &all)
    };
    (0..size).map(one).collect()
}

/// Waits for all, and fails if one takes long.
fn outputs(children: Vec<Child>) -> Result<Vec<String>, Failure> {
    let start = Instant::now();
    let mut all = Vec::new();
    for mut child in children {
        while child.try_wait()?.is_none() {
            if start.elapsed() > SOON {
                child.kill()?;
                let output = child.wait_with_output()?;
                return Err(format!("a member hangs: {}", text(&output)).into());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        all.push(text(&child.wait_with_output()?));
    }
    Ok(all)
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn processes_find_each_other_and_sum() -> Result<(), Failure> {
    for size in [2, 5] {
        let sum: u32 = (1..=size).sum::<u32>() * size;
        for (rank, output) in outputs(start(size, &[])?)?.iter().enumerate() {
            assert!(output.contains(&format!("member {rank} has {sum}")), "{output}");
        }
    }
    Ok(())
}

#[test]
fn a_member_that_dies_ends_the_others_with_its_number() -> Result<(), Failure> {
    for dead in [0u32, 2] {
        for step in &STEPS[1..] {
            let children = start(3, &[("TEST_END_RANK", &dead.to_string()), ("TEST_END_STEP", step)])?;
            for (rank, output) in (0..).zip(outputs(children)?) {
                let ended = output.contains(&format!("member {rank} failed: member {dead} ended"));
                assert!(rank == dead || ended, "{dead} at {step}: {output}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_member_that_is_missing_is_named_in_time() -> Result<(), Failure> {
    let variables = [("TEST_END_RANK", "1"), ("TEST_END_STEP", "start"), ("TEST_LIMIT", "short")];
    let all = outputs(start(3, &variables)?)?;
    for rank in [0, 2] {
        let missing = "1 of 3 processes did not come within 700 ms: number 1";
        assert!(all[rank].contains(missing), "{}", all[rank]);
    }
    let variables = [("TEST_END_RANK", "0"), ("TEST_END_STEP", "start"), ("TEST_LIMIT", "short")];
    let all = outputs(start(2, &variables)?)?;
    assert!(all[1].contains("member 0 did not answer at 127.0.0.1:"), "{}", all[1]);
    Ok(())
}

#[test]
fn a_member_that_is_killed_while_it_does_nothing_is_noticed() -> Result<(), Failure> {
    for step in ["joined", "queued"] {
        let variables = [("TEST_END_RANK", "1"), ("TEST_END_STEP", step), ("TEST_SLEEP", "1")];
        let mut children = start(3, &variables)?;
        let mut asleep = children.remove(1);
        let output = asleep.stdout.take().map(|output| BufReader::new(output).lines());
        let sleeps = output.into_iter().flatten().map_while(Result::ok).any(|line| line.contains("asleep"));
        let killed = asleep.kill();
        asleep.wait()?;
        killed?;
        assert!(sleeps, "{step}");
        for output in outputs(children)? {
            assert!(output.contains("failed: member 1 ended"), "{step}: {output}");
        }
    }
    Ok(())
}

#[test]
fn strangers_and_doubles_are_sent_away() -> Result<(), Failure> {
    use std::io::Write;
    let port: u16 = free_port()?.parse()?;
    let world = |rank| World::new(rank, 2, 0, "127.0.0.1", port);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| Members::join(world(0)?, SOON));
        let mut stranger = loop {
            if let Ok(stream) = std::net::TcpStream::connect(("127.0.0.1", port)) {
                break stream;
            }
        };
        stranger.write_all(b"GET / HTTP/1.1\r\n\r\n")?;
        let other_size = Members::join(World::new(1, 3, 0, "127.0.0.1", port)?, SOON);
        assert_eq!(other_size.unwrap_err(), MemberError::Refused { rank: 1, size: 3 });
        let second = Members::join(world(1)?, SOON)?;
        let first = first.join().map_err(|_| "a panic")??;
        // The port is free again.
        let both = [scope.spawn(move || first.leave()), scope.spawn(move || second.leave())];
        both.into_iter().try_for_each(|one| Ok::<_, Failure>(one.join().map_err(|_| "a panic")??))
    })
}

#[test]
fn a_member_that_drops_out_is_noticed_by_all() -> Result<(), Failure> {
    let port: u16 = free_port()?.parse()?;
    let member = |rank: u32| -> Result<MemberError, Failure> {
        let members = Members::join(World::new(rank, 4, 0, "127.0.0.1", port)?, SOON)?;
        if rank == 3 {
            // Without leaving: as by an early return.
            return Ok(MemberError::Ended { rank, reason: String::new() });
        }
        members.exchange(&[]).err().ok_or_else(|| "all exchanged".into())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|rank| scope.spawn(move || member(rank))).collect();
        for thread in threads {
            let error = thread.join().map_err(|_| "a panic")??;
            assert!(matches!(error, MemberError::Ended { rank: 3, .. }), "{error}");
        }
        Ok(())
    })
}

#[test]
fn an_exchange_names_who_does_not_take_part() -> Result<(), Failure> {
    let port: u16 = free_port()?.parse()?;
    let limit = Duration::from_millis(300);
    std::thread::scope(|scope| {
        let second = scope.spawn(move || -> Result<(), Failure> {
            let members = Members::join(World::new(1, 2, 0, "127.0.0.1", port)?, SOON)?;
            std::thread::sleep(3 * limit);
            assert!(matches!(members.exchange(&[]), Err(MemberError::Ended { rank: 0, .. })));
            Ok(())
        });
        let members = Members::join(World::new(0, 2, 0, "127.0.0.1", port)?, limit)?;
        let error = members.exchange(&[]).unwrap_err();
        assert_eq!(error.to_string(), "1 of 2 processes did not come within 300 ms: number 1");
        drop(members);
        second.join().map_err(|_| "a panic")?
    })
}

/// Without a launcher: all are ended when one fails, and its number is reported.
#[test]
fn started_processes_end_together() -> Result<(), Failure> {
    let program = std::env::current_exe()?;
    let started = |end_rank: &str| {
        World::start_all(3, |_| {
            let mut command = std::process::Command::new(&program);
            command
                .args(["--exact", "members::child_member", "--include-ignored"])
                .env(crate::support::CHILD, "1");
            command.envs([("TEST_END_RANK", end_rank), ("TEST_END_STEP", "queued")]);
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
            command
        })
    };
    started("none")?;
    // The others notice, and fail as quickly.
    let error = started("1").unwrap_err().to_string();
    assert!(
        error == "member 1 ended: exit status: 9" || error.ends_with(" ended: exit status: 101"),
        "{error}"
    );
    // One that would sleep forever is ended.
    let start = Instant::now();
    let error = World::start_all(2, |rank| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", if rank == 0 { "exec sleep 600" } else { "exit 3" }]);
        command
    });
    assert_eq!(error.unwrap_err().to_string(), "member 1 ended: exit status: 3");
    assert!(start.elapsed() < SOON);
    let none = World::start_all(1, |_| std::process::Command::new("/nowhere/program")).unwrap_err();
    assert!(matches!(none, MemberError::Ended { rank: 0, .. }), "{none}");
    Ok(())
}
