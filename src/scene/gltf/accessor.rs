//! Reading accessors (glTF 2.0 sections 3.6.2 and 5.1): every component type, strides, matrix
//! columns, sparse substitution, and accessors without a buffer view, which are zeros.

use std::{cell::Cell, collections::HashMap, sync::Arc};

use serde_json::Value;

use super::{MAX_CHECKED_BYTES, MAX_DECODED_BYTES, MAX_ZERO_ELEMENTS};

/// The type of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn of(code: u64) -> Option<Self> {
        Some(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    /// Size in bytes.
    pub(super) const fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// The number stored at the start of `bytes`.
    fn read(self, bytes: &[u8]) -> Option<f64> {
        Some(match (self, bytes) {
            (Self::I8, [a, ..]) => f64::from(i8::from_le_bytes([*a])),
            (Self::U8, [a, ..]) => f64::from(*a),
            (Self::I16, [a, b, ..]) => f64::from(i16::from_le_bytes([*a, *b])),
            (Self::U16, [a, b, ..]) => f64::from(u16::from_le_bytes([*a, *b])),
            (Self::U32, [a, b, c, d, ..]) => f64::from(u32::from_le_bytes([*a, *b, *c, *d])),
            (Self::F32, [a, b, c, d, ..]) => f64::from(f32::from_le_bytes([*a, *b, *c, *d])),
            _ => return None,
        })
    }

    /// Appends the nearest representable number.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(super) fn write(self, x: f32, out: &mut Vec<u8>) {
        // Casts saturate, and NaN becomes 0.
        let rounded = x.round();
        match self {
            Self::I8 => out.extend((rounded as i8).to_le_bytes()),
            Self::U8 => out.push(rounded as u8),
            Self::I16 => out.extend((rounded as i16).to_le_bytes()),
            Self::U16 => out.extend((rounded as u16).to_le_bytes()),
            Self::U32 => out.extend((rounded as u32).to_le_bytes()),
            Self::F32 => out.extend(x.to_le_bytes()),
        }
    }

    /// The value of a normalized integer (section 3.11): signed ones reach -1 twice.
    fn normalize(self, x: f64) -> f64 {
        match self {
            Self::I8 => (x / 127.0).max(-1.0),
            Self::U8 => x / 255.0,
            Self::I16 => (x / 32767.0).max(-1.0),
            Self::U16 => x / 65535.0,
            Self::U32 | Self::F32 => x,
        }
    }
}

/// Element type of an accessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessorType {
    Scalar,
    Vec2,
    Vec3,
    Vec4,
    Mat2,
    Mat3,
    Mat4,
}

impl AccessorType {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "SCALAR" => Self::Scalar,
            "VEC2" => Self::Vec2,
            "VEC3" => Self::Vec3,
            "VEC4" => Self::Vec4,
            "MAT2" => Self::Mat2,
            "MAT3" => Self::Mat3,
            "MAT4" => Self::Mat4,
            _ => return None,
        })
    }

    const fn columns_rows(self) -> (usize, usize) {
        match self {
            Self::Scalar => (1, 1),
            Self::Vec2 => (1, 2),
            Self::Vec3 => (1, 3),
            Self::Vec4 => (1, 4),
            Self::Mat2 => (2, 2),
            Self::Mat3 => (3, 3),
            Self::Mat4 => (4, 4),
        }
    }

    /// Number of components of an element.
    pub(super) const fn components(self) -> usize {
        let (columns, rows) = self.columns_rows();
        columns * rows
    }

    pub(super) const fn is_matrix(self) -> bool {
        self.columns_rows().0 > 1
    }
}

/// Bytes between the columns of an element: matrix columns are aligned to four bytes (section
/// 3.6.2.4).
const fn column_stride(shape: AccessorType, component: Component) -> usize {
    let (_, rows) = shape.columns_rows();
    let bytes = rows * component.size();
    if shape.is_matrix() { bytes.next_multiple_of(4) } else { bytes }
}

