//! Addresses: how lights, materials, cameras and nodes are named on the command line, in looks and
//! in the viewer.
//!
//! A name addresses every item that has it; `NAME#2` is the second of these. `#3` is number 3 as
//! `inspect` counts (from 0), whatever its name. `3` means the same if nothing has that name. If
//! number 3 is at several nodes, `#3#2` is the second of these. An exact name takes precedence over
//! an address of the same spelling. Quotes around an address, as TOML needs them, are accepted on
//! the command line too.

use std::collections::{HashMap, HashSet};

/// An addressable item of a scene.
#[derive(Clone, Copy, Debug)]
pub struct AddressedItem<'a> {
    /// Index into the scene's list; for lights and cameras, of the node that carries it, since
    /// several nodes may carry the same one.
    pub index: usize,
    /// Number as `inspect` prints it.
    pub number: usize,
    /// The item's names; an empty string is no name.
    pub names: [&'a str; 2],
}

/// Items of one kind, in the order in which `inspect` counts them.
#[derive(Clone, Debug, Default)]
pub struct AddressTable<'a> {
    list: Vec<AddressedItem<'a>>,
    /// Indices into `list`.
    by_name: HashMap<&'a str, Vec<usize>>,
    by_number: HashMap<usize, Vec<usize>>,
}

impl<'a> FromIterator<AddressedItem<'a>> for AddressTable<'a> {
    fn from_iter<I: IntoIterator<Item = AddressedItem<'a>>>(things: I) -> Self {
        let mut out = Self::default();
        for (at, thing) in things.into_iter().enumerate() {
            let [first, second] = thing.names;
            for name in [first, second].into_iter().take(if first == second { 1 } else { 2 }) {
                if !name.is_empty() {
                    out.by_name.entry(name).or_default().push(at);
                }
            }
            out.by_number.entry(thing.number).or_default().push(at);
            out.list.push(thing);
        }
        out
    }
}

impl<'a> AddressTable<'a> {
    /// The items of a list, each with its own name.
    #[must_use]
    pub fn from_names(names: impl Iterator<Item = &'a str>) -> Self {
        names
            .enumerate()
            .map(|(index, name)| AddressedItem { index, number: index, names: [name, ""] })
            .collect()
    }

    /// The items.
    #[must_use]
    pub fn list(&self) -> &[AddressedItem<'a>] {
        &self.list
    }

    /// Indices of the items that an address selects; empty if there are none.
    #[must_use]
    pub fn find(&self, address: &str) -> Vec<usize> {
        let mut found = self.resolve(address);
        if found.is_empty()
            && let Some(inner) = unquoted(address)
        {
            found = self.resolve(&inner);
        }
        self.indices(&found)
    }

    fn indices(&self, places: &[usize]) -> Vec<usize> {
        places.iter().filter_map(|&at| self.list.get(at)).map(|thing| thing.index).collect()
    }

    /// Indices into `list`.
    fn resolve(&self, address: &str) -> Vec<usize> {
        let all = self.named_or_numbered(address);
        if !all.is_empty() {
            return all.to_vec();
        }
        let Some((base, place)) = address.rsplit_once('#').filter(|(base, _)| !base.is_empty())
        else {
            return Vec::new();
        };
        let nth = whole(place).and_then(|place| place.checked_sub(1));
        nth.and_then(|nth| self.named_or_numbered(base).get(nth).copied()).into_iter().collect()
    }

    fn named_or_numbered(&self, address: &str) -> &[usize] {
        let numbered = || self.by_number.get(&whole(address.strip_prefix('#').unwrap_or(address))?);
        self.by_name.get(address).or_else(numbered).map_or(&[][..], Vec::as_slice)
    }

