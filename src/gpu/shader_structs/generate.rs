//! Generator of the host structs: reads the structs and constants of `shaders/shared/*.glsl` and
//! writes Rust. The build script runs it.
//!
//! A file holds `struct`s with a comment and a member per line, and `const` scalars; other lines
//! are for shaders alone. A member may have a scalar, vector, matrix or another of these structs as
//! its type, or an array of these; a constant may be the length. Every struct, member and constant
//! needs a comment, which becomes its documentation. Offsets follow the scalar block layout
//! (`GL_EXT_scalar_block_layout`) and are asserted at compile time, so a member that the host would
//! align otherwise fails the build.

use std::{collections::HashMap, fmt::Write as _};

/// A file of `shaders/shared/`.
pub struct SharedFile<'a> {
    /// Name without extension: the module's name.
    pub name: &'a str,
    /// GLSL source.
    pub source: &'a str,
}

/// Rust source of one module for each file, and the list of all structs.
///
/// `host_types` are structs that the host defines elsewhere; they are skipped.
///
/// # Errors
///
/// The file, line and remedy if a declaration cannot be converted or has no comment.
pub fn generate(files: &[SharedFile<'_>], host_types: &[&str]) -> Result<String, String> {
    let mut out = String::new();
    let names = Names::new(files, host_types);
    for file in files {
        module(&mut out, file, host_types, &names)?;
    }
    out.push_str("/// Layouts of all structs, by module.\n");
    out.push_str("pub const LAYOUTS: &[&[super::reflect::HostLayout]] = &[");
    for file in files {
        write!(out, "{}::LAYOUTS, ", file.name).unwrap_or_default();
    }
    out.push_str("];\n");
    Ok(out)
}

/// Names of all files that a member's type may contain.
struct Names<'a> {
    /// Module of each struct.
    structs: HashMap<&'a str, &'a str>,
    /// Values of the integer constants.
    lengths: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    fn new(files: &[SharedFile<'a>], host_types: &[&str]) -> Self {
        let mut names = Self { structs: HashMap::new(), lengths: HashMap::new() };
        for file in files {
            for line in file.source.lines().map(str::trim) {
                let name = line.strip_prefix("struct ").and_then(|rest| rest.strip_suffix(" {"));
                if let Some(name) = name.filter(|name| !host_types.contains(name)) {
                    names.structs.insert(name, file.name);
                }
                let length = line.strip_prefix("const ").and_then(constant);
                if let Some((name, _, value)) = length
                    && let Ok(value) = value.parse()
                {
                    names.lengths.insert(name, value);
                }
            }
        }
        names
    }
}

/// Size of a type: bytes, and structs in addition.
#[derive(Clone, Default)]
struct Size {
    bytes: usize,
    structs: Vec<String>,
}

impl Size {
    /// Rust expression of the size.
    fn expression(&self) -> String {
        let bytes =
            Some(self.bytes.to_string()).filter(|_| self.bytes > 0 || self.structs.is_empty());
        let structs = self.structs.iter().map(|name| format!("std::mem::size_of::<{name}>()"));
        bytes.into_iter().chain(structs).collect::<Vec<_>>().join(" + ")
    }
}

/// A member of a struct.
struct Member {
    line: usize,
    name: String,
    ty: String,
    doc: Vec<String>,
}

fn module(
    out: &mut String,
    file: &SharedFile<'_>,
    host_types: &[&str],
    names: &Names<'_>,
) -> Result<(), String> {
    let mut lines = file.source.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let head: Vec<_> = file
        .source
        .lines()
        .map_while(|line| line.strip_prefix("//"))
        .map(|line| line.trim().to_owned())
        .collect();
    let mut body = String::new();
    let mut structs = Vec::new();
    let mut doc: Vec<String> = Vec::new();
    while let Some((number, line)) = lines.next() {
        let fail = |what: &str| Err(format!("shaders/shared/{}.glsl:{number}: {what}", file.name));
        if let Some(comment) = line.strip_prefix("//") {
            doc.push(comment.trim().to_owned());
            continue;
        }
        if let Some(rest) = line.strip_prefix("struct ") {
            let Some(name) = rest.strip_suffix(" {") else {
                return fail("expected `struct Name {` on one line");
            };
            let members = members(file.name, &mut lines)?;
            if !host_types.contains(&name) {
                if doc.is_empty() {
                    return fail("add a comment above the struct");
                }
                host_struct(&mut body, name, &doc, &members, names).map_err(|(line, what)| {
                    format!("shaders/shared/{}.glsl:{line}: {what}", file.name)
                })?;
                structs.push(name);
            }
        } else if let Some(rest) = line.strip_prefix("const ") {
            if doc.is_empty() {
                return fail("add a comment above the constant");
            }
            let constant = constant(rest);
            let Some((name, ty, value)) = constant else {
                return fail("expected `const uint NAME = VALUE;` or a float on one line");
            };
            documentation(&mut body, "    ", &doc);
            writeln!(body, "    pub const {name}: {ty} = {value};").unwrap_or_default();
        }
        doc.clear();
    }
    documentation(out, "", &head);
    write!(out, "pub mod {} {{\n{body}", file.name).unwrap_or_default();
    out.push_str("    /// Layouts of the module's structs.\n");
    out.push_str("    pub const LAYOUTS: &[crate::gpu::reflect::HostLayout] = &[");
    for name in structs {
        write!(out, "{name}::LAYOUT, ").unwrap_or_default();
    }
    out.push_str("];\n}\n\n");
    Ok(())
}

/// The members up to the closing brace.
fn members<'a>(
    file: &str,
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
) -> Result<Vec<Member>, String> {
    let mut members = Vec::new();
    let mut doc: Vec<String> = Vec::new();
    for (number, line) in lines {
        let fail = |what: &str| Err(format!("shaders/shared/{file}.glsl:{number}: {what}"));
        if line == "};" {
            return Ok(members);
        }
        if let Some(comment) = line.strip_prefix("//") {
            doc.push(comment.trim().to_owned());
            continue;
        }
        let declaration = line.strip_suffix(';').and_then(|line| line.split_once(' '));
        let Some((ty, name)) = declaration else {
            return fail("expected `type name;` on a line of its own");
        };
        if doc.is_empty() {
            return fail("add a comment above the member");
        }
        let (name, array) = name.split_at(name.find('[').unwrap_or(name.len()));
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return fail("expected `type name;` on a line of its own");
        }
        members.push(Member {
            line: number,
            name: name.to_owned(),
            ty: format!("{ty}{array}"),
            doc: std::mem::take(&mut doc),
        });
    }
    Err(format!("shaders/shared/{file}.glsl: a struct has no closing `}};`"))
}

