// Area lights: the single-precision version of tests/common/area_integrals, which has the
// derivations.
//
// The visible part of a convex emitter is a spherical polygon in the surface's frame (z is the
// normal, the viewer is in the xz half plane of positive x). Its projected solid angle is exact.
// The BRDF integral evaluates the true BRDF in a few directions, distributed over the polygon by a
// linearly transformed cosine (LTC). The including shader has the BRDF and the shared structs.
#ifndef LIB_AREA
#define LIB_AREA

layout(set = 0, binding = 20, scalar) readonly buffer ltc_block { vec3 ltc_table[]; };

const uint LTC_SIZE = 32u;
const int CIRCLE_STEPS = 16;
const int HALF_STEPS = 9;
const int MAX_CORNERS = 20;
const int MAX_SECTORS = 8;
const float CORNER_DENSITY = 0.25;
const float MAX_CORNER_DENSITY = 3.0;
// Angular size (rad) below which a light is a point: for the diffuse lobe, and in the specular
// lobe's space.
const float TINY = 1e-3;
const float TINY_IN_LOBE = 0.02;
// Solid angle (sr) in the lobe's space below which one direction per sector suffices; cosine to the
// viewer below which a sector needs six.
const float FEW_NODES = 0.05;
const float GRAZING = 0.4;
// Solid angle (sr) in the lobe's space above which a sector splits into one inner and two outer
// triangles.
const float WIDE = 1.5;

// The current outline. A global, since an array parameter would be copied.
vec3 corners[MAX_CORNERS];
int corner_count;

// angle / sin(angle) from cosine and sine, without the cancellation of acos near 1. Minimax
// polynomial (maximum error 2.3e-7) over 0 to pi/2, mirrored beyond.
float angle_over_sine(float cosine, float sine) {
    float x = min(abs(cosine), 1.0);
    float p = 1.57079625
        + x * (-0.999982238 + x * (0.784896255 + x * (-0.66108948 + x * (0.557022035
        + x * (-0.42456618 + x * (0.253238469 + x * (-0.097968705 + x * 0.0176536683)))))));
    return cosine >= 0.0 ? p : PI / max(sine, 1e-6) - p;
}

// Angle (0 to pi) of a vector whose second component is not negative.
float angle_of(float x, float y) {
    float k = inversesqrt(max(x * x + y * y, 1e-30));
    return y * k * angle_over_sine(x * k, y * k);
}

// Contribution of an edge to the boundary integral: the angle between unit vectors along their
// cross product. Lambert 1760; Baum, Rushmeier and Winget 1989, equation 10.
vec3 edge_integral(vec3 a, vec3 b) {
    vec3 c = cross(a, b - a);
    return c * angle_over_sine(dot(a, b), length(c));
}

vec3 unit_or(vec3 v, vec3 otherwise) {
    float l2 = dot(v, v);
    return l2 > 1e-24 ? v * inversesqrt(l2) : otherwise;
}

// A unit vector perpendicular to n. Duff et al. 2017, listing 3.
vec3 across(vec3 n) {
    float s = n.z >= 0.0 ? 1.0 : -1.0;
    float a = -1.0 / (s + n.z);
    return vec3(1.0 + s * n.x * n.x * a, s * n.x * n.y * a, -s * n.x);
}

// Polygon with the area of a circle, with denser corners toward the lobe's direction.
void add_circle(vec3 center, vec3 axis, float radius, vec3 towards, float size, float alpha) {
    float density = min(size * CORNER_DENSITY / alpha, MAX_CORNER_DENSITY);
    vec3 u = unit_or(towards - axis * dot(towards, axis), across(axis));
    vec3 v = cross(axis, u);
    float k = PI / (1.0 + density);
    for (int i = 0; i < CIRCLE_STEPS; ++i) {
        const float width = 2.0 / float(CIRCLE_STEPS);
        float t = (float(i) + 0.5) * width - 1.0;
        float here = k * t * (1.0 + density * t * t);
        // Half the angle between the neighbors, which are mirrored at the ends.
        float t0 = t - width;
        float t1 = t + width;
        float before = t0 < -1.0 ? -2.0 * PI - here : k * t0 * (1.0 + density * t0 * t0);
        float after = t1 > 1.0 ? 2.0 * PI - here : k * t1 * (1.0 + density * t1 * t1);
        float wide = 0.5 * (after - before);
        corners[corner_count++] = center + (u * cos(here) + v * sin(here))
            * (radius * sqrt(wide / sin(wide)));
    }
}