    /// The address of all items with this number: a name if it is unambiguous; `None` if
    /// no item has the number.
    #[must_use]
    pub fn address(&self, number: usize) -> Option<String> {
        let wanted = self.by_number.get(&number)?;
        let first = self.list.get(*wanted.first()?)?;
        for name in first.names.into_iter().filter(|name| !name.is_empty()) {
            let all = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
            if all == wanted {
                return Some(name.into());
            }
            if let ([only], Some(nth)) =
                (wanted.as_slice(), all.iter().position(|at| wanted.contains(at)))
            {
                let counted = format!("{name}#{}", nth + 1);
                if self.resolve(&counted) == [*only] {
                    return Some(counted);
                }
            }
        }
        // Leading zeros keep the number and avoid a clash with an item that is named like the
        // address.
        let mut numbered =
            (0..=self.list.len()).map(|zeros| format!("#{}{number}", "0".repeat(zeros)));
        numbered.find(|address| self.resolve(address) == *wanted)
    }

    /// An address for each item, whose first item it is: a name, or else a number or a counted
    /// name.
    #[must_use]
    pub fn addresses(&self) -> Vec<String> {
        let address = |item: &AddressedItem<'a>| {
            let names = item.names.into_iter().filter(|name| !name.is_empty());
            let places = 1..=self.list.len();
            let counted =
                names.clone().flat_map(|name| places.clone().map(move |at| format!("{name}#{at}")));
            let plain = names.map(str::to_owned).chain([format!("#{}", item.number)]);
            plain.chain(counted).find(|name| self.find(name).first() == Some(&item.index))
        };
        self.list.iter().filter_map(address).collect()
    }

    /// Candidates for an error message: each name once, and the numbers of unnamed items.
    #[must_use]
    pub fn suggestions(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        let name = |thing: &AddressedItem<'a>| {
            let name = thing.names.into_iter().find(|name| !name.is_empty());
            name.map_or_else(|| format!("#{}", thing.number), str::to_owned)
        };
        self.list.iter().map(name).filter(|name| seen.insert(name.clone())).collect()
    }
}

fn whole(digits: &str) -> Option<usize> {
    digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The text between the quotes of a TOML key.
fn unquoted(address: &str) -> Option<String> {
    if let Some(inner) = address.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Some(inner.into());
    }
    let inner = address.strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_first_then_numbers_then_places() {
        let things = AddressTable::from_names(["Key", "", "Fill", "Key", "3", "Key#2"].into_iter());
        for (address, wanted) in [
            ("Key", vec![0, 3]),
            ("Key#1", vec![0]),
            ("Key#3", vec![]),
            ("Key#0", vec![]),
            // An exact name wins.
            ("Key#2", vec![5]),
            ("3", vec![4]),
            ("#3", vec![3]),
            ("#03", vec![3]),
            ("1", vec![1]),
            ("#1", vec![1]),
            ("\"#1\"", vec![1]),
            ("'#1'", vec![1]),
            ("#1#1", vec![1]),
            ("#1#2", vec![]),
            ("#9", vec![]),
            ("#", vec![]),
            ("", vec![]),
            ("+1", vec![]),
            ("Fil", vec![]),
        ] {
            assert_eq!(things.find(address), wanted, "{address}");
        }
        assert_eq!(things.suggestions(), ["Key", "#1", "Fill", "3", "Key#2"]);
    }

    #[test]
    fn every_address_means_what_it_is_of() {
        let names =
            ["", "#0", "0", "a", "a", "a#1", "", "#6", "#06", "b c", "\"q\"", "q", "#", "##1"];
        let things = AddressTable::from_names(names.into_iter());
        for number in 0..names.len() {
            let address = things.address(number).unwrap();
            assert_eq!(things.find(&address), [number], "{address}");
        }
        assert_eq!(things.address(3).as_deref(), Some("#3"), "a#1 is another's name");
        assert_eq!(things.address(4).as_deref(), Some("a#2"));
        assert_eq!(things.address(99), None);
    }

    #[test]
    fn each_item_has_an_address_that_selects_it_first() {
        let item = |index, number, names| AddressedItem { index, number, names };
        let table: AddressTable = [
            item(4, 0, ["Hero", "front"]),
            item(5, 0, ["Hero", "back"]),
            item(6, 1, ["", ""]),
            item(7, 2, ["Wide", ""]),
            item(8, 3, ["Wide", ""]),
        ]
        .into_iter()
        .collect();
        assert_eq!(table.addresses(), ["Hero", "back", "#1", "Wide", "#3"]);
    }
}
