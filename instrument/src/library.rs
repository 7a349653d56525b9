//! What functions of the C library do to the memory that their arguments point to.
//!
//! One line for each function. Lengths come from arguments or from the result. What the library calls back (the
//! comparison of `qsort`) is instrumented where it is compiled; `bsearch` touches its array only through it and is not
//! listed.

mod containers;
mod wrappers;

use inkwell::values::FunctionValue;

pub use containers::may_fill;
pub use wrappers::may_hand_on;

/// How many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Argument.
    Arg(u32),
    /// Product of two arguments.
    Product(u32, u32),
    /// The result; nothing if it is negative.
    Result,
    /// The result plus a terminating NUL; nothing if it is negative.
    ResultAndNul,
    /// The result times an argument.
    ResultTimes(u32),
    /// Up to and including the byte that the result points to, counted from argument `.0`; if the result is null,
    /// argument `.1`.
    UpToResult(u32, u32),
    /// White space and a decimal number from argument `.0`, and the character that ended it.
    Decimal(u32),
    /// The same with all characters that numbers in any notation have.
    Number(u32),
    /// Until two strings differ or end: arguments, and the argument with the limit if there is one.
    CommonPrefix(u32, u32, Option<u32>),
}

/// How long a string can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Until its NUL.
    None,
    /// At most so many bytes.
    Arg(u32),
    /// Up to the byte that the result points to, if it is not null.
    UpToResult,
}

/// One effect. The first number is that of the pointer argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Reads bytes, before the call.
    Read(u32, Length),
    /// Reads bytes whose number is known only after the call.
    ReadAfter(u32, Length),
    /// Writes bytes. Called after it.
    Write(u32, Length),
    /// Copies: destination, source, length. Called before it.
    Copy(u32, u32, Length),
    /// Reads a string, before the call.
    ReadString(u32, Limit),
    /// Reads a string up to where the result says.
    ReadStringAfter(u32, Limit),
    /// Writes a string, if the result is not null or negative.
    WriteString(u32, Limit),
    /// Reads a string, before the call, and remembers its length for `Append`.
    ReadAppendable(u32),
    /// Wrote a string at the end of the one that `ReadAppendable` saw.
    Append(u32),
    /// The result, if not null, is a new string.
    NewString,
    /// The pointer that the argument points to received a string of the result's length.
    WriteIndirect(u32),
}

/// What kind of result an effect relies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needed {
    /// None.
    Any,
    /// A pointer.
    Pointer,
    /// An integer.
    Integer,
}

use Effect::*;
use Length::*;

const UNLIMITED: Limit = Limit::None;

/// Name, number of arguments that it must have at least, effects.
type Entry = (&'static str, u32, &'static [Effect]);

