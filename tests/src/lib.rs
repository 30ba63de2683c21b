//! Programs with their outcomes, and properties over random programs.
