//! `Debug` for values that hold a patient's data: what is printed by accident (in a log, a panic, a
//! test's output) must not name anybody.

/// Implements `Debug` for a struct so that only the named fields show; the others are there, and
/// hidden.
///
/// ```
/// struct Letter {
///     pages: usize,
///     text: String,
/// }
/// fhir::shows_only!(Letter { pages });
///
/// let letter = Letter { pages: 2, text: "Dear Ada".to_owned() };
/// assert_eq!(format!("{letter:?}"), "Letter { pages: 2, .. }");
/// assert_eq!(letter.text.len(), 8);
/// ```
#[macro_export]
macro_rules! shows_only {
    ($name:ident $(<$life:lifetime>)? { $($field:ident),* $(,)? }) => {
        impl $(<$life>)? ::std::fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct(stringify!($name))
                    $(.field(stringify!($field), &self.$field))*
                    .finish_non_exhaustive()
            }
        }
    };
}
