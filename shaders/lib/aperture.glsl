// Aperture shape of an out-of-focus point: the iris blades, clipped by the barrel rim toward the
// image corners. Lengths are in pixels unless noted. The including shader declares `lens`
// (DepthOfFieldConstants).
#ifndef LIB_APERTURE
#define LIB_APERTURE
#include "lib/constants.glsl"
#include "lib/pupil.glsl"

// Center of the barrel rim in the bokeh disk of a point, in iris radii of the disk.
//
// A point right of the axis sees the front rim shifted to the left of the pupil. Behind the focus
// plane the disk shows the pupil upright, in front of it rotated by half a turn.
vec2 rim_center(vec2 from_center, float radius) {
    vec2 shift = -from_center * lens.rim_shift;
    // A rim that hides the iris center is moved back to it: the shapes below are star-shaped around
    // the center.
    float far_out = length(shift) / max(0.95 * lens.rim_radius, 1e-6);
    shift /= max(far_out, 1.0);
    return radius < 0.0 ? -shift : shift;
}

// Distance of the aperture edge in a direction, over the disk radius. Mirrors Iris::edge in
// src/optics/thin_lens.rs.
float aperture_edge(vec2 offset, float radius, vec2 rim) {
    float reach = 1.0;
    float far = length(offset);
    if (far < 1e-4) {
        return reach;
    }
    vec2 along = offset / far;
    if (lens.blades >= 3.0) {
        vec2 turned = radius < 0.0 ? -along : along;
        float side = 2.0 * PI / lens.blades;
        float angle = (atan(-turned.y, turned.x) - lens.rotation) / side;
        float to_middle = (fract(angle) - 0.5) * side;
        float straight = cos(0.5 * side) / cos(to_middle);
        reach = mix(straight, 1.0, lens.curvature);
    }
    if (dot(rim, rim) > 0.0) {
        float b = dot(along, rim);
        reach = min(reach,
            b + sqrt(max(b * b + lens.rim_radius * lens.rim_radius - dot(rim, rim), 0.0)));
    }
    return reach;
}

// Area of the aperture over that of its circle, by the midpoint rule over 128 directions.
float aperture_area(float radius, vec2 rim) {
    if (dot(rim, rim) == 0.0 || length(rim) + 1.0 <= lens.rim_radius) {
        return lens.open_area;
    }
    float sum = 0.0;
    for (int i = 0; i < 128; ++i) {
        float angle = (float(i) + 0.5) * (2.0 * PI / 128.0);
        float edge = aperture_edge(vec2(cos(angle), sin(angle)), radius, rim);
        sum += edge * edge;
    }
    return max(sum / 128.0, 1e-3);
}

// Approximation with a round iris; exact for a round iris, or where the rim clips nothing.
float aperture_area_round(vec2 rim) {
    return lens.open_area * max(pupil_overlap(lens.rim_radius, length(rim)), 1e-3);
}

// Coverage of a pixel at a distance from the disk's center, with an edge one pixel wide.
float disc(float radius, float distance) {
    return clamp(radius + 0.5 - distance, 0.0, 1.0);
}

// Sum of `disc` over all pixels. Small disks: sum over the rings of pixels at equal distances.
// Larger disks: the integral pi (r^2 + 1/12), within 0.7 %.
float disc_area(float radius) {
    if (radius > 5.15) {
        return PI * (radius * radius + 1.0 / 12.0);
    }
    float r = radius + 0.5;
    return max(dot(clamp(r - vec4(0.0, 1.0, 1.414214, 2.0), 0.0, 1.0), vec4(1.0, 4.0, 4.0, 4.0))
        + dot(clamp(r - vec4(2.236068, 2.828427, 3.0, 3.162278), 0.0, 1.0),
            vec4(8.0, 4.0, 4.0, 8.0))
        + dot(clamp(r - vec4(3.605551, 4.0, 4.123106, 4.242641), 0.0, 1.0),
            vec4(8.0, 4.0, 8.0, 4.0))
        + dot(clamp(r - vec4(4.472136, 5.0, 5.09902, 5.385165), 0.0, 1.0),
            vec4(8.0, 12.0, 8.0, 8.0)), 0.5);
}

// Sum of the pixel coverages of a disk in the aperture's shape.
float shape_area(float radius, vec2 rim) {
    float size = abs(radius);
    if (size > 10.0) {
        return disc_area(size) * aperture_area(radius, rim);
    }
    float sum = 0.0;
    for (int y = -10; y <= 10; ++y) {
        for (int x = -10; x <= 10; ++x) {
            vec2 offset = vec2(x, y);
            sum += disc(size * aperture_edge(offset, radius, rim), length(offset));
        }
    }
    return sum;
}

#endif
