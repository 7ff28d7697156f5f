// Variants that combine several: a variant is one name.
#if defined(AREA_SPLIT)
#define AREA
#define SPLIT
#endif
#if defined(AREA_TRACED)
#define AREA
#define TRACED
#endif
#if defined(AREA_SPLIT_TRACED)
#define AREA
#define SPLIT_TRACED
#endif
#if defined(AREA_TRACED_MASKS)
#define AREA
#define TRACED_MASKS
#endif
#if defined(AREA_SPLIT_TRACED_MASKS)
#define AREA
#define SPLIT_TRACED_MASKS
#endif
#if defined(SPLIT_TRACED) || defined(SPLIT_TRACED_MASKS)
#define SPLIT
#endif
#if defined(SPLIT_TRACED) || defined(SPLIT_TRACED_MASKS) || defined(TRACED_MASKS)
#define TRACED
#endif
#if defined(SPLIT_TRACED_MASKS) || defined(TRACED_MASKS)
#define BVH_MASKS
#endif
