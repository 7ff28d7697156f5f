//! Export of a planned frame as a Mermaid or DOT diagram.

use std::fmt::Write as _;

use super::{access::Access, execution::Prepared};
use crate::message::counted;

/// The diagram language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFormat {
    /// For Markdown pages.
    Mermaid,
    /// For Graphviz.
    Dot,
}

/// Exports passes and resources in execution order, with barriers on the edges and the shared
/// memory of images.
#[must_use]
pub fn export(prepared: &Prepared, language: GraphFormat) -> String {
    let mut out = String::new();
    let mermaid = language == GraphFormat::Mermaid;
    out.push_str(if mermaid { "flowchart TD\n" } else { "digraph frame {\n  rankdir=TB;\n" });
    for (position, &pass) in prepared.plan.order.iter().enumerate() {
        let Some(info) = prepared.passes.get(pass) else { continue };
        let barriers = prepared.plan.barriers.get(position).map_or(0, Vec::len);
        line(
            &mut out,
            mermaid,
            &node(
                mermaid,
                "p",
                pass,
                &format!("{}. {} ({})", position + 1, info.name, counted(barriers, "barrier")),
            ),
        );
    }
    for (index, resource) in prepared.resources.iter().enumerate() {
        let Some((first, last)) = prepared.plan.lifetimes.get(index).copied().flatten() else {
            continue;
        };
        let label = format!("{} (passes {} to {})", resource.name, first + 1, last + 1);
        line(&mut out, mermaid, &node(mermaid, "r", index, &label));
    }
    for &pass in &prepared.plan.order {
        let Some(info) = prepared.passes.get(pass) else { continue };
        for &(resource, access) in &info.uses {
            let (from, to) = if access.writes() {
                (format!("p{pass}"), format!("r{resource}"))
            } else {
                (format!("r{resource}"), format!("p{pass}"))
            };
            line(&mut out, mermaid, &edge(mermaid, &from, &to, access));
        }
    }
    let comment = if mermaid { "%%" } else { "//" };
    for &pass in &prepared.plan.culled {
        if let Some(info) = prepared.passes.get(pass) {
            line(&mut out, true, &format!("{comment} not run: {}", info.name));
        }
    }
    let memory = prepared.memory;
    line(
        &mut out,
        true,
        &format!(
            "{comment} transient images: {} bytes shared, {} bytes unshared",
            memory.total, memory.unshared
        ),
    );
    if !mermaid {
        out.push_str("}\n");
    }
    out
}

fn line(out: &mut String, mermaid: bool, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "  {text}{}", if mermaid { "" } else { ";" });
}

fn node(mermaid: bool, prefix: &str, index: usize, label: &str) -> String {
    match (mermaid, prefix) {
        (true, "p") => format!("{prefix}{index}[\"{label}\"]"),
        (true, _) => format!("{prefix}{index}([\"{label}\"])"),
        (false, "p") => format!("{prefix}{index} [shape=box,label=\"{label}\"]"),
        (false, _) => format!("{prefix}{index} [shape=ellipse,label=\"{label}\"]"),
    }
}

fn edge(mermaid: bool, from: &str, to: &str, access: Access) -> String {
    if mermaid {
        format!("{from} -->|{access:?}| {to}")
    } else {
        format!("{from} -> {to} [label=\"{access:?}\"]")
    }
}
