//! Reading of `.npy` files, versions 1 to 3.
//!
//! Source: NumPy Enhancement Proposal 1 and the documentation of `numpy.lib.format`.

use adl_diag::{Code, Span};

use crate::run::RuntimeError;
use crate::show;
use crate::ty::Scalar;
use crate::value::Leaves;

/// What a file holds: its sizes and, in row-major order, its elements.
#[derive(Debug)]
pub struct Array {
    /// Sizes from the outside in.
    pub dims: Vec<usize>,
    /// Elements.
    pub leaves: Leaves,
}

/// Reads a file of this rank whose elements convert to `elem` without loss of meaning: any number to a
/// float, whole numbers to Int, truth values to Bool.
///
/// # Errors
///
/// E0802 if the file is malformed, E0803 if it holds another rank or element type.
pub fn read(bytes: &[u8], path: &str, rank: usize, elem: Scalar, span: Span) -> Result<Array, RuntimeError> {
    let malformed = |why: &str| {
        RuntimeError::new(Code::E0802, span, format!("{} is not a `.npy` file: {why}", show::quoted(path)))
    };
    let (header, data) = split(bytes).ok_or_else(|| malformed("its head is damaged"))?;
    let descr = field(header, "descr").ok_or_else(|| malformed("it names no element type"))?;
    let dims = sizes(header).ok_or_else(|| malformed("it names no sizes"))?;
    let fortran = field(header, "fortran_order").is_some_and(|text| text.starts_with("True"));
    let kind = Kind::of(&descr).ok_or_else(|| malformed("its element type is not a number"))?;
    if dims.len() != rank || !kind.fits(elem) {
        let path = show::quoted(path);
        let message = format!(
            "{path} holds a table of rank {} with elements `{descr}`, not of rank {rank} with {elem:?}",
            dims.len()
        );
        return Err(RuntimeError::new(Code::E0803, span, message));
    }
    let n = dims.iter().try_fold(1_usize, |n, d| n.checked_mul(*d));
    let n = n.filter(|n| n.checked_mul(kind.bytes).is_some_and(|need| need <= data.len()));
    let n = n.ok_or_else(|| malformed("it is shorter than its sizes say"))?;
    let source = |i: usize| kind.element(data, if fortran { transposed(i, &dims) } else { i });
    let leaves = match elem {
        Scalar::F64 => Leaves::F64((0..n).map(|i| source(i).float()).collect()),
        Scalar::F32 => Leaves::F32((0..n).map(|i| source(i).float() as f32).collect()),
        Scalar::Int => Leaves::Int((0..n).map(|i| source(i).whole()).collect()),
        Scalar::Bool => Leaves::Bool((0..n).map(|i| source(i).whole() != 0).collect()),
        Scalar::Str | Scalar::Key => return Err(malformed("it cannot hold this type")),
    };
    Ok(Array { dims, leaves })
}

/// The head as text, and what follows it.
fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(b"\x93NUMPY")?;
    let (version, rest) = rest.split_at_checked(2)?;
    let (length, rest) = if version[0] == 1 {
        let (length, rest) = rest.split_first_chunk::<2>()?;
        (usize::from(u16::from_le_bytes(*length)), rest)
    } else {
        let (length, rest) = rest.split_first_chunk::<4>()?;
        (u32::from_le_bytes(*length) as usize, rest)
    };
    let (header, data) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(header).ok()?, data))
}

/// What stands after `'name':`, without quotes if it is quoted.
fn field(header: &str, name: &str) -> Option<String> {
    let (_, rest) = header.split_once(&format!("'{name}'"))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    if let Some(text) = rest.strip_prefix('\'') {
        return text.split('\'').next().map(str::to_string);
    }
    Some(rest.to_string())
}

fn sizes(header: &str) -> Option<Vec<usize>> {
    let shape = field(header, "shape")?;
    let (inside, _) = shape.strip_prefix('(')?.split_once(')')?;
    inside.split(',').map(str::trim).filter(|d| !d.is_empty()).map(|d| d.parse().ok()).collect()
}

