//! Errors of timelines.

/// A timeline that cannot be used. The look's error around it names file, line and column.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TimelineError {
    /// A field that the timeline does not have.
    #[error("timeline: unknown '{field}'; expected {expected}")]
    UnknownField {
        /// Name as written.
        field: String,
        /// Names or tables in its place.
        expected: String,
    },
    /// A missing field, or two that exclude each other.
    #[error("timeline, {item}: expected {expected}")]
    Fields {
        /// Track, key or segment.
        item: String,
        /// Expected fields.
        expected: String,
    },
    /// A field with a value that it does not take.
    #[error("timeline, {field} = {value}: expected {expected}")]
    Value {
        /// The field.
        field: String,
        /// Value as written.
        value: String,
        /// Expected values.
        expected: String,
    },
    /// An easing that does not exist.
    #[error("timeline: no easing '{name}'; the nearest {nearest}")]
    UnknownEasing {
        /// Name as written.
        name: String,
        /// Verb and nearest names.
        nearest: String,
    },
    /// Two keys at one time, or in the wrong order.
    #[error(
        "timeline, {path}: the key at {time} s follows one at {before} s; \
         list keys in the order of their times, one for each time"
    )]
    KeyOrder {
        /// The property.
        path: String,
        /// Time of the earlier key in the list (s).
        before: f64,
        /// Time of the key (s).
        time: f64,
    },
    /// An easing or a space of a property whose values do not blend.
    #[error("timeline, {path}: {value} does not blend; remove {field}, and the value holds")]
    Holds {
        /// The property.
        path: String,
        /// A value that is no number.
        value: String,
        /// The field without effect.
        field: &'static str,
    },
    /// A value that its space of interpolation excludes.
    #[error("timeline, {path} = {value}: space = \"{space}\" needs {expected}")]
    Space {
        /// The property.
        path: String,
        /// The value.
        value: String,
        /// Name of the space.
        space: &'static str,
        /// Values with which it is defined.
        expected: &'static str,
    },
    /// A property that a timeline cannot animate.
    #[error("timeline: {path} is fixed for a run; set it outside of [timeline], or by --set")]
    Fixed {
        /// The property.
        path: String,
    },
    /// A condition on a property that no track animates.
    #[error(
        "timeline, {segment}: {path} has no track, so it passes no value; animate it, or use \
             another condition"
    )]
    Unanimated {
        /// Path of the segment.
        segment: String,
        /// The property.
        path: String,
    },
    /// A condition on a node that the scene does not have.
    #[error("timeline, {segment}: the scene has no node '{node}'; the nearest {nearest}")]
    UnknownNode {
        /// Path of the segment.
        segment: String,
        /// Address as written.
        node: String,
        /// Verb and nearest names.
        nearest: String,
    },
    /// A time up to which conditions cannot be evaluated.
    #[error(
        "timeline: conditions are evaluated at each frame from 0 s, and {time} s is frame \
         {frame}, above {max}; render an earlier time, or start segments by after"
    )]
    TooLate {
        /// Requested time (s).
        time: f64,
        /// Its frame.
        frame: u64,
        /// Maximum frame.
        max: u64,
    },
}
