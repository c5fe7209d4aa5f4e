//! Calls, read from the files of a traced program.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use cuprum_sys::{CUresult, FnId, StreamMode};

use crate::format::{self, HEADER_WORDS, Header, call, extra, kind};

/// All records of a program and of the processes that it started.
///
/// ```
/// use cuprum_tracer::Recording;
///
/// # let folder = std::env::temp_dir();
/// let recording = Recording::read(&folder)?; // the folder of `cuprum trace`
/// println!("{} calls, {} lost", recording.calls(), recording.lost());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Recording {
    pub(crate) processes: Vec<Process>,
    pub(crate) threads: Vec<Thread>,
    /// In the order in which they began.
    pub(crate) calls: Vec<Call>,
    /// The records of calls, from the first argument on.
    words: Vec<u64>,
    /// Measured times of the device's work, by thread and beginning of the call.
    pub(crate) measured: HashMap<(u32, u64), (u64, u64)>,
    /// Files of another version of this crate, which were not read.
    pub(crate) unread: usize,
}

/// A process that used the driver.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) number: u32,
    pub(crate) parent: u32,
    pub(crate) driver: u32,
    pub(crate) command: String,
    /// Calls that were not recorded.
    pub(crate) lost: u64,
    /// Known names of kernels, by handle.
    pub(crate) kernels: HashMap<u64, String>,
}

/// A thread that called.
#[derive(Debug)]
pub(crate) struct Thread {
    /// Place of its process in the list.
    pub(crate) process: usize,
    pub(crate) number: u32,
    pub(crate) name: String,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    /// Place of its thread in the list.
    pub(crate) thread: u32,
    pub(crate) function: FnId,
    pub(crate) mode: StreamMode,
    /// `None` if it never returned.
    pub(crate) result: Option<CUresult>,
    pub(crate) gave: Option<u64>,
    /// Nanoseconds since the first call.
    pub(crate) start: u64,
    pub(crate) end: u64,
    words: (usize, usize),
}

impl Recording {
    /// Reads the files of a folder, including the files of processes that are still running.
    ///
    /// # Errors
    /// Fails if the folder or a file in it cannot be read.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut reading = Reading::default();
        let mut files: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
        files.sort_by_key(std::fs::DirEntry::path);
        for file in files {
            if file.path().extension().is_some_and(|end| end == "calls") {
                reading.segment(&std::fs::read(file.path())?);
            }
        }
        Ok(reading.finish())
    }

    /// True if no process opened the library.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.processes.is_empty()
    }

    /// Number of calls.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls.len()
    }

    /// Calls that were not recorded, for lack of room.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.processes.iter().map(|process| process.lost).sum()
    }

    /// Files that another version of this crate has written, and that were not read.
    #[must_use]
    pub const fn unread(&self) -> usize {
        self.unread
    }

    /// Processes that are still running, according to the system.
    pub fn running(&self) -> impl Iterator<Item = u32> + '_ {
        let numbers = self.processes.iter().map(|process| process.number);
        numbers.filter(|number| Path::new(&format!("/proc/{number}")).exists())
    }

    pub(crate) fn process_of(&self, call: &Call) -> usize {
        self.threads[call.thread as usize].process
    }

    fn words_of(&self, call: &Call) -> &[u64] {
        &self.words[call.words.0..call.words.0 + call.words.1]
    }

    /// The words of a call's arguments.
    pub(crate) fn arguments(&self, call: &Call) -> &[u64] {
        let (words, count) = (self.words_of(call), call.function.parameters().len());
        &words[..count.min(words.len())]
    }

    /// The argument for a parameter.
    pub(crate) fn argument(&self, call: &Call, name: &str) -> Option<u64> {
        let place = call.function.parameters().iter().position(|parameter| parameter.name() == name)?;
        self.arguments(call).get(place).copied()
    }

    /// The argument for the first parameter of a type.
    pub(crate) fn argument_of_type(&self, call: &Call, ty: &str) -> Option<u64> {
        let place = call.function.parameters().iter().position(|parameter| parameter.ty() == ty)?;
        self.arguments(call).get(place).copied()
    }

    /// Data of a call in addition to its arguments: tag, number of the argument, length in bytes,
    /// words.
    fn extras<'a>(&'a self, call: &Call) -> impl Iterator<Item = (u64, usize, usize, &'a [u64])> + use<'a> {
        let words = self.words_of(call);
        let mut rest = words.get(call.function.parameters().len()..).unwrap_or_default();
        std::iter::from_fn(move || {
            let (&first, behind) = rest.split_first()?;
            let bytes = (first >> 32) as usize;
            let (words, behind) = behind.split_at_checked(bytes.div_ceil(8))?;
            rest = behind;
            Some((first & 0xff, (first >> 8) as usize & 0xff, bytes, words))
        })
    }

    /// The text of an argument that is a C string.
    pub(crate) fn text(&self, call: &Call, argument: usize) -> Option<String> {
        let (_, _, bytes, words) =
            self.extras(call).find(|&(tag, number, ..)| tag == extra::TEXT && number == argument)?;
        Some(text(words, bytes))
    }

    /// The context that was current, if the call depends on it.
    pub(crate) fn context(&self, call: &Call) -> Option<u64> {
        self.words_tagged(call, extra::CONTEXT)?.first().copied()
    }

    /// Blocks, threads, bytes of shared memory and stream of a launch that has them in a structure.
    pub(crate) fn launch(&self, call: &Call) -> Option<[u64; 8]> {
        self.words_tagged(call, extra::LAUNCH)?.try_into().ok()
    }

    /// Kinds of memory and bytes of a copy that has them in a structure.
    pub(crate) fn copy(&self, call: &Call) -> Option<[u64; 3]> {
        self.words_tagged(call, extra::COPY)?.try_into().ok()
    }

    fn words_tagged(&self, call: &Call, tag: u64) -> Option<&[u64]> {
        self.extras(call).find(|extra| extra.0 == tag).map(|extra| extra.3)
    }
}

