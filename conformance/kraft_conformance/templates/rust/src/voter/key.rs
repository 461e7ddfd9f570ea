//! Who a replica is.

use crate::json::Json;
use crate::object;
use crate::replica::Failure;

/// The id of a replica and the directory id of its disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub id: i64,
    pub directory_id: Option<String>,
}

impl Key {
    pub fn from_json(json: &Json) -> Result<Key, Failure> {
        let directory_id = json.get("directory_id").as_text().map(str::to_string);
        Ok(Key { id: json.int("id")?, directory_id })
    }

    /// Is a request that names its receiver meant for this replica?  What it leaves out is not checked.
    pub fn is_addressed_by(&self, receiver: &Json) -> Result<bool, Failure> {
        if receiver == &Json::Null {
            return Ok(true);
        }
        let named = Key::from_json(receiver)?;
        Ok(named.id == self.id && (named.directory_id.is_none() || named.directory_id == self.directory_id))
    }
}

impl From<Key> for Json {
    fn from(key: Key) -> Json {
        object! {"id": key.id, "directory_id": key.directory_id}
    }
}
