// What is shown of a still view's mean. One sample in hundreds that finds something moves the mean of a still view at once by
// what can be seen: the picture follows it slowly, and the slower the longer the history, to the same mean.
#ifndef LIB_QUIET
#define LIB_QUIET

// The picture goes after the mean by such a part of a step of eight bits a frame (1/3300 of white in the dark by sRGB's curve,
// about a sixtieth of the light where it is not), by more before so many frames are in it.
const float QUIET_STEP = 0.1;
const float QUIET_FROM = 64.0;
// Stops that the exposure may change by from frame to frame meanwhile: after more the picture is the mean at once.
const float QUIET_EXPOSURE = 0.5;

// How far what is shown (exposed light) may go in a frame towards a mean of so many. What is early goes by the greater of both:
// a pixel that was dark so far would else stay behind by as much as the exposure is bright.
vec4 quiet_step(vec4 shown, vec4 mean, float count) {
    float early = QUIET_FROM / count;
    return QUIET_STEP * (vec4(1.0 / 3300.0) + shown / 60.0 + early * early * early * (vec4(1.0 / 3300.0) + max(shown, mean) / 60.0));
}

#endif
