//! The element table: what FHIR R4 (4.0.1) says an element may hold.
//!
//! Made by `cargo xtask tables fhir` from the package `hl7.fhir.r4.core`, committed compressed and
//! unpacked once. Its lines:
//!
//! ```text
//! fhir-table 1 4.0.1
//! V <code>…                                   a code list; numbered from 0 in order of appearance
//! T <kind> <path> <type name>                 a type: p primitive, c complex, r resource,
//!                                             a abstract resource, x xhtml
//! E <name> <min> -<flags> <list or -> <type>… an element of that type, in its order
//! ```
//!
//! Flags: `c` choice (`value` stands for `value[x]`), `m` array, `a` XML attribute. A type `@Path`
//! is the nested type of that path.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::lexical::Primitive;

static COMPRESSED: &[u8] = include_bytes!("../table/r4.bin.zst");
static TEXT: OnceLock<String> = OnceLock::new();
static TABLE: OnceLock<Table> = OnceLock::new();

/// Nothing known: no field, no type.
pub(crate) const NONE: u16 = u16::MAX;

/// What a type is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Has a value.
    Primitive(Primitive),
    /// Has children only.
    Complex,
    /// A resource of this type.
    Resource,
    /// Any resource (`Resource`, `DomainResource`).
    AnyResource,
    /// Narrative: taken as a whole.
    Xhtml,
}

/// A type, or the nested type of a backbone element.
#[derive(Debug)]
pub(crate) struct Type {
    /// FHIR's name; `BackboneElement` or `Element` for a nested type.
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Its fields in [`Table::fields`], in order.
    pub(crate) first: u16,
    pub(crate) end: u16,
    /// Fields with a minimum above 0.
    pub(crate) required: Vec<u16>,
}

/// An element of a type under one of its names (a choice has one field for each type allowed).
#[derive(Debug)]
pub(crate) struct Field {
    /// As written, e.g. `valueQuantity`.
    pub(crate) name: &'static str,
    /// Without the type, e.g. `value`.
    pub(crate) stem: &'static str,
    /// The stem in [`Table::stems`].
    pub(crate) stem_id: u16,
    /// Its type in [`Table::types`].
    pub(crate) of: u16,
    /// Place among the elements of its owner; the fields of one choice share it.
    pub(crate) order: u16,
    pub(crate) min: u8,
    pub(crate) is_array: bool,
    pub(crate) is_attribute: bool,
    pub(crate) is_choice: bool,
    /// Code list in [`Table::lists`], or [`NONE`].
    pub(crate) list: u16,
}

/// The table, unpacked.
pub(crate) struct Table {
    pub(crate) types: Vec<Type>,
    pub(crate) fields: Vec<Field>,
    pub(crate) lists: Vec<Vec<&'static str>>,
    /// Every stem once, in order of appearance.
    pub(crate) stems: Vec<&'static str>,
    by_name: HashMap<&'static str, u16>,
    by_stem: HashMap<&'static str, u16>,
    /// Open addressing over (type, name); length is a power of two, at most half full.
    slots: Vec<(u16, u16)>,
}

/// The one table of this program.
pub(crate) fn table() -> &'static Table {
    TABLE.get_or_init(|| Table::parse(TEXT.get_or_init(unpack)))
}

#[allow(clippy::expect_used, reason = "the bytes are part of the program; a test unpacks them")]
fn unpack() -> String {
    let bytes = zstd::decode_all(COMPRESSED).expect("the committed table is zstd");
    String::from_utf8(bytes).expect("the committed table is text")
}

