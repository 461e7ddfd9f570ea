//! The adapter as a program.  Put your own implementation of `Replica` in the place of `Voter`.

mod adapter;
mod replica;
mod voter;

use std::io::{stdin, stdout};

fn main() -> std::io::Result<()> {
    adapter::serve(voter::Voter::default(), stdin().lock(), stdout().lock())
}
