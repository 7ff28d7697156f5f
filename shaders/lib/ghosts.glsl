// Lens ghost tracing: ray paths with two reflections (mm), and soft iris and rim edges. Mirrors
// src/optics/trace.rs and src/optics/ghosts. The including shader declares `ghosts`
// (GhostConstants), `surfaces`, `paths` and `crossings`.
#ifndef LIB_GHOSTS
#define LIB_GHOSTS
#include "lib/constants.glsl"
#include "shared/ghosts.glsl"

// Relative rim distance assigned to a ray that misses the whole sphere.
const float BESIDE = 1.05;

// Fraction of a disk of radius 1 on one side of a line at a signed distance: the part of the source
// visible past a straight edge.
float disc_part(float t) {
    t = clamp(t, -1.0, 1.0);
    return 0.5 + (t * sqrt(max(1.0 - t * t, 0.0)) + asin(t)) / PI;
}

// Distance of the iris edge over that of its corners. Mirrors Iris::edge in src/optics/thin_lens.rs.
float iris_edge(vec2 q, float blades, float curvature, float rotation) {
    if (blades < 3.0) {
        return 1.0;
    }
    float side = 2.0 * PI / blades;
    float angle = ((q.x == 0.0 && q.y == 0.0 ? 0.0 : atan(q.y, q.x)) - rotation) / side;
    float to_middle = (fract(angle) - 0.5) * side;
    return mix(cos(0.5 * side) / cos(to_middle), 1.0, curvature);
}

#ifdef GHOST_TRACING
float amplitude(float a, float b) {
    return a + b > 0.0 ? (a - b) / (a + b) : 0.0;
}

// Reflectance of unpolarized light. Mirrors `reflectance` in src/optics/coating.rs. The film has no
// evanescent wave: steeper rays are clamped to grazing ones.
float reflectance(float n0, float n2, float film_index, float film, float cosine,
    float wavelength) {
    float c0 = clamp(cosine, 0.0, 1.0);
    float sine2 = (1.0 - c0 * c0) * n0 * n0;
    float c2 = 1.0 - sine2 / (n2 * n2);
    if (c2 <= 0.0) {
        return 1.0;
    }
    c2 = sqrt(c2);
    if (film_index <= 0.0) {
        float s = amplitude(n0 * c0, n2 * c2);
        float p = amplitude(c0 / n0, c2 / n2);
        return 0.5 * (s * s + p * p);
    }
    float c1 = sqrt(max(1.0 - sine2 / (film_index * film_index), 1e-6));
    float turn = cos(4.0 * PI * film_index * film * c1 / wavelength);
    vec2 r01 = vec2(amplitude(n0 * c0, film_index * c1), amplitude(c0 / n0, c1 / film_index));
    vec2 r12 = vec2(amplitude(film_index * c1, n2 * c2), amplitude(c1 / film_index, c2 / n2));
    vec2 both = 2.0 * r01 * r12 * turn;
    vec2 squared = r01 * r01 * r12 * r12;
    vec2 r = (r01 * r01 + r12 * r12 + both) / max(1.0 + squared + both, 1e-6);
    return clamp(0.5 * (r.x + r.y), 0.0, 1.0);
}

// State of a ghost ray.
struct GhostRay {
    vec2 sensor_position;
    float weight;
    float soft;                // of rims
    float hard;                // of rims
    float reach;               // of rims, minus the half widths of their edges
    vec2 iris[3];
    float iris_soft[3];
    uint crossings;            // of the iris
    bool arrives;
};

// Half widths of the edges at each crossing over the rim radius, along x and along y, from the
// source disk and the pixel.
shared vec2 edges[384];

