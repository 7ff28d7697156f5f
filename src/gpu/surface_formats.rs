//! Choice of the surface format of a window.

use ash::vk;

use crate::camera::DisplayEncoding;

/// HDR formats, best first: scRGB in half floats has no banding and needs no matrix; HDR10 in 10
/// bits is what most displays accept.
const HDR_FORMATS: [(vk::Format, vk::ColorSpaceKHR, DisplayEncoding); 3] = [
    (
        vk::Format::R16G16B16A16_SFLOAT,
        vk::ColorSpaceKHR::EXTENDED_SRGB_LINEAR_EXT,
        DisplayEncoding::ScRgb,
    ),
    (
        vk::Format::A2B10G10R10_UNORM_PACK32,
        vk::ColorSpaceKHR::HDR10_ST2084_EXT,
        DisplayEncoding::Hdr10,
    ),
    (
        vk::Format::A2R10G10B10_UNORM_PACK32,
        vk::ColorSpaceKHR::HDR10_ST2084_EXT,
        DisplayEncoding::Hdr10,
    ),
];

/// 8-bit formats without conversion: the user interface writes sRGB bytes.
const BYTES: [vk::Format; 2] = [vk::Format::B8G8R8A8_UNORM, vk::Format::R8G8B8A8_UNORM];

/// Chooses the format of a window among those its surface offers, and the encoding of its values.
/// `None` if there are no offers; sRGB if HDR is requested but not offered.
#[must_use]
pub fn choose(
    offers: &[vk::SurfaceFormatKHR],
    hdr: bool,
) -> Option<(vk::SurfaceFormatKHR, DisplayEncoding)> {
    let offered = |format: vk::Format, space: vk::ColorSpaceKHR| {
        offers.iter().find(|offer| offer.format == format && offer.color_space == space).copied()
    };
    let mut beyond = HDR_FORMATS.into_iter().filter(|_| hdr);
    let beyond = beyond.find_map(|(format, space, encoding)| {
        offered(format, space).map(|offer| (offer, encoding))
    });
    let srgb = vk::ColorSpaceKHR::SRGB_NONLINEAR;
    beyond.or_else(|| {
        let bytes = BYTES.into_iter().find_map(|format| offered(format, srgb));
        // 8-bit formats with another color space come next, then any format.
        let near = || {
            BYTES
                .into_iter()
                .find_map(|format| offers.iter().find(|offer| offer.format == format).copied())
        };
        let offer = bytes.or_else(near).or(offers.first().copied())?;
        Some((offer, DisplayEncoding::Srgb))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(format: vk::Format, color_space: vk::ColorSpaceKHR) -> vk::SurfaceFormatKHR {
        vk::SurfaceFormatKHR { format, color_space }
    }

    const SRGB: vk::ColorSpaceKHR = vk::ColorSpaceKHR::SRGB_NONLINEAR;
    const P3: vk::ColorSpaceKHR = vk::ColorSpaceKHR::DISPLAY_P3_NONLINEAR_EXT;
    const PQ: vk::ColorSpaceKHR = vk::ColorSpaceKHR::HDR10_ST2084_EXT;
    const EXTENDED: vk::ColorSpaceKHR = vk::ColorSpaceKHR::EXTENDED_SRGB_LINEAR_EXT;
    const BGRA: vk::Format = vk::Format::B8G8R8A8_UNORM;
    const RGBA: vk::Format = vk::Format::R8G8B8A8_UNORM;
    const TEN: vk::Format = vk::Format::A2B10G10R10_UNORM_PACK32;
    const HALF: vk::Format = vk::Format::R16G16B16A16_SFLOAT;

    #[track_caller]
    fn takes(
        offers: &[vk::SurfaceFormatKHR],
        hdr: bool,
        want: vk::SurfaceFormatKHR,
        encoding: DisplayEncoding,
    ) {
        assert_eq!(choose(offers, hdr), Some((want, encoding)));
    }

    #[test]
    fn hdr_format_is_chosen_when_requested_and_supported() {
        let all = [
            offer(BGRA, P3),
            offer(RGBA, SRGB),
            offer(BGRA, SRGB),
            offer(TEN, PQ),
            offer(HALF, EXTENDED),
        ];
        takes(&all, false, offer(BGRA, SRGB), DisplayEncoding::Srgb);
        takes(&all, true, offer(HALF, EXTENDED), DisplayEncoding::ScRgb);
        takes(&all[..4], true, offer(TEN, PQ), DisplayEncoding::Hdr10);
        let swapped = offer(vk::Format::A2R10G10B10_UNORM_PACK32, PQ);
        takes(&[offer(BGRA, SRGB), swapped], true, swapped, DisplayEncoding::Hdr10);
    }

    #[test]
    fn else_it_is_srgb() {
        // Software drivers on X offer one color space.
        let plain = [offer(vk::Format::B8G8R8A8_SRGB, SRGB), offer(BGRA, SRGB)];
        takes(&plain, true, offer(BGRA, SRGB), DisplayEncoding::Srgb);
        // Partly matching pairs are rejected: 10 bits with sRGB, half floats with sRGB, bytes with
        // PQ.
        let odd = [offer(TEN, SRGB), offer(HALF, SRGB), offer(BGRA, PQ), offer(RGBA, SRGB)];
        takes(&odd, true, offer(RGBA, SRGB), DisplayEncoding::Srgb);
        takes(&[offer(TEN, SRGB), offer(BGRA, P3)], true, offer(BGRA, P3), DisplayEncoding::Srgb);
        takes(&[offer(TEN, SRGB)], false, offer(TEN, SRGB), DisplayEncoding::Srgb);
        assert_eq!(choose(&[], true), None);
    }
}
