// The names of the commands and nothing else: included by programs that do not link the bridge, for
// they grant the commands before it is compiled.

macro_rules! calls {
    ($desk:ident; $(
        $(#[doc = $words:literal])*
        $name:ident => $variant:ident { $($argument:ident: $type:ty),* } -> $answer:ty:
            $room:ident room $(if $when:expr)?,
            $(while $locked:ident,)? $(follows $followed:ident,)? $(changes [$($changed:ident),*],)?
            { $($sample:tt)* } $(= $how:expr)?;
    )*) => {
        /// Every command of the window.
        const COMMANDS: &[&str] = &[$( stringify!($name) ),*];
    };
}

include!("table.rs");
