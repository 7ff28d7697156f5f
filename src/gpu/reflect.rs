//! SPIR-V reflection: bindings, push constants and struct layouts of a module. Pipeline layouts are
//! derived from it, and tests compare host structs with it (SPIR-V specification 1.6, section 3).

use std::collections::{BTreeMap, HashMap, HashSet};

use ash::vk;

/// A resource binding of a shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Descriptor set.
    pub set: u32,
    /// Binding number in the set.
    pub binding: u32,
    /// Name of the variable, or of the block if the variable has none.
    pub name: String,
    /// Descriptor type.
    pub kind: vk::DescriptorType,
}

/// Memory layout of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructLayout {
    /// Type name in the shader.
    pub name: String,
    /// Name and byte offset of each member in order.
    pub members: Vec<(String, u32)>,
    /// Array stride in bytes, if the struct is in an array.
    pub stride: Option<u32>,
}

/// Declarations of a module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Resource bindings, ordered by set and binding.
    pub bindings: Vec<Binding>,
    /// Size of push constants in bytes.
    pub push_constant_size: u32,
    /// Work group size; zeros for stages other than compute.
    pub local_size: [u32; 3],
    /// True if the shader reads `gl_NumWorkGroups.x`, which differs in a part of a dispatch.
    pub reads_group_columns: bool,
    /// All structs with an explicit layout.
    pub structs: Vec<StructLayout>,
}

#[derive(Clone, Debug)]
enum Type {
    Scalar { bytes: u32 },
    Vector { of: u32, count: u32 },
    Matrix { column: u32, count: u32 },
    Array { of: u32, length: Option<u32> },
    Struct { members: Vec<u32> },
    Image { sampled: u32 },
    SampledImage,
    Sampler,
    AccelerationStructure,
    Pointer { to: u32 },
}

#[derive(Default)]
struct Parsed {
    names: HashMap<u32, String>,
    member_names: HashMap<(u32, u32), String>,
    offsets: BTreeMap<(u32, u32), u32>,
    matrix_strides: HashMap<(u32, u32), u32>,
    array_strides: HashMap<u32, u32>,
    sets: HashMap<u32, u32>,
    bindings: HashMap<u32, u32>,
    types: HashMap<u32, Type>,
    constants: HashMap<u32, u32>,
    variables: Vec<(u32, u32, u32)>,
    local_size: [u32; 3],
    /// Variables of `gl_NumWorkGroups`, and values loaded from them whole.
    group_counts: HashSet<u32>,
    reads_group_columns: bool,
}

/// Reads a module's declarations.
///
/// Only modules of our own build are read. A malformed one gives an incomplete result, not a panic.
#[must_use]
pub fn reflect(words: &[u32]) -> Module {
    let parsed = parse(words);
    let mut module = Module {
        local_size: parsed.local_size,
        reads_group_columns: parsed.reads_group_columns,
        ..Module::default()
    };
    for &(id, pointer, storage) in &parsed.variables {
        let Some(&Type::Pointer { to }) = parsed.types.get(&pointer) else { continue };
        // Storage classes: 0 uniform constant, 2 uniform, 9 push constant, 12 storage buffer.
        let element = match parsed.types.get(&to) {
            Some(Type::Array { of, .. }) if storage != 9 => *of,
            _ => to,
        };
        let kind = match (storage, parsed.types.get(&element)) {
            (9, _) => {
                module.push_constant_size = module.push_constant_size.max(parsed.size(to));
                continue;
            }
            (2, _) => vk::DescriptorType::UNIFORM_BUFFER,
            (12, _) => vk::DescriptorType::STORAGE_BUFFER,
            (0, Some(Type::SampledImage)) => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            (0, Some(Type::Sampler)) => vk::DescriptorType::SAMPLER,
            (0, Some(Type::AccelerationStructure)) => {
                vk::DescriptorType::ACCELERATION_STRUCTURE_KHR
            }
            (0, Some(Type::Image { sampled: 2 })) => vk::DescriptorType::STORAGE_IMAGE,
            (0, Some(Type::Image { .. })) => vk::DescriptorType::SAMPLED_IMAGE,
            _ => continue,
        };
        let name = [id, element]
            .iter()
            .find_map(|id| parsed.names.get(id).filter(|name| !name.is_empty()));
        module.bindings.push(Binding {
            set: parsed.sets.get(&id).copied().unwrap_or(0),
            binding: parsed.bindings.get(&id).copied().unwrap_or(0),
            name: name.cloned().unwrap_or_default(),
            kind,
        });
    }
    module.bindings.sort_by_key(|binding| (binding.set, binding.binding));
    module.structs = parsed.structs();
    module
}

impl Parsed {
    fn size(&self, id: u32) -> u32 {
        match self.types.get(&id) {
            Some(Type::Scalar { bytes }) => *bytes,
            Some(Type::Vector { of, count }) => self.size(*of) * count,
            Some(Type::Matrix { column, count }) => self.size(*column) * count,
            Some(Type::Array { of, length }) => {
                let stride = self.array_strides.get(&id).copied().unwrap_or_else(|| self.size(*of));
                stride * length.unwrap_or(0)
            }
            Some(Type::Struct { members }) => members
                .iter()
                .enumerate()
                .map(|(index, &member)| {
                    let index = index as u32;
                    let offset = self.offsets.get(&(id, index)).copied().unwrap_or(0);
                    let size =
                        match (self.types.get(&member), self.matrix_strides.get(&(id, index))) {
                            (Some(Type::Matrix { count, .. }), Some(stride)) => stride * count,
                            _ => self.size(member),
                        };
                    offset + size
                })
                .max()
                .unwrap_or(0),
            _ => 0,
        }
    }

