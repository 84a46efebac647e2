//! Bounds on what is read.

/// Bounds on what is read; hostile input is assumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of text (at most 1 GiB, whatever is said here).
    pub bytes_max: usize,
    /// Nesting of elements (at most 64, whatever is said here).
    pub depth_max: usize,
    /// Elements in all.
    pub elements_max: usize,
}

impl Default for Limits {
    /// 20 MiB of text, 64 levels, 500,000 elements.
    fn default() -> Self {
        Self { bytes_max: 20 << 20, depth_max: 64, elements_max: 500_000 }
    }
}
