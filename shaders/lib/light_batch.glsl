// Light of a few lights before their shadows. Passes that evaluate punctual lights and area lights
// in separate loops test all shadows in a third one: functions are inlined, so that a ray traversal
// at each kind of light would double its code.
#ifndef LIB_LIGHT_BATCH
#define LIB_LIGHT_BATCH

struct UnshadowedLight {
    uint index;          // of the light
    bool behind;         // shines from behind the surface
    vec3 diffuse;        // luminance (nits by channel)
    vec3 specular;
};

// An area light that shines on both sides takes two entries.
const uint LIGHT_BATCH = 8u;
UnshadowedLight light_batch[LIGHT_BATCH];
uint light_batch_count = 0u;

void add_to_light_batch(uint index, bool behind, vec3 diffuse, vec3 specular) {
    light_batch[light_batch_count++] = UnshadowedLight(index, behind, diffuse, specular);
}

#endif
