// Lights with a surface.
#ifndef LIB_AREA
#define LIB_AREA

// Luminance of a surface towards the camera under a shining shape, as though all its light came from its centre.
void area_light(Light light, Surface s, out vec3 diffuse, out vec3 specular) {
    vec3 d = light.position - s.position;
    uint kind = light.kind & LIGHT_KIND_BITS;
    float d2 = max(dot(d, d), light.half_width * light.half_width);
    vec3 l = normalize(d);
    float area = kind == LIGHT_RECTANGLE ? 4.0 * light.half_width * light.half_height
        : PI * light.half_width * light.half_width;
    float facing = 1.0;
    if (kind == LIGHT_TUBE) {
        facing = length(cross(light.right, l));
        area = facing * 4.0 * light.half_width * light.half_height + PI * light.half_width * light.half_width;
        facing = 1.0;
    } else if (kind != LIGHT_SPHERE) {
        facing = dot(light.direction, -l);
        facing = (light.kind & LIGHT_TWO_SIDED) != 0u ? abs(facing) : max(facing, 0.0);
    }
    evaluate_brdf(s, l, diffuse, specular);
    vec3 e = light.intensity * (area * facing / d2);
    diffuse *= e;
    specular *= e;
}

#endif
