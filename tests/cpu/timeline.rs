//! The look's timeline: values at and between keys, conditions, and errors of bad input.

use glam::{DVec3, Vec3};
use sunny16::{
    photometry::Candela,
    scene::{
        Scene,
        build::SceneBuilder,
        look::{Look, LookError, TimelineError, passes, with_key},
    },
    session::{self, OpenRequest, OpenScene, SessionError},
};

const RATE: f64 = 24.0;

fn read(text: &str) -> Result<Look, LookError> {
    let mut look = Look::default();
    look.parse("shots/a.look.toml", text).map(|()| look)
}

/// The value of the first track at a time in s.
fn value(look: &Look, time: f64) -> String {
    look.timeline.tracks[0].value(time, RATE)
}

fn number(look: &Look, time: f64) -> f64 {
    value(look, time).parse().unwrap()
}

#[test]
fn keys_are_exact_and_values_between_them_have_closed_forms() {
    let pull = read(
        "[timeline.\"camera.lens.focus\"]\nkeys = [{ time = \"1 s\", value = \"1.2 m\" },\n\
         { frame = 72, value = 4, ease = \"hold\" }, { time = 4, value = \"infinity\" }]\n",
    )
    .unwrap();
    for (time, text) in [
        (0.0, "1.2 m"),
        (1.0, "1.2 m"),
        (3.0, "4"),
        (3.9, "4"),
        (4.0, "infinity"),
        (9.0, "infinity"),
    ] {
        assert_eq!(value(&pull, time), text, "at {time} s");
        let at = pull.at_time(time, RATE, &[]).unwrap();
        let distance = text.trim_end_matches(" m").parse().unwrap();
        assert_eq!(at.camera.lens.focus, Some(distance), "at {time} s");
    }
    // Diopters change evenly.
    for part in [0.25, 0.5, 0.75] {
        let diopters = (1.0 - part) / 1.2 + part / 4.0;
        assert!((number(&pull, 1.0 + 2.0 * part) - 1.0 / diopters).abs() < 1e-15);
    }
    let far = read(
        "timeline.camera.lens.focus.keys = [{ time = 0, value = 2 }, { time = 2, value = \
         \"infinity\" }]",
    )
    .unwrap();
    assert_eq!(number(&far, 1.0), 4.0, "half of 0.5 diopters");
    // The easing leaves its key, and a strength is linear.
    let dim = read(
        "[timeline.\"lights.Key.lumens\"]\nkeys = [{ time = 0, value = 800, ease = \"cubic \
         in-out\" }, { time = 2, value = 0 }]\n",
    )
    .unwrap();
    assert_eq!(
        [0.0, 0.5, 1.0, 1.5, 2.0].map(|time| number(&dim, time)),
        [800.0, 750.0, 400.0, 50.0, 0.0]
    );
    assert_eq!(dim.at_time(0.5, RATE, &[]).unwrap().lights["Key"].lumens, Some(750.0));
    for (keys, time, expected) in [
        (
            "\"camera.lens.f_stop\".keys = [{time=0,value=\"f/2\"},{time=4,value=8}]",
            1.0,
            "2.8284271247461903",
        ),
        (
            "\"camera.body.shutter\".keys = [{time=0,value=\"1/64\"},{time=4,value=0.25}]",
            2.0,
            "0.0625",
        ),
        ("\"lights.A.kelvin\".keys = [{time=0,value=\"2000K\"},{time=1,value=6000}]", 0.5, "3000"),
        (
            "\"materials.A.base_color\".keys = [{time=0,value=[0,0.5,1]},{time=1,value=[1,0.5,0]}]",
            0.25,
            "0.25,0.5,0.75",
        ),
        (
            "\"camera.metering.position\".keys = [{time=0,value=\"0%,0%\"},{time=1,value=\"50%,100%\"}]",
            0.5,
            "25%,50%",
        ),
        // Names hold, and whole numbers are rounded.
        ("\"camera.name\".keys = [{time=0,value=\"1\"},{time=1,value=\"2\"}]", 0.9, "1"),
        ("\"lights.A.enabled\".keys = [{time=0,value=true},{time=1,value=false}]", 1.0, "false"),
        ("\"gi.bounces\".keys = [{time=0,value=1},{time=1,value=2}]", 0.6, "2"),
        // An overshoot stays in the range, and a space is a choice.
        (
            "\"environment.lux\".keys = [{time=0,value=0,ease=\"back in\"},{time=1,value=9}]",
            0.2,
            "0",
        ),
        (
            "\"lights.A.nits\" = {space=\"stops\", keys=[{time=0,value=100},{time=1,value=400}]}",
            0.5,
            "200",
        ),
        (
            "\"camera.roll\".keys = [{time=0,value=0,ease=[0.25,0.25,0.75,0.75]},{time=1,value=1}]",
            0.5,
            "0.5",
        ),
    ] {
        let text = format!("[timeline]\n{keys}\n");
        let look = read(&text).unwrap_or_else(|error| panic!("{keys}: {error}"));
        assert_eq!(value(&look, time), expected, "{keys}");
        look.at_time(time, RATE, &[]).unwrap();
    }
}