/// Sorted by what the functions are for; looked up by name once for each declaration in a module.
const FUNCTIONS: &[Entry] = &[
    // Memory.
    ("memcpy", 3, &[Copy(0, 1, Arg(2))]),
    ("memmove", 3, &[Copy(0, 1, Arg(2))]),
    ("mempcpy", 3, &[Copy(0, 1, Arg(2))]),
    ("__memcpy_chk", 4, &[Copy(0, 1, Arg(2))]),
    ("__memmove_chk", 4, &[Copy(0, 1, Arg(2))]),
    ("__mempcpy_chk", 4, &[Copy(0, 1, Arg(2))]),
    ("bcopy", 3, &[Copy(1, 0, Arg(2))]),
    ("memset", 3, &[Write(0, Arg(2))]),
    ("__memset_chk", 4, &[Write(0, Arg(2))]),
    ("bzero", 2, &[Write(0, Arg(1))]),
    ("explicit_bzero", 2, &[Write(0, Arg(1))]),
    ("memcmp", 3, &[Read(0, Arg(2)), Read(1, Arg(2))]),
    ("bcmp", 3, &[Read(0, Arg(2)), Read(1, Arg(2))]),
    ("memchr", 3, &[ReadAfter(0, UpToResult(0, 2))]),
    // Strings.
    ("strlen", 1, &[ReadString(0, UNLIMITED)]),
    ("strnlen", 2, &[ReadString(0, Limit::Arg(1))]),
    ("strcpy", 2, &[ReadString(1, UNLIMITED), WriteString(0, UNLIMITED)]),
    ("stpcpy", 2, &[ReadString(1, UNLIMITED), WriteString(0, UNLIMITED)]),
    ("__strcpy_chk", 3, &[ReadString(1, UNLIMITED), WriteString(0, UNLIMITED)]),
    ("__stpcpy_chk", 3, &[ReadString(1, UNLIMITED), WriteString(0, UNLIMITED)]),
    ("strncpy", 3, &[ReadString(1, Limit::Arg(2)), Write(0, Arg(2))]),
    ("__strncpy_chk", 4, &[ReadString(1, Limit::Arg(2)), Write(0, Arg(2))]),
    ("strcat", 2, &[ReadString(1, UNLIMITED), ReadAppendable(0), Append(0)]),
    ("__strcat_chk", 3, &[ReadString(1, UNLIMITED), ReadAppendable(0), Append(0)]),
    ("strncat", 3, &[ReadString(1, Limit::Arg(2)), ReadAppendable(0), Append(0)]),
    ("__strncat_chk", 4, &[ReadString(1, Limit::Arg(2)), ReadAppendable(0), Append(0)]),
    ("strcmp", 2, &[Read(0, CommonPrefix(0, 1, None)), Read(1, CommonPrefix(0, 1, None))]),
    ("strncmp", 3, &[Read(0, CommonPrefix(0, 1, Some(2))), Read(1, CommonPrefix(0, 1, Some(2)))]),
    ("strchr", 2, &[ReadStringAfter(0, Limit::UpToResult)]),
    ("index", 2, &[ReadStringAfter(0, Limit::UpToResult)]),
    ("strrchr", 2, &[ReadString(0, UNLIMITED)]),
    ("strstr", 2, &[ReadString(0, UNLIMITED), ReadString(1, UNLIMITED)]),
    ("strpbrk", 2, &[ReadStringAfter(0, Limit::UpToResult), ReadString(1, UNLIMITED)]),
    ("strspn", 2, &[ReadAfter(0, ResultAndNul), ReadString(1, UNLIMITED)]),
    ("strcspn", 2, &[ReadAfter(0, ResultAndNul), ReadString(1, UNLIMITED)]),
    ("strdup", 1, &[ReadString(0, UNLIMITED), NewString]),
    ("__strdup", 1, &[ReadString(0, UNLIMITED), NewString]),
    ("strndup", 2, &[ReadString(0, Limit::Arg(1)), NewString]),
    // Numbers.
    ("atoi", 1, &[Read(0, Decimal(0))]),
    ("atol", 1, &[Read(0, Decimal(0))]),
    ("atoll", 1, &[Read(0, Decimal(0))]),
    ("atof", 1, &[Read(0, Number(0))]),
    ("strtol", 3, &[Read(0, Number(0))]),
    ("strtoll", 3, &[Read(0, Number(0))]),
    ("strtoul", 3, &[Read(0, Number(0))]),
    ("strtoull", 3, &[Read(0, Number(0))]),
    ("__isoc23_strtol", 3, &[Read(0, Number(0))]),
    ("__isoc23_strtoll", 3, &[Read(0, Number(0))]),
    ("__isoc23_strtoul", 3, &[Read(0, Number(0))]),
    ("__isoc23_strtoull", 3, &[Read(0, Number(0))]),
    ("strtod", 2, &[Read(0, Number(0))]),
    ("strtof", 2, &[Read(0, Number(0))]),
    // Formatted output to memory.
    ("sprintf", 2, &[WriteString(0, UNLIMITED)]),
    ("vsprintf", 3, &[WriteString(0, UNLIMITED)]),
    ("__sprintf_chk", 4, &[WriteString(0, UNLIMITED)]),
    ("__vsprintf_chk", 5, &[WriteString(0, UNLIMITED)]),
    ("snprintf", 3, &[WriteString(0, Limit::Arg(1))]),
    ("vsnprintf", 4, &[WriteString(0, Limit::Arg(1))]),
    ("__snprintf_chk", 5, &[WriteString(0, Limit::Arg(1))]),
    ("__vsnprintf_chk", 6, &[WriteString(0, Limit::Arg(1))]),
    // Files and sockets. Output reads its buffer before the call: another thread may be woken by it.
    ("read", 3, &[Write(1, Result)]),
    ("__read_chk", 4, &[Write(1, Result)]),
    ("pread", 4, &[Write(1, Result)]),
    ("pread64", 4, &[Write(1, Result)]),
    ("__pread_chk", 5, &[Write(1, Result)]),
    ("__pread64_chk", 5, &[Write(1, Result)]),
    ("recv", 4, &[Write(1, Result)]),
    ("__recv_chk", 5, &[Write(1, Result)]),
    ("recvfrom", 6, &[Write(1, Result)]),
    ("__recvfrom_chk", 7, &[Write(1, Result)]),
    ("write", 3, &[Read(1, Arg(2))]),
    ("pwrite", 4, &[Read(1, Arg(2))]),
    ("pwrite64", 4, &[Read(1, Arg(2))]),
    ("send", 4, &[Read(1, Arg(2))]),
    ("sendto", 6, &[Read(1, Arg(2))]),
    ("fread", 4, &[Write(0, ResultTimes(1))]),
    ("fread_unlocked", 4, &[Write(0, ResultTimes(1))]),
    ("__fread_chk", 5, &[Write(0, ResultTimes(2))]),
    ("fwrite", 4, &[Read(0, Product(1, 2))]),
    ("fwrite_unlocked", 4, &[Read(0, Product(1, 2))]),
    ("fgets", 3, &[WriteString(0, Limit::Arg(1))]),
    ("__fgets_chk", 4, &[WriteString(0, Limit::Arg(2))]),
    ("getline", 3, &[WriteIndirect(0)]),
    ("getdelim", 4, &[WriteIndirect(0)]),
    ("__getdelim", 4, &[WriteIndirect(0)]),
    ("puts", 1, &[ReadString(0, UNLIMITED)]),
    ("fputs", 2, &[ReadString(0, UNLIMITED)]),
    ("fputs_unlocked", 2, &[ReadString(0, UNLIMITED)]),
    // Sorting moves the elements itself.
    ("qsort", 4, &[Read(0, Product(1, 2)), Write(0, Product(1, 2))]),
    ("qsort_r", 5, &[Read(0, Product(1, 2)), Write(0, Product(1, 2))]),
];

