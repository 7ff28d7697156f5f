//! Positions of Sun and Moon by place and time, and their illuminance outside of the atmosphere.

mod air_mass;
mod coordinates;
mod geolocation;
pub mod moon;
pub mod sun;
// Some constants of the reports are close to pi.
#[allow(clippy::approx_constant)]
pub mod tables;
pub mod time;

pub use air_mass::air_mass;
pub use coordinates::{ASTRONOMICAL_UNIT, Ecliptic, HorizontalCoordinates};
pub use geolocation::{EARTH_RADIUS, GeoLocation, GeoLocationError};
pub use moon::{Moon, moon};
pub use sun::{Sun, sun};
pub use time::{Moment, TimeError};
