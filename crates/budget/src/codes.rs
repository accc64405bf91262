//! Error codes for programs. Each language has its own list, which is written with this macro.

/// Defines an enum of codes, one per line with its permanent name and a description of when it occurs, and a test that
/// no two codes have the same name.
///
/// ```
/// terrapin_budget::codes! {
///     /// What can be wrong.
///     pub enum Code {
///         TooLong = "too-long", "The text is longer than what is read.";
///     }
/// }
/// assert_eq!((Code::ALL, Code::TooLong.name()), (&[Code::TooLong][..], "too-long"));
/// ```
#[macro_export]
macro_rules! codes {
    ($(#[$about:meta])* pub enum $name:ident { $($code:ident = $text:literal, $when:literal;)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[doc = $when] $code,)+
        }

        impl $name {
            /// All of them, in the order of their list.
            pub const ALL: &'static [$name] = &[$($name::$code),+];

            /// Returns the name for programs.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$code => $text,)+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }

        #[cfg(test)]
        #[test]
        fn no_two_codes_have_the_same_name() {
            let names: ::std::collections::BTreeSet<&str> = $name::ALL.iter().map(|code| code.name()).collect();
            assert_eq!(names.len(), $name::ALL.len());
            let is_plain = |name: &&str| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
            assert!(names.iter().all(is_plain), "{names:?}");
        }
    };
}