/// Functions that create threads, by symbol.
const CREATORS: &[&str] = &[
    "pthread_create",
    "thrd_create",
    "__kmpc_fork_call",
    "__kmpc_fork_call_if",
    "__kmpc_fork_teams",
    "GOMP_parallel",
    "GOMP_parallel_start",
    "GOMP_teams",
];

/// `std::thread::_M_start_thread(std::unique_ptr<_State>, void (*)())` and its older overloads; libc++'s
/// goes through an inline function that calls `pthread_create`.
const CREATOR_PREFIXES: &[&str] = &["_ZNSt6thread15_M_start_thread"];

/// How many bytes a call allocates, and where it says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocator {
    /// The result is a block of so many bytes: an argument.
    Bytes(u32),
    /// The result is a block: product of two arguments.
    Product(u32, u32),
    /// Argument 0 points to where the block's address goes, the result is 0 if all went well; bytes.
    Indirect(u32),
    /// The result may be a block that the function has allocated by one of the others.
    HandsOn,
    /// Argument 0 points to a container, whose first member leads to a block that the function may have allocated.
    Fills,
}

/// Functions that allocate memory, with the number of arguments that they must have.
const ALLOCATORS: &[(&str, u32, Allocator)] = &[
    ("malloc", 1, Allocator::Bytes(0)),
    ("calloc", 2, Allocator::Product(0, 1)),
    ("realloc", 2, Allocator::Bytes(1)),
    ("reallocarray", 3, Allocator::Product(1, 2)),
    ("aligned_alloc", 2, Allocator::Bytes(1)),
    ("memalign", 2, Allocator::Bytes(1)),
    ("valloc", 1, Allocator::Bytes(0)),
    ("posix_memalign", 3, Allocator::Indirect(2)),
    ("mmap", 6, Allocator::Bytes(1)),
    ("mmap64", 6, Allocator::Bytes(1)),
    ("mremap", 4, Allocator::Bytes(2)),
    ("mremap", 5, Allocator::Bytes(2)),
    ("_Znwm", 1, Allocator::Bytes(0)),
    ("_Znam", 1, Allocator::Bytes(0)),
    ("_ZnwmRKSt9nothrow_t", 2, Allocator::Bytes(0)),
    ("_ZnamRKSt9nothrow_t", 2, Allocator::Bytes(0)),
    ("_ZnwmSt11align_val_t", 2, Allocator::Bytes(0)),
    ("_ZnamSt11align_val_t", 2, Allocator::Bytes(0)),
];