#[test]
fn loops_repeat_or_return() {
    let look = |kind: &str| {
        read(&format!(
            "[timeline.\"environment.rotation\"]\nloop = \"{kind}\"\nkeys = [{{ frame = 24, value \
             = 0 }}, {{ frame = 72, value = 90 }}]\n"
        ))
        .unwrap()
    };
    let times = [0.0, 1.0, 2.0, 3.0, 3.5, 4.0, 5.5];
    let repeat = times.map(|time| number(&look("repeat"), time));
    assert_eq!(repeat, [0.0, 0.0, 45.0, 0.0, 22.5, 45.0, 22.5]);
    let back = times.map(|time| number(&look("ping-pong"), time));
    assert_eq!(back, [0.0, 0.0, 45.0, 90.0, 67.5, 45.0, 22.5]);
    assert_eq!(look("repeat").timeline.duration(RATE), 3.0);
}

/// Differences of frame times are rounded to either side of a key's time.
#[test]
fn keys_and_rounds_are_reached_at_their_frames() {
    let track = |tail: &str, key: u32| {
        let text = format!(
            "[timeline.\"camera.name\"]\n{tail}keys = [{{ frame = 0, value = \"A\" }}, {{ frame = \
             {key}, value = \"B\" }}]\n"
        );
        read(&text).unwrap().timeline.tracks[0].clone()
    };
    for rate in [24.0, 25.0, 30.0] {
        for key in 1..60 {
            let cut = track("", key);
            for start in 1..60 {
                let time = f64::from(start + key) / rate - f64::from(start) / rate;
                assert_eq!(cut.value(time, rate), "B", "{key} after {start} at {rate}");
                let before = f64::from(start + key - 1) / rate - f64::from(start) / rate;
                assert_eq!(cut.value(before, rate), "A", "before {key} after {start} at {rate}");
            }
        }
        let rounds = track("loop = \"repeat\"\n", 10);
        for round in 1..40 {
            assert_eq!(rounds.value(f64::from(round * 10) / rate, rate), "A", "{round} at {rate}");
        }
    }
}

#[test]
fn overshoots_and_all_spellings_give_values_that_the_property_takes() {
    for keys in [
        "\"lights.A.kelvin\".keys = [{time=0,value=10000,ease=\"elastic in\"},{time=1,value=2000}]",
        "\"lights.A.kelvin\".keys = [{time=0,value=2000,ease=\"back in-out\"},{time=1,value=10000}]",
        "\"camera.lens.f_stop\".keys = [{time=0,value=\"f1\",ease=\"back out\"},{time=1,value=\"F/22\"}]",
        "\"camera.metering.position\".keys = [{time=0,value=\"0%,9%\",ease=\"back in\"},{time=1,value=\"99%,100%\"}]",
    ] {
        let look = read(&format!("[timeline]\n{keys}\n")).unwrap();
        for step in 0..=200 {
            let time = f64::from(step) / 200.0;
            look.at_time(time, RATE, &[]).unwrap_or_else(|error| panic!("{keys} {time}: {error}"));
        }
    }
    for (path, spellings) in
        [("camera.lens.f_stop", ["f2", "F/8"]), ("camera.body.iso", ["ISO200", "iso 800"])]
    {
        let [a, b] = spellings;
        let keys =
            format!("keys = [{{ time = 0, value = \"{a}\" }}, {{ time = 2, value = \"{b}\" }}]");
        let look = read(&format!("[timeline.\"{path}\"]\n{keys}\n")).unwrap();
        let middle: f64 = look.timeline.tracks[0].value(1.0, RATE).parse().unwrap();
        let exact = if path.ends_with("iso") { 400.0 } else { 4.0 };
        assert!((middle - exact).abs() < 1e-9, "{path}: {middle}");
    }
}

