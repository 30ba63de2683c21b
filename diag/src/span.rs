//! Where something stands: a file and a range of bytes.

/// A file of a [`crate::SourceMap`]. The default is no file at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A range of bytes in a file. The default is a dummy: it points nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of the bytes `start .. end` of `file`. Offsets beyond `u32` are cut.
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        let cut = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { file, start: cut(start), end: cut(end.max(start)) }
    }

    /// Whether the span points nowhere.
    pub fn is_dummy(self) -> bool {
        self == Span::default()
    }

    /// The smallest span that holds both; a dummy adds nothing, and of two files the first is kept.
    pub fn to(self, other: Span) -> Span {
        if self.is_dummy() {
            return other;
        }
        if other.is_dummy() || other.file != self.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The empty span at the end of this one.
    pub fn end_point(self) -> Span {
        Span { start: self.end, ..self }
    }
}
