//! docs/look.md, assets/look.schema.json and the table of docs/quality.md agree with the tables of
//! `scene::look`. `SUNNY16_WRITE=1 cargo test --test cpu look_reference` writes them.

use std::{fmt::Write as _, fs, path::Path};

use serde_json::{Value, json};
use sunny16::{
    easing::Easing,
    scene::look::{Look, TimelineLoop, TimelineSpace, properties, range},
    settings::{Accepts, GiSettings, PassesSettings, Property, Quality, tier_table},
};

const HEAD: &str = "# The look file\n\n\
A look file sets a scene's camera, lights, environment and passes. `NAME.look.toml` beside\n\
`NAME.glb` is read automatically; `--look FILE` selects another one, and `--set PATH=VALUE`\n\
overrides a property. Paths are TOML paths: `camera.lens.f_stop` is `f_stop` in `[camera.lens]`.\n\
`*` stands for an address. `assets/look.schema.json` is the same table as a JSON Schema for\n\
editors.\n\n\
An absent property has the value of the [quality tier](quality.md), by default `standard`, whose\n\
values the tables below list. Other properties keep the value of the scene file, their default,\n\
or one that the camera implies: a focal length sets the field of view and enables depth of field\n\
and vignetting, a shutter time enables motion blur, an ISO speed enables grain.\n\
`effects.X.enabled = false` switches an effect off.\n\n\
A file sets each light's strength in one unit; two units are an error. If `--set` names a\n\
property several times, the last one wins. In a file, numbers, `true` and `false` stand without\n\
quotes; quoted ones are read with a notice. `--set` and quoted numbers take the unit of the\n\
property or another one of its quantity: `5600K`, `200mired`, `2000 lm`, `1/125s`, `8ms`, `3ft`,\n\
`85mm`, `20 fc`; f-numbers take their prefix: `f/2.8`. An unknown unit is an error that names the\n\
units of the property.\n\n\
## Addresses\n\n\
`sunny16 inspect` prints the address of each light, material, camera and volume, and of the nodes\n\
of each mesh.\n\n\
| address | means |\n|---|---|\n\
| `Key` | all objects of this name; a light and a camera are also found by their node's name |\n\
| `Key#2` | the second object of this name |\n\
| `#3` | number 3 in `inspect`'s count (from 0), named or not; quoted in a look file: `[lights.\"#3\"]` |\n\
| `3` | the same, where nothing has that name |\n\
| `#3#2` | the second instance of number 3, such as a light that two nodes carry |\n\n\
Quotes may be omitted on the command line: `--set lights.#3.candela=500`,\n\
`--camera '#1'`. A name that looks like an address takes precedence.\n\n\
## Added lights and cameras\n\n\
`add = true` adds a light or a camera that the file lacks. All other properties of the light\n\
apply to it, on the command line too, in any order:\n\n\
```toml\n\
[lights.Key]\n\
add = true\n\
shape = \"rectangle\"     # without it a point light\n\
width = 0.6             # m; each shape needs its sizes, a spot its outer_half_angle\n\
height = 0.9\n\
position = [-1, 1.5, 1] # m\n\
aim = [0, 0.3, 0]       # without it the light shines along -Z\n\
lumens = 2000           # without a strength 1000 lm, a sun 10000 lx\n\n\
[cameras.Top]\n\
add = true\n\
position = [0, 3, 0.1]\n\
target = [0, 0, 0]\n\
focal_length = 35       # mm; or vertical_fov in degrees\n\
f_stop = 5.6\n\
```\n\n\
A `parent`, the address of a node of the file, carries the light or camera: position, aim and\n\
target are then in the node's space, with its scale, and move with its animation. Without a\n\
position they are at the node's origin. Names are those of no light, or camera, that the scene\n\
has already. A scene with an added light gets no default light, even if the light is switched\n\
off by `enabled = false`.\n\n\
An added camera has its own pose: `camera.position`, `camera.target` and `camera.roll` move\n\
cameras of the file only. Its lens and dials override those of `camera.*`, which apply where it\n\
sets none. `--camera NAME` or `camera.name` chooses it; the first camera of the file stays the\n\
default.\n\n\
## timeline\n\n\
`[timeline]` gives properties values over time: keys, easing, and segments that conditions start\n\
([timeline](timeline.md)).\n";

