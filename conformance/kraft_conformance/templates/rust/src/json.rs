//! A small JSON reader and writer.
//!
//! Whole numbers are of 64 bits, any other number keeps its text: nothing goes through a double, which would lose
//! offsets above 2^53.

// Your replica may not need all of it.
#![allow(dead_code)]

use crate::replica::Failure;
use std::fmt;

const DEPTH_MAX: usize = 500;

#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Int(i64),
    /// A number that is not whole, or beyond 64 bits.
    Number(String),
    Text(String),
    Array(Vec<Json>),
    /// The members in their order.
    Object(Vec<(String, Json)>),
}

/// `object! {"name": value, ...}`; a value is anything that has a `From` below.
#[macro_export]
macro_rules! object {
    ($($name:literal : $value:expr),* $(,)?) => {
        $crate::json::Json::Object(vec![$(($name.to_string(), $crate::json::Json::from($value))),*])
    };
}

// ---- Building and taking apart. --------------------------------------------------------------------------

impl Json {
    /// A member of an object; null if it is not there.
    pub fn get(&self, name: &str) -> &Json {
        let Json::Object(members) = self else {
            return &Json::Null;
        };
        // The last of several, as most readers have it.
        members.iter().rev().find(|(known, _)| known == name).map_or(&Json::Null, |(_, value)| value)
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_int(&self) -> Option<i64> {
        match self {
            Json::Int(number) => Some(*number),
            _ => None,
        }
    }

    pub fn int(&self, name: &str) -> Result<i64, Failure> {
        self.get(name).as_int().ok_or_else(|| expected(name, "a whole number"))
    }

    pub fn text(&self, name: &str) -> Result<&str, Failure> {
        self.get(name).as_text().ok_or_else(|| expected(name, "a text"))
    }

    pub fn flag(&self, name: &str) -> Result<bool, Failure> {
        match self.get(name) {
            Json::Bool(flag) => Ok(*flag),
            _ => Err(expected(name, "true or false")),
        }
    }

    pub fn array(&self, name: &str) -> Result<&[Json], Failure> {
        match self.get(name) {
            Json::Array(elements) => Ok(elements),
            _ => Err(expected(name, "an array")),
        }
    }

    /// An object with the members of another one after its own.
    pub fn with(self, more: Json) -> Json {
        match (self, more) {
            (Json::Object(mut members), Json::Object(added)) => {
                members.extend(added);
                Json::Object(members)
            }
            (value, _) => value,
        }
    }
}

fn expected(name: &str, what: &str) -> Failure {
    Failure::Failed(format!("{name}: expected {what}"))
}

impl From<bool> for Json {
    fn from(flag: bool) -> Json {
        Json::Bool(flag)
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Json {
        Json::Int(number)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.to_string())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::Text(text)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(values: Vec<T>) -> Json {
        Json::Array(values.into_iter().map(Into::into).collect())
    }
}

// ---- Reading. --------------------------------------------------------------------------------------------

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

/// The value of a text; fails, and names the place, for anything that is not one JSON value.
pub fn parse(text: &str) -> Result<Json, Failure> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let value = reader.value()?;
    reader.skip_spaces();
    if reader.at < text.len() {
        return Err(reader.wrong("nothing more"));
    }
    Ok(value)
}

impl Reader<'_> {
    fn wrong(&self, expected: &str) -> Failure {
        Failure::Failed(format!("byte {}: expected {expected}", self.at + 1))
    }

    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn skip_spaces(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    fn took(&mut self, word: &str) -> bool {
        let found = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn take(&mut self, word: &str) -> Result<(), Failure> {
        if self.took(word) {
            Ok(())
        } else {
            Err(self.wrong(word))
        }
    }

    fn value(&mut self) -> Result<Json, Failure> {
        self.skip_spaces();
        match self.peek() {
            b'{' | b'[' => {
                self.depth += 1;
                if self.depth > DEPTH_MAX {
                    return Err(self.wrong(&format!("at most {DEPTH_MAX} values inside of each other")));
                }
                let nested = if self.peek() == b'{' { self.members() } else { self.elements() };
                self.depth -= 1;
                nested
            }
            b'"' => Ok(Json::Text(self.string()?)),
            _ if self.took("true") => Ok(Json::Bool(true)),
            _ if self.took("false") => Ok(Json::Bool(false)),
            _ if self.took("null") => Ok(Json::Null),
            _ => self.number(),
        }
    }

    fn members(&mut self) -> Result<Json, Failure> {
        let mut members = Vec::new();
        self.take("{")?;
        self.skip_spaces();
        if self.took("}") {
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_spaces();
            let name = self.string()?;
            self.skip_spaces();
            self.take(":")?;
            members.push((name, self.value()?));
            self.skip_spaces();
            if !self.took(",") {
                self.take("}")?;
                return Ok(Json::Object(members));
            }
        }
    }

    fn elements(&mut self) -> Result<Json, Failure> {
        let mut elements = Vec::new();
        self.take("[")?;
        self.skip_spaces();
        if self.took("]") {
            return Ok(Json::Array(elements));
        }
        loop {
            elements.push(self.value()?);
            self.skip_spaces();
            if !self.took(",") {
                self.take("]")?;
                return Ok(Json::Array(elements));
            }
        }
    }

    fn string(&mut self) -> Result<String, Failure> {
        self.take("\"")?;
        let mut read = String::new();
        loop {
            let start = self.at;
            while !matches!(self.peek(), b'"' | b'\\' | 0..=31) {
                self.at += 1;
            }
            read.push_str(&self.text[start..self.at]);
            match self.peek() {
                b'"' => break,
                b'\\' => read.push(self.escaped()?),
                _ => return Err(self.wrong("the end of a text")),
            }
        }
        self.at += 1;
        Ok(read)
    }

    fn escaped(&mut self) -> Result<char, Failure> {
        let letter = self.text.as_bytes().get(self.at + 1).copied().unwrap_or(0);
        let plain = match letter {
            b'"' | b'\\' | b'/' => letter as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return Err(self.wrong("an escape of JSON")),
        };
        self.at += 2;
        Ok(plain)
    }

    fn unicode(&mut self) -> Result<char, Failure> {
        let mut units = vec![self.unit()?];
        if (0xd800..0xdc00).contains(&units[0]) {
            units.push(self.unit()?);
        }
        let mut decoded = char::decode_utf16(units);
        let pair = "both halves of a surrogate pair";
        decoded.next().and_then(Result::ok).ok_or_else(|| self.wrong(pair))
    }

    fn unit(&mut self) -> Result<u16, Failure> {
        self.take("\\u")?;
        let digits = self.text.get(self.at..self.at + 4).filter(|four| four.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(unit) = digits.and_then(|four| u16::from_str_radix(four, 16).ok()) else {
            return Err(self.wrong("four hexadecimal digits"));
        };
        self.at += 4;
        Ok(unit)
    }

    fn number(&mut self) -> Result<Json, Failure> {
        let start = self.at;
        self.took("-");
        if !self.took("0") {
            self.digits()?;
        }
        let whole = self.at;
        if self.took(".") {
            self.digits()?;
        }
        if self.took("e") || self.took("E") {
            let _signed = self.took("+") || self.took("-");
            self.digits()?;
        }
        let shown = &self.text[start..self.at];
        match shown.parse() {
            Ok(number) if self.at == whole => Ok(Json::Int(number)),
            _ => Ok(Json::Number(shown.to_string())),
        }
    }

    fn digits(&mut self) -> Result<(), Failure> {
        if !self.peek().is_ascii_digit() {
            return Err(self.wrong("a value"));
        }
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }
}

// ---- Writing. --------------------------------------------------------------------------------------------

/// On one line, without spaces.
impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Json::Null => out.write_str("null"),
            Json::Bool(flag) => write!(out, "{flag}"),
            Json::Int(number) => write!(out, "{number}"),
            Json::Number(number) => out.write_str(number),
            Json::Text(text) => quote(text, out),
            Json::Array(elements) => {
                out.write_str("[")?;
                for (place, element) in elements.iter().enumerate() {
                    write!(out, "{}{element}", if place > 0 { "," } else { "" })?;
                }
                out.write_str("]")
            }
            Json::Object(members) => {
                out.write_str("{")?;
                for (place, (name, value)) in members.iter().enumerate() {
                    out.write_str(if place > 0 { "," } else { "" })?;
                    quote(name, out)?;
                    write!(out, ":{value}")?;
                }
                out.write_str("}")
            }
        }
    }
}

fn quote(text: &str, out: &mut fmt::Formatter) -> fmt::Result {
    out.write_str("\"")?;
    for letter in text.chars() {
        match letter {
            '"' | '\\' => write!(out, "\\{letter}")?,
            '\0'..='\u{1f}' => write!(out, "\\u{:04x}", letter as u32)?,
            _ => write!(out, "{letter}")?,
        }
    }
    out.write_str("\"")
}
