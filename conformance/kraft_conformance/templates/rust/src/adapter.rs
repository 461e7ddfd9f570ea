//! kraft-adapter/1: a request on each line of standard input, one reply to each.  Nothing here needs a change.

use crate::replica::{Cluster, Draw, Failure, Input, Message, Replica};
use serde::Deserialize;
use serde_json::{from_slice, json, Value};
use std::io::{BufRead, Result, Write};

#[derive(Deserialize)]
struct Request {
    r#type: String,
    id: i64,
    replica: Option<i64>,
    cluster: Option<Cluster>,
    event: Option<String>,
    message: Option<Message>,
    input: Option<Input>,
    draw: Option<Draw>,
    crash: Option<Value>,
    log_end_offset: Option<usize>,
    endpoint: Option<String>,
}

/// Answer requests until bye or the end of the input.
pub fn serve(mut replica: impl Replica, requests: impl BufRead, mut replies: impl Write) -> Result<()> {
    for line in requests.split(b'\n') {
        let reply = reply(&mut replica, &line?);
        writeln!(replies, "{reply}")?;
        replies.flush()?;
        if reply["type"] == "bye" {
            break;
        }
    }
    Ok(())
}

fn reply(replica: &mut impl Replica, line: &[u8]) -> Value {
    let request: Request = match from_slice(line) {
        Ok(request) => request,
        Err(error) => return error_reply(0, Failure::Failed(error.to_string())),
    };
    let (kind, id) = (request.r#type.clone(), request.id);
    match answer(replica, request) {
        Ok(mut reply) => {
            reply["type"] = kind.into();
            reply["id"] = id.into();
            reply
        }
        Err(failure) => error_reply(id, failure),
    }
}

fn error_reply(id: i64, failure: Failure) -> Value {
    let (code, detail) = match failure {
        Failure::Unsupported(detail) => ("unsupported", detail),
        Failure::Failed(detail) => ("failed", detail),
    };
    json!({"type": "error", "id": id, "code": code, "detail": detail})
}

fn answer(replica: &mut impl Replica, request: Request) -> std::result::Result<Value, Failure> {
    match request.r#type.as_str() {
        "hello" => {
            let mut hello = replica.hello();
            hello["schema"] = "kraft-adapter/1".into();
            return Ok(hello);
        }
        "reset" => replica.reset(needed(request.replica)?, needed(request.cluster)?)?,
        "step" if request.crash.is_some() => {
            return Err(Failure::Unsupported("a crash between two effects of one step".into()));
        }
        "step" => {
            let (event, input) = (needed(request.event)?, request.input.unwrap_or_default());
            let effects = replica.step(&event, request.message, input, needed(request.draw)?)?;
            return Ok(json!({"effects": effects}));
        }
        "observe" => return Ok(json!({"state": replica.observe()})),
        "crash" => replica.crash(needed(request.log_end_offset)?),
        "restart" => return Ok(json!({"effects": replica.restart(request.endpoint, needed(request.draw)?)?})),
        "bye" => {}
        other => return Err(Failure::Unsupported(format!("a request of the type {other}"))),
    }
    Ok(json!({}))
}

/// A field of a request, or of what it carries, that has to be there.
pub fn needed<T>(field: Option<T>) -> std::result::Result<T, Failure> {
    field.ok_or_else(|| Failure::Failed(format!("no {}", std::any::type_name::<T>())))
}