/// Text of the value that a look without the property has: the default tier's, else its own.
fn default(property: &Property) -> Option<String> {
    let by_tier = Quality::DEFAULT.value(property.path);
    by_tier.map(String::from).or_else(property.default)
}

fn page() -> String {
    let mut out = HEAD.to_owned();
    let mut section = "";
    for property in properties() {
        let Property { path, description, .. } = property;
        let first = path.split('.').next().unwrap();
        if first != section {
            section = first;
            let head = "| property | description | default |\n|---|---|---|\n";
            write!(out, "\n## {section}\n\n{head}").unwrap();
        }
        let default = default(&property).map_or_else(String::new, |text| format!(" {text}"));
        writeln!(out, "| `{path}` | {description} |{default} |").unwrap();
    }
    out
}

/// docs/quality.md with the table of the tiers between its marks.
fn quality_page(there: &str) -> String {
    let marks = ["<!-- tiers: generated -->\n", "<!-- end of tiers -->\n"];
    let (head, rest) = there.split_once(marks[0]).unwrap();
    let (_, tail) = rest.split_once(marks[1]).unwrap();
    let mut table = String::new();
    for (index, row) in tier_table().into_iter().enumerate() {
        let code = |text: String| if index == 0 { text } else { format!("`{text}`") };
        writeln!(table, "| {} |", row.map(code).join(" | ")).unwrap();
        if index == 0 {
            table += "|---|---|---|---|---|---|\n";
        }
    }
    format!("{head}{}{table}{}{tail}", marks[0], marks[1])
}

/// Schema of values.
fn form(accepts: &Accepts) -> Value {
    let number = |value: f64, integer: bool| match integer {
        true => json!(value as i64),
        false => json!(value),
    };
    match *accepts {
        Accepts::Bool => json!({"type": "boolean"}),
        Accepts::Number => json!({"type": "number"}),
        Accepts::Range { min, max, integer } => json!({
            "type": if integer { "integer" } else { "number" },
            "minimum": number(min, integer),
            "maximum": number(max, integer),
        }),
        Accepts::Above { min, max } if max == f64::MAX => {
            json!({"type": "number", "exclusiveMinimum": min})
        }
        Accepts::Above { min, max } => {
            json!({"type": "number", "exclusiveMinimum": min, "maximum": max})
        }
        Accepts::Angle { min, max } => json!({"type": "number", "minimum": min, "maximum": max}),
        Accepts::NonNegative => json!({"type": "number", "minimum": 0}),
        Accepts::Components { one: true, .. } => json!({"type": ["string", "array", "number"]}),
        Accepts::Components { .. } => json!({"type": ["string", "array"]}),
        Accepts::Choice(names) => json!({"enum": names}),
        // A name may be a number, such as that of an item.
        Accepts::Name => json!({"type": ["string", "number"]}),
        Accepts::File | Accepts::Checked(_) => json!({"type": "string"}),
        Accepts::Pattern(pattern) => json!({"type": "string", "pattern": pattern}),
        Accepts::List(length) => {
            json!({"type": "array", "minItems": length, "maxItems": length})
        }
        Accepts::OneOf(forms) => json!({"anyOf": forms.iter().map(form).collect::<Vec<_>>()}),
        Accepts::Described => json!({"type": ["number", "string", "boolean", "array"]}),
    }
}

/// Schema of one property's value.
fn leaf(property: &Property) -> Value {
    let mut leaf = json!({"description": property.description});
    leaf.as_object_mut().unwrap().extend(form(&property.accepts).as_object().unwrap().clone());
    if let Some(text) = default(property) {
        leaf["default"] = match property.accepts {
            Accepts::Bool => json!(text == "true"),
            Accepts::Range { integer: true, .. } => json!(text.parse::<i64>().unwrap()),
            Accepts::Choice(_) | Accepts::Name | Accepts::File | Accepts::Checked(_) => json!(text),
            // Names, lists and fractions are text.
            _ => text.parse::<f64>().map_or_else(|_| json!(text), |number| json!(number)),
        };
    }
    leaf
}

