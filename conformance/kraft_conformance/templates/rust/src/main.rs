//! The adapter as a program.  Put your own implementation of `Replica` in the place of `Voter`.

mod adapter;
mod json;
mod replica;
mod voter;

use std::io::{stdin, stdout};

fn main() -> std::io::Result<()> {
    let (requests, replies) = (stdin().lock(), stdout().lock());
    if std::env::args().nth(1).as_deref() == Some("--echo") {
        // For the tests of the JSON reader and writer: each line is read and written again.
        return adapter::each_line(requests, replies, |line, _| {
            (json::parse(line).map_or_else(|error| format!("{error:?}"), |read| read.to_string()), false)
        });
    }
    adapter::serve(voter::Voter::default(), requests, replies)
}
