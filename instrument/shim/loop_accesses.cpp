#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Module.h"

#include "loop_accesses.h"

using namespace llvm;

// Every block runs as often as the one with the way out or may be skipped without harm: accesses must dominate that,
// anything else must not touch memory that others see, and control must come back.
bool keeps_to_itself(const Instruction &instruction) {
  if (isa<DbgInfoIntrinsic>(instruction) || isa<AssumeInst>(instruction) || threadtalk_shim_is_control(wrap(&instruction)))
    return true;
  if (instruction.isAtomic() || instruction.mayThrow())
    return false;
  if (isa<LoadInst>(instruction) || isa<StoreInst>(instruction))
    return true;
  if (auto *copy = dyn_cast<MemIntrinsic>(&instruction))
    return isa<ConstantInt>(copy->getLength());
  if (auto *call = dyn_cast<CallBase>(&instruction))
    if (Function *callee = call->getCalledFunction(); callee && threadtalk_only_computes(wrap(callee)))
      return true;
  return !instruction.mayReadOrWriteMemory() && instruction.willReturn();
}

MemoryLocation Access::location() const {
  if (auto *copy = dyn_cast<MemTransferInst>(at))
    return writes ? MemoryLocation::getForDest(copy) : MemoryLocation::getForSource(copy);
  if (auto *fill = dyn_cast<MemSetInst>(at))
    return MemoryLocation::getForDest(fill);
  return MemoryLocation::get(at);
}

bool describe(Analysis &a, Loop &loop, const BasicBlock *always, const Access &access, Description &out) {
  if (!a.tree.dominates(access.instruction()->getParent(), always))
    return false;
  const SCEV *address = a.evolution.getSCEV(access.pointer());
  Type *word = Type::getInt64Ty(a.function.getContext());
  if (a.evolution.isLoopInvariant(address, &loop)) {
    out = {address, a.evolution.getZero(word)};
    return true;
  }
  auto *recurrence = dyn_cast<SCEVAddRecExpr>(address);
  if (!recurrence || recurrence->getLoop() != &loop || !recurrence->isAffine())
    return false;
  out = {recurrence->getStart(), recurrence->getStepRecurrence(a.evolution)};
  return a.evolution.isLoopInvariant(out.stride, &loop);
}

Lead find_leader(Analysis &a, ArrayRef<Description> all, ArrayRef<Lead> before) {
  const Description &own = all[before.size()];
  for (auto [number, lead] : enumerate(before)) {
    const Description &other = all[number];
    if (!own.start || !other.start || lead.leader != number || other.stride != own.stride ||
        other.start->getType() != own.start->getType())
      continue;
    if (auto *apart = dyn_cast<SCEVConstant>(a.evolution.getMinusSCEV(own.start, other.start)))
      return {number, apart->getAPInt().getSExtValue()};
  }
  return {before.size(), 0};
}

// Strays are nowhere, and lead nobody.
static bool is_leader(ArrayRef<Description> all, ArrayRef<Lead> leads, size_t number) {
  return all[number].start && leads[number].leader == number;
}

bool can_be_computed(const SCEVExpander &expander, ArrayRef<Description> all, ArrayRef<Lead> leads,
                     const Instruction *at) {
  for (auto [i, access] : enumerate(all))
    if (is_leader(all, leads, i) &&
        !(expander.isSafeToExpandAt(access.start, at) && expander.isSafeToExpandAt(access.stride, at)))
      return false;
  return true;
}

void compute(Analysis &a, SCEVExpander &expander, ArrayRef<Description> all, ArrayRef<Lead> leads, Instruction *at,
             ThreadtalkAffine *out) {
  Type *word = Type::getInt64Ty(a.function.getContext());
  for (auto [i, access] : enumerate(all)) {
    out[i] = {nullptr, nullptr, leads[i].leader, leads[i].offset, nullptr, nullptr, nullptr};
    if (!is_leader(all, leads, i))
      continue;
    const SCEV *stride = a.evolution.getTruncateOrSignExtend(access.stride, word);
    out[i].address = wrap(expander.expandCodeFor(access.start, access.start->getType(), at));
    out[i].stride = wrap(expander.expandCodeFor(stride, word, at));
  }
}

bool may_be_copied(Loop &loop) {
  if (!loop.isInnermost() || !loop.getLoopPreheader() || !loop.getLoopLatch() || !loop.isSafeToClone())
    return false;
  return all_of(loop.blocks(), [](const BasicBlock *block) { return all_of(*block, keeps_to_itself); });
}