fn host_struct(
    out: &mut String,
    name: &str,
    doc: &[String],
    members: &[Member],
    names: &Names<'_>,
) -> Result<(), (usize, String)> {
    let mut fields = String::new();
    let mut layout = String::new();
    let mut checks = String::new();
    let mut offset = Size::default();
    for Member { line, name: field, ty, doc } in members {
        let (host, size) = host_type(ty, names).ok_or_else(|| {
            let expected = "expected float, int, uint, a vector of float or uint, mat4, a struct \
                            of shaders/shared, or an array of these";
            (*line, format!("{name}.{field}: no host type for {ty}; {expected}"))
        })?;
        documentation(&mut fields, "        ", doc);
        writeln!(fields, "        pub {field}: {host},").unwrap_or_default();
        write!(layout, "({field:?}, std::mem::offset_of!({name}, {field})), ").unwrap_or_default();
        write!(
            checks,
            "assert!(std::mem::offset_of!({name}, {field}) == {}, \
             \"the host aligns {name}.{field} otherwise: add padding\"); ",
            offset.expression()
        )
        .unwrap_or_default();
        offset.bytes += size.bytes;
        offset.structs.extend(size.structs);
    }
    documentation(out, "    ", doc);
    let size = offset.expression();
    write!(
        out,
        "    #[repr(C)]
    #[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
    pub struct {name} {{
{fields}    }}

    impl {name} {{
        /// The layout on the host.
        pub const LAYOUT: crate::gpu::reflect::HostLayout = crate::gpu::reflect::HostLayout {{
            name: {name:?},
            size: std::mem::size_of::<Self>(),
            fields: &[{layout}],
        }};
    }}

    const _: () = {{
        {checks}
        assert!(std::mem::size_of::<{name}>() == {size}, \"the host pads {name}: add padding\");
    }};

"
    )
    .unwrap_or_default();
    Ok(())
}

/// Host type and size of a GLSL type.
fn host_type(ty: &str, names: &Names<'_>) -> Option<(String, Size)> {
    if let Some((element, length)) = ty.strip_suffix(']').and_then(|ty| ty.split_once('[')) {
        let length = length.parse().ok().or_else(|| names.lengths.get(length).copied())?;
        let (host, size) = host_type(element, names)?;
        let size =
            Size { bytes: size.bytes * length, structs: vec![size.structs; length].concat() };
        return Some((format!("[{host}; {length}]"), size));
    }
    if let Some(module) = names.structs.get(ty) {
        let host = format!("super::{module}::{ty}");
        return Some((host.clone(), Size { bytes: 0, structs: vec![host] }));
    }
    let (host, words) = match ty {
        "float" => ("f32", 1),
        "int" => ("i32", 1),
        "uint" => ("u32", 1),
        "vec2" => ("glam::Vec2", 2),
        "vec3" => ("glam::Vec3", 3),
        "vec4" => ("glam::Vec4", 4),
        "uvec2" => ("[u32; 2]", 2),
        "uvec3" => ("[u32; 3]", 3),
        "uvec4" => ("[u32; 4]", 4),
        "mat4" => ("glam::Mat4", 16),
        _ => return None,
    };
    Some((host.to_owned(), Size { bytes: 4 * words, structs: Vec::new() }))
}

/// Name, host type and value of `uint NAME = VALUE;` or `float NAME = VALUE;`.
fn constant(declaration: &str) -> Option<(&str, &'static str, &str)> {
    let (ty, rest) = declaration.split_once(' ')?;
    let (name, value) = rest.strip_suffix(';')?.split_once(" = ")?;
    match ty {
        _ if value.contains(',') => None,
        "uint" => Some((name, "u32", value.strip_suffix('u')?)),
        "float" if value.contains(['.', 'e']) => Some((name, "f32", value)),
        _ => None,
    }
}

/// Comment lines as documentation, with brackets escaped outside of code.
fn documentation(out: &mut String, indent: &str, lines: &[String]) {
    for line in lines {
        write!(out, "{indent}/// ").unwrap_or_default();
        let mut is_code = false;
        for letter in line.chars() {
            is_code ^= letter == '`';
            if !is_code && matches!(letter, '[' | ']' | '<' | '>' | '*' | '_' | '\\' | '#') {
                out.push('\\');
            }
            out.push(letter);
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(source: &str) -> Result<String, String> {
        generate(&[SharedFile { name: "test", source }], &["Elsewhere"])
    }

    #[test]
    fn members_become_fields_with_offsets_of_the_scalar_layout() {
        let source = "// Head.\n#ifndef A\n// A pair [m].\nstruct Pair {\n    \
                      // First.\n    vec3 a;\n    \
                      // Second,\n    // two lines.\n    uint b[2];\n};\n";
        let rust = converted(source).unwrap();
        for part in [
            "/// Head.\npub mod test {",
            "/// A pair \\[m\\].",
            "/// First.\n        pub a: glam::Vec3,",
            "/// Second,\n        /// two lines.\n        pub b: [u32; 2],",
            "offset_of!(Pair, b) == 12",
            "size_of::<Pair>() == 20",
            "pub const LAYOUTS: &[crate::gpu::reflect::HostLayout] = &[Pair::LAYOUT, ];",
        ] {
            assert!(rust.contains(part), "{part} in {rust}");
        }
    }

    #[test]
    fn constants_lose_the_suffix_of_glsl() {
        let rust = converted(
            "// Head.\n\n// Mask.\nconst uint MASK = 0xffu;\n// Half.\nconst float HALF = 0.5;\n",
        )
        .unwrap();
        assert!(rust.contains("/// Mask.\n    pub const MASK: u32 = 0xff;"), "{rust}");
        assert!(rust.contains("/// Half.\n    pub const HALF: f32 = 0.5;"), "{rust}");
    }

    #[test]
    fn structs_nest_across_files_and_constants_are_lengths() {
        let inner = "// Head.\n\n// Two.\nconst uint TWO = 2u;\n// Inner.\nstruct Inner {\n    \
                     // A.\n    vec2 a;\n};\n";
        let outer = "// Head.\n\n// Outer.\nstruct Outer {\n    // A.\n    uint a;\n    \
                     // B.\n    Inner b;\n    // C.\n    vec4 c[TWO];\n    // D.\n    \
                     uint d;\n};\n";
        let files = [("first", outer), ("second", inner)];
        let files = files.map(|(name, source)| SharedFile { name, source });
        let rust = generate(&files, &[]).unwrap();
        for part in [
            "pub b: super::second::Inner,",
            "pub c: [glam::Vec4; 2],",
            "offset_of!(Outer, b) == 4,",
            "offset_of!(Outer, c) == 4 + std::mem::size_of::<super::second::Inner>(),",
            "offset_of!(Outer, d) == 36 + std::mem::size_of::<super::second::Inner>(),",
        ] {
            assert!(rust.contains(part), "{part} in {rust}");
        }
    }

    #[test]
    fn structs_of_the_host_are_skipped() {
        let rust =
            converted("// Head.\n\nstruct Elsewhere {\n    // A.\n    uint a;\n};\n").unwrap();
        assert!(!rust.contains("Elsewhere"), "{rust}");
    }

    #[test]
    fn unconvertible_declarations_name_the_line_and_the_remedy() {
        for (source, place, remedy) in [
            ("struct A {\n    // B.\n    uint b;\n};\n", ":1:", "comment above the struct"),
            ("// A.\nstruct A {\n    uint b;\n};\n", ":3:", "comment above the member"),
            ("// A.\nstruct A {\n    // B.\n    uint b, c;\n};\n", ":4:", "on a line of its own"),
            ("// A.\nstruct A {\n    // B.\n    dvec3 b;\n};\n", ":4:", "expected float"),
            ("// A.\nstruct A {\n    // B.\n    uint b\n", ":4:", "on a line of its own"),
            ("// A.\nstruct A {\n    // B.\n    uint b;\n", ".glsl:", "closing"),
            ("// A.\nstruct A\n{\n};\n", ":2:", "on one line"),
            ("const uint A = 1u;\n", ":1:", "comment above the constant"),
            ("// A.\nconst int A = 1;\n", ":2:", "const uint"),
            ("// A.\nconst float A = 1;\n", ":2:", "a float"),
            ("// A.\nconst uint A = 1u, B = 2u;\n", ":2:", "const uint"),
        ] {
            let error = converted(source).unwrap_err();
            assert!(error.contains(place) && error.contains(remedy), "{source}: {error}");
        }
    }
}
