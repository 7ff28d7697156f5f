//! Whole small documents.
