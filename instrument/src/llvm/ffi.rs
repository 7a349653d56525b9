//! The functions of `shim/shim.h`, which documents them.
#![allow(missing_docs)] // the header has the documentation

use inkwell::llvm_sys::prelude::*;
use std::ffi::{c_char, c_void};
use std::ptr;

/// `ThreadtalkLoop` of the shim.
#[repr(C)]
pub struct RawLoop {
    pub header: LLVMBasicBlockRef,
    pub preheader: LLVMBasicBlockRef,
    pub parent: u32,
    pub derived: bool,
    pub start: LLVMMetadataRef,
    pub end: LLVMMetadataRef,
}

/// `ThreadtalkLoopAccess` of the shim.
#[repr(C)]
pub struct RawLoopAccess {
    pub at: LLVMValueRef,
    pub writes: bool,
    pub slack: u8,
}

/// `ThreadtalkAffine` of the shim.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawAffine {
    pub address: LLVMValueRef,
    pub stride: LLVMValueRef,
    pub leader: usize,
    pub offset: i64,
    pub stray: LLVMValueRef,
    pub last: LLVMValueRef,
    pub last_address: LLVMValueRef,
}

impl RawAffine {
    /// One that is not known yet.
    pub const NONE: RawAffine = RawAffine {
        address: ptr::null_mut(),
        stride: ptr::null_mut(),
        leader: 0,
        offset: 0,
        stray: ptr::null_mut(),
        last: ptr::null_mut(),
        last_address: ptr::null_mut(),
    };
}

/// `ThreadtalkLoopCopy` of the shim.
#[repr(C)]
pub struct RawLoopCopy {
    pub iterations: LLVMValueRef,
    pub branch: LLVMValueRef,
    pub feasible: LLVMValueRef,
}

/// `ThreadtalkSearchExit` of the shim.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawSearchExit {
    pub at: LLVMValueRef,
    pub iterations: LLVMValueRef,
    pub executed: usize,
}

/// `ThreadtalkNestItem` of the shim.
#[repr(C)]
pub struct RawNestItem {
    pub at: LLVMValueRef,
    pub address: LLVMValueRef,
    pub stride: LLVMValueRef,
    pub iterations: LLVMValueRef,
    pub on_way: bool,
    pub start: LLVMValueRef,
    pub strides: [LLVMValueRef; 3],
    pub counts: [LLVMValueRef; 3],
}

/// `THREADTALK_MOST_FIXED` of the shim.
pub const MOST_FIXED: usize = 8;

/// `ThreadtalkNest` of the shim.
#[repr(C)]
pub struct RawNest {
    pub before: LLVMValueRef,
    pub feasible: LLVMValueRef,
    pub fixed_count: usize,
    pub fixed: [LLVMValueRef; MOST_FIXED],
    pub fixed_bytes: [u64; MOST_FIXED],
}

/// `ThreadtalkEdge` of the shim.
#[repr(C)]
pub struct RawEdge {
    pub from: LLVMBasicBlockRef,
    pub to: LLVMBasicBlockRef,
    pub weight: f64,
    /// 0: a branch; [`RAW_ABNORMAL`], [`RAW_INDIRECT`].
    pub kind: u32,
    pub back: bool,
    pub countable: bool,
}
/// `ThreadtalkLocation` of the shim.
#[repr(C)]
pub struct RawLocation {
    pub raw: LLVMMetadataRef,
    pub scope: LLVMMetadataRef,
    pub subprogram: LLVMMetadataRef,
    pub inlined_at: LLVMMetadataRef,
    pub line: u32,
}
#[repr(C)]
pub struct RawTrips {
    pub count: LLVMValueRef,
    pub before: LLVMValueRef,
}
pub const RAW_ABNORMAL: u32 = 1;
pub const RAW_INDIRECT: u32 = 2;
/// `ThreadtalkObject` of the shim.
#[repr(C)]
pub struct RawObject {
    pub kind: u32,
    pub line: u32,
    pub file: LLVMMetadataRef,
    pub frames: u32,
    pub element: u32,
}

