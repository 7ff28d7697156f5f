//! Pictures beside pictures, and what must hold of them.

pub mod case;
pub mod expression;