/// Where element `i` in row-major order stands in a file in column-major order.
fn transposed(mut i: usize, dims: &[usize]) -> usize {
    let mut index = vec![0; dims.len()];
    for (slot, n) in index.iter_mut().zip(dims).rev() {
        *slot = i % n;
        i /= n;
    }
    index.iter().zip(dims).rev().fold(0, |at, (i, n)| at * n + i)
}

/// An element type of a file.
struct Kind {
    letter: u8,
    bytes: usize,
    big: bool,
}

/// An element: whole or not.
enum Element {
    Whole(i64),
    Float(f64),
}

impl Element {
    fn float(self) -> f64 {
        match self {
            Element::Whole(k) => k as f64,
            Element::Float(x) => x,
        }
    }

    fn whole(self) -> i64 {
        match self {
            Element::Whole(k) => k,
            Element::Float(x) => x as i64,
        }
    }
}

impl Kind {
    fn of(descr: &str) -> Option<Kind> {
        let (order, rest) = descr.split_at_checked(1)?;
        let letter = *rest.as_bytes().first()?;
        let bytes: usize = rest.get(1..)?.parse().ok()?;
        let known = match letter {
            b'f' => bytes == 4 || bytes == 8,
            b'i' | b'u' => [1, 2, 4, 8].contains(&bytes),
            b'b' => bytes == 1,
            _ => false,
        };
        known.then_some(Kind { letter, bytes, big: order == ">" })
    }

    fn fits(&self, elem: Scalar) -> bool {
        match elem {
            Scalar::F64 | Scalar::F32 => true,
            Scalar::Int => self.letter != b'f',
            Scalar::Bool => self.letter == b'b',
            Scalar::Str | Scalar::Key => false,
        }
    }

    fn element(&self, data: &[u8], i: usize) -> Element {
        let mut word = [0_u8; 8];
        let bytes = &data[i * self.bytes..(i + 1) * self.bytes];
        word[..self.bytes].copy_from_slice(bytes);
        if self.big {
            word[..self.bytes].reverse();
        }
        let bits = u64::from_le_bytes(word);
        match self.letter {
            b'f' if self.bytes == 4 => Element::Float(f64::from(f32::from_bits(bits as u32))),
            b'f' => Element::Float(f64::from_bits(bits)),
            b'i' => {
                let shift = 64 - 8 * self.bytes as u32;
                Element::Whole(((bits << shift) as i64) >> shift)
            }
            _ => Element::Whole(bits as i64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(data);
        bytes
    }

    fn code(bytes: &[u8], rank: usize, elem: Scalar) -> Code {
        read(bytes, "x.npy", rank, elem, Span::default()).unwrap_err().code
    }

    #[test]
    fn bytes_become_floats_and_columns_rows() {
        let bytes = file("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", &[1, 4, 2, 5, 3, 6]);
        let array = read(&bytes, "x.npy", 2, Scalar::F64, Span::default()).unwrap();
        assert_eq!(array.dims, [2, 3]);
        assert!(matches!(array.leaves, Leaves::F64(v) if v == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    }

    #[test]
    fn signs_and_byte_orders() {
        let bytes =
            file("{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}", &[0xFF, 0xFE, 0x01, 0x00]);
        let array = read(&bytes, "x.npy", 1, Scalar::Int, Span::default()).unwrap();
        assert!(matches!(array.leaves, Leaves::Int(v) if v == [-2, 256]));
    }

    #[test]
    fn what_is_wrong_has_a_code() {
        let good = file("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", &[0; 8]);
        assert_eq!(code(b"", 1, Scalar::F64), Code::E0802);
        assert_eq!(code(&good[..good.len() - 1], 1, Scalar::F64), Code::E0802);
        assert_eq!(code(&good, 2, Scalar::F64), Code::E0803);
        assert_eq!(code(&good, 1, Scalar::Int), Code::E0803);
        let huge = file("{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999, 9999999999)}", &[]);
        assert_eq!(code(&huge, 2, Scalar::F64), Code::E0802);
    }
}