/// Bytes of an element, without padding after its last column.
const fn element_size(shape: AccessorType, component: Component) -> usize {
    let (columns, rows) = shape.columns_rows();
    (columns - 1) * column_stride(shape, component) + rows * component.size()
}

/// Stride if none is given.
const fn tight_stride(shape: AccessorType, component: Component) -> usize {
    let (columns, _) = shape.columns_rows();
    columns * column_stride(shape, component)
}

/// A buffer view.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferView {
    pub(super) buffer: usize,
    pub(super) offset: usize,
    pub(super) length: usize,
    pub(super) stride: Option<usize>,
    pub(super) target: Option<u64>,
}

/// A sparse substitution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sparse {
    pub(super) count: usize,
    pub(super) index_view: usize,
    pub(super) index_offset: usize,
    pub(super) index_type: Component,
    pub(super) value_view: usize,
    pub(super) value_offset: usize,
}

/// An accessor of known type.
#[derive(Clone, Debug)]
pub(super) struct Accessor {
    pub(super) view: Option<usize>,
    pub(super) offset: usize,
    pub(super) component: Component,
    pub(super) shape: AccessorType,
    pub(super) normalized: bool,
    pub(super) count: usize,
    pub(super) min: Vec<f64>,
    pub(super) max: Vec<f64>,
    pub(super) sparse: Option<Sparse>,
}

impl Accessor {
    const fn element_size(&self) -> usize {
        element_size(self.shape, self.component)
    }
}

/// Bytes of a buffer, which buffers of one file may share.
#[derive(Clone)]
pub(super) enum Bytes<'a> {
    Borrowed(&'a [u8]),
    Shared(Arc<[u8]>),
}

impl Bytes<'_> {
    pub(super) fn get(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

/// A read error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReadError {
    /// The data is invalid.
    Broken(String),
    /// The file leaves the data to others (section 3.6.1.1: a buffer without a URI), which is
    /// valid.
    Absent(String),
    /// A limit is exceeded.
    TooLarge(String),
}

impl ReadError {
    /// The message.
    pub(super) fn text(self) -> String {
        let (Self::Broken(text) | Self::Absent(text) | Self::TooLarge(text)) = self;
        text
    }
}

fn broken<T>(message: impl Into<String>) -> Result<T, ReadError> {
    Err(ReadError::Broken(message.into()))
}

/// Buffers, views and accessors.
pub(super) struct Store<'a> {
    pub(super) buffers: Vec<Result<Bytes<'a>, ReadError>>,
    pub(super) views: Vec<Option<BufferView>>,
    pub(super) accessors: Vec<Option<Accessor>>,
    /// Bytes that may still be decoded; small files can otherwise request the same bytes any number
    /// of times.
    budget: Cell<u64>,
    zeros: Cell<u64>,
    /// Errors of unusable objects, by place.
    faults: HashMap<String, String>,
}

fn number(value: Option<&Value>) -> Option<usize> {
    value.and_then(Value::as_u64).and_then(|x| usize::try_from(x).ok())
}

fn numbers(value: Option<&Value>) -> Vec<f64> {
    value
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_f64).collect())
        .unwrap_or_default()
}

impl BufferView {
    fn parse(value: &Value) -> Option<Self> {
        let length = number(value.get("byteLength"))?;
        Some(Self {
            // A view without bytes needs no buffer.
            buffer: number(value.get("buffer")).or((length == 0).then_some(usize::MAX))?,
            offset: number(value.get("byteOffset")).unwrap_or(0),
            length,
            stride: number(value.get("byteStride")).filter(|stride| *stride > 0),
            target: value.get("target").and_then(Value::as_u64),
        })
    }
}

