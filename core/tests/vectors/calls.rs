//! Which ids belong to which name.

use stormproof::{Action, CallId, Step, step::Safety};

/// A call of the vector.
pub struct Call {
    name: String,
    ids: Vec<CallId>,
    pub safety: Safety,
}

#[derive(Default)]
pub struct Calls(Vec<Call>);

impl Calls {
    /// A call was started under `name`.
    pub fn started(&mut self, name: &str, safety: Safety, step: &Step) {
        let has_id = step.call != CallId::NONE && !matches!(step.action, Action::Finish(_));
        let ids = if has_id { vec![step.call] } else { Vec::new() };
        let name = name.to_owned();
        self.0.push(Call { name, ids, safety });
    }

    /// A step may have renewed the id of a call.
    pub fn follow(&mut self, step: &Step) {
        let newest = |call: &&mut Call| call.ids.last() == Some(&step.previous);
        if step.call != step.previous
            && step.call != CallId::NONE
            && let Some(call) = self.0.iter_mut().find(newest)
        {
            call.ids.push(step.call);
        }
    }

    /// `"a"`: the newest id of a; `"a#0"`: its first.
    pub fn id(&self, text: &str) -> Result<CallId, String> {
        let (name, place) = match text.split_once('#') {
            Some((name, place)) => (name, Some(place.parse::<usize>().map_err(|_| text)?)),
            None => (text, None),
        };
        let ids = &self.get(name)?.ids;
        let id = place.map_or_else(|| ids.last(), |place| ids.get(place));
        id.copied().ok_or_else(|| format!("{text} has no id"))
    }

    pub fn get(&self, text: &str) -> Result<&Call, String> {
        let name = text.split('#').next().unwrap_or_default();
        let found = self.0.iter().rev().find(|call| call.name == name);
        found.ok_or_else(|| format!("no call is named {name}"))
    }

    /// Who has this id, whichever of its ids it is.
    pub fn name_of(&self, id: CallId) -> Option<&str> {
        let found = self.0.iter().rev().find(|call| call.ids.contains(&id));
        found.map(|call| call.name.as_str())
    }
}
