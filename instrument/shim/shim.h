// What LLVM's C API lacks, as C functions over its opaque handles. The Rust side declares the same functions in
// src/llvm/ffi.rs. Nothing here decides anything: policy lives in Rust.
#pragma once
#include "llvm-c/Types.h"
#include <cstddef>
#include <cstdint>

extern "C" {

// Implemented in Rust: instruments the module; true if it changed.
bool threadtalk_pass_run(LLVMModuleRef module);
// Implemented in Rust: whether calls of the function do nothing that any thread could see.
bool threadtalk_only_computes(LLVMValueRef function);

// plugin.cpp
void threadtalk_shim_register(void *pass_builder);
void threadtalk_shim_error(LLVMContextRef context, const char *text, size_t length);
// The code generator looks for the places of variables in the way that takes less time.
void threadtalk_shim_follow_variables_alone();
// It leaves out steps by which code that calls a function for each access gains nothing.
void threadtalk_shim_hurry();

// target.cpp
// Whether the CPU that a function is compiled for has features of these names, in LLVM's spelling.
void threadtalk_shim_has_features(LLVMValueRef function, const char *const *names, size_t count, bool *has);

// pointers.cpp
LLVMValueRef threadtalk_shim_underlying_object(LLVMValueRef pointer);
// The pointer that this one is a constant number of bytes behind.
LLVMValueRef threadtalk_shim_base(LLVMModuleRef module, LLVMValueRef pointer, int64_t *offset);
bool threadtalk_shim_captured(LLVMValueRef pointer, bool return_captures);
// Whether another definition of a function may run in place of the one that is seen: by what it does, not as a copy of
// the same source.
bool threadtalk_shim_interposable(LLVMValueRef function);
// Whether LLVM knows that a function writes no memory.
bool threadtalk_shim_only_reads(LLVMValueRef function);
uint64_t threadtalk_shim_fixed_store_size(LLVMModuleRef module, LLVMTypeRef type);
uint64_t threadtalk_shim_static_alloca_size(LLVMValueRef alloca);
uint64_t threadtalk_shim_alloca_element_size(LLVMValueRef alloca);
uint64_t threadtalk_shim_known_alignment(LLVMValueRef pointer, LLVMModuleRef module);
// alignment.cpp: the most that an access through the pointer can be aligned to, whatever it claims, by the arithmetic
// that leads there.
uint64_t threadtalk_shim_left_of_alignment(LLVMValueRef pointer, LLVMModuleRef module);

// distances.cpp
// for_counters: only the control flow graph and its known iterations will be asked for.
void *threadtalk_shim_analysis_open(LLVMValueRef function, bool for_counters);
void threadtalk_shim_analysis_close(void *analysis);
// How often the loop with this header runs at most each time it is entered: 0 = not known, or 2^32 or more.
uint32_t threadtalk_shim_most_iterations(void *analysis, LLVMBasicBlockRef header);
// For each pointer: the index of an earlier pointer of the same segment that it has a constant distance to, and that
// distance in bytes. A pointer without one gets its own index and 0.
void threadtalk_shim_distances(void *analysis, const LLVMValueRef *pointers, const uint32_t *segments,
                               size_t count, uint32_t *leaders, int64_t *distances);
// Whether two loads or stores cannot touch the same bytes when they run one after the other.
bool threadtalk_shim_disjoint(void *analysis, LLVMValueRef one, LLVMValueRef other);

// control_flow.cpp
struct ThreadtalkLoop {
  LLVMBasicBlockRef header;
  LLVMBasicBlockRef preheader; // null if none can be made
  uint32_t parent;             // index + 1; 0 = none
  bool derived;                // a vector body or remainder: one of several pieces of a source loop
  LLVMMetadataRef start;       // DILocation or null
  LLVMMetadataRef end;         // DILocation or null
};
typedef void (*ThreadtalkLoopVisitor)(void *data, const ThreadtalkLoop *loop);
typedef void (*ThreadtalkBlockVisitor)(void *data, LLVMBasicBlockRef block, uint32_t loop);
void threadtalk_shim_loops(LLVMValueRef function, void *data, ThreadtalkLoopVisitor on_loop,
                           ThreadtalkBlockVisitor on_block);
void *threadtalk_shim_dominators_open(LLVMValueRef function);
bool threadtalk_shim_dominates(void *dominators, LLVMValueRef first, LLVMValueRef second);
LLVMBasicBlockRef threadtalk_shim_common_dominator(void *dominators, const LLVMBasicBlockRef *blocks, size_t count);
void threadtalk_shim_dominators_close(void *dominators);
// For each of the loops: calls the visitor with the first instruction of each block that control reaches when it leaves
// the loop; such blocks are made if there are none that are reached only from there. With null if a loop cannot
// get them.
typedef void (*ThreadtalkExitVisitor)(void *data, size_t loop, LLVMValueRef instruction);
void threadtalk_shim_exits(LLVMValueRef function, const LLVMBasicBlockRef *headers, size_t count, void *data,
                           ThreadtalkExitVisitor on_exit);
// Values leave loops by PHI nodes behind them (LCSSA).
void threadtalk_shim_close_loops(LLVMValueRef function);
LLVMBasicBlockRef threadtalk_shim_split_before(LLVMValueRef instruction);
LLVMValueRef threadtalk_shim_entry_point(LLVMValueRef function);
LLVMValueRef threadtalk_shim_after_call(LLVMValueRef call);
LLVMValueRef threadtalk_shim_before_exit(LLVMBasicBlockRef block);
void threadtalk_shim_promote(LLVMValueRef function, const LLVMValueRef *slots, size_t count);
void threadtalk_shim_add_constructor(LLVMModuleRef module, LLVMValueRef function, int priority);

// loop_copies.cpp
// A load, a store, or what a copy or fill of constant length reads or writes.
struct ThreadtalkLoopAccess {
  LLVMValueRef at;
  bool writes;
  uint8_t slack; // bytes before and behind it that may be in one granule with its own; 0: it is whole granules
};
struct ThreadtalkLoopCopy {
  LLVMValueRef iterations; // i64, before the branch
  LLVMValueRef branch;     // "br false, plain copy, loop": decides which of the two runs
  // i1, before the branch: the description holds, and the plain copy does the same as the loop, as that writes nothing that
  // both depend on. Null: it always does.
  LLVMValueRef feasible;
};
// Where an access of a loop is, before the loop: a fixed number of bytes behind the access number `leader` (itself: 0),
// whose first address and stride (i64) are values. Or it is a stray, somewhere else in each iteration: then `stray` is its
// copy, and `address` what that accesses. If iterations leave in between, `last` is where the copy has ended, behind one that
// is none of those counted, and `last_address` what that accessed; null if it left before.
struct ThreadtalkAffine {
  LLVMValueRef address;
  LLVMValueRef stride;
  size_t leader;
  int64_t offset;
  LLVMValueRef stray;
  LLVMValueRef last;
  LLVMValueRef last_address;
};
// If accesses of the innermost loop are affine in a known number of iterations: describes them before the loop, makes a
// second copy of it, and returns true. Other accesses are strays, and so is each affine one that may touch the same granule
// as a stray in any iteration, if that cannot be asked before the loop; not all may be. Otherwise nothing has changed, but
// for values before the loop that nobody uses.
bool threadtalk_shim_copy_loop(void *analysis, LLVMBasicBlockRef header, const ThreadtalkLoopAccess *accesses,
                               size_t count, ThreadtalkAffine *affine, ThreadtalkLoopCopy *out);

// searches.cpp
// A way out of the copy of a loop that ends by what it finds.
struct ThreadtalkSearchExit {
  LLVMValueRef at;         // an instruction on that way alone
  LLVMValueRef iterations; // i64, there: iterations that the copy has done as a whole
  size_t executed;         // accesses that the last one has done, in the order of the list
};
// If the accesses of the innermost loop go through rows or stay where they are, and each iteration does all of them or
// leaves: makes a second copy of
// it, in which it goes on after so many iterations, and returns the number of the copy's ways out. Addresses are those of
// the copy's first iteration, before the instruction `ask`. Otherwise nothing has changed, and 0 is returned.
size_t threadtalk_shim_copy_search(void *analysis, LLVMBasicBlockRef header, uint64_t after,
                                   const ThreadtalkLoopAccess *accesses, size_t count, ThreadtalkAffine *affine,
                                   LLVMValueRef *ask, ThreadtalkSearchExit *ways, size_t most_ways);

// nests.cpp
// Something in a nest that accesses memory: the accesses of a loop with a plain copy at one stride, or an access elsewhere.
struct ThreadtalkNestItem {
  LLVMValueRef at;      // the loop's decision ("br false, plain copy, loop"), or the access
  LLVMValueRef address; // of the first access; null: one that cannot be described
  LLVMValueRef stride;  // i64; null: not a loop
  LLVMValueRef iterations;
  // What is found out, as values before the nest; dimensions from the innermost loop outwards.
  bool on_way;
  LLVMValueRef start;
  LLVMValueRef strides[3];
  LLVMValueRef counts[3]; // the first one is 0 if the nest does not come there
};
enum { THREADTALK_MOST_FIXED = 8 };
struct ThreadtalkNest {
  LLVMValueRef before;   // the instruction before the nest at which all is known
  LLVMValueRef feasible; // i1: each iteration of the nest takes the same way, on which all items are that say so
  // What was found out holds if the nest writes nothing to these addresses, at which it reads values that it depends on.
  size_t fixed_count;
  LLVMValueRef fixed[THREADTALK_MOST_FIXED];
  uint64_t fixed_bytes[THREADTALK_MOST_FIXED];
};
// If it can be told before a nest of loops runs that each iteration takes one way, and what the items on it access:
// describes these. Otherwise nothing has changed.
bool threadtalk_shim_nest(void *analysis, LLVMBasicBlockRef header, ThreadtalkNestItem *items, size_t count,
                          ThreadtalkNest *out);

// control.cpp
enum ThreadtalkEdgeKind : uint32_t {
  THREADTALK_BRANCH = 0,
  THREADTALK_ABNORMAL = 1, // no branch: a call that does not come back, or one that comes back again
  THREADTALK_INDIRECT = 2, // a branch to an address
};
struct ThreadtalkEdge {
  LLVMBasicBlockRef from; // null: from outside the function
  LLVMBasicBlockRef to;   // null: leaves the function
  double weight;          // what a counter costs: expected executions in a call of the function, times a price
  ThreadtalkEdgeKind kind;
  bool back;      // to a loop's header, from inside
  bool countable; // there is or can be made a place for code that runs on this edge only; for an indirect branch,
                  // on the way from any indirect branch
};
typedef void (*ThreadtalkBlockFrequencyVisitor)(void *data, LLVMBasicBlockRef block, double frequency);
typedef void (*ThreadtalkEdgeVisitor)(void *data, const ThreadtalkEdge *edge);
// Splits blocks behind calls that may leave the function, so that a block runs as a whole or not at all.
void threadtalk_shim_control_prepare(LLVMValueRef function);
void threadtalk_shim_control_graph(void *analysis, void *data, ThreadtalkBlockFrequencyVisitor on_block,
                                   ThreadtalkEdgeVisitor on_edge);
// Where code runs as often as the edge; splits it if needed. Null if that cannot be. back: it goes to a loop's header.
LLVMValueRef threadtalk_shim_control_place(LLVMBasicBlockRef from, LLVMBasicBlockRef to, bool back);
struct ThreadtalkTrips {
  LLVMValueRef count;  // i64: how often the edge is taken each time the loop runs
  LLVMValueRef before; // the instruction before the loop at which that is known
};
// If the edge goes back in a loop that keeps to itself and whose number of iterations is known before it: computes
// that, and returns true.
bool threadtalk_shim_control_trips(void *analysis, LLVMBasicBlockRef from, LLVMBasicBlockRef to, ThreadtalkTrips *out);
// Whether nobody can look at what a thread does in the innermost loop of that header before it leaves by an exit.
bool threadtalk_shim_control_unseen(void *analysis, LLVMBasicBlockRef header);
// Whether an instruction was made for counters.
bool threadtalk_shim_is_control(LLVMValueRef instruction);

// debug_info.cpp
LLVMMetadataRef threadtalk_shim_subprogram_of(LLVMMetadataRef scope);
struct ThreadtalkLocation {
  LLVMMetadataRef raw;        // DILocation
  LLVMMetadataRef scope;      // innermost
  LLVMMetadataRef subprogram; // of the scope
  LLVMMetadataRef inlined_at; // DILocation or null
  uint32_t line;
};
// The debug location of an instruction; false if it has none.
bool threadtalk_shim_location(LLVMValueRef instruction, ThreadtalkLocation *out);
const char *threadtalk_shim_subprogram_name(LLVMMetadataRef subprogram, bool linkage, size_t *length);
const char *threadtalk_shim_main_file(LLVMModuleRef module, size_t *length);

// objects.cpp
struct ThreadtalkObject {
  uint32_t kind; // threadtalk_abi::module::ObjectKind
  uint32_t line; // of the declaration; 0 = unknown
  LLVMMetadataRef file; // DIFile or null
  // Of what receives a value: by how many inlined calls the frame that it is in called the one that made the value.
  uint32_t frames;
  // Bytes of what a pointer is declared to point to, if that is less than a word; 0 = anything else, or unknown.
  uint32_t element;
};
typedef void (*ThreadtalkNameVisitor)(void *data, const char *name, size_t length);
// The variable that a pointer leads to or that leads there; false if there is no name for it.
bool threadtalk_shim_object(LLVMValueRef pointer, ThreadtalkObject *out, void *data, ThreadtalkNameVisitor on_name);
// The variable that receives a call's result; `behind`: what the call stores in the local variable that argument 0 points to.
bool threadtalk_shim_receiver(LLVMValueRef value, bool behind, ThreadtalkObject *out, void *data,
                              ThreadtalkNameVisitor on_name);
// Bytes from one iteration of the innermost loop around the block to the next, and the same for the loop around that:
// INT32_MIN = no loop or no such number, INT32_MAX = known only when the program runs.
void threadtalk_shim_strides(void *analysis, LLVMValueRef pointer, LLVMBasicBlockRef block, int64_t *inner,
                             int64_t *outer);
const char *threadtalk_shim_file_part(LLVMMetadataRef file, bool directory, size_t *length);

// ignorelist.cpp
void *threadtalk_shim_ignorelist_open(const char *path, size_t length, char *error, size_t error_size);
bool threadtalk_shim_ignorelist_contains(void *list, const char *prefix, const char *text, size_t length);
void threadtalk_shim_ignorelist_close(void *list);
}