impl Accessor {
    fn parse(value: &Value) -> Option<Self> {
        let component = |value: &Value| {
            value.get("componentType").and_then(Value::as_u64).and_then(Component::of)
        };
        let count = number(value.get("count"))?;
        let substitutes = value
            .get("sparse")
            .filter(|sparse| count > 0 && number(sparse.get("count")).is_some_and(|n| n > 0));
        let sparse = match substitutes {
            None => None,
            Some(sparse) => {
                let (indices, values) = (sparse.get("indices")?, sparse.get("values")?);
                let index_type = component(indices)?;
                if !matches!(index_type, Component::U8 | Component::U16 | Component::U32) {
                    return None;
                }
                Some(Sparse {
                    count: number(sparse.get("count"))?,
                    index_view: number(indices.get("bufferView"))?,
                    index_offset: number(indices.get("byteOffset")).unwrap_or(0),
                    index_type,
                    value_view: number(values.get("bufferView"))?,
                    value_offset: number(values.get("byteOffset")).unwrap_or(0),
                })
            }
        };
        // Other properties of an empty accessor do not matter.
        let empty = count == 0;
        let shape = value.get("type").and_then(Value::as_str).and_then(AccessorType::of);
        Some(Self {
            view: number(value.get("bufferView")).filter(|_| !empty),
            offset: number(value.get("byteOffset")).unwrap_or(0),
            component: component(value).or(empty.then_some(Component::F32))?,
            shape: shape.or(empty.then_some(AccessorType::Scalar))?,
            normalized: value.get("normalized").and_then(Value::as_bool).unwrap_or(false),
            count,
            min: numbers(value.get("min")),
            max: numbers(value.get("max")),
            sparse,
        })
    }
}

impl<'a> Store<'a> {
    /// Takes the views and accessors of a document that fits the schema; `faults` holds the errors
    /// of unusable ones.
    pub(super) fn new(
        root: &Value,
        buffers: Vec<Result<Bytes<'a>, ReadError>>,
        faults: HashMap<String, String>,
    ) -> Self {
        let list = |name: &str| {
            root.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
        };
        Self {
            buffers,
            views: list("bufferViews").iter().map(BufferView::parse).collect(),
            accessors: list("accessors").iter().map(Accessor::parse).collect(),
            budget: Cell::new(MAX_CHECKED_BYTES),
            zeros: Cell::new(MAX_ZERO_ELEMENTS),
            faults,
        }
    }

    /// The error of an unusable element of a list.
    fn fault<T>(&self, list: &str, index: usize, otherwise: &str) -> Result<T, ReadError> {
        let place = format!("/{list}/{index}");
        broken(match self.faults.get(&place) {
            Some(problem) => format!("{place}: {problem}"),
            None => format!("{place}: {otherwise}"),
        })
    }

    /// Ends the checks and starts the conversion, with a new budget.
    pub(super) fn start_conversion(&self) {
        self.budget.set(MAX_DECODED_BYTES);
        self.zeros.set(MAX_ZERO_ELEMENTS);
    }

    /// Takes bytes from the budget.
    pub(super) fn spend(&self, bytes: u64) -> Result<(), ReadError> {
        match self.budget.get().checked_sub(bytes) {
            Some(left) => {
                self.budget.set(left);
                Ok(())
            }
            None => Err(ReadError::TooLarge(format!(
                "decoded geometry exceeds {MAX_DECODED_BYTES} bytes"
            ))),
        }
    }

    /// Bytes of a view.
    pub(super) fn view(&self, index: usize) -> Result<&[u8], ReadError> {
        let Some(view) = self.views.get(index).copied().flatten() else {
            return self.fault("bufferViews", index, "there is no such view");
        };
        if view.length == 0 {
            return Ok(&[]);
        }
        let buffer = match self.buffers.get(view.buffer) {
            Some(Ok(buffer)) => buffer.get(),
            Some(Err(error)) => return Err(error.clone()),
            None => return broken(format!("there is no buffer {}", view.buffer)),
        };
        let end = view.offset.checked_add(view.length);
        match end.and_then(|end| buffer.get(view.offset..end)) {
            Some(bytes) => Ok(bytes),
            None => broken(format!(
                "bufferView {index} reaches beyond the {} bytes of its buffer",
                buffer.len()
            )),
        }
    }