// Outward normals of the two planes through the eye that touch both ends of a tube: flat + up and
// flat - up. False where one end hides the other.
bool tube_planes(vec3 a, vec3 b, float sine_a, float sine_b, out vec3 n0, out vec3 n1) {
    vec3 n = cross(a, b - a);
    float s2 = dot(n, n);
    float c = dot(a, b);
    n0 = n1 = vec3(0.0);
    if (s2 < 1e-10) {
        return false;
    }
    vec3 flat_part = (a * (sine_b * c - sine_a) + b * (sine_a * c - sine_b)) / s2;
    float rest = 1.0 - dot(flat_part, flat_part);
    vec3 up = n * sqrt(max(rest, 0.0) / s2);
    n0 = flat_part + up;
    n1 = flat_part - up;
    return rest > 0.0;
}

// The visible arc of a tube's end: its first direction around the axis, and its angle.
float tube_arc(vec3 axis, vec3 other, vec3 from, out vec3 begin) {
    begin = unit_or(from - axis * dot(from, axis), across(axis));
    // By symmetry the middle of the arc is away from the other end.
    vec3 away = axis * dot(other, axis) - other;
    float y = dot(cross(axis, begin), away);
    return 2.0 * (y < 0.0 ? -1.0 : 1.0) * angle_of(dot(begin, away), abs(y));
}

void add_tube_end(vec3 axis, float sine, vec3 from, vec3 other) {
    vec3 begin;
    float turn = tube_arc(axis, other, from, begin);
    vec3 side = cross(axis, begin);
    const float n = float(HALF_STEPS - 1);
    float wide = abs(turn) / n;
    float grown = wide > 1e-3 ? (sqrt(1.0 + (n - 2.0) * n * wide / sin(wide)) - 1.0) / (n - 2.0)
        : 1.0;
    vec3 middle = axis * sqrt(max(1.0 - sine * sine, 0.0));
    for (int i = 0; i < HALF_STEPS; ++i) {
        float angle = turn * float(i) / n;
        float r = i == 0 || i == HALF_STEPS - 1 ? sine : sine * grown;
        corners[corner_count++] = middle + (begin * cos(angle) + side * sin(angle)) * r;
    }
}

// Projected solid angle of a tube above the horizon: two arcs and two edges.
float tube_irradiance(vec3 a, vec3 b, float sine_a, float sine_b, vec3 start, vec3 end,
    float radius, vec3 n0, vec3 n1) {
    float sum = 0.0;
    for (int i = 0; i < 2; ++i) {
        vec3 axis = i == 0 ? a : b;
        float sine = i == 0 ? sine_a : sine_b;
        vec3 begin;
        float turn = tube_arc(axis, i == 0 ? b : a, i == 0 ? n0 : n1, begin);
        vec3 side = cross(axis, begin);
        vec3 finish = begin * cos(turn) + side * sin(turn);
        float cosine = sqrt(max(1.0 - sine * sine, 0.0));
        sum += sine * sine * turn * axis.z - sine * cosine * (side - cross(axis, finish)).z;
    }
    for (int i = 0; i < 2; ++i) {
        vec3 n = i == 0 ? n1 : n0;
        vec3 first = unit_or(start + n * radius, a);
        vec3 last = unit_or(end + n * radius, b);
        sum += edge_integral(i == 0 ? first : last, i == 0 ? last : first).z;
    }
    return 0.5 * abs(sum);
}

