//! A recording as a page: one file of HTML with its data, its style and its script, which loads
//! nothing.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Write};

use super::bars::{self, Certainty, Rows};
use super::summary::{Summary, totals};
use super::text::{self, Html, Json, Micros};
use super::timeline::Timeline;
use crate::roles;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Calls from which on their arguments are left out of the page, which would be too large for a
/// browser.
const MOST_WITH_TEXT: usize = 200_000;

/// Kinds of bars, as the script has colors for them.
const KINDS: [&str; 9] =
    ["call", "wait", "failed", "unreturned", "kernel", "copy", "fill", "other", "captured"];

impl Timeline<'_> {
    /// As a page of HTML that needs only a browser. `title` names the program, and each of `notes`
    /// is a sentence above the lanes.
    pub fn page<'b>(&'b self, title: &'b str, notes: &'b [String]) -> impl fmt::Display + 'b {
        Page { timeline: self, title, notes }
    }
}

/// A timeline as a page.
pub(crate) struct Page<'a> {
    pub(crate) timeline: &'a Timeline<'a>,
    pub(crate) title: &'a str,
    pub(crate) notes: &'a [String],
}

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, part) in PAGE.split('@').enumerate() {
            match (number % 2, part) {
                (0, text) => f.write_str(text)?,
                (_, "TITLE") => write!(f, "{}", Html(self.title))?,
                (_, "STYLE") => f.write_str(STYLE.trim_end())?,
                (_, "SCRIPT") => f.write_str(SCRIPT.trim_end())?,
                (_, "NOTES") => {
                    self.notes
                        .iter()
                        .try_for_each(|note| writeln!(f, "<p class=\"warning\">{}</p>", Html(note)))?;
                }
                (_, _) => self.data(f)?,
            }
        }
        Ok(())
    }
}

impl Page<'_> {
    fn data(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lanes = Lanes::of(self.timeline);
        f.write_str("{\"lanes\":[")?;
        for (number, lane) in lanes.list.iter().enumerate() {
            f.write_str(if number == 0 { "\n" } else { ",\n" })?;
            lane.write(f)?;
        }
        write!(f, "],\n\"names\":{}", strings(lanes.names.in_order()))?;
        write!(
            f,
            ",\n\"kinds\":{},\n\"certainties\":{}",
            strings(KINDS),
            strings(Certainty::ALL.map(Certainty::text))
        )?;
        let summary = Summary(self.timeline).to_string();
        let first = summary.lines().next().unwrap_or_default();
        write!(f, ",\n\"summary\":{},\n\"totals\":[", Json(first))?;
        for (number, total) in totals(self.timeline.recording).iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let (time, longest) = (Micros(total.time), Micros(total.longest));
            let (function, calls, failed, blocks) =
                (total.function, total.calls, total.failed, u8::from(total.blocks));
            write!(f, "{comma}\n[\"{function}\",{time},{calls},{longest},{failed},{blocks}]")?;
        }
        f.write_str("]}")
    }
}

/// Texts in the order in which they were first met, each once.
#[derive(Default)]
struct Names(HashMap<String, usize>);

impl Names {
    fn place(&mut self, name: String) -> usize {
        let next = self.0.len();
        *self.0.entry(name).or_insert(next)
    }

    fn in_order(&mut self) -> Vec<String> {
        let mut names: Vec<_> = self.0.drain().collect();
        names.sort_by_key(|(_, place)| *place);
        names.into_iter().map(|(name, _)| name).collect()
    }
}

/// Columns of a lane: one number per bar, written as JSON.
#[derive(Default)]
struct Column(String);

impl Column {
    fn push(&mut self, value: impl fmt::Display) {
        let comma = if self.0.is_empty() { "" } else { "," };
        let _ = write!(self.0, "{comma}{value}");
    }
}

/// A lane with its bars.
#[derive(Default)]
struct Lane {
    name: String,
    group: String,
    is_stream: bool,
    rows: usize,
    columns: BTreeMap<&'static str, Column>,
    /// Bars of other lanes, by number of the bar.
    maps: BTreeMap<&'static str, Column>,
}

impl Lane {
    fn push(&mut self, column: &'static str, value: impl fmt::Display) {
        self.columns.entry(column).or_default().push(value);
    }

    fn link(&mut self, map: &'static str, bar: usize, (lane, other): (usize, usize)) {
        self.maps.entry(map).or_default().push(format_args!("\"{bar}\":[{lane},{other}]"));
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, group, rows) = (Json(&self.name), Json(&self.group), self.rows.max(1));
        write!(f, "{{\"name\":{name},\"group\":{group},\"is_stream\":{},\"rows\":{rows}", self.is_stream)?;
        let columns: &[&str] = match self.is_stream {
            true => &[
                "start",
                "time",
                "name_of",
                "kind_of",
                "row",
                "certainty",
                "measured",
                "call_lane",
                "call_bar",
            ],
            false => &["start", "time", "name_of", "kind_of", "row"],
        };
        for column in columns {
            let values = self.columns.get(column).map_or("", |column| &column.0);
            write!(f, ",\n\"{column}\":[{values}]")?;
        }
        if let Some(texts) = self.columns.get("text") {
            write!(f, ",\n\"text\":[{}]", texts.0)?;
        }
        for map in ["waits", "queued"] {
            let links = self.maps.get(map).map_or("", |links| &links.0);
            write!(f, ",\n\"{map}\":{{{links}}}")?;
        }
        f.write_str("}")
    }
}

