//! The layers of an EXR, and the choice of one.

use std::collections::HashMap;

use ::exr::meta::header::Header;

use crate::image_io::error_text::{ImageError, one_line};

/// Error of deep data.
pub(super) const DEEP: &str = "it contains deep data, which are not supported; flatten it";
/// Maximum number of layer or channel names in an error.
const LISTED: usize = 12;
/// Layer names of the main image in Blender, Arnold, V-Ray, Nuke, Houdini and others.
const MAIN: [&str; 9] =
    ["combined", "beauty", "rgba", "rgb", "color", "composite", "main", "default", "image"];
/// Names of a luminance channel.
const LUMINANCE: [&str; 6] = ["Y", "L", "luminance", "gray", "grey", "value"];

/// Interpretation of a layer's channels, by their indices in the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Red, green and blue.
    Color([usize; 3]),
    /// Luminance, and chroma (R-Y)/Y and (B-Y)/Y.
    Chroma([usize; 3]),
    /// Luminance only.
    Luminance(usize),
    /// A vector: X, Y and Z.
    Vector([usize; 3]),
    /// One channel of any other name.
    Single(usize),
}

impl Content {
    /// Preference as the main image; lower is preferred.
    const fn rank(self) -> u8 {
        match self {
            Self::Color(_) | Self::Chroma(_) => 0,
            Self::Luminance(_) => 1,
            Self::Vector(_) => 2,
            Self::Single(_) => 3,
        }
    }

    pub(super) const fn channels(self) -> [usize; 3] {
        match self {
            Self::Color(three) | Self::Chroma(three) | Self::Vector(three) => three,
            Self::Luminance(one) | Self::Single(one) => [one; 3],
        }
    }
}

/// The channels of a layer in one part.
pub(super) struct Group {
    pub(super) part: usize,
    /// Part and layer name, as a user writes it; empty for the unnamed layer.
    pub(super) name: String,
    /// The layer name without the part's name.
    pub(super) layer: String,
    /// Channels by their name after the layer prefix, with their indices.
    pub(super) channels: Vec<(String, usize)>,
    pub(super) deep: bool,
    /// `None` if the channels form no image.
    pub(super) content: Option<Content>,
}

impl Group {
    pub(super) fn find(&self, names: &[&str]) -> Option<usize> {
        let named =
            |name: &str| self.channels.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        names.iter().find_map(|name| named(name)).map(|(_, index)| *index)
    }

    /// True if the name is a conventional name of the main image.
    fn is_main(&self) -> bool {
        let last = self.name.rsplit('.').next().unwrap_or_default();
        MAIN.iter().any(|name| last.eq_ignore_ascii_case(name))
    }
}

/// Groups the channels of a part by the prefix before their last dot.
pub(super) fn groups(part: usize, header: &Header) -> Vec<Group> {
    let part_name =
        header.own_attributes.layer_name.as_ref().map(ToString::to_string).unwrap_or_default();
    let mut layers: Vec<(String, Vec<(String, usize)>)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (index, channel) in header.channels.list.iter().enumerate() {
        let name = channel.name.to_string();
        let (layer, channel) = name.rsplit_once('.').unwrap_or(("", &name));
        let place = *known.entry(layer.to_owned()).or_insert_with(|| {
            layers.push((layer.to_owned(), Vec::new()));
            layers.len() - 1
        });
        if let Some((_, channels)) = layers.get_mut(place) {
            channels.push((channel.to_owned(), index));
        }
    }
    let named = |(layer, channels): (String, Vec<(String, usize)>)| {
        let name = match (part_name.as_str(), layer.as_str()) {
            ("", layer) => layer.to_owned(),
            (part, "") => part.to_owned(),
            (part, layer) => format!("{part}.{layer}"),
        };
        let mut group = Group { part, name, layer, channels, deep: header.deep, content: None };
        group.content = content(&group).filter(|_| !header.deep);
        group
    };
    layers.into_iter().map(named).collect()
}

fn content(group: &Group) -> Option<Content> {
    let three = |names: [&[&str]; 3]| -> Option<[usize; 3]> {
        Some([group.find(names[0])?, group.find(names[1])?, group.find(names[2])?])
    };
    if let Some(color) = three([&["R", "red"], &["G", "green"], &["B", "blue"]]) {
        return Some(Content::Color(color));
    }
    if let Some(chroma) = three([&["Y"], &["RY"], &["BY"]]) {
        return Some(Content::Chroma(chroma));
    }
    if let Some(vector) = three([&["X"], &["Y"], &["Z"]]) {
        return Some(Content::Vector(vector));
    }
    if let Some(one) = group.find(&LUMINANCE) {
        return Some(Content::Luminance(one));
    }
    let alpha = |name: &str| name.eq_ignore_ascii_case("A") || name.eq_ignore_ascii_case("alpha");
    let shown: Vec<usize> =
        group.channels.iter().filter(|(name, _)| !alpha(name)).map(|(_, index)| *index).collect();
    match shown.as_slice() {
        [one] => Some(Content::Single(*one)),
        _ => None,
    }
}

