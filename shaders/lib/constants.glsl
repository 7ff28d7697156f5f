// Mathematical constants.
#ifndef LIB_CONSTANTS
#define LIB_CONSTANTS

const float PI = 3.14159265358979;

#endif
