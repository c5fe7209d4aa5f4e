//! Steps of a program, and programs at random.

use cuprum_testing::random::Random;

/// Requests, graphs and streams that a program has at most.
pub(super) const REQUESTS: usize = 2;
pub(super) const GRAPHS: usize = 2;
pub(super) const STREAMS: usize = 2;
/// Pieces of device memory that each graph has to itself.
pub(super) const MEMORIES: usize = 2;

/// Work on the memory of a request or a graph. Numbers are of pieces of memory, then values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Op {
    Fill(usize, u32),
    /// From the other piece of memory; in a request, to the device from the host.
    Copy(usize),
    /// From memory of the host that holds this.
    FromHost(usize, u32),
    ToHost(usize),
    /// Calls a function of the host.
    Host,
}

/// End of a closure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Well,
    Error,
    Panic,
}

/// Operations of one submit or capture.
pub(crate) type Ops = [Op; 3];

/// A step on a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RequestAct {
    Make,
    Write(u32),
    Read,
    Submit {
        stream: usize,
        ops: Ops,
        end: End,
    },
    IsDone,
    Before(usize),
    Notify(usize),
    /// Returns the pending value, on a thread of its own if requested.
    Wait {
        away: bool,
    },
    Drop {
        away: bool,
    },
    Forget,
}

/// A step on a graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GraphAct {
    Make,
    Capture {
        stream: usize,
        ops: Ops,
        end: End,
    },
    CaptureInto {
        stream: usize,
        ops: Ops,
        end: End,
    },
    Add(Op),
    /// Adds a node in the body of a conditional node that runs once.
    AddInside(Op),
    /// Allocates memory, fills it, copies it to the graph's and frees it.
    AddScratch(usize, u32),
    AddChild(Ops),
    Retain,
    /// Removes the node that was added last.
    Remove,
    Instantiate {
        stream: Option<usize>,
    },
    SetFill(u32),
    Run(usize),
    Replay {
        stream: usize,
        times: usize,
        panic: bool,
    },
    /// Takes over the parameters of the other graph.
    Update,
    /// Adopts the parameters of a new graph that does the same on memory of its own, except for its
    /// fill values.
    Renew(u32),
    Write(usize, u32),
    Read(usize),
    WriteHost(u32),
    ReadHost,
    Close,
    Drop {
        away: bool,
    },
    Forget,
}

/// Step of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Act {
    Request(usize, RequestAct),
    Graph(usize, GraphAct),
    WaitForStream(usize),
}

impl Act {
    /// Kinds of steps.
    pub(crate) const KINDS: usize = 33;

    /// Name of the kind.
    pub(crate) fn kind(self) -> String {
        let (what, text) = match self {
            Self::Request(_, act) => ("Request", format!("{act:?}")),
            Self::Graph(_, act) => ("Graph", format!("{act:?}")),
            Self::WaitForStream(_) => ("Stream", String::new()),
        };
        format!("{what} {}", text.split(['(', ' ']).next().unwrap_or_default())
    }

    /// True if it leaks on purpose.
    pub(super) fn leaks(self) -> bool {
        matches!(self, Self::Request(_, RequestAct::Forget) | Self::Graph(_, GraphAct::Forget))
    }
}

/// A program of so many steps.
pub(crate) fn program(seed: u64, steps: usize) -> Vec<Act> {
    let mut random = Random::new(seed);
    (0..steps).map(|_| act(&mut random)).collect()
}

fn act(random: &mut Random) -> Act {
    match random.below(10) {
        0..4 => Act::Request(random.below(REQUESTS), request(random)),
        4..9 => Act::Graph(random.below(GRAPHS), graph(random)),
        _ => Act::WaitForStream(random.below(STREAMS)),
    }
}

fn value(random: &mut Random) -> u32 {
    1 + random.below(1 << 20) as u32
}

fn op(random: &mut Random) -> Op {
    let memory = random.below(MEMORIES);
    match random.below(9) {
        0..3 => Op::Fill(memory, value(random)),
        3 => Op::Copy(memory),
        4..6 => Op::FromHost(memory, value(random)),
        6..8 => Op::ToHost(memory),
        _ => Op::Host,
    }
}

fn ops(random: &mut Random) -> Ops {
    [(); 3].map(|()| op(random))
}

fn end(random: &mut Random) -> End {
    random.pick(&[End::Well, End::Well, End::Well, End::Well, End::Error, End::Panic])
}

fn request(random: &mut Random) -> RequestAct {
    let stream = random.below(STREAMS);
    match random.below(40) {
        0..7 => RequestAct::Make,
        7..11 => RequestAct::Write(value(random)),
        11..16 => RequestAct::Read,
        16..26 => RequestAct::Submit { stream, ops: ops(random), end: end(random) },
        26 => RequestAct::IsDone,
        27 => RequestAct::Before(stream),
        28..31 => RequestAct::Notify(stream),
        31..37 => RequestAct::Wait { away: random.once_in(3) },
        37..39 => RequestAct::Drop { away: random.once_in(2) },
        _ if random.once_in(4) => RequestAct::Forget,
        _ => RequestAct::Read,
    }
}

fn graph(random: &mut Random) -> GraphAct {
    let (stream, memory) = (random.below(STREAMS), random.below(MEMORIES));
    match random.below(60) {
        0..5 => GraphAct::Make,
        5..9 => GraphAct::Capture { stream, ops: ops(random), end: end(random) },
        9..12 => GraphAct::CaptureInto { stream, ops: ops(random), end: end(random) },
        12..20 => GraphAct::Add(op(random)),
        20..22 => GraphAct::AddInside(op(random)),
        22..24 => GraphAct::AddScratch(memory, value(random)),
        24..27 => GraphAct::AddChild(ops(random)),
        27 => GraphAct::Retain,
        28 => GraphAct::Remove,
        29..34 => GraphAct::Instantiate { stream: Some(stream).filter(|_| random.once_in(4)) },
        34..37 => GraphAct::SetFill(value(random)),
        37..42 => GraphAct::Run(stream),
        42..45 => GraphAct::Replay { stream, times: random.below(3), panic: random.once_in(4) },
        45 => GraphAct::Update,
        46..48 => GraphAct::Renew(value(random)),
        48..50 => GraphAct::Write(memory, value(random)),
        50..53 => GraphAct::Read(memory),
        53 => GraphAct::WriteHost(value(random)),
        54..56 => GraphAct::ReadHost,
        56 => GraphAct::Close,
        57..59 => GraphAct::Drop { away: random.once_in(2) },
        _ if random.once_in(4) => GraphAct::Forget,
        _ => GraphAct::Read(memory),
    }
}