    /// An accessor of a known type.
    pub(super) fn accessor(&self, index: usize) -> Result<&Accessor, ReadError> {
        match self.accessors.get(index) {
            Some(Some(accessor)) => Ok(accessor),
            _ => self.fault("accessors", index, "the accessor is missing or of an unknown type"),
        }
    }

    /// The bytes of `count` elements in a view.
    fn span(
        &self,
        view: usize,
        (offset, count, stride, size): (usize, usize, usize, usize),
    ) -> Result<&[u8], ReadError> {
        let bytes = self.view(view)?;
        let length = count
            .checked_sub(1)
            .and_then(|gaps| gaps.checked_mul(stride))
            .and_then(|before| before.checked_add(size))
            .and_then(|length| length.checked_add(offset));
        match length.and_then(|end| bytes.get(offset..end)) {
            Some(bytes) => Ok(bytes),
            None => broken(format!(
                "{count} elements of {size} bytes from byte {offset} exceed the {} bytes of bufferView {view}",
                bytes.len()
            )),
        }
    }

    /// Effective stride of an accessor.
    pub(super) fn stride(&self, accessor: &Accessor) -> usize {
        let tight = tight_stride(accessor.shape, accessor.component);
        accessor
            .view
            .and_then(|view| self.views.get(view).copied().flatten())
            .and_then(|view| view.stride)
            .unwrap_or(tight)
    }

    /// Checks that an accessor and all that it refers to can be read, without decoding.
    pub(super) fn fits(&self, accessor: &Accessor) -> Result<(), ReadError> {
        if accessor.count == 0 {
            return Ok(());
        }
        if let Some(view) = accessor.view {
            let (stride, size) = (self.stride(accessor), accessor.element_size());
            if stride < size {
                return broken(format!(
                    "the stride of {stride} bytes is less than the {size} bytes of an element"
                ));
            }
            self.span(view, (accessor.offset, accessor.count, stride, size))?;
        }
        if let Some(sparse) = &accessor.sparse {
            if sparse.count > accessor.count {
                return broken(format!(
                    "{} sparse elements replace those of only {}",
                    sparse.count, accessor.count
                ));
            }
            let size = sparse.index_type.size();
            self.span(sparse.index_view, (sparse.index_offset, sparse.count, size, size))?;
            let (stride, size) =
                (tight_stride(accessor.shape, accessor.component), accessor.element_size());
            self.span(sparse.value_view, (sparse.value_offset, sparse.count, stride, size))?;
        }
        Ok(())
    }