// Light at one sensor position from different points of the source disk crosses a rim at positions
// that differ by (b - a B / A) u. A pixel's width on the sensor corresponds to a / A there.
void find_edges(GhostPath path, vec4 matrix, vec2 alpha, uint thread, uint threads) {
    // A ghost smaller than the source's own disk has no edges of its own.
    vec2 blur = sqrt(matrix.yw * matrix.yw * alpha * alpha + ghosts.pixel * ghosts.pixel);
    vec2 least = blur / max(path.radius, 1e-6);
    vec2 size = max(abs(matrix.xz), least);
    vec2 scale = mix(-1.0 / size, 1.0 / size, greaterThanEqual(matrix.xz, vec2(0.0)));
    for (uint i = thread; i < min(path.crossings, 384u); i += threads) {
        vec4 c = crossings[path.crossing + i];
        vec2 source = (c.yw - c.xz * matrix.yw * scale) * alpha;
        vec2 pixel = c.xz * ghosts.pixel * scale;
        edges[i] = clamp(sqrt(source * source + pixel * pixel), 1e-5, 4.0);
    }
}

void cross_iris(inout GhostRay f, vec2 q, uint step) {
    if (f.crossings < 3u) {
        f.iris[f.crossings] = q;
        f.iris_soft[f.crossings] = max(edges[min(step, 383u)].x, edges[min(step, 383u)].y);
        f.crossings += 1u;
    }
}

void cross_rim(inout GhostRay f, vec2 q, float at_least, uint step) {
    float far = length(q);
    vec2 edge = edges[min(step, 383u)];
    float soft = far > 0.0 ? length(q / far * edge) : max(edge.x, edge.y);
    if (at_least > 0.0) {
        far = max(far, at_least + 2.0 * soft);
    }
    f.hard = max(f.hard, far);
    f.reach = max(f.reach, far - soft);
    f.soft = min(f.soft, (1.0 - far) / soft);
}

GhostRay new_ghost_ray() {
    GhostRay f;
    f.sensor_position = vec2(0.0);
    f.weight = 1.0;
    f.soft = 1e6;
    f.hard = 0.0;
    f.reach = -4.0;
    f.iris = vec2[3](vec2(0.0), vec2(0.0), vec2(0.0));
    f.iris_soft = float[3](1.0, 1.0, 1.0);
    f.crossings = 0u;
    f.arrives = true;
    return f;
}

// Unit vectors perpendicular to a beam; the first lies in the plane of beam and axis, or level.
void across(vec3 d, out vec3 first, out vec3 second) {
    vec2 aside = ghosts.level == 0u && length(d.xy) > 1e-6 ? normalize(d.xy) : vec2(1.0, 0.0);
    first = normalize(vec3(aside, 0.0) - d * dot(vec3(aside, 0.0), d));
    second = cross(d, first);
}

