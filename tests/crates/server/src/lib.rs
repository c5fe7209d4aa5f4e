//! A server of tensors, as a tensor library has one: a thread with a channel, memory by numbers,
//! kernels by names whose arguments are known at run time, reads that other threads await, and work
//! that is recorded between two messages.

use std::collections::HashMap;
use std::fmt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use cuprum::region::{
    Arg, Mark, Plane, Pool, Queue, Read, Recording, Region, RegionError, Replay, SharedFunction,
};
use cuprum::{ContextRef, Current, Error, LaunchConfig, Module, Shared};

/// A tensor, by the number that its client has given it.
pub type Tensor = u64;

/// One argument of a kernel.
#[derive(Clone, Debug)]
pub enum Value {
    /// A number of four bytes.
    Number(u32),
    /// A number of four bytes.
    Float(f32),
    /// The memory of a tensor.
    Tensor(Tensor),
}

/// Work, on one of the server's queues. A tensor that was last used on another queue is waited for.
#[derive(Debug)]
pub enum Work {
    /// Makes a tensor with these bytes.
    Create(Tensor, Vec<u8>),
    /// Makes a tensor of so many bytes.
    Empty(Tensor, usize),
    /// Fills a tensor with a number.
    Fill(Tensor, u32),
    /// Copies a tensor to another one.
    Copy(Tensor, Tensor),
    /// Copies so many bytes of so many rows, between tensors whose rows begin so many bytes apart.
    CopyRows(Tensor, Tensor, [usize; 2], (usize, usize)),
    /// Runs a kernel with so many threads, which has the duties of a launch.
    Launch(&'static str, usize, Vec<Value>),
    /// Drops a tensor.
    Free(Tensor),
    /// Drops a kernel, which may be running.
    Evict(&'static str),
    /// Begins to record.
    Begin,
    /// Ends that, under a number.
    End(u64),
    /// Replays a recording.
    Replay(u64),
    /// Drops a recording.
    Forget(u64),
}

/// A message to the server.
enum Message {
    Work(usize, Work, Sender<Result<(), Failed>>),
    Read(usize, Tensor, Sender<Result<Read, Failed>>),
}

/// Work that was not done.
#[derive(Clone, Debug)]
pub enum Failed {
    /// Memory or a driver call.
    Region(RegionError),
    /// There is no tensor, kernel or recording of this number or name.
    Missing,
}

impl<E: Into<RegionError>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Region(error.into())
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Region(error) => error.fmt(f),
            Self::Missing => f.write_str("there is no such thing"),
        }
    }
}

impl std::error::Error for Failed {}

/// A server, which ends when all its clients are dropped.
#[derive(Debug)]
pub struct Server(JoinHandle<Result<(), Error>>);

/// A handle of a server for one client.
#[derive(Clone)]
pub struct Client(Sender<Message>);

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

impl Client {
    /// Sends work, and waits until it is queued.
    ///
    /// # Errors
    /// As the server says; [`Failed::Missing`] after its end.
    pub fn work(&self, queue: usize, work: Work) -> Result<(), Failed> {
        let (answer, answered) = channel();
        self.0.send(Message::Work(queue, work, answer)).map_err(|_| Failed::Missing)?;
        answered.recv().map_err(|_| Failed::Missing)?
    }

    /// Begins to read a tensor.
    ///
    /// # Errors
    /// Same as [`work`](Client::work).
    pub fn read(&self, queue: usize, tensor: Tensor) -> Result<Read, Failed> {
        let (answer, answered) = channel();
        self.0.send(Message::Read(queue, tensor, answer)).map_err(|_| Failed::Missing)?;
        answered.recv().map_err(|_| Failed::Missing)?
    }
}