/// All lanes: threads with their calls, followed by streams with their work.
struct Lanes {
    list: Vec<Lane>,
    names: Names,
}

impl Lanes {
    fn of(timeline: &Timeline<'_>) -> Self {
        let mut lanes = Self { list: Vec::new(), names: Names::default() };
        let bars_of_calls = lanes.threads(timeline);
        let bars_of_pieces = lanes.streams(timeline, &bars_of_calls);
        for (piece, bar) in timeline.work.pieces.iter().zip(&bars_of_pieces) {
            let (lane, number) = bars_of_calls[piece.call];
            lanes.list[lane].link("queued", number, *bar);
        }
        let mut waits: Vec<_> = timeline.work.waits.iter().collect();
        waits.sort_unstable();
        for (&call, &piece) in waits {
            let (lane, number) = bars_of_calls[call];
            lanes.list[lane].link("waits", number, bars_of_pieces[piece]);
        }
        lanes
    }

    /// Adds the lanes of threads. Returns lane and number of each call's bar.
    fn threads(&mut self, timeline: &Timeline<'_>) -> Vec<(usize, usize)> {
        let recording = timeline.recording;
        for thread in &recording.threads {
            let process = &recording.processes[thread.process];
            let name = format!("thread {} {}", thread.number, thread.name);
            let group = format!("of process {}", process.number);
            self.list.push(Lane { name: name.trim_end().to_owned(), group, ..Lane::default() });
        }
        let mut rows: Vec<Rows> = recording.threads.iter().map(|_| Rows::default()).collect();
        let mut counts = vec![0; recording.threads.len()];
        let with_text = recording.calls.len() <= MOST_WITH_TEXT;
        let bar = |call: &crate::read::Call| {
            let place = call.thread as usize;
            let row = rows[place].row(call.start, call.end);
            let lane = &mut self.list[place];
            lane.rows = lane.rows.max(row + 1);
            lane.push("start", Micros(call.start));
            lane.push("time", Micros(call.time()));
            lane.push("name_of", self.names.place(call.function.to_string()));
            let kind = match call.result {
                None => 3,
                Some(_) if roles::is_answer_no(call) => 2,
                Some(_) => usize::from(roles::blocks(call.function)),
            };
            lane.push("kind_of", kind);
            lane.push("row", row);
            if with_text {
                lane.push("text", Json(&text::call(recording, call)));
            }
            counts[place] += 1;
            (place, counts[place] - 1)
        };
        recording.calls.iter().map(bar).collect()
    }

    /// Adds the lanes of streams. Returns lane and number of each piece's bar.
    fn streams(&mut self, timeline: &Timeline<'_>, calls: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let (recording, work) = (timeline.recording, &timeline.work);
        let mut bars = vec![(0, 0); work.pieces.len()];
        for (number, stream) in work.streams.iter().enumerate() {
            let pieces = bars::pieces_of(recording, work, number);
            if pieces.is_empty() {
                continue;
            }
            let group = format!("of process {}", recording.processes[stream.process].number);
            let mut lane = Lane { name: stream.name.clone(), group, is_stream: true, ..Lane::default() };
            let mut rows = Rows::default();
            for (count, place) in pieces.into_iter().enumerate() {
                let piece = &work.pieces[place];
                let (start, end) = bars::span(recording, piece);
                let row = rows.row(start, end);
                lane.rows = lane.rows.max(row + 1);
                lane.push("start", Micros(start));
                lane.push("time", Micros(end - start));
                lane.push("name_of", self.names.place(piece.label.clone()));
                let kind = if piece.captured { "captured" } else { piece.what.kind() };
                lane.push("kind_of", KINDS.iter().position(|known| *known == kind).unwrap_or(0));
                lane.push("row", row);
                let certainty = bars::certainty(piece);
                lane.push("certainty", certainty as usize);
                lane.push("measured", u8::from(certainty == Certainty::Measured));
                let (call_lane, call_bar) = calls[piece.call];
                lane.push("call_lane", call_lane);
                lane.push("call_bar", call_bar);
                bars[place] = (self.list.len(), count);
            }
            self.list.push(lane);
        }
        bars
    }
}

/// A list of strings as JSON.
fn strings<T: AsRef<str>>(list: impl IntoIterator<Item = T>) -> String {
    let list: Vec<_> = list.into_iter().map(|text| Json(text.as_ref()).to_string()).collect();
    format!("[{}]", list.join(","))
}
