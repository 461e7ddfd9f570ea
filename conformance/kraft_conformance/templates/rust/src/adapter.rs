//! kraft-adapter/1: a request on each line of standard input, one reply to each.  Nothing here needs a change.

use crate::json::{self, Json};
use crate::object;
use crate::replica::{Draw, Failure, Replica, Step, UNSAID};
use std::io::{BufRead, Result, Write};

const SCHEMA: &str = "kraft-adapter/1";

/// Answer requests until bye or the end of the input.
pub fn serve(mut replica: impl Replica, requests: impl BufRead, replies: impl Write) -> Result<()> {
    each_line(requests, replies, |line, number| {
        let reply = reply(&mut replica, line, number);
        (reply.to_string(), reply.get("type").as_text() == Some("bye"))
    })
}

fn reply(replica: &mut impl Replica, line: &str, number: i64) -> Json {
    let request = match json::parse(line) {
        Ok(request) => request,
        Err(error) => return error_reply(Json::Int(number), error),
    };
    let (kind, id) = (request.get("type").clone(), request.get("id").clone());
    match answer(replica, &request) {
        Ok(answer) => object! {"type": kind, "id": id}.with(answer),
        Err(failure) => error_reply(id, failure),
    }
}

fn error_reply(id: Json, failure: Failure) -> Json {
    let (code, detail) = match failure {
        Failure::Unsupported(detail) => ("unsupported", detail),
        Failure::Failed(detail) => ("failed", detail),
    };
    object! {"type": "error", "id": id, "code": code, "detail": detail}
}

fn answer(replica: &mut impl Replica, request: &Json) -> std::result::Result<Json, Failure> {
    Ok(match request.text("type")? {
        // To a runner of another version as well: it refuses by the name that it is told here.
        "hello" => object! {"schema": SCHEMA}.with(replica.hello()),
        "reset" => {
            replica.reset(request.int("replica")?, request.get("cluster"))?;
            object! {}
        }
        "step" => {
            if request.get("crash") != &Json::Null {
                return Err(Failure::Unsupported("a crash between two effects of one step".into()));
            }
            let (message, input) = (request.get("message"), request.get("input"));
            shown(replica.step(request.text("event")?, message, input, draw(request)?)?)
        }
        "observe" => object! {"state": replica.observe()?},
        "crash" => {
            replica.crash(request.int("log_end_offset")?)?;
            object! {}
        }
        "restart" => shown(replica.restart(request.get("endpoint").as_text(), draw(request)?)?),
        "bye" => object! {},
        other => return Err(Failure::Unsupported(format!("a request of the type {other}"))),
    })
}

fn shown(step: Step) -> Json {
    if step.refusal == UNSAID {
        return object! {"effects": step.effects};
    }
    object! {"effects": step.effects, "refusal": step.refusal}
}

fn draw(request: &Json) -> std::result::Result<Draw, Failure> {
    let draw = request.get("draw");
    Ok(Draw {
        correlation_id: draw.int("correlation_id")?,
        election_timeout_ms: draw.int("election_timeout_ms")?,
        election_backoff_ms: draw.int("election_backoff_ms")?,
    })
}

/// Answer each line of a stream; `answer` says whether it was the last.
///
/// A line that is no UTF-8 is no JSON either, and is refused where that is read.
pub fn each_line(
    mut lines: impl BufRead,
    mut answers: impl Write,
    mut answer: impl FnMut(&str, i64) -> (String, bool),
) -> Result<()> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let (text, is_last) = answer(std::str::from_utf8(&line).unwrap_or(""), number);
        writeln!(answers, "{text}")?;
        answers.flush()?;
        if is_last {
            break;
        }
    }
    Ok(())
}