/// At most `LISTED` names, quoted.
pub(super) fn listed(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = names.map(|name| format!("'{}'", one_line(&name))).collect();
    let more = names.len().saturating_sub(LISTED);
    names.truncate(LISTED);
    if more > 0 {
        names.push(format!("{more} more"));
    }
    names.join(", ")
}

/// Finds the group of a name: exact, else ignoring case, else by the end of its name.
pub(super) fn named<'a>(groups: &'a [Group], layer: &str) -> Result<&'a Group, ImageError> {
    let only = |matches: &dyn Fn(&Group) -> bool| {
        let mut found = groups.iter().filter(|group| matches(group));
        found.next().filter(|_| found.next().is_none())
    };
    let end = format!(".{layer}");
    let usable = || {
        listed(
            groups.iter().filter(|group| group.content.is_some()).map(|group| group.name.clone()),
        )
    };
    let found = (groups.iter().find(|group| group.name == layer))
        .or_else(|| groups.iter().find(|group| group.layer == layer))
        .or_else(|| only(&|group| group.name.eq_ignore_ascii_case(layer)))
        .or_else(|| only(&|group| group.name.ends_with(&end)))
        .ok_or_else(|| {
            let there = if groups.iter().all(|group| group.name.is_empty()) {
                "only an unnamed layer: omit the name".into()
            } else {
                usable()
            };
            ImageError::Layer(format!("it has no layer '{}'; it has {there}", one_line(layer)))
        })?;
    if found.deep {
        return Err(ImageError::Unsupported(DEEP.into()));
    }
    if found.content.is_none() {
        let name = one_line(layer);
        return Err(ImageError::Layer(format!(
            "its layer '{name}' has neither red, green and blue nor a single channel; choose one \
             of {}",
            usable()
        )));
    }
    Ok(found)
}

/// Finds the main image if no layer is given, with a warning if the choice is ambiguous.
pub(super) fn unnamed(groups: &[Group]) -> Result<(&Group, Option<String>), ImageError> {
    let best = groups.iter().filter_map(|group| group.content.map(Content::rank)).min();
    let Some(best) = best else {
        if groups.iter().any(|group| group.deep) {
            return Err(ImageError::Unsupported(DEEP.into()));
        }
        let channels = groups.iter().flat_map(|group| {
            group.channels.iter().map(|(channel, _)| match group.name.as_str() {
                "" => channel.clone(),
                name => format!("{name}.{channel}"),
            })
        });
        return Err(ImageError::Channel(format!(
            "it has neither red, green and blue nor luminance (its channels are {}); save it as \
             an RGB image",
            listed(channels)
        )));
    };
    let equal: Vec<&Group> =
        groups.iter().filter(|g| g.content.is_some_and(|content| content.rank() == best)).collect();
    let names = || listed(equal.iter().map(|group| group.name.clone()));
    let unlayered: Vec<&Group> =
        equal.iter().copied().filter(|group| group.layer.is_empty()).collect();
    let main = |among: &[&'_ Group]| {
        let mut main = among.iter().copied().filter(|group| group.is_main());
        main.next().filter(|_| main.next().is_none()).map(|group| (group.part, group.layer.clone()))
    };
    let pick = |(part, layer): (usize, String)| {
        equal.iter().copied().find(|g| g.part == part && g.layer == layer)
    };
    let several = |group: &Group| {
        Some(format!(
            "'{}' is used (of {}); choose another with FILE.exr:LAYER",
            one_line(&group.name),
            names()
        ))
    };
    let (group, warning) = match (unlayered.as_slice(), equal.as_slice()) {
        ([one], _) => (*one, None),
        // Parts of equal rank, such as the views of a stereo image: the first is the default.
        ([first, ..], _) => {
            main(&unlayered).and_then(pick).map_or((*first, several(first)), |group| (group, None))
        }
        ([], [one]) => (*one, None),
        ([], _) => (main(&equal).and_then(pick).map(|group| (group, None))).ok_or_else(|| {
            ImageError::Layer(format!(
                "it has no main layer; choose one with FILE.exr:LAYER: {}",
                names()
            ))
        })?,
    };
    let odd = match group.content {
        Some(Content::Single(_)) => {
            let name = group
                .channels
                .iter()
                .find(|(name, _)| !name.eq_ignore_ascii_case("A"))
                .map(|(name, _)| name);
            name.map(|name| format!("its only channel, '{}', is used as luminance", one_line(name)))
        }
        Some(Content::Vector(_)) => {
            Some("its channels X, Y and Z are used as red, green and blue".into())
        }
        _ => None,
    };
    Ok((group, warning.or(odd)))
}
