//! docs/look.md and assets/look.schema.json say what the tables of `scene::look` say. `SUNNY16_WRITE=1 cargo test --test
//! look_reference` writes both anew.

use std::{fmt::Write as _, fs, path::Path};

use serde_json::{Value, json};
use sunny16::scene::look::properties;

const HEAD: &str = "# The look file\n\n\
`NAME.look.toml` beside `NAME.glb` is read by itself; `--look FILE` takes another one, and `--set PATH=VALUE` sets a property \
over both.\nPaths are those of TOML: `camera.lens.f_stop` is `f_stop` under `[camera.lens]`. `*` stands for an \
address.\n`assets/look.schema.json` is the same table as a JSON Schema, for editors that check TOML by one.\n\n\
What is absent keeps what the scene file says or what the camera implies: a lens with a focal length has its field of view,\n\
depth of field and vignetting, a shutter its motion blur, an ISO speed its grain; `effects.X.enabled = false` leaves one out.\n\n\
A file gives each light one strength, in the unit of its data sheet; two are refused. Of `--set` the last one counts.\n\n\
## Addresses\n\n\
`sunny16 inspect` prints the address of each light, material, camera and volume, and of the nodes of each mesh.\n\n\
| address | means |\n|---|---|\n\
| `Key` | all of this name; a light and a camera answer to their node's name too |\n\
| `Key#2` | the second of them |\n\
| `#3` | number 3 as `inspect` counts (from 0), named or not; in a look file it needs quotes: `[lights.\"#3\"]` |\n\
| `3` | the same, where nothing has that name |\n\
| `#3#2` | the second place at which number 3 stands, such as a lamp that two nodes carry |\n\n\
On the command line quotes may stay out: `--set lights.#3.candela=500`, `--camera '#1'`. A name that looks like an address comes \
first.\n";

fn page() -> String {
    let mut out = HEAD.to_owned();
    let mut section = "";
    for (path, takes) in properties() {
        let first = path.split('.').next().unwrap();
        if first != section {
            section = first;
            write!(out, "\n## {section}\n\n| property | takes |\n|---|---|\n").unwrap();
        }
        writeln!(out, "| `{path}` | {takes} |").unwrap();
    }
    out
}

/// Every property in its place; values may be numbers, texts or truth values, as the program reads all three.
fn schema() -> Value {
    let table = || json!({"type": "object", "properties": {}, "additionalProperties": false});
    let mut root = table();
    root["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    root["title"] = "A look file of sunny16".into();
    for (path, takes) in properties() {
        let mut at = &mut root;
        let parts: Vec<&str> = path.split('.').collect();
        for (index, part) in parts.iter().enumerate() {
            let last = index + 1 == parts.len();
            let leaf = json!({"description": takes, "type": ["number", "string", "boolean", "array"]});
            let slot = if *part == "*" { &mut at["additionalProperties"] } else { &mut at["properties"][*part] };
            if last {
                match slot {
                    // A section that can be a value too.
                    Value::Object(_) => *slot = json!({"description": takes, "anyOf": [leaf, slot.take()]}),
                    _ => *slot = leaf,
                }
            } else if slot.is_null() || *slot == false {
                *slot = table();
            } else if slot.get("properties").is_none() && slot.get("anyOf").is_none() {
                *slot = json!({"anyOf": [slot.take(), table()]});
            }
            at = if slot.get("anyOf").is_some() { &mut slot["anyOf"][1] } else { slot };
        }
    }
    root
}

#[test]
fn the_page_and_the_schema_are_those_of_the_tables() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let schema = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    for (file, text) in [("docs/look.md", page()), ("assets/look.schema.json", schema)] {
        let file = root.join(file);
        if std::env::var_os("SUNNY16_WRITE").is_some() {
            fs::write(&file, &text).unwrap();
        }
        let there = fs::read_to_string(&file).unwrap_or_default();
        assert!(there == text, "{} is old: SUNNY16_WRITE=1 cargo test --test cpu look_reference::", file.display());
    }
}
