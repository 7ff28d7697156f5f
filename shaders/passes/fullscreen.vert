#version 460
// variants: OVER_HALF
// One triangle that covers the picture, at depth 0; with OVER_HALF between 1/2 and 1.

void main() {
    vec2 p = vec2(gl_VertexIndex == 1 ? 3.0 : -1.0, gl_VertexIndex == 2 ? 3.0 : -1.0);
#ifdef OVER_HALF
    const float DEPTH = 0.75;
#else
    const float DEPTH = 0.0;
#endif
    gl_Position = vec4(p, DEPTH, 1.0);
}