/// Every property at its path.
fn schema() -> Value {
    let table = || json!({"type": "object", "properties": {}, "additionalProperties": false});
    let mut root = table();
    root["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    root["title"] = "A look file of sunny16".into();
    for property in properties() {
        let Property { path, description: takes, .. } = property;
        let mut at = &mut root;
        let parts: Vec<&str> = path.split('.').collect();
        for (index, part) in parts.iter().enumerate() {
            let last = index + 1 == parts.len();
            let leaf = leaf(&property);
            let slot = if *part == "*" {
                &mut at["additionalProperties"]
            } else {
                &mut at["properties"][*part]
            };
            if last {
                match slot {
                    // A section that can be a value too.
                    Value::Object(_) => {
                        *slot = json!({"description": takes, "oneOf": [leaf, slot.take()]})
                    }
                    _ => *slot = leaf,
                }
            } else if slot.is_null() || *slot == false {
                *slot = table();
            } else if slot.get("properties").is_none() && slot.get("oneOf").is_none() {
                *slot = json!({"oneOf": [slot.take(), table()]});
            }
            at = if slot.get("oneOf").is_some() { &mut slot["oneOf"][1] } else { slot };
        }
    }
    root["properties"]["timeline"] = timeline();
    root
}

/// `[timeline]`: tracks by path, and segments.
fn timeline() -> Value {
    let names: Vec<String> = Easing::all().map(|(name, _)| name).collect();
    let number = json!({"type": "number", "minimum": -1e9, "maximum": 1e9});
    let key = json!({
        "type": "object",
        "properties": {
            "time": {"description": "seconds", "type": ["number", "string"]},
            "frame": {"type": "integer", "minimum": 0, "maximum": 1_000_000},
            "value": {"type": ["number", "string", "boolean", "array"]},
            "ease": {"anyOf": [
                {"enum": names},
                {"type": "array", "items": number, "minItems": 4, "maxItems": 4},
            ]},
        },
        "required": ["value"],
        "additionalProperties": false,
    });
    let names = |all: &mut dyn Iterator<Item = &'static str>| all.collect::<Vec<_>>();
    let track = json!({
        "description": "a property's values over time, or a table of properties",
        "type": "object",
        "properties": {
            "keys": {"type": "array", "items": key, "minItems": 1},
            "loop": {"enum": names(&mut TimelineLoop::ALL.iter().map(|(name, _)| *name))},
            "space": {"enum": names(&mut TimelineSpace::ALL.iter().map(|(name, _)| *name))},
        },
    });
    let segment = json!({
        "type": "object",
        "properties": {
            "after": {"description": "start in seconds", "type": ["number", "string"]},
            "when": {
                "type": "object",
                "properties": {
                    "within": {"description": "meters", "type": ["number", "string"]},
                    "node": {"type": ["number", "string"]},
                    "property": {"type": "string"},
                    "passes": {"type": ["number", "string"]},
                },
                "additionalProperties": false,
            },
        },
        "additionalProperties": track,
    });
    json!({
        "description": "values of properties over time",
        "type": "object",
        "properties": {"segments": {"type": "object", "additionalProperties": segment}},
        "additionalProperties": track,
    })
}

#[test]
fn page_and_schema_match_the_tables() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let schema = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    let quality = fs::read_to_string(root.join("docs/quality.md")).unwrap();
    for (file, text) in [
        ("docs/look.md", page()),
        ("assets/look.schema.json", schema),
        ("docs/quality.md", quality_page(&quality)),
    ] {
        let file = root.join(file);
        if std::env::var_os("SUNNY16_WRITE").is_some() {
            fs::write(&file, &text).unwrap();
        }
        let there = fs::read_to_string(&file).unwrap_or_default();
        assert!(
            there == text,
            "{} is old: SUNNY16_WRITE=1 cargo test --test cpu look_reference::",
            file.display()
        );
    }
}

/// The path with an address in place of `*`.
fn addressed(path: &str) -> String {
    path.replace('*', "any")
}

#[test]
fn every_choice_and_every_default_is_accepted() {
    let mut choices = 0;
    for Property { path, accepts, default, .. } in properties() {
        let path = addressed(path);
        for value in accepts.choices().iter().map(|name| (*name).to_owned()).chain(default()) {
            Look::default().set(&path, &value).unwrap_or_else(|error| panic!("{error}"));
            choices += 1;
        }
    }
    assert!(choices > 100, "{choices} values");
}

