// A recording ends once.
use cuprum::Current;
use cuprum::region::{Recording, Replay, RegionError};

fn wrong(cx: &Current<'_, 'static>, recording: Recording) -> Result<[Replay; 2], RegionError> {
    Ok([recording.end(cx)?, recording.end(cx)?])
}

fn main() {}