#ifdef PARAXIAL
// Paraxial tracing by matrices: `p` lies in the plane of the first vertex.
GhostRay follow(GhostPath path, vec4 matrix, float part, vec2 p, vec3 d, uint channel) {
    GhostRay f = new_ghost_ray();
    vec2 u = d.xy / d.z;
    f.sensor_position = matrix.xz * p + matrix.yw * u;
    f.weight = part;
    uint step = 0u;
    int index = 0, way = 1, phase = 0;
    for (uint i = 0u; i < path.crossings; ++i) {
        vec4 c = crossings[path.crossing + i];
        vec2 q = c.xz * p + c.yw * u;
        if ((surfaces[index].flags & STOP) != 0u) {
            cross_iris(f, q, i);
        } else {
            cross_rim(f, q, 0.0, i);
        }
        if (phase == 0 && index == int(path.first) || phase == 1 && index == int(path.second)) {
            phase += 1;
            way = -way;
        }
        index += way;
    }
    return f;
}
#else
// Exact ray tracing: `p` lies in the plane perpendicular to the beam.
GhostRay follow(GhostPath path, vec4 matrix, float part, vec2 p, vec3 d, uint channel) {
    GhostRay f = new_ghost_ray();
    vec3 first, second;
    across(d, first, second);
    vec3 o = vec3(0.0, 0.0, ghosts.front_z) + first * p.x + second * p.y
        - d * (2.0 * ghosts.front_radius);
    int index = 0, way = 1, phase = 0;
    for (uint i = 0u; i < path.crossings; ++i) {
        GhostSurface s = surfaces[index];
        vec3 flat_place = o + d * ((s.vertex - o.z) / d.z);
        vec3 place = flat_place, normal = vec3(0.0, 0.0, 1.0);
        float at_least = 0.0;
        if (s.curvature != 0.0) {
            float c = s.curvature;
            vec2 m = vec2((s.flags & CURVED_X) != 0u ? 1.0 : 0.0,
                (s.flags & CURVED_Y) != 0u ? 1.0 : 0.0);
            vec2 h = flat_place.xy;
            float a = c * dot(m * h, h);
            float g = d.z - c * dot(m * d.xy, h);
            float k = dot(m * d.xy, d.xy) + d.z * d.z;
            float root = g * g - c * a * k;
            float along = a / (g + (d.z < 0.0 ? -1.0 : 1.0) * sqrt(max(root, 0.0)));
            place = flat_place + d * along;
            normal = vec3(-c * m * place.xy, 1.0 - c * (place.z - s.vertex));
            if (root < 0.0 || normal.z <= 0.0) {
                at_least = BESIDE;
            }
            normal = normalize(normal);
        }
        o = place;
        vec2 q = place.xy / s.radius;
        bool reflects = phase == 0 && index == int(path.first)
            || phase == 1 && index == int(path.second);
        if ((s.flags & STOP) != 0u) {
            cross_iris(f, q, i);
        } else {
            cross_rim(f, q, at_least, i);
            // Backward crossings, and the second reflection, happen on the surface's sensor side.
            bool from_after = way < 0;
            float n0 = from_after ? s.after[channel] : s.before[channel];
            float n2 = from_after ? s.before[channel] : s.after[channel];
            vec3 n = from_after ? normal : -normal;
            float cosine = -dot(d, n);
            float reflected = reflectance(n0, n2, s.film_index, s.film, cosine,
                ghosts.wavelength[channel]);
            f.weight *= reflects ? reflected : 1.0 - reflected;
            if (reflects) {
                d = normalize(d + n * (2.0 * cosine));
            } else {
                float ratio = n0 / n2;
                float left = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
                d = normalize(d * ratio + n * (ratio * cosine - sqrt(max(left, 0.0))));
            }
        }
        if (reflects) {
            phase += 1;
            way = -way;
        }
        index += way;
    }
    f.sensor_position = (o + d * ((ghosts.sensor_z - o.z) / d.z)).xy;
    bool finite = all(lessThan(abs(f.sensor_position), vec2(1e6))) && f.weight >= 0.0
        && f.weight <= 1.0 && f.hard < 1e6;
    f.arrives = finite && d.z > 0.0;
    return f;
}
#endif

float edge_of(vec2 q) {
    return iris_edge(q, ghosts.blades, ghosts.curvature, ghosts.rotation);
}

// Maximum relative distance toward rims and blades; beyond 1 the ray is blocked.
float max_hard_distance(GhostRay f) {
    float worst = f.hard;
    for (uint i = 0u; i < f.crossings; ++i) {
        worst = max(worst, length(f.iris[i]) / edge_of(f.iris[i]));
    }
    return worst;
}

// As above for light from anywhere on the source disk: up to 1 some of it passes.
float max_soft_distance(GhostRay f) {
    float worst = f.reach;
    for (uint i = 0u; i < f.crossings; ++i) {
        worst = max(worst, length(f.iris[i]) / edge_of(f.iris[i]) - f.iris_soft[i]);
    }
    return worst;
}

vec4 matrix_of(GhostPath path, uint channel) {
    return channel == 0u ? path.red : channel == 1u ? path.green : path.blue;
}

// Propagation direction of a source's light: lenses count z toward the sensor, camera axes count it
// backward.
vec3 travels(FlareSource source) {
    return -source.direction;
}

// Radius of the source disk on the sensor.
vec2 disc_radius(vec4 matrix, float alpha) {
    vec2 r = matrix.yw * alpha;
    return sqrt(r * r + ghosts.pixel * ghosts.pixel);
}
#endif

#endif
