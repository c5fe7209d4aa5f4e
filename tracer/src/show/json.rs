//! A recording in the trace-event format.

use std::collections::HashSet;
use std::fmt;

use super::bars;
use super::text::{self, Json, Micros};
use super::timeline::Timeline;

/// A number above the numbers of processes in the system, so that the device's lanes get a number
/// of their own.
const DEVICE: u64 = 1 << 32;

impl Timeline<'_> {
    /// In the trace-event format, which Perfetto and the viewer of Chromium open.
    pub fn trace_events(&self) -> impl fmt::Display + '_ {
        TraceEvents(self)
    }
}

/// Calls on a lane per thread, and their work on a lane per stream, with arrows from one to the
/// other.
pub(crate) struct TraceEvents<'a>(pub(crate) &'a Timeline<'a>);

impl fmt::Display for TraceEvents<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        let mut events = Events { f, separator: "\n" };
        events.names(self.0)?;
        events.calls(self.0)?;
        events.pieces(self.0)?;
        f.write_str("\n]}\n")
    }
}

struct Events<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    separator: &'static str,
}

impl Events<'_, '_> {
    fn event(&mut self, members: fmt::Arguments<'_>) -> fmt::Result {
        write!(self.f, "{}{{{members}}}", self.separator)?;
        self.separator = ",\n";
        Ok(())
    }

    fn name(&mut self, what: &str, process: u64, thread: u64, name: &str) -> fmt::Result {
        let name = Json(name);
        self.event(format_args!(
            "\"ph\":\"M\",\"name\":\"{what}\",\"pid\":{process},\"tid\":{thread},\"args\":{{\"name\":{name}}}"
        ))
    }

    fn names(&mut self, timeline: &Timeline<'_>) -> fmt::Result {
        for process in &timeline.recording.processes {
            let number = u64::from(process.number);
            self.name("process_name", number, 0, &process.command)?;
            self.name("process_name", DEVICE + number, 0, &format!("streams of {}", process.command))?;
        }
        for thread in &timeline.recording.threads {
            let process = timeline.recording.processes[thread.process].number;
            self.name("thread_name", process.into(), thread.number.into(), &thread.name)?;
        }
        let used: HashSet<usize> = timeline.work.pieces.iter().map(|piece| piece.stream).collect();
        let streams = timeline.work.streams.iter().enumerate();
        for (place, stream) in streams.filter(|(place, _)| used.contains(place)) {
            let process = u64::from(timeline.recording.processes[stream.process].number);
            self.name("thread_name", DEVICE + process, place as u64 + 1, &stream.name)?;
        }
        Ok(())
    }

    fn calls(&mut self, timeline: &Timeline<'_>) -> fmt::Result {
        let recording = timeline.recording;
        for (place, call) in recording.calls.iter().enumerate() {
            let thread = &recording.threads[call.thread as usize];
            let process = recording.processes[thread.process].number;
            let mut more: String = text::arguments(recording, call)
                .iter()
                .map(|(name, value)| format!("{}:{},", Json(name), Json(value)))
                .collect();
            if let Some(&piece) = timeline.work.waits.get(&place) {
                more += &format!("\"waited for\":{},", Json(&timeline.work.pieces[piece].label));
            }
            let answer = text::answer(call).unwrap_or_else(|| "CUDA_SUCCESS".to_owned());
            let (start, time, answer) = (Micros(call.start), Micros(call.time()), Json(&answer));
            self.event(format_args!(
                "\"ph\":\"X\",\"cat\":\"driver\",\"pid\":{process},\"tid\":{},\"name\":\"{}\",\"ts\":{start},\
                 \"dur\":{time},\"args\":{{{more}\"answer\":{answer}}}",
                thread.number, call.function
            ))?;
        }
        Ok(())
    }

    fn pieces(&mut self, timeline: &Timeline<'_>) -> fmt::Result {
        let recording = timeline.recording;
        for (place, piece) in timeline.work.pieces.iter().enumerate() {
            let call = &recording.calls[piece.call];
            let thread = &recording.threads[call.thread as usize];
            let process = u64::from(recording.processes[thread.process].number);
            let (device, lane) = (DEVICE + process, piece.stream + 1);
            let (start, end) = bars::span(recording, piece);
            let known = bars::certainty(piece).text();
            let (name, kind, time) = (Json(&piece.label), piece.what.kind(), Micros(end - start));
            let (start, id) = (Micros(start), place + 1);
            self.event(format_args!(
                "\"ph\":\"X\",\"cat\":\"{kind}\",\"pid\":{device},\"tid\":{lane},\"name\":{name},\"ts\":{start},\
                 \"dur\":{time},\"args\":{{\"time\":\"{known}\"}}"
            ))?;
            let flow = format!("\"cat\":\"queued\",\"name\":\"queued\",\"id\":{id}");
            let (number, queued) = (thread.number, Micros(call.start));
            self.event(format_args!(
                "\"ph\":\"s\",\"pid\":{process},\"tid\":{number},\"ts\":{queued},{flow}"
            ))?;
            self.event(format_args!(
                "\"ph\":\"f\",\"bp\":\"e\",\"pid\":{device},\"tid\":{lane},\"ts\":{start},{flow}"
            ))?;
        }
        Ok(())
    }
}
