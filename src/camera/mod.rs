//! The physical camera: body, exposure, field of view. Pure: no GPU, no I/O.
