// What a loop accesses, and how that moves from one iteration to the next.
#pragma once
#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include "analysis.h"
#include "shim.h"

// What an instruction reads, or what it writes.
class Access {
public:
  Access(const ThreadtalkLoopAccess &raw)
      : at(llvm::unwrap<llvm::Instruction>(raw.at)), writes(raw.writes), slack(raw.slack) {}
  Access(llvm::Instruction &at, bool writes) : at(&at), writes(writes), slack(0) {}

  bool operator==(const Access &other) const { return at == other.at && writes == other.writes; }
  llvm::Instruction *instruction() const { return at; }
  bool reads() const { return !writes; }
  Access in(llvm::Instruction &copy) const { return Access(copy, writes); }
  // Bytes beside it that may be in a granule with its own: none if it is whole granules.
  int64_t beside() const { return slack; }
  llvm::Value *pointer() const { return const_cast<llvm::Value *>(location().Ptr); }
  uint64_t bytes() const { return location().Size.getValue(); }
  llvm::MemoryLocation location() const;

private:
  llvm::Instruction *at;
  bool writes;
  uint8_t slack;
};

struct Description {
  const llvm::SCEV *start; // null: a stray
  const llvm::SCEV *stride;
};

// Describes an access that moves by a fixed stride. `always`: a block of the loop that each iteration comes to, or the
// last one.
bool describe(Analysis &a, llvm::Loop &loop, const llvm::BasicBlock *always, const Access &access, Description &out);

// Where an access is: a fixed number of bytes behind the first one that moves in step with it, which may be itself.
struct Lead {
  size_t leader;
  int64_t offset;
};

// That of the access behind those that have one.
Lead find_leader(Analysis &a, llvm::ArrayRef<Description> all, llvm::ArrayRef<Lead> before);

// Whether where the accesses are can be computed there.
bool can_be_computed(const llvm::SCEVExpander &expander, llvm::ArrayRef<Description> all, llvm::ArrayRef<Lead> leads,
                     const llvm::Instruction *at);
// Computes it there, once for those that move in step.
void compute(Analysis &a, llvm::SCEVExpander &expander, llvm::ArrayRef<Description> all, llvm::ArrayRef<Lead> leads,
             llvm::Instruction *at, ThreadtalkAffine *out);

// Whether a loop has one entry and one way back, and may be copied: nothing in it calls, synchronises or throws.
bool may_be_copied(llvm::Loop &loop);