/// Functions that may move the block that argument 0 points to. Whether they do, and how much of it, the runtime sees.
const MOVERS: [&str; 3] = ["realloc", "reallocarray", "mremap"];

/// Functions of `math.h` on `double` that store nothing through a pointer.
const COMPUTES: [&str; 56] = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "ilogb",
    "j0",
    "j1",
    "ldexp",
    "llrint",
    "llround",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "lrint",
    "lround",
    "nearbyint",
    "nextafter",
    "pow",
    "remainder",
    "rint",
    "round",
    "scalbln",
    "scalbn",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "y0",
    "y1",
];

/// Where the C library keeps something of the calling thread's.
const ADDRESSES: [&str; 4] = ["__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc", "__errno_location"];

/// What a function of this name, called with so many arguments, allocates.
pub fn allocates(name: &str, arguments: u32) -> Option<Allocator> {
    ALLOCATORS.iter().find(|(n, expected, _)| *n == name && *expected == arguments).map(|(.., a)| *a)
}

/// Whether a function of this name may move the block that argument 0 points to.
pub fn moves(name: &str) -> bool {
    MOVERS.contains(&name)
}

/// The effects of a function with this name, called with so many arguments.
pub fn effects(name: &str, arguments: u32) -> Option<&'static [Effect]> {
    let &(_, expected, effects) = FUNCTIONS.iter().find(|(n, ..)| *n == name)?;
    (arguments >= expected).then_some(effects)
}

/// Whether a function of the library only turns numbers into a number: it touches none of the program's memory, waits
/// for nobody and calls nothing back. The library's own state (`errno`) is not followed. A program's own function of
/// such a name is none, if the module defines it.
pub fn only_computes(function: FunctionValue<'_>) -> bool {
    let name = function.get_name().to_bytes();
    let of_a_number = || function.get_type().get_param_types().first().is_some_and(|t| t.is_float_type());
    // A program's `log` that another file defines takes something else: a level, a text.
    function.count_basic_blocks() == 0 && (is_address(name) || is_arithmetic(name) && of_a_number())
}

/// Whether a function that is called may do anything: neither LLVM's own nor one that [`only_computes`].
pub fn is_opaque(callee: Option<FunctionValue<'_>>) -> bool {
    !callee.is_some_and(|c| c.get_name().to_bytes().starts_with(b"llvm.") || only_computes(c))
}

fn is_arithmetic(name: &[u8]) -> bool {
    // glibc's names for -ffinite-math-only in older programs; `sqrtf` and `sqrtl`.
    let name = name.strip_prefix(b"__").and_then(|n| n.strip_suffix(b"_finite")).unwrap_or(name);
    let shorter = name.strip_suffix(b"f").or_else(|| name.strip_suffix(b"l"));
    let is_listed = |name: &[u8]| COMPUTES.iter().any(|known| known.as_bytes() == name);
    is_listed(name) || shorter.is_some_and(is_listed)
}

fn is_address(name: &[u8]) -> bool {
    ADDRESSES.iter().any(|known| known.as_bytes() == name)
}

/// Whether a call of the function may create threads.
pub fn creates_threads(name: &str) -> bool {
    CREATORS.contains(&name) || CREATOR_PREFIXES.iter().any(|p| name.starts_with(p))
}

impl Effect {
    /// Whether the code for it goes after the call.
    pub fn is_after(self) -> bool {
        !matches!(self, Read(..) | Copy(..) | ReadString(..) | ReadAppendable(..))
    }