/// A camera 10 m from a lamp named Statue.
fn scene() -> Scene {
    let mut builder = SceneBuilder::new("stage");
    builder.camera("Eye", DVec3::new(0.0, 0.0, 10.0), DVec3::ZERO, 0.6, None);
    builder.point_light_candela("Statue", Candela(100.0), Vec3::ONE, DVec3::ZERO);
    builder.build().unwrap()
}

fn open(look: &str, time: Option<f64>, fps: Option<f64>) -> Result<OpenScene, SessionError> {
    let request = OpenRequest { time, fps, ..OpenRequest::default() };
    session::open_read(&request, scene(), read(look)?, Vec::new())
}

const APPROACH: &str = "[timeline.\"camera.position\"]\n\
    keys = [{ time = 0, value = [0, 0, 10] }, { time = 10, value = [0, 0, 0.5] }]\n\
    [timeline.\"camera.lens.focus\"]\n\
    space = \"linear\"\n\
    keys = [{ time = 0, value = 10 }, { time = 10, value = 5 }]\n\
    [timeline.segments.near]\n\
    when = { within = \"2.4 m\", node = \"Statue\" }\n\
    \"camera.exposure.ev100\".keys = [{ time = 0, value = 6 }, { time = 1, value = 8 }]\n\
    [timeline.segments.focused]\n\
    when = { property = \"camera.lens.focus\", passes = \"7.5 m\" }\n\
    \"lights.Statue.candela\".keys = [{ time = 0, value = 50 }, { time = 1, value = 0 }]\n\
    [timeline.segments.later]\n\
    after = \"6 s\"\n\
    \"lights.Statue.candela\".keys = [{ time = 0, value = 7 }]\n";

#[test]
fn conditions_start_segments() {
    // At 8 s the camera is 2.4 m away; the focus passes 7.5 m at 5 s.
    let at = |time: f64| open(APPROACH, Some(time), None).unwrap();
    let candela = |time: f64| at(time).look.lights.get("Statue").and_then(|light| light.candela);
    assert_eq!(
        [4.9, 5.0, 5.5, 6.0, 9.0].map(candela),
        [None, Some(50.0), Some(25.0), Some(7.0), Some(7.0)]
    );
    let ev = |time: f64| at(time).look.camera.dials.ev100.map(sunny16::photometry::Ev100::get);
    assert_eq!([7.9, 8.0, 8.5, 9.0].map(ev), [None, Some(6.0), Some(7.0), Some(8.0)]);
    // A frame is a function of its time, whatever was shown before.
    let mut moved = at(0.0);
    for time in [9.0, 5.5, 8.5] {
        moved.seek(time).unwrap();
        let alone = at(time);
        assert_eq!((&moved.look, moved.camera.0), (&alone.look, alone.camera.0), "{time} s");
        let lights = [&moved, &alone].map(|opened| format!("{:?}", opened.scene.lights));
        assert_eq!(lights[0], lights[1], "{time} s");
        assert_eq!(moved.time(), Some(time));
    }
    // Conditions are evaluated at frames: at one frame in 4 s, both at the next one.
    let slow = open(APPROACH, Some(8.0), Some(0.25)).unwrap();
    assert_eq!(slow.look.camera.dials.ev100.map(sunny16::photometry::Ev100::get), Some(6.0));
    assert_eq!(open(APPROACH, Some(7.9), Some(0.25)).unwrap().look.camera.dials.ev100, None);
    assert!(passes(1.0, 2.0, 2.0) && passes(3.0, 1.0, 2.0) && !passes(2.0, 3.0, 2.0));
}

#[test]
fn the_command_line_replaces_a_track() {
    let mut look = read(APPROACH).unwrap();
    look.assign_all(&["camera.lens.focus=3".into(), "lights.Statue.candela=9".into()]).unwrap();
    let paths: Vec<&str> = look.timeline.all_tracks().map(|track| track.path.as_str()).collect();
    assert_eq!(paths, ["camera.position", "camera.exposure.ev100"]);
    // A light has one strength: another one replaces it too.
    let mut other = read(APPROACH).unwrap();
    other.assign_all(&["lights.Statue.lumens=9".into()]).unwrap();
    assert!(other.timeline.all_tracks().all(|track| !track.path.starts_with("lights.")));
    assert_eq!(look.at_time(9.0, RATE, &[None; 3]).unwrap().camera.lens.focus, Some(3.0));
}

#[test]
fn a_look_without_a_time_is_at_0_s() {
    let opened = open(APPROACH, None, None).unwrap();
    assert_eq!((opened.time(), opened.look.camera.lens.focus), (Some(0.0), Some(10.0)));
    assert!(opened.look.timeline.is_empty() && !opened.written_look().timeline.is_empty());
    assert_eq!(opened.warnings.iter().filter(|text| text.contains("animation")).count(), 0);
}