    /// Calls `f` with each element's index and numbers, not normalized.
    pub(super) fn visit(
        &self,
        accessor: &Accessor,
        f: &mut dyn FnMut(usize, &[f64]),
    ) -> Result<(), ReadError> {
        self.fits(accessor)?;
        if accessor.count == 0 {
            return Ok(());
        }
        let components = accessor.shape.components();
        self.spend((accessor.count as u64).saturating_mul(components as u64).saturating_mul(4))?;
        let stride = self.stride(accessor);
        let base =
            match accessor.view {
                Some(view) => Some(self.span(
                    view,
                    (accessor.offset, accessor.count, stride, accessor.element_size()),
                )?),
                None => {
                    let left = self.zeros.get().checked_sub(accessor.count as u64);
                    let Some(left) = left else {
                        let limit =
                            format!("more than {MAX_ZERO_ELEMENTS} elements without a buffer view");
                        return Err(ReadError::TooLarge(limit));
                    };
                    self.zeros.set(left);
                    None
                }
            };
        // Substitutes, in increasing order as the specification requires.
        let mut substitutes: Vec<usize> = Vec::new();
        let tight = tight_stride(accessor.shape, accessor.component);
        let mut values: &[u8] = &[];
        if let Some(sparse) = &accessor.sparse {
            let size = sparse.index_type.size();
            let indices =
                self.span(sparse.index_view, (sparse.index_offset, sparse.count, size, size))?;
            for bytes in indices.chunks_exact(size) {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let index = sparse.index_type.read(bytes).unwrap_or(0.0) as usize;
                if index >= accessor.count {
                    return broken(format!(
                        "the sparse index {index} is out of range of the {} elements",
                        accessor.count
                    ));
                }
                if substitutes.last().is_some_and(|&last| last >= index) {
                    return broken(format!("the sparse index {index} does not increase"));
                }
                substitutes.push(index);
            }
            let span = (sparse.value_offset, sparse.count, tight, accessor.element_size());
            values = self.span(sparse.value_view, span)?;
        }
        let mut next = substitutes.iter().copied().enumerate().peekable();
        let mut element = [0.0; 16];
        let (columns, rows) = accessor.shape.columns_rows();
        let (column, size) =
            (column_stride(accessor.shape, accessor.component), accessor.component.size());
        let Some(element) = element.get_mut(..components) else {
            return broken("an element of unknown size");
        };
        for index in 0..accessor.count {
            let substitute = next.next_if(|&(_, at)| at == index);
            let bytes = match (substitute, base) {
                (Some((nth, _)), _) => values.get(nth * tight..),
                (None, Some(base)) => base.get(index * stride..),
                (None, None) => None,
            };
            match bytes {
                Some(bytes) => {
                    for (c, out) in element.chunks_exact_mut(rows).take(columns).enumerate() {
                        for (r, out) in out.iter_mut().enumerate() {
                            *out = bytes
                                .get(c * column + r * size..)
                                .and_then(|bytes| accessor.component.read(bytes))
                                .unwrap_or(0.0);
                        }
                    }
                }
                None => element.fill(0.0),
            }
            f(index, element);
        }
        Ok(())
    }

    /// All elements as floats, normalized if the accessor is.
    #[allow(clippy::cast_possible_truncation)]
    pub(super) fn floats<const N: usize>(
        &self,
        accessor: &Accessor,
    ) -> Result<Vec<[f32; N]>, ReadError> {
        if accessor.shape.components() != N && accessor.count > 0 {
            return broken(format!("{:?}, expected {N} components", accessor.shape));
        }
        self.fits(accessor)?;
        // Reserved only now that bytes back the count, or a limit for zeros.
        let mut out = Vec::with_capacity(if accessor.view.is_some() { accessor.count } else { 0 });
        self.visit(accessor, &mut |_, element| {
            let mut values = [0.0f32; N];
            for (value, &x) in values.iter_mut().zip(element) {
                *value =
                    if accessor.normalized { accessor.component.normalize(x) } else { x } as f32;
            }
            out.push(values);
        })?;
        Ok(out)
    }

    /// All numbers of all elements, flattened, normalized if the accessor is.
    #[allow(clippy::cast_possible_truncation)]
    pub(super) fn row(&self, accessor: &Accessor) -> Result<Vec<f32>, ReadError> {
        self.fits(accessor)?;
        let mut out = Vec::new();
        self.visit(accessor, &mut |_, element| {
            let number = |&x: &f64| if accessor.normalized { accessor.component.normalize(x) } else { x } as f32;
            out.extend(element.iter().map(number));
        })?;
        Ok(out)
    }

    /// All elements as unsigned integers.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(super) fn integers(&self, accessor: &Accessor) -> Result<Vec<u32>, ReadError> {
        let whole = matches!(accessor.component, Component::U8 | Component::U16 | Component::U32);
        if accessor.count > 0 && (!whole || accessor.shape != AccessorType::Scalar) {
            return broken("indices that are not unsigned integers");
        }
        self.fits(accessor)?;
        let mut out = Vec::with_capacity(if accessor.view.is_some() { accessor.count } else { 0 });
        self.visit(accessor, &mut |_, element| out.push(element.first().map_or(0, |&x| x as u32)))?;
        Ok(out)
    }
}

#[cfg(test)]
mod tests;