// Clips to the part above the horizon. Sutherland and Hodgman 1974 with one plane; in place, since
// a convex outline has one part below.
void clip_corners() {
    vec3 first = corners[0];
    vec3 a = first;
    int kept = 0;
    int n = corner_count;
    for (int i = 0; i < n; ++i) {
        vec3 b = i + 1 < n ? corners[i + 1] : first;
        if (a.z > 0.0) {
            corners[kept++] = a;
        }
        if ((a.z > 0.0) != (b.z > 0.0) && kept < MAX_CORNERS) {
            vec3 cut = (b * a.z - a * b.z) / (a.z - b.z);
            corners[kept++] = vec3(cut.xy, 0.0);
        }
        a = b;
    }
    corner_count = kept;
}

// Projected solid angle of a sphere that the horizon may cut: Stokes' theorem on the cone of
// directions to the sphere. Snyder 1996, "Area light sources for real-time graphics".
float sphere_irradiance(vec3 center, float radius) {
    float d2 = dot(center, center);
    float sin2 = radius * radius / d2;
    float z = center.z * inversesqrt(d2);
    float sine = sqrt(sin2);
    if (z >= sine) {
        return PI * sin2 * z;
    }
    if (z <= -sine) {
        return 0.0;
    }
    float cosine = sqrt(max(1.0 - sin2, 0.0));
    float slope = sqrt(max(1.0 - z * z, 1e-12));
    float cos_half = clamp(-cosine * z / (sine * slope), -1.0, 1.0);
    float sin_half = sqrt(max(1.0 - cos_half * cos_half, 0.0));
    float part = angle_of(cos_half, sin_half);
    float along = cosine * slope - sine * z * cos_half;
    return max(sin2 * part * z - sine * cosine * slope * sin_half
        + angle_of(along, sine * sin_half), 0.0);
}

// Projected solid angle of a disk above the horizon: the boundary integral in closed form.
float disk_irradiance(vec3 center, vec3 axis, float radius) {
    float h = dot(center, axis);
    axis = h < 0.0 ? -axis : axis;
    h = abs(h);
    vec3 off = center - axis * h;
    float t2 = dot(off, off);
    float t = sqrt(t2);
    float s = sqrt(h * h + (t - radius) * (t - radius)) * sqrt(h * h + (t + radius) * (t + radius));
    vec3 inner = axis - (axis * t2 - off * h) * (2.0 / (s + h * h + t2 + radius * radius));
    return max(PI * radius * radius / max(s, 1e-20) * inner.z, 0.0);
}

// LTC transform to the space where the lobe is a cosine: x' = m.x x + m.y z, y' = m.z y, z' = z.
vec3 ltc_map(float alpha, float nv, float view_sine) {
    vec2 at = clamp(vec2(nv, sqrt(alpha)), 0.0, 1.0) * float(LTC_SIZE - 1u);
    uvec2 low = min(uvec2(at), uvec2(LTC_SIZE - 2u));
    vec2 f = at - vec2(low);
    uint i = low.y * LTC_SIZE + low.x;
    vec3 e = mix(mix(ltc_table[i], ltc_table[i + 1u], f.x),
                 mix(ltc_table[i + LTC_SIZE], ltc_table[i + LTC_SIZE + 1u], f.x), f.y);
    return vec3(e.x * e.x, e.y * e.x * view_sine, e.z) * (0.5 / alpha);
}

#ifndef EXTENDED_MATERIALS
vec3 to_lobe(vec3 m, vec3 p) { return vec3(m.x * p.x + m.y * p.z, m.z * p.y, p.z); }
vec3 from_lobe(vec3 m, vec3 p) { return vec3((p.x - m.y * p.z) / m.x, p.y / m.z, p.z); }