impl Table {
    /// The field of this name in a type.
    pub(crate) fn field(&self, owner: u16, name: &str) -> Option<u16> {
        let mut slot = self.slot(owner, name);
        loop {
            let (of, field) = self.slots[slot];
            if field == NONE {
                return None;
            }
            if of == owner && self.fields[usize::from(field)].name == name {
                return Some(field);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    /// The type of a resource name; `None` if it is not the name of a concrete resource.
    pub(crate) fn resource(&self, name: &str) -> Option<u16> {
        let of = *self.by_name.get(name)?;
        (self.types[usize::from(of)].kind == Kind::Resource).then_some(of)
    }

    /// The type of this name, or the nested type of this path.
    pub(crate) fn by_name(&self, name: &str) -> Option<u16> {
        self.by_name.get(name).copied()
    }

    /// The number of a stem.
    pub(crate) fn stem(&self, text: &str) -> Option<u16> {
        self.by_stem.get(text).copied()
    }

    /// The type `Element`: what every element may have.
    pub(crate) fn element(&self) -> u16 {
        self.by_name.get("Element").copied().unwrap_or(NONE)
    }

    /// All fields of a type, in order.
    pub(crate) fn fields_of(&self, owner: u16) -> &[Field] {
        let of = &self.types[usize::from(owner)];
        &self.fields[usize::from(of.first)..usize::from(of.end)]
    }

    fn slot(&self, owner: u16, name: &str) -> usize {
        // FNV-1a: the keys are the table's own, so nobody from outside can make them collide.
        let seed = 0xcbf2_9ce4_8422_2325 ^ u64::from(owner).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let step =
            |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        let hash = name.bytes().fold(seed, step);
        ((hash ^ (hash >> 29)) as usize) & (self.slots.len() - 1)
    }

    fn parse(text: &'static str) -> Self {
        let mut table = Self {
            types: Vec::new(),
            fields: Vec::new(),
            lists: Vec::new(),
            stems: Vec::new(),
            by_name: HashMap::new(),
            by_stem: HashMap::new(),
            slots: Vec::new(),
        };
        for line in text.lines() {
            if let Some(of) = line.strip_prefix("T ") {
                table.add_type(of);
            } else if let Some(codes) = line.strip_prefix("V ") {
                table.lists.push(codes.split(' ').collect());
            }
        }
        let mut owner = NONE;
        let mut order = 0;
        for line in text.lines() {
            if line.starts_with("T ") {
                owner = owner.wrapping_add(1);
                order = 0;
                let end = table.fields.len() as u16;
                let of = &mut table.types[usize::from(owner)];
                (of.first, of.end) = (end, end);
            } else if let Some(element) = line.strip_prefix("E ") {
                table.add_element(owner, order, element);
                order += 1;
            }
        }
        table.index();
        table
    }

    fn add_type(&mut self, line: &'static str) {
        let mut words = line.split(' ');
        let (kind, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let kind = match kind {
            "p" => Kind::Primitive(Primitive::of(path)),
            "r" => Kind::Resource,
            "a" => Kind::AnyResource,
            "x" => Kind::Xhtml,
            _ => Kind::Complex,
        };
        self.by_name.insert(path, self.types.len() as u16);
        let name = words.next().unwrap_or(path);
        self.types.push(Type { name, kind, first: 0, end: 0, required: Vec::new() });
    }

    fn add_element(&mut self, owner: u16, order: u16, line: &'static str) {
        let mut words = line.split(' ');
        let mut word = || words.next().unwrap_or_default();
        let (stem, min, flags, list) = (word(), word(), word(), word());
        let is_choice = flags.contains('c');
        let min = min.parse().unwrap_or(0);
        let next = self.stems.len() as u16;
        let stem_id = *self.by_stem.entry(stem).or_insert(next);
        if stem_id == next {
            self.stems.push(stem);
        }
        for (index, of) in words.enumerate() {
            // Several types without a choice are targets of one type: the first tells it.
            if index > 0 && !is_choice {
                break;
            }
            let of_type = self.by_name.get(of.trim_start_matches('@')).copied().unwrap_or(NONE);
            if min > 0 && index == 0 {
                self.types[usize::from(owner)].required.push(self.fields.len() as u16);
            }
            self.fields.push(Field {
                name: if is_choice { choice_name(stem, of) } else { stem },
                stem,
                stem_id,
                of: of_type,
                order,
                min,
                is_array: flags.contains('m'),
                is_attribute: flags.contains('a'),
                is_choice,
                list: list.parse().unwrap_or(NONE),
            });
        }
        self.types[usize::from(owner)].end = self.fields.len() as u16;
    }

    fn index(&mut self) {
        self.slots = vec![(NONE, NONE); (self.fields.len() * 2).next_power_of_two()];
        for owner in 0..self.types.len() as u16 {
            let of = &self.types[usize::from(owner)];
            for field in of.first..of.end {
                let mut slot = self.slot(owner, self.fields[usize::from(field)].name);
                while self.slots[slot].1 != NONE {
                    slot = (slot + 1) & (self.slots.len() - 1);
                }
                self.slots[slot] = (owner, field);
            }
        }
    }
}

/// `value` and `string` give `valueString`. The few hundred names live as long as the table: for
/// ever.
fn choice_name(stem: &str, of: &str) -> &'static str {
    let mut name = String::with_capacity(stem.len() + of.len());
    name.push_str(stem);
    let mut letters = of.chars();
    name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
    name.push_str(letters.as_str());
    String::leak(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_every_type_of_every_element() {
        let table = table();
        assert_eq!(table.types.len(), 682);
        for field in &table.fields {
            assert_ne!(field.of, NONE, "{}", field.name);
        }
    }

    #[test]
    fn finds_fields() {
        let table = table();
        let patient = table.resource("Patient").unwrap();
        let name = &table.fields[usize::from(table.field(patient, "name").unwrap())];
        assert!(name.is_array && !name.is_attribute);
        assert_eq!(table.types[usize::from(name.of)].name, "HumanName");
        let deceased =
            &table.fields[usize::from(table.field(patient, "deceasedDateTime").unwrap())];
        assert!(deceased.is_choice);
        assert_eq!(deceased.stem, "deceased");
        assert!(table.field(patient, "deceasedString").is_none());
        assert!(table.resource("HumanName").is_none());
        assert!(table.resource("DomainResource").is_none());
        let gender = &table.fields[usize::from(table.field(patient, "gender").unwrap())];
        assert_eq!(table.lists[usize::from(gender.list)], ["female", "male", "other", "unknown"]);
    }
}