/// True if a schema of a value accepts one; patterns are taken to match.
fn takes(schema: &Value, value: &Value) -> bool {
    if let Some(forms) = schema.get("anyOf").or_else(|| schema.get("oneOf")) {
        return forms.as_array().unwrap().iter().any(|form| takes(form, value));
    }
    if let Some(names) = schema.get("enum") {
        return names.as_array().unwrap().contains(value);
    }
    let kind = match value {
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_f64().unwrap().fract() == 0.0 => "integer",
        Value::Number(_) => "number",
        Value::Array(_) => "array",
        _ => "string",
    };
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let is_type = types.contains(&kind) || kind == "integer" && types.contains(&"number");
    let Some(number) = value.as_f64() else { return is_type };
    let limit = |name: &str| schema.get(name).and_then(Value::as_f64);
    is_type
        && limit("minimum").is_none_or(|min| min <= number)
        && limit("exclusiveMinimum").is_none_or(|min| min < number)
        && limit("maximum").is_none_or(|max| number <= max)
}

#[test]
fn the_schema_accepts_what_the_program_accepts() {
    let mut accepted = 0;
    for property in properties() {
        let names = property.accepts.choices().iter().map(|name| json!(name));
        let mut values: Vec<Value> = names.collect();
        values.extend([
            json!(true),
            json!("true"),
            json!(1),
            json!(0.5),
            json!("1"),
            json!("0.5"),
            json!("2700K"),
            json!("none"),
            json!("neutral"),
            json!("centre"),
            json!("center-weighted"),
            json!("patches"),
            json!([1, 2]),
            json!([0.1, 0.2, 0.3]),
        ]);
        for value in values {
            let text = format!("{} = {value}", addressed(property.path));
            // What is read with a notice breaks the schema.
            let mut look = Look::default();
            if look.parse("a.look.toml", &text).is_ok() && look.notices().is_empty() {
                assert!(takes(&leaf(&property), &value), "{text}: accepted, but not by the schema");
                accepted += 1;
            }
        }
    }
    assert!(accepted > 300, "{accepted} values");
    for noted in [
        "camera.metering.mode = \"centre\"",
        "camera.white_balance = \"none\"",
        "camera.lens.f_stop = \"2.8\"",
    ] {
        let mut look = Look::default();
        look.parse("a.look.toml", noted).unwrap();
        assert_eq!(look.notices().len(), 1, "{noted}: {:?}", look.notices());
    }
    for refused in ["scene.animation = true", "camera.lens.f_stop = \"wide\""] {
        Look::default().parse("a.look.toml", refused).unwrap_err();
    }
}

#[test]
fn documented_defaults_are_those_of_the_settings() {
    let mut look = Look::default();
    for Property { path, default, .. } in properties() {
        if let Some(value) = default()
            && !path.contains('*')
        {
            look.set(path, &value).unwrap();
        }
    }
    assert_eq!(look.passes.resolve(), PassesSettings::default());
    assert_eq!(look.gi.resolve(), GiSettings::default());
    assert_eq!(look.camera, Look::default().camera);
}

#[test]
fn ranges_are_documented_and_hold() {
    let mut ranges = 0;
    for Property { path, description, accepts, .. } in properties() {
        // Full turns and the like need no range in words.
        let is_stated =
            |form: &Accepts| matches!(form, Accepts::Range { .. } | Accepts::Angle { .. });
        let first = if let Accepts::OneOf([first, ..]) = accepts { *first } else { accepts };
        let stated = first.range().filter(|_| is_stated(&first) && description.contains(" to "));
        let Some([min, max]) = stated else { continue };
        let words: Vec<&str> = description.split([' ', ',', ';', ':', ')', '(']).collect();
        let path = addressed(path);
        let integer = matches!(accepts, Accepts::Range { integer: true, .. });
        let beyond = if integer { 1.0 } else { 1e-3 * (max - min) };
        for (bound, outside) in [(min, min - beyond), (max, max + beyond)] {
            let said = if bound == 1e-4 { "above".to_owned() } else { bound.to_string() };
            assert!(words.contains(&said.as_str()), "{path}: {bound}");
            Look::default().set(&path, &bound.to_string()).unwrap();
            Look::default().set(&path, &outside.to_string()).unwrap_err();
        }
        ranges += 1;
    }
    assert!(ranges > 50, "{ranges} ranges");
    // The window's fields take their limits from the same declarations.
    assert_eq!(range("camera.lens.focal_length"), [0.1, 10_000.0]);
    assert!(range("camera.lens.focus")[0] > 0.0 && range("lights.Key.lumens")[0] == 0.0);
}
