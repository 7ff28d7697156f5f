// The aperture as a point out of focus shows it: the iris' blades, cut by the barrel's rim towards the picture's corners.
// The including shader declares `lens` (DepthOfFieldConstants).
#ifndef LIB_APERTURE
#define LIB_APERTURE

const float PI = 3.14159265;

// Where the rim's centre lies in the disc of a point at a place of the picture, in iris radii of the disc.
//
// A point right of the axis sees the front rim shifted to the left of the pupil. Behind the focus the disc shows the
// pupil upright, in front of it turned by half a turn.
vec2 rim_center(vec2 from_center, float radius) {
    vec2 shift = -from_center * lens.rim_shift;
    // A rim that hides the iris' centre is moved back to it: the shapes below are stars around it.
    float far_out = length(shift) / max(0.95 * lens.rim_radius, 1e-6);
    shift /= max(far_out, 1.0);
    return radius < 0.0 ? -shift : shift;
}

// Distance of the shape's edge in a direction, over the disc's radius: the twin of Iris::edge in src/camera/lens.rs.
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
        reach = min(reach, b + sqrt(max(b * b + lens.rim_radius * lens.rim_radius - dot(rim, rim), 0.0)));
    }
    return reach;
}

// Area of the shape over that of its circle, by the midpoint rule over 128 directions.
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

// How much of a pixel at a distance from the disc's centre is inside of it, with an edge one pixel wide.
float disc(float radius, float distance) {
    return clamp(radius + 0.5 - distance, 0.0, 1.0);
}

// The sum of `disc` over all pixels: pi (r^2 + 1/12) by the integral, and the pixel itself alone for small discs.
float disc_area(float radius) {
    return max(min(1.0, radius + 0.5), PI * (radius * radius + 1.0 / 12.0));
}

#endif