/// `ThreadtalkNameVisitor` of the shim.
pub type NameVisitor = extern "C" fn(*mut c_void, *const c_char, usize);

unsafe extern "C" {
    pub fn threadtalk_shim_object(
        pointer: LLVMValueRef,
        out: *mut RawObject,
        data: *mut c_void,
        on_name: NameVisitor,
    ) -> bool;
    pub fn threadtalk_shim_receiver(
        value: LLVMValueRef,
        behind: bool,
        out: *mut RawObject,
        data: *mut c_void,
        on_name: NameVisitor,
    ) -> bool;
    pub fn threadtalk_shim_strides(
        analysis: *mut c_void,
        pointer: LLVMValueRef,
        block: LLVMBasicBlockRef,
        inner: *mut i64,
        outer: *mut i64,
    );
    pub fn threadtalk_shim_most_iterations(analysis: *mut c_void, header: LLVMBasicBlockRef) -> u32;
    pub fn threadtalk_shim_file_part(file: LLVMMetadataRef, directory: bool, length: *mut usize) -> *const c_char;

    pub fn threadtalk_shim_analysis_open(function: LLVMValueRef, for_counters: bool) -> *mut c_void;
    pub fn threadtalk_shim_analysis_close(analysis: *mut c_void);
    pub fn threadtalk_shim_copy_loop(
        analysis: *mut c_void,
        header: LLVMBasicBlockRef,
        accesses: *const RawLoopAccess,
        count: usize,
        affine: *mut RawAffine,
        out: *mut RawLoopCopy,
    ) -> bool;
    pub fn threadtalk_shim_copy_search(
        analysis: *mut c_void,
        header: LLVMBasicBlockRef,
        after: u64,
        accesses: *const RawLoopAccess,
        count: usize,
        affine: *mut RawAffine,
        ask: *mut LLVMValueRef,
        ways: *mut RawSearchExit,
        most_ways: usize,
    ) -> usize;

    pub fn threadtalk_shim_nest(
        analysis: *mut c_void,
        header: LLVMBasicBlockRef,
        items: *mut RawNestItem,
        count: usize,
        out: *mut RawNest,
    ) -> bool;

    pub fn threadtalk_shim_register(pass_builder: *mut c_void);
    pub fn threadtalk_shim_error(context: LLVMContextRef, text: *const c_char, length: usize);
    pub fn threadtalk_shim_follow_variables_alone();
    pub fn threadtalk_shim_hurry();
    pub fn threadtalk_shim_has_features(
        function: LLVMValueRef,
        names: *const *const c_char,
        count: usize,
        has: *mut bool,
    );

    pub fn threadtalk_shim_underlying_object(pointer: LLVMValueRef) -> LLVMValueRef;
    pub fn threadtalk_shim_base(module: LLVMModuleRef, pointer: LLVMValueRef, offset: *mut i64) -> LLVMValueRef;
    pub fn threadtalk_shim_captured(pointer: LLVMValueRef, return_captures: bool) -> bool;
    pub fn threadtalk_shim_interposable(function: LLVMValueRef) -> bool;
    pub fn threadtalk_shim_only_reads(function: LLVMValueRef) -> bool;
    pub fn threadtalk_shim_fixed_store_size(module: LLVMModuleRef, ty: LLVMTypeRef) -> u64;
    pub fn threadtalk_shim_static_alloca_size(alloca: LLVMValueRef) -> u64;
    pub fn threadtalk_shim_alloca_element_size(alloca: LLVMValueRef) -> u64;
    pub fn threadtalk_shim_known_alignment(pointer: LLVMValueRef, module: LLVMModuleRef) -> u64;
    pub fn threadtalk_shim_left_of_alignment(pointer: LLVMValueRef, module: LLVMModuleRef) -> u64;

    pub fn threadtalk_shim_distances(
        analysis: *mut c_void,
        pointers: *const LLVMValueRef,
        segments: *const u32,
        count: usize,
        leaders: *mut u32,
        distances: *mut i64,
    );

    pub fn threadtalk_shim_disjoint(analysis: *mut c_void, one: LLVMValueRef, other: LLVMValueRef) -> bool;

    pub fn threadtalk_shim_loops(
        function: LLVMValueRef,
        data: *mut c_void,
        on_loop: extern "C" fn(*mut c_void, *const RawLoop),
        on_block: extern "C" fn(*mut c_void, LLVMBasicBlockRef, u32),
    );
    pub fn threadtalk_shim_dominators_open(function: LLVMValueRef) -> *mut c_void;
    pub fn threadtalk_shim_dominates(dominators: *mut c_void, first: LLVMValueRef, second: LLVMValueRef) -> bool;
    pub fn threadtalk_shim_common_dominator(
        dominators: *mut c_void,
        blocks: *const LLVMBasicBlockRef,
        count: usize,
    ) -> LLVMBasicBlockRef;
    pub fn threadtalk_shim_dominators_close(dominators: *mut c_void);
    pub fn threadtalk_shim_exits(
        function: LLVMValueRef,
        headers: *const LLVMBasicBlockRef,
        count: usize,
        data: *mut c_void,
        on_exit: extern "C" fn(*mut c_void, usize, LLVMValueRef),
    );
    pub fn threadtalk_shim_close_loops(function: LLVMValueRef);
    pub fn threadtalk_shim_split_before(instruction: LLVMValueRef) -> LLVMBasicBlockRef;
    pub fn threadtalk_shim_entry_point(function: LLVMValueRef) -> LLVMValueRef;
    pub fn threadtalk_shim_after_call(call: LLVMValueRef) -> LLVMValueRef;
    pub fn threadtalk_shim_before_exit(block: LLVMBasicBlockRef) -> LLVMValueRef;
    pub fn threadtalk_shim_promote(function: LLVMValueRef, slots: *const LLVMValueRef, count: usize);

    pub fn threadtalk_shim_add_constructor(module: LLVMModuleRef, function: LLVMValueRef, priority: i32);

    pub fn threadtalk_shim_control_prepare(function: LLVMValueRef);
    pub fn threadtalk_shim_control_graph(
        analysis: *mut c_void,
        data: *mut c_void,
        on_block: extern "C" fn(*mut c_void, LLVMBasicBlockRef, f64),
        on_edge: extern "C" fn(*mut c_void, *const RawEdge),
    );
    pub fn threadtalk_shim_control_place(from: LLVMBasicBlockRef, to: LLVMBasicBlockRef, back: bool) -> LLVMValueRef;
    pub fn threadtalk_shim_control_trips(
        analysis: *mut c_void,
        from: LLVMBasicBlockRef,
        to: LLVMBasicBlockRef,
        out: *mut RawTrips,
    ) -> bool;
    pub fn threadtalk_shim_control_unseen(analysis: *mut c_void, header: LLVMBasicBlockRef) -> bool;
    pub fn threadtalk_shim_location(instruction: LLVMValueRef, out: *mut RawLocation) -> bool;
    pub fn threadtalk_shim_is_control(instruction: LLVMValueRef) -> bool;

    pub fn threadtalk_shim_subprogram_of(scope: LLVMMetadataRef) -> LLVMMetadataRef;
    pub fn threadtalk_shim_subprogram_name(
        subprogram: LLVMMetadataRef,
        linkage: bool,
        length: *mut usize,
    ) -> *const c_char;
    pub fn threadtalk_shim_main_file(module: LLVMModuleRef, length: *mut usize) -> *const c_char;

    pub fn threadtalk_shim_ignorelist_open(
        path: *const c_char,
        length: usize,
        error: *mut c_char,
        error_size: usize,
    ) -> *mut c_void;
    pub fn threadtalk_shim_ignorelist_contains(
        list: *mut c_void,
        prefix: *const c_char,
        text: *const c_char,
        length: usize,
    ) -> bool;
    pub fn threadtalk_shim_ignorelist_close(list: *mut c_void);
}
