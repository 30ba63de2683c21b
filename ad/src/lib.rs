//! Forward and reverse mode as transformations of first-order Core.