    /// The other arguments that must be pointers.
    pub fn other_pointer(self) -> Option<u32> {
        match self {
            Copy(_, from, _) => Some(from),
            Read(p, CommonPrefix(a, b, _)) => Some(if p == a { b } else { a }),
            _ => None,
        }
    }

    /// The arguments that must be integers.
    pub fn integers(self) -> [Option<u32>; 2] {
        let of_limit = |limit| if let Limit::Arg(n) = limit { [Some(n), None] } else { [None, None] };
        match self {
            Read(_, l) | ReadAfter(_, l) | Write(_, l) | Copy(_, _, l) => match l {
                Arg(n) | ResultTimes(n) | UpToResult(_, n) => [Some(n), None],
                Product(n, m) => [Some(n), Some(m)],
                CommonPrefix(_, _, n) => [n, None],
                Result | ResultAndNul | Decimal(_) | Number(_) => [None, None],
            },
            ReadString(_, l) | ReadStringAfter(_, l) | WriteString(_, l) => of_limit(l),
            ReadAppendable(_) | Append(_) | NewString | WriteIndirect(_) => [None, None],
        }
    }

    /// What the result must be.
    pub fn result(self) -> Needed {
        match self {
            ReadAfter(_, UpToResult(..)) | ReadStringAfter(_, Limit::UpToResult) | NewString => Needed::Pointer,
            ReadAfter(_, l) | Write(_, l) if matches!(l, Result | ResultAndNul | ResultTimes(_)) => Needed::Integer,
            WriteIndirect(_) => Needed::Integer,
            _ => Needed::Any,
        }
    }

    /// The pointer argument that it is about, if it is one.
    pub fn pointer(self) -> Option<u32> {
        match self {
            Read(p, _) | ReadAfter(p, _) | Write(p, _) | Copy(p, ..) => Some(p),
            ReadString(p, _) | ReadStringAfter(p, _) | WriteString(p, _) => Some(p),
            ReadAppendable(p) | Append(p) | WriteIndirect(p) => Some(p),
            NewString => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_function_is_listed_once_and_its_effects_fit_its_arguments() {
        let names: HashSet<_> = FUNCTIONS.iter().map(|f| f.0).collect();
        assert_eq!(names.len(), FUNCTIONS.len());
        for (name, arguments, effects) in FUNCTIONS {
            assert!(effects.iter().filter_map(|e| e.pointer()).all(|p| p < *arguments), "{name}");
        }
    }

    #[test]
    fn a_function_of_another_shape_is_not_the_librarys() {
        assert_eq!(effects("memcpy", 3), Some(&[Copy(0, 1, Arg(2))][..]));
        assert_eq!(effects("memcpy", 2), None);
        assert_eq!(effects("my_memcpy", 3), None);
    }

    #[test]
    fn allocators_are_known_by_symbol_and_arguments() {
        assert_eq!(allocates("calloc", 2), Some(Allocator::Product(0, 1)));
        assert_eq!((allocates("calloc", 1), allocates("my_malloc", 1)), (None, None));
        for (name, arguments, allocator) in ALLOCATORS {
            let last = match allocator {
                Allocator::Bytes(n) | Allocator::Product(_, n) | Allocator::Indirect(n) => Some(n),
                Allocator::HandsOn | Allocator::Fills => None,
            };
            assert!(last.is_some_and(|n| n < arguments), "{name}");
        }
    }

    #[test]
    fn mathematics_is_known_in_all_precisions() {
        for name in ["sqrt", "sqrtf", "sqrtl", "fmaf", "exp2", "__pow_finite", "__logf_finite"] {
            assert!(is_arithmetic(name.as_bytes()), "{name}");
        }
        // Results through pointers, synchronisation, and names that only look like it.
        for name in ["sincos", "frexp", "modf", "lgamma", "remquo", "rand", "f", "", "sqrtd", "_sqrt", "expl2", "free"]
        {
            assert!(!is_arithmetic(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn thread_creation_is_known_by_symbol() {
        assert!(creates_threads("pthread_create"));
        assert!(creates_threads(
            "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"
        ));
        assert!(!creates_threads("pthread_create_like"));
    }
}