// D V n.l and Schlick weight for view and light directions in the surface's frame; matches
// evaluate_brdf.
vec2 lobe_at(vec3 v, vec3 l, float alpha) {
    vec3 h = l + v;
    float length2 = dot(h, h);
    if (l.z <= 0.0 || length2 < 1e-12) {
        return vec2(0.0);
    }
    h *= inversesqrt(length2);
    float a = h.z * alpha;
    float k = alpha / (dot(h.xy, h.xy) + a * a);
    return vec2(k * k / PI * v_smith(l.z, max(v.z, 1e-4), alpha) * l.z, schlick_weight(dot(v, h)));
}

float lobe_determinant(vec3 m) { return m.x * m.z; }
#else
#include "lib/area_anisotropic.glsl"
#endif

float schlick_between(vec3 v, vec3 l) {
    return schlick_weight(sqrt(clamp(0.5 + 0.5 * dot(v, l), 0.0, 1.0)));
}

// Point `part` (0 to 4) of an edge that is divided into `parts` parts.
vec3 along_edge(vec3 a, vec3 b, vec3 middle, int part, int parts) {
    if (part == 0) {
        return a;
    }
    if (part == parts) {
        return b;
    }
    vec3 m = unit_or(a + b, middle);
    if (2 * part == parts) {
        return m;
    }
    return unit_or(part == 1 ? a + m : m + b, middle);
}

// Number of parts that keep an edge's chords close to the arc.
int edge_parts(vec3 a, vec3 b) {
    float d = dot(a, b);
    return d > 0.5 ? 1 : d > -0.5 ? 2 : 4;
}

// Barycentric nodes of the quadrature rules with one (centroid), three (Strang and Fix 1973) and
// six points (Dunavant 1985): u, v, weight.
const vec3 NODES[10] = vec3[10](
    vec3(0.333333333, 0.333333333, 1.0),
    vec3(0.166666667, 0.166666667, 0.333333333), vec3(0.666666667, 0.166666667, 0.333333333),
    vec3(0.166666667, 0.666666667, 0.333333333),
    vec3(0.445948491, 0.445948491, 0.223381590), vec3(0.108103018, 0.445948491, 0.223381590),
    vec3(0.445948491, 0.108103018, 0.223381590), vec3(0.091576214, 0.091576214, 0.109951744),
    vec3(0.816847573, 0.091576214, 0.109951744), vec3(0.091576214, 0.816847573, 0.109951744));

// Cosine-weighted mean of Schlick's weight over the outline. Corners are unit vectors.
float mean_schlick(vec3 v) {
    vec3 middle = vec3(0.0);
    for (int i = 0; i < corner_count; ++i) {
        middle += corners[i];
    }
    middle = unit_or(middle, vec3(0.0, 0.0, 1.0));
    int stride = (corner_count + MAX_SECTORS - 1) / MAX_SECTORS;
    vec2 sums = vec2(0.0);
    for (int i = 0; i < corner_count; i += stride) {
        vec3 a = corners[i];
        vec3 b = corners[i + stride < corner_count ? i + stride : 0];
        int parts = edge_parts(a, b);
        vec3 p0 = a;
        for (int part = 1; part <= parts; ++part) {
            vec3 p1 = along_edge(a, b, middle, part, parts);
            vec3 p = (middle + p0 + p1) / 3.0;
            float p2 = dot(p, p);
            float weight = abs(dot(middle, cross(p0, p1))) * p.z / (p2 * p2);
            sums += weight * vec2(1.0, schlick_between(v, p * inversesqrt(p2)));
            p0 = p1;
        }
    }
    return sums.x > 0.0 ? sums.y / sums.x : schlick_between(v, middle);
}