impl Server {
    /// Starts a server with so many queues, whose kernels are in `ptx`.
    pub fn start(context: Shared<ContextRef>, queues: usize, ptx: &'static str) -> (Self, Client) {
        let (send, received) = channel();
        (Self(thread::spawn(move || serve(&context, queues, ptx, &received))), Client(send))
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// The context could not be entered.
    ///
    /// # Panics
    /// If the server has.
    pub fn join(self) -> Result<(), Error> {
        self.0.join().expect("the server has panicked")
    }
}

fn serve(
    context: &Shared<ContextRef>,
    queues: usize,
    ptx: &'static str,
    messages: &Receiver<Message>,
) -> Result<(), Error> {
    let mut state = context.enter_as::<Error, _>(|cx| Ok(State::new(cx, queues, ptx)))?;
    for message in messages {
        match message {
            Message::Work(queue, work, answer) => {
                drop(answer.send(context.enter_as(|cx| state.work(cx, queue, work))));
            }
            Message::Read(queue, tensor, answer) => {
                drop(answer.send(context.enter_as(|cx| state.read(cx, queue, tensor))));
            }
        }
    }
    Ok(())
}

/// A tensor's memory, and the queue that used it last.
struct Entry {
    region: Region,
    queue: usize,
}

/// A recording, with the end of its queue's work before it, and the tensors that it uses.
struct Recorded {
    recording: Recording,
    before: Mark,
    used: Vec<Tensor>,
}

/// All that a server has. It is dropped in any order.
struct State {
    pool: Pool,
    queues: Vec<Option<Queue>>,
    tensors: HashMap<Tensor, Entry>,
    kernels: HashMap<&'static str, SharedFunction>,
    /// By their queues.
    recordings: HashMap<usize, Recorded>,
    /// With the tensors that they use.
    replays: HashMap<u64, (Replay, Vec<Tensor>)>,
    ptx: &'static str,
}

impl State {
    fn new(cx: &Current<'_, 'static>, queues: usize, ptx: &'static str) -> Self {
        Self {
            pool: Pool::new(cx),
            queues: (0..queues).map(|_| None).collect(),
            tensors: HashMap::new(),
            kernels: HashMap::new(),
            recordings: HashMap::new(),
            replays: HashMap::new(),
            ptx,
        }
    }

    fn queue(&mut self, cx: &Current<'_, 'static>, queue: usize) -> Result<Queue, Failed> {
        let slot = self.queues.get_mut(queue).ok_or(Failed::Missing)?;
        Ok(match slot {
            Some(queue) => queue.clone(),
            None => slot.insert(self.pool.queue(cx)?).clone(),
        })
    }

    /// The memory of a tensor, for work on a queue that comes after its last use.
    fn tensor(&mut self, cx: &Current<'_, 'static>, queue: usize, tensor: Tensor) -> Result<Region, Failed> {
        let entry = self.tensors.get(&tensor).ok_or(Failed::Missing)?;
        let (region, last) = (entry.region.clone(), entry.queue);
        if let Some(recorded) = self.recordings.get_mut(&queue) {
            recorded.used.push(tensor);
        } else if last != queue {
            let (here, there) = (self.queue(cx, queue)?, self.queue(cx, last)?);
            match self.recordings.get(&last) {
                Some(recorded) => here.wait(cx, &recorded.before)?,
                None => here.wait(cx, &there.mark(cx)?)?,
            }
            self.tensors.insert(tensor, Entry { region: region.clone(), queue });
        }
        Ok(region)
    }

    fn kernel(&mut self, cx: &Current<'_, 'static>, name: &'static str) -> Result<SharedFunction, Failed> {
        if let Some(kernel) = self.kernels.get(name) {
            return Ok(kernel.clone());
        }
        let module = Module::load_ptx(cx, self.ptx)?.share();
        let kernel = self.pool.function(&module, name)?;
        self.kernels.insert(name, kernel.clone());
        Ok(kernel)
    }

