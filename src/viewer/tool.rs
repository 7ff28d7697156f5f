//! Tools of the picture: what clicks and drags in it do.

/// The tool that clicks and drags in the picture use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    /// No tool: the pointer only reads.
    #[default]
    Select,
    /// Drags the selected light along the world axes.
    Move,
    /// Rotates the selected light's aim about the world axes.
    Turn,
    /// Drags the size of the selected light's shape, or its cone.
    Size,
    /// Measures incident light on the surface.
    Meter,
    /// Focuses on the surface.
    Focus,
    /// Aims the selected light at the surface.
    Aim,
    /// Places the selected light's highlight on the surface.
    Highlight,
    /// Two clicks: the occluder, and where its shadow falls.
    Shadow,
    /// Uses the surface as a gray card.
    GrayCard,
    /// Paints the flow of the selected water.
    Flow,
}

impl Tool {
    /// All tools: label and tooltip.
    pub const ALL: [(Self, &'static str, &'static str); 11] = [
        (Self::Select, "Point", "Esc: no tool; the status line reads the pixel under the pointer"),
        (
            Self::Move,
            "Move",
            "G: arrows drag the selected light, or what the camera looks at, along x (red), y (green) and z (blue)",
        ),
        (
            Self::Turn,
            "Turn",
            "R: rings rotate the selected light about x (red), y (green) and z (blue)",
        ),
        (
            Self::Size,
            "Size",
            "T: drags the size of the selected light, or the cone of a spot; its strength stays in its unit",
        ),
        (Self::Meter, "Meter", "M: a click measures the illuminance (lux) on the surface"),
        (Self::Focus, "Focus", "P: a click focuses there"),
        (Self::Aim, "Aim", "a click aims the selected light there"),
        (
            Self::Highlight,
            "Highlight",
            "a click places the selected light's highlight there, at its distance",
        ),
        (Self::Shadow, "Shadow", "click the occluder, then where its shadow falls"),
        (Self::GrayCard, "Gray card", "a click on a neutral gray surface sets the white balance"),
        (
            Self::Flow,
            "Paint flow",
            "B: a drag over the selected water paints its flow along the stroke",
        ),
    ];

    /// True if the tool ignores clicks: no tool, or one that drags.
    #[must_use]
    pub const fn drags(self) -> bool {
        matches!(self, Self::Select | Self::Move | Self::Turn | Self::Size)
    }
}