// Integrals over the outline of D V n.l, and of D V n.l times Schlick's weight.
vec2 integrate_lobe(vec3 v, float alpha, vec3 m) {
    vec3 integral = vec3(0.0);
    vec3 inside = vec3(0.0);
    vec3 a = unit_or(to_lobe(m, corners[corner_count - 1]), vec3(0.0, 0.0, 1.0));
    for (int i = 0; i < corner_count; ++i) {
        vec3 b = unit_or(to_lobe(m, corners[i]), vec3(0.0, 0.0, 1.0));
        corners[i] = b;
        integral += edge_integral(a, b);
        inside += b;
        a = b;
    }
    integral *= dot(integral, inside) < 0.0 ? -0.5 : 0.5;
    float wide = length(integral);
    vec3 middle = unit_or(integral, unit_or(inside, vec3(0.0, 0.0, 1.0)));
    int first = wide < FEW_NODES ? 0 : v.z < GRAZING ? 4 : 1;
    int last = wide < FEW_NODES ? 1 : v.z < GRAZING ? 10 : 4;
    int stride = (corner_count + MAX_SECTORS - 1) / MAX_SECTORS;
    float determinant = lobe_determinant(m);
    float lobe = 0.0;
    vec2 sums = vec2(0.0);
    for (int i = 0; i < corner_count; i += stride) {
        vec3 from = corners[i];
        vec3 to = corners[i + stride < corner_count ? i + stride : 0];
        int parts = edge_parts(from, to);
        vec3 p0 = from;
        for (int part = 1; part <= parts; ++part) {
            vec3 p1 = along_edge(from, to, middle, part, parts);
            vec3 inner0 = wide > WIDE ? unit_or(middle + p0, middle) : p0;
            vec3 inner1 = wide > WIDE ? unit_or(middle + p1, middle) : p1;
            int pieces = wide > WIDE ? 3 : 1;
            for (int k = first * pieces; k < last * pieces; ++k) {
                vec3 node = NODES[k / pieces];
                int piece = k % pieces;
                vec3 x = piece == 0 ? middle : inner0;
                vec3 y = piece == 0 ? inner0 : piece == 1 ? p0 : p1;
                vec3 z = piece == 1 ? p1 : inner1;
                float volume = 0.5 * abs(dot(x, cross(y, z)));
                vec3 p = x * (1.0 - node.x - node.y) + y * node.x + z * node.y;
                vec3 l = from_lobe(m, p);
                float p2 = dot(p, p);
                float inverse = inversesqrt(dot(l, l));
                // The LTC lobe in this cell, and the true BRDF.
                lobe += node.z * volume * max(p.z, 0.0) / (p2 * p2);
                vec2 f = lobe_at(v, l * inverse, alpha);
                float share = node.z * volume * f.x * inverse * inverse * inverse / determinant;
                sums += share * vec2(1.0, f.y);
            }
            p0 = p1;
        }
    }
    return lobe > 0.0 ? sums * (max(integral.z, 0.0) / lobe) : vec2(0.0);
}

// Integrals of a surface's lobes over an area light.
struct AreaIntegrals {
    float irradiance;      // projected solid angle (sr)
    float weight;          // mean of Schlick's weight over it
    vec2 shine;            // integral of D V n.l, and of D V n.l times Schlick's weight
    vec3 towards;          // unit, to the middle of the visible part, in the surface's frame
    mat3 frame_of;         // world to the surface's frame
};