    fn launch(
        &mut self,
        cx: &Current<'_, 'static>,
        at: usize,
        name: &'static str,
        threads: usize,
        values: &[Value],
    ) -> Result<(), Failed> {
        let kernel = self.kernel(cx, name)?;
        let tensors = values.iter().filter_map(|value| match value {
            Value::Tensor(tensor) => Some(*tensor),
            _ => None,
        });
        let regions = tensors.map(|tensor| self.tensor(cx, at, tensor)).collect::<Result<Vec<_>, _>>()?;
        let mut regions = regions.iter();
        let argument = |value: &Value| match value {
            Value::Number(number) => Some(Arg::U32(*number)),
            Value::Float(number) => Some(Arg::F32(*number)),
            Value::Tensor(_) => regions.next().map(Arg::Region),
        };
        let arguments: Vec<Arg<'_>> = values.iter().filter_map(argument).collect();
        let (queue, config) = (self.queue(cx, at)?, LaunchConfig::for_elements(threads, 128));
        // SAFETY: the client vouches for the kernel; its memory is kept, and in the order of the
        // queues.
        Ok(unsafe { queue.launch(cx, &kernel, config, &arguments, &[]) }?)
    }

    fn work(&mut self, cx: &Current<'_, 'static>, at: usize, work: Work) -> Result<(), Failed> {
        let queue = self.queue(cx, at)?;
        match work {
            Work::Create(tensor, bytes) => {
                let region = queue.alloc(cx, bytes.len())?;
                let mut staging = self.pool.pinned(cx, bytes.len())?;
                staging.copy_from_slice(&bytes);
                queue.upload(cx, &region, staging)?;
                self.tensors.insert(tensor, Entry { region, queue: at });
            }
            Work::Empty(tensor, bytes) => {
                let region = queue.alloc(cx, bytes)?;
                self.tensors.insert(tensor, Entry { region, queue: at });
            }
            Work::Fill(tensor, value) => queue.fill(cx, &self.tensor(cx, at, tensor)?, value)?,
            Work::Copy(to, from) => {
                queue.copy(cx, &self.tensor(cx, at, to)?, &self.tensor(cx, at, from)?)?;
            }
            Work::CopyRows(to, from, [to_pitch, from_pitch], (width, rows)) => {
                let (to, from) = (self.tensor(cx, at, to)?, self.tensor(cx, at, from)?);
                let planes = (
                    Plane { region: &to, pitch: to_pitch, rows },
                    Plane { region: &from, pitch: from_pitch, rows },
                );
                queue.copy_block(cx, planes.0, planes.1, (width, rows))?;
            }
            Work::Launch(name, threads, values) => self.launch(cx, at, name, threads, &values)?,
            Work::Free(tensor) => drop(self.tensors.remove(&tensor).ok_or(Failed::Missing)?),
            Work::Evict(name) => drop(self.kernels.remove(name)),
            Work::Begin => {
                // Memory of other queues may be used in the recording: each replay comes after
                // their work so far.
                for other in (0..self.queues.len()).filter(|other| !self.recordings.contains_key(other)) {
                    if let (true, Some(other)) = (other != at, &self.queues[other]) {
                        queue.wait(cx, &other.mark(cx)?)?;
                    }
                }
                let before = queue.mark(cx)?;
                self.recordings
                    .insert(at, Recorded { recording: queue.record(cx)?, before, used: Vec::new() });
            }
            Work::End(number) => {
                let Recorded { recording, used, .. } = self.recordings.remove(&at).ok_or(Failed::Missing)?;
                self.replays.insert(number, (recording.end(cx)?, used));
            }
            Work::Replay(number) => {
                let (replay, used) = self.replays.get(&number).cloned().ok_or(Failed::Missing)?;
                // The freed ones are in order by the graph alone.
                for tensor in
                    used.into_iter().filter(|tensor| self.tensors.contains_key(tensor)).collect::<Vec<_>>()
                {
                    self.tensor(cx, at, tensor)?;
                }
                queue.replay(cx, &replay)?;
            }
            Work::Forget(number) => drop(self.replays.remove(&number)),
        }
        Ok(())
    }

    fn read(&mut self, cx: &Current<'_, 'static>, at: usize, tensor: Tensor) -> Result<Read, Failed> {
        let (queue, region) = (self.queue(cx, at)?, self.tensor(cx, at, tensor)?);
        let to = self.pool.pinned(cx, region.len())?;
        Ok(queue.read(cx, &region, to)?)
    }
}