/// The error behind its place, and the message.
fn failure(text: &str) -> (LookError, String) {
    let error = read(text).expect_err(text);
    let message = error.to_string();
    let LookError::At { error, .. } = error else { panic!("{text}: {message}") };
    (*error, message)
}

#[test]
fn bad_input_names_place_and_remedy() {
    use TimelineError::{
        Fields, Fixed, Holds, KeyOrder, Space, Unanimated, UnknownEasing, UnknownField, Value,
    };
    let track = |keys: &str| format!("\n[timeline.\"camera.lens.focus\"]\nkeys = [{keys}]\n");
    let first = "{ time = 0, value = 1 }";
    let timeline = |text: &str| match failure(text) {
        (LookError::Timeline(error), message) => (error, message),
        (_, message) => panic!("{text}: {message}"),
    };
    type Check = fn(&TimelineError) -> bool;
    let cases: [(String, Check, &str); 20] = [
        (track(""), |e| matches!(e, Fields { .. }), "line 2"),
        (track(&format!("{first}, {first}")), |e| matches!(e, KeyOrder { .. }), "line 3"),
        (
            track("{ frame = 9, value = 1 }, { frame = 8, value = 2 }"),
            |e| matches!(e, KeyOrder { .. }),
            "order of their times",
        ),
        (
            track("{ time = 0, value = 1, ease = \"cubic inout\" }"),
            |e| matches!(e, UnknownEasing { nearest, .. } if nearest.contains("cubic in-out")),
            "line 3, column 32",
        ),
        (
            track("{ time = 0, value = 1, ease = [2, 0, 1, 1] }"),
            |e| matches!(e, Value { .. }),
            "Bezier",
        ),
        (track("{ time = \"1 lx\", value = 1 }"), |e| matches!(e, Value { .. }), "seconds"),
        (track("{ time = -1, value = 1 }"), |e| matches!(e, Value { .. }), "0 to 1e9"),
        (track("{ time = nan, value = 1 }"), |e| matches!(e, Value { .. }), "seconds"),
        (track("{ frame = 1.5, value = 1 }"), |e| matches!(e, Value { .. }), "whole"),
        (track("{ value = 1 }"), |e| matches!(e, Fields { .. }), "either time or frame"),
        (track("{ time = 0, frame = 0, value = 1 }"), |e| matches!(e, Fields { .. }), "either"),
        (track("{ time = 0 }"), |e| matches!(e, Fields { .. }), "a value"),
        (
            track("{ time = 0, value = 1, easing = \"hold\" }"),
            |e| matches!(e, UnknownField { .. }),
            "time, frame, value, ease",
        ),
        (
            "timeline.\"lights.A.nits\" = { space = \"stops\", keys = [{ time = 0, value = 0 }] }"
                .into(),
            |e| matches!(e, Space { .. }),
            "above 0",
        ),
        (
            "timeline.\"camera.name\".keys = [{ time = 0, value = \"A\", ease = \"linear\" }]"
                .into(),
            |e| matches!(e, Holds { .. }),
            "remove ease",
        ),
        (
            "timeline.\"scene.scale\".keys = [{ time = 0, value = 1 }]".into(),
            |e| matches!(e, Fixed { .. }),
            "--set",
        ),
        (
            format!("[timeline.segments.a]\n\"camera.roll\".keys = [{first}]\n"),
            |e| matches!(e, Fields { .. }),
            "either after",
        ),
        (
            format!(
                "[timeline.segments.a]\nwhen = {{ within = 3 }}\n\"camera.roll\".keys = [{first}]\n"
            ),
            |e| matches!(e, Fields { .. }),
            "node = \"NAME\"",
        ),
        (
            format!(
                "[timeline.segments.a]\nwhen = {{ property = \"camera.body.iso\", passes = 100 \
                 }}\n\"camera.roll\".keys = [{first}]\n"
            ),
            |e| matches!(e, Unanimated { .. }),
            "animate it",
        ),
        ("timeline = 3\n".into(), |e| matches!(e, Value { .. }), "a table"),
    ];
    for (text, check, part) in &cases {
        let (error, message) = timeline(text);
        assert!(check(&error), "{text}: {error:?}");
        assert!(message.starts_with("look file shots/a.look.toml: line "), "{message}");
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn values_of_keys_are_those_of_the_properties() {
    let key = |path: &str, value: &str| {
        failure(&format!("[timeline]\n\"{path}\".keys = [{{ time = 0, value = {value} }}]\n"))
    };
    let (error, message) = key("camera.lens.focus_distance", "2");
    assert!(
        matches!(&error, LookError::UnknownPath { nearest, .. } if nearest.contains("focus")),
        "{message}"
    );
    assert!(message.contains("line 2, column 1"), "{message}");
    for (path, value) in [
        ("camera.lens.focus", "\"2 kg\""),
        ("camera.lens.focus", "nan"),
        ("environment.lux", "-1"),
        ("lights.Key.enabled", "3"),
        ("camera.position", "[1, 2]"),
    ] {
        let (error, message) = key(path, value);
        assert!(matches!(&error, LookError::BadValue { .. }), "{message}");
        assert!(message.contains("line 2, column ") && message.contains("expected"), "{message}");
    }
    let (error, message) = key("lights.Key.lumens", "inf");
    assert!(matches!(error, LookError::Timeline(TimelineError::Space { .. })), "{message}");
    let (error, _) = failure(
        "[timeline]\n\"lights.A.lumens\".keys = [{ time = 0, value = 1 }]\n\"lights.A.lux\".keys = \
         [{ time = 0, value = 1 }]\n",
    );
    assert!(matches!(error, LookError::Contradiction(_)), "{error}");
}

#[test]
fn what_the_scene_lacks_is_named_before_the_first_picture() {
    let within = "[timeline.segments.a]\nwhen = { within = 3, node = \"Statu\" }\n\
                  \"camera.roll\".keys = [{ time = 0, value = 1 }]\n";
    let late = "[timeline.segments.a]\nafter = 1000\n\
                \"lights.Statu.candela\".keys = [{ time = 0, value = 1 }]\n";
    let mixed = "[timeline.\"camera.roll\"]\n\
                 keys = [{ time = 2, value = 1 }, { frame = 24, value = 1 }]\n";
    let never = "[timeline.segments.a]\nwhen = { within = 3, node = \"Statue\" }\n\
                 \"camera.roll\".keys = [{ time = 0, value = 1 }]\n";
    let fails = |look: &str, time: f64| {
        let Err(SessionError::Look(error)) = open(look, Some(time), None) else { panic!("{look}") };
        let message = error.to_string();
        match error {
            LookError::At { error, .. } => (*error, message),
            error => (error, message),
        }
    };
    for (look, time, line) in
        [(within, 0.0, "line 1"), (late, 0.0, "line 3"), (mixed, 0.0, "line 1")]
    {
        let (error, message) = fails(look, time);
        let is_expected = match line {
            "line 1" if look == within => matches!(
                &error,
                LookError::Timeline(TimelineError::UnknownNode { nearest, .. })
                    if nearest.contains("Statue")
            ),
            "line 3" => matches!(error, LookError::UnknownLight { .. }),
            _ => matches!(error, LookError::Timeline(TimelineError::KeyOrder { .. })),
        };
        assert!(is_expected && message.contains(line), "{message}");
    }
    let (error, _) = fails(never, 1e6);
    assert!(matches!(error, LookError::Timeline(TimelineError::TooLate { .. })), "{error}");
}

#[test]
fn keys_are_written_in_order() {
    let text = "# a shot\n[timeline.\"camera.lens.focus\"]\nkeys = [{ time = \"0 s\", value = 1 }, \
                { frame = 48, value = 3 }]\n";
    let set = |text: &str, at: f64, value: &str| {
        with_key("a", text, ("camera.lens.focus", value), (at, RATE)).unwrap()
    };
    let text = set(&set(&set(text, 1.0, "2"), 2.0, "5"), 3.5, "6");
    let look = read(&text).unwrap();
    assert!(text.starts_with("# a shot\n"), "{text}");
    let keys = [0.0, 1.0, 2.0, 3.5].map(|time| value(&look, time));
    assert_eq!(
        (keys, look.timeline.tracks[0].keys.len()),
        (["1", "2", "5", "6"].map(Into::into), 4)
    );
    let [next, last, none] = [(1.0, true), (1.0, false), (3.5, true)]
        .map(|(at, on)| look.timeline.neighbor_key(at, on, RATE));
    assert_eq!((next, last, none), (Some(2.0), Some(0.0), None));
    let new = with_key("a", "", ("lights.Key.lumens", "800"), (0.5, RATE)).unwrap();
    assert_eq!(value(&read(&new).unwrap(), 0.0), "800", "{new}");
}
