// Variants that combine several: a variant is one name.
#if defined(SPLIT_TRACED) || defined(SPLIT_TRACED_MASKS)
#define SPLIT
#endif
#if defined(SPLIT_TRACED) || defined(SPLIT_TRACED_MASKS) || defined(TRACED_MASKS)
#define TRACED
#endif
#if defined(SPLIT_TRACED_MASKS) || defined(TRACED_MASKS)
#define BVH_MASKS
#endif