// Computes the integrals; irradiance is 0 where the light is below the horizon. `specular`: with
// those of the specular lobe, which cost most; else `shine` is 0.
void integrate_area(Light light, Surface s, bool specular, out AreaIntegrals area) {
    area.irradiance = 0.0;
    area.weight = 0.0;
    area.shine = vec2(0.0);
    uint kind = light.kind & LIGHT_KIND_BITS;
    vec3 to_light = light.position - s.position;
    bool flat_shape = kind == LIGHT_DISK || kind == LIGHT_RECTANGLE || kind == LIGHT_TRIANGLE;
    // Distance of the point in front of a flat emitter.
    float before = -dot(light.direction, to_light);
    // The surface's frame.
    float nv = dot(s.normal, s.view);
    vec3 tangent = unit_or(s.view - s.normal * nv, across(s.normal));
    vec3 bitangent = cross(s.normal, tangent);
    mat3 frame_of = transpose(mat3(tangent, bitangent, s.normal));
    area.frame_of = frame_of;
    area.towards = vec3(0.0, 0.0, 1.0);
    vec3 v = vec3(sqrt(max(1.0 - nv * nv, 0.0)), 0.0, nv);
    vec3 center = frame_of * to_light;
    vec3 along = frame_of * light.right;
    vec3 axis = frame_of * light.direction;
    vec3 up = cross(along, axis);
    float radius = light.half_width;

    // Horizon test; a sphere or tube emits to the outside only.
    float d = length(center);
    float reach = kind == LIGHT_RECTANGLE ? length(vec2(light.half_width, light.half_height))
        : kind == LIGHT_TUBE ? light.half_height + radius
        : kind == LIGHT_TRIANGLE ? light.half_width + abs(light.spot_offset) + light.half_height
        : radius;
    if (center.z <= -reach || d <= 0.0) {
        return;
    }
    // A flat emitter is invisible from its own plane, within rounding.
    float grazing = 1e-4 * reach + 4e-6 * length(s.position);
    if (flat_shape && ((light.kind & LIGHT_TWO_SIDED) == 0u ? before : abs(before)) <= grazing) {
        return;
    }
    float size = reach / d;
    vec3 m = ltc_map(s.alpha, max(nv, 0.0), v.x);
#ifdef EXTENDED_MATERIALS
    set_anisotropic_lobe(m, s.alpha, frame_of);
#endif
    vec3 lobe = unit_or(from_lobe(m, vec3(0.0, 0.0, 1.0)), vec3(0.0, 0.0, 1.0));

    float irradiance = -1.0;
    corner_count = 0;
    // One call site for each outline of several shapes, since functions are inlined.
    bool is_sphere = kind == LIGHT_SPHERE;
    vec3 sphere_center = center;
    if (kind == LIGHT_SPHERE) {
        if (d <= radius * 1.00001) {
            return;
        }
    } else if (kind == LIGHT_DISK) {
        float sine = sqrt(max(1.0 - axis.z * axis.z, 0.0));
        if (center.z >= radius * sine) {
            irradiance = disk_irradiance(center, axis, radius);
        }
    } else if (kind == LIGHT_TUBE) {
        vec3 start = center - along * light.half_height;
        vec3 end = center + along * light.half_height;
        // Inside the tube.
        float t = clamp(-dot(center, along), -light.half_height, light.half_height);
        vec3 nearest = center + along * t;
        if (dot(nearest, nearest) <= radius * radius * 1.00002) {
            return;
        }
        float da = length(start);
        float db = length(end);
        vec3 n0, n1;
        if (tube_planes(start / da, end / db, radius / da, radius / db, n0, n1)) {
            if (min(start.z, end.z) >= radius) {
                irradiance = tube_irradiance(start / da, end / db, radius / da, radius / db, start,
                    end, radius, n0, n1);
            }
            for (int i = 0; i < 2; ++i) {
                bool first = i == 0;
                add_tube_end(first ? start / da : end / db, radius / (first ? da : db),
                    first ? n0 : n1, first ? end / db : start / da);
            }
        } else {
            is_sphere = true;
            sphere_center = da < db ? start : end;
        }
    } else if (kind == LIGHT_TRIANGLE) {
        // The sides from one corner: the first along `right`, the second by its components along
        // and across it.
        vec3 first = along * light.half_width;
        vec3 second = along * light.spot_offset - up * light.half_height;
        vec3 corner = center - (first + second) / 3.0;
        corners[0] = corner;
        corners[1] = corner + first;
        corners[2] = corner + second;
        corner_count = 3;
    } else {
        vec3 x = along * light.half_width;
        vec3 y = up * light.half_height;
        corners[0] = center - x - y;
        corners[1] = center + x - y;
        corners[2] = center + x + y;
        corners[3] = center - x + y;
        corner_count = 4;
    }
    if (is_sphere || kind == LIGHT_DISK) {
        vec3 middle = center;
        vec3 circle_axis = axis;
        float circle_radius = radius;
        vec3 towards = lobe * abs(before) + center
            * (dot(lobe, axis) * (before < 0.0 ? -1.0 : 1.0));
        float seen_size = radius / d;
        if (is_sphere) {
            // The cone of directions to a sphere, seen from outside.
            irradiance = sphere_irradiance(sphere_center, radius);
            float away = length(sphere_center);
            circle_axis = sphere_center / away;
            seen_size = radius / away;
            middle = circle_axis * sqrt(1.0 - seen_size * seen_size);
            circle_radius = seen_size;
            towards = lobe;
        }
        add_circle(middle, circle_axis, circle_radius, towards, seen_size, s.alpha);
    }
    clip_corners();
    if (corner_count < 3) {
        return;
    }
    vec3 integral = vec3(0.0);
    vec3 inside = vec3(0.0);
    vec3 a = unit_or(corners[corner_count - 1], vec3(0.0, 0.0, 1.0));
    for (int i = 0; i < corner_count; ++i) {
        vec3 b = unit_or(corners[i], vec3(0.0, 0.0, 1.0));
        corners[i] = b;
        if (irradiance < 0.0) {
            integral += edge_integral(a, b);
        }
        inside += b;
        a = b;
    }
    vec3 direction = unit_or(inside, vec3(0.0, 0.0, 1.0));
    if (irradiance < 0.0) {
        irradiance = max(0.5 * integral.z * (dot(integral, inside) < 0.0 ? -1.0 : 1.0), 0.0);
        if (size < TINY) {
            // The edge integral of so small an outline loses precision.
            float area = kind == LIGHT_RECTANGLE ? 4.0 * light.half_width * light.half_height
                : kind == LIGHT_TRIANGLE ? 0.5 * light.half_width * light.half_height
                : kind == LIGHT_DISK ? PI * radius * radius
                : 4.0 * radius * light.half_height * length(cross(along, direction))
                    + PI * radius * radius;
            float facing = flat_shape ? abs(before) / d : 1.0;
            irradiance = area * facing / (d * d) * max(direction.z, 0.0);
        }
    }
    if (irradiance <= 0.0) {
        return;
    }
    area.irradiance = irradiance;
    area.towards = direction;
    // Mean Schlick weight over the outline, and the specular integrals with and without it.
    area.weight = size < TINY ? schlick_between(v, direction) : mean_schlick(v);
    if (!specular) {
        return;
    }
    vec3 lobe_direction = to_lobe(m, direction);
    float stretch = max(max(m.x, m.y), max(m.z, 1.0)) / max(length(lobe_direction), 1e-20);
    if (size * stretch < TINY_IN_LOBE) {
        vec2 f = lobe_at(v, direction, s.alpha);
        area.shine = direction.z > 0.0 ? f.x / direction.z * irradiance * vec2(1.0, f.y)
            : vec2(0.0);
    } else {
        area.shine = integrate_lobe(v, s.alpha, m);
    }
}

void integrate_area(Light light, Surface s, out AreaIntegrals area) {
    integrate_area(light, s, true, area);
}

// Luminance (nits by channel) of a surface toward the viewer under an area light: diffuse and
// specular parts.
void area_light(Light light, Surface s, out vec3 diffuse, out vec3 specular) {
    AreaIntegrals area;
    integrate_area(light, s, area);
    const float one = 1.0 - DIELECTRIC_F0;
    diffuse = light.intensity * s.base_color
        * ((1.0 - s.metallic) * one / PI * area.irradiance * (1.0 - area.weight));
    vec3 dielectric = vec3(DIELECTRIC_F0 * area.shine.x + one * area.shine.y);
    vec3 metal = s.base_color * area.shine.x + (1.0 - s.base_color) * area.shine.y;
    specular = light.intensity * mix(dielectric, metal, s.metallic);
}

#endif