    fn structs(&self) -> Vec<StructLayout> {
        let mut layouts = Vec::new();
        for (&id, ty) in &self.types {
            let Type::Struct { members } = ty else { continue };
            let Some(name) = self.names.get(&id) else { continue };
            let named: Option<Vec<_>> = (0..members.len() as u32)
                .map(|index| {
                    let offset = *self.offsets.get(&(id, index))?;
                    Some((self.member_names.get(&(id, index)).cloned().unwrap_or_default(), offset))
                })
                .collect();
            let Some(members) = named else { continue };
            let stride = self
                .types
                .iter()
                .find(|(_, ty)| matches!(ty, Type::Array { of, .. } if *of == id))
                .and_then(|(array, _)| self.array_strides.get(array).copied());
            layouts.push(StructLayout { name: name.clone(), members, stride });
        }
        layouts.sort_by(|a, b| a.name.cmp(&b.name));
        layouts
    }
}

fn parse(words: &[u32]) -> Parsed {
    let mut parsed = Parsed::default();
    let mut rest = words.get(5..).unwrap_or(&[]);
    while let Some(&head) = rest.first() {
        let length = (head >> 16) as usize;
        if length == 0 || length > rest.len() {
            break;
        }
        let (instruction, after) = rest.split_at(length);
        rest = after;
        let op = head & 0xffff;
        let args = instruction.get(1..).unwrap_or(&[]);
        let arg = |index: usize| args.get(index).copied().unwrap_or(0);
        match op {
            5 => {
                parsed.names.insert(arg(0), string(args.get(1..).unwrap_or(&[])));
            }
            6 => {
                parsed.member_names.insert((arg(0), arg(1)), string(args.get(2..).unwrap_or(&[])));
            }
            // OpExecutionMode LocalSize.
            16 if arg(1) == 17 => parsed.local_size = [arg(2), arg(3), arg(4)],
            // The last is OpTypeAccelerationStructureKHR.
            19..=39 | 5341 => {
                if let Some(ty) = type_of(op, args, &parsed.constants) {
                    parsed.types.insert(arg(0), ty);
                }
            }
            43 | 50 => {
                parsed.constants.insert(arg(1), arg(2));
            }
            59 => parsed.variables.push((arg(1), arg(0), arg(2))),
            // OpLoad of the whole vector.
            61 if parsed.group_counts.contains(&arg(2)) => {
                parsed.group_counts.insert(arg(1));
            }
            // OpAccessChain and OpInBoundsAccessChain. An index that is no constant may be 0.
            65 | 66 if parsed.group_counts.contains(&arg(2)) => {
                let index = parsed.constants.get(&arg(3)).copied().unwrap_or(0);
                parsed.reads_group_columns |= index == 0;
            }
            // OpCompositeExtract.
            81 if parsed.group_counts.contains(&arg(2)) => {
                parsed.reads_group_columns |= arg(3) == 0;
            }
            // OpDecorate BuiltIn NumWorkgroups.
            71 if (arg(1), arg(2)) == (11, 24) => {
                parsed.group_counts.insert(arg(0));
            }
            71 => match arg(1) {
                6 => drop(parsed.array_strides.insert(arg(0), arg(2))),
                33 => drop(parsed.bindings.insert(arg(0), arg(2))),
                34 => drop(parsed.sets.insert(arg(0), arg(2))),
                _ => {}
            },
            72 => match arg(2) {
                7 => drop(parsed.matrix_strides.insert((arg(0), arg(1)), arg(3))),
                35 => drop(parsed.offsets.insert((arg(0), arg(1)), arg(3))),
                _ => {}
            },
            // OpExtInst, OpFunctionCall, OpStore, OpCopyMemory, and what follows OpDecorate and
            // OpMemberDecorate: any of them may take the whole vector. A literal that is equal to
            // its number errs on the safe side.
            12 | 57 | 62 | 63 | 77.. => {
                parsed.reads_group_columns |=
                    args.iter().any(|id| parsed.group_counts.contains(id));
            }
            _ => {}
        }
    }
    parsed
}

fn type_of(op: u32, args: &[u32], constants: &HashMap<u32, u32>) -> Option<Type> {
    let arg = |index: usize| args.get(index).copied().unwrap_or(0);
    Some(match op {
        20 => Type::Scalar { bytes: 4 },
        21 | 22 => Type::Scalar { bytes: arg(1) / 8 },
        23 => Type::Vector { of: arg(1), count: arg(2) },
        24 => Type::Matrix { column: arg(1), count: arg(2) },
        25 => Type::Image { sampled: arg(6) },
        26 => Type::Sampler,
        27 => Type::SampledImage,
        28 => Type::Array { of: arg(1), length: constants.get(&arg(2)).copied() },
        29 => Type::Array { of: arg(1), length: None },
        30 => Type::Struct { members: args.get(1..).unwrap_or(&[]).to_vec() },
        32 => Type::Pointer { to: arg(2) },
        5341 => Type::AccelerationStructure,
        _ => return None,
    })
}

fn string(words: &[u32]) -> String {
    let bytes: Vec<u8> =
        words.iter().flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Layout of a host struct that shaders read, for tests that compare it with the shaders' layout.
#[derive(Clone, Copy, Debug)]
pub struct HostLayout {
    /// Type name, the same in host code and shader.
    pub name: &'static str,
    /// Size in bytes.
    pub size: usize,
    /// Name and byte offset of each field.
    pub fields: &'static [(&'static str, usize)],
}