impl Call {
    /// True if it returned with success.
    pub(crate) fn succeeded(&self) -> bool {
        self.result == Some(CUresult::CUDA_SUCCESS)
    }

    /// Duration of the call; up to the end of the recording, if it never returned.
    pub(crate) const fn time(&self) -> u64 {
        self.end - self.start
    }
}

/// The text in words.
fn text(words: &[u64], bytes: usize) -> String {
    let all: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).take(bytes).collect();
    String::from_utf8_lossy(&all).into_owned()
}

/// A recording that is being read.
#[derive(Default)]
struct Reading {
    recording: Recording,
    processes: BTreeMap<u32, usize>,
    threads: BTreeMap<(u32, u32), usize>,
}

impl Reading {
    fn segment(&mut self, bytes: &[u8]) {
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()))
            .collect();
        let Some(header) = Header::read(&words) else {
            // If a process ended while it made the file, the file is empty.
            self.recording.unread += usize::from(!words.is_empty());
            return;
        };
        if header.functions != FnId::ALL.len() as u64 {
            self.recording.unread += 1;
            return;
        }
        let process = self.process(header.process);
        let thread = (header.thread != 0).then(|| self.thread(process, &header));
        let mut rest = words.get(HEADER_WORDS..).unwrap_or_default();
        while let Some(&first) = rest.first() {
            let (kind, length) = format::kind_and_words(first);
            let Some((record, behind)) = rest.split_at_checked(length).filter(|_| length > 0) else { break };
            match (kind, thread) {
                (kind::CALL, Some(thread)) => self.call(thread, record),
                _ => self.about_process(process, kind, record),
            }
            rest = behind;
        }
    }

    fn process(&mut self, number: u32) -> usize {
        let list = &mut self.recording.processes;
        *self.processes.entry(number).or_insert_with(|| {
            let (command, kernels) = (String::new(), HashMap::new());
            list.push(Process { number, parent: 0, driver: 0, command, lost: 0, kernels });
            list.len() - 1
        })
    }

    fn thread(&mut self, process: usize, header: &Header) -> u32 {
        let list = &mut self.recording.threads;
        let end = header.name.iter().position(|&byte| byte == 0).unwrap_or(header.name.len());
        let name = String::from_utf8_lossy(&header.name[..end]).into_owned();
        let place = *self.threads.entry((header.process, header.thread)).or_insert_with(|| {
            list.push(Thread { process, number: header.thread, name: String::new() });
            list.len() - 1
        });
        list[place].name = name;
        place as u32
    }

    fn call(&mut self, thread: u32, record: &[u64]) {
        let Some(words) = record.get(call::ARGUMENTS..) else { return };
        let [what, start, end, gave] =
            [call::WHAT, call::START, call::END, call::GAVE].map(|place| record[place]);
        let Some(&function) = FnId::ALL.get((what & 0xffff) as usize) else { return };
        let returned = what & call::RETURNED != 0;
        let at = self.recording.words.len();
        self.recording.words.extend_from_slice(words);
        self.recording.calls.push(Call {
            thread,
            function,
            mode: if what & call::PER_THREAD == 0 { StreamMode::Legacy } else { StreamMode::PerThread },
            result: returned.then_some(CUresult((what >> 32) as _)),
            gave: (what & call::HAS_GIVEN != 0).then_some(gave),
            start,
            end: if returned { end } else { 0 },
            words: (at, words.len()),
        });
    }

    fn about_process(&mut self, process: usize, kind: u32, record: &[u64]) {
        let number = self.recording.processes[process].number;
        if let (kind::WORK, &[_, thread, call, begin, end, ..]) = (kind, record) {
            if let Some(&thread) = self.threads.get(&(number, thread as u32)) {
                self.recording.measured.insert((thread as u32, call), (begin, end));
            }
            return;
        }
        let process = &mut self.recording.processes[process];
        match (kind, record) {
            (kind::PROCESS, [_, parent, driver, bytes, words @ ..]) => {
                (process.parent, process.driver) = (*parent as u32, *driver as u32);
                let command = text(words, *bytes as usize);
                process.command = command.trim_end_matches('\0').replace('\0', " ");
            }
            (kind::LOST, [_, lost, ..]) => process.lost += lost,
            (kind::KERNEL, [_, handle, bytes, words @ ..]) => {
                process.kernels.insert(*handle, text(words, *bytes as usize));
            }
            _ => {}
        }
    }

    fn finish(mut self) -> Recording {
        let calls = &mut self.recording.calls;
        calls.sort_by_key(|call| call.start);
        let zero = calls.first().map_or(0, |call| call.start);
        let last = calls.iter().map(|call| call.end.max(call.start)).max().unwrap_or(0);
        for call in calls {
            if call.result.is_none() {
                call.end = last;
            }
            call.start -= zero;
            call.end = call.end.saturating_sub(zero).max(call.start);
        }
        let measured = std::mem::take(&mut self.recording.measured).into_iter();
        let times = |((thread, call), (begin, end)): ((u32, u64), (u64, u64))| {
            ((thread, call.saturating_sub(zero)), (begin.saturating_sub(zero), end.saturating_sub(zero)))
        };
        self.recording.measured = measured.map(times).collect();
        self.recording
    }
}
