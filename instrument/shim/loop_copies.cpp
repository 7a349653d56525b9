// Loops whose accesses are all known before they run: describes them and makes a second copy (for __threadtalk_loop).
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include "analysis.h"
#include "shim.h"

using namespace llvm;

// Every block runs as often as the latch or may be skipped without harm: accesses must dominate the latch, anything
// else must not touch memory that others see, and control must come back.
bool keeps_to_itself(const Instruction &instruction) {
  if (isa<DbgInfoIntrinsic>(instruction) || isa<AssumeInst>(instruction) || threadtalk_shim_is_control(wrap(&instruction)))
    return true;
  if (instruction.isAtomic() || instruction.mayThrow())
    return false;
  if (isa<LoadInst>(instruction) || isa<StoreInst>(instruction))
    return true;
  if (auto *call = dyn_cast<CallBase>(&instruction))
    if (Function *callee = call->getCalledFunction(); callee && threadtalk_only_computes(wrap(callee)))
      return true;
  return !instruction.mayReadOrWriteMemory() && instruction.willReturn();
}

namespace {

struct Description {
  const SCEV *start; // null: a stray
  const SCEV *stride;
};

bool describe(Analysis &a, Loop &loop, Instruction *access, Description &out) {
  BasicBlock *latch = loop.getLoopLatch();
  if (!a.tree.dominates(access->getParent(), latch))
    return false;
  Value *pointer = getLoadStorePointerOperand(access);
  if (!pointer)
    return false;
  const SCEV *address = a.evolution.getSCEV(pointer);
  Type *word = Type::getInt64Ty(access->getContext());
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

// Whether two accesses of a loop touch different memory, whichever iterations they are in.
bool never_meet(Analysis &a, LLVMValueRef one, LLVMValueRef other) {
  BatchAAResults aliases(a.aliases);
  aliases.enableCrossIterationMode();
  auto anywhere = [](LLVMValueRef access) {
    MemoryLocation at = MemoryLocation::get(unwrap<Instruction>(access));
    // What `restrict` promises may hold for one iteration only.
    at.AATags.Scope = at.AATags.NoAlias = nullptr;
    return at.getWithNewSize(LocationSize::beforeOrAfterPointer());
  };
  return aliases.alias(anywhere(one), anywhere(other)) == AliasResult::NoAlias;
}

// The first access before number i that moves in step with it at a fixed distance, or itself.
void find_leader(Analysis &a, ArrayRef<Description> all, size_t i, ThreadtalkAffine *affine) {
  affine[i] = {nullptr, nullptr, i, 0, nullptr};
  for (size_t j = 0; j < i; j++) {
    if (!all[j].start || affine[j].leader != j || all[j].stride != all[i].stride || all[j].start->getType() != all[i].start->getType())
      continue;
    if (auto *apart = dyn_cast<SCEVConstant>(a.evolution.getMinusSCEV(all[i].start, all[j].start))) {
      affine[i].leader = j;
      affine[i].offset = apart->getAPInt().getSExtValue();
      return;
    }
  }
}

// Values that leave the loop get a second origin: the copy.
void join_exits(Loop &loop, BasicBlock *exit, ValueToValueMapTy &map) {
  for (PHINode &phi : exit->phis()) {
    for (unsigned i = 0, n = phi.getNumIncomingValues(); i < n; i++) {
      BasicBlock *from = phi.getIncomingBlock(i);
      if (!loop.contains(from))
        continue;
      Value *value = phi.getIncomingValue(i);
      if (Value *copied = map.lookup(value))
        value = copied;
      phi.addIncoming(value, cast<BasicBlock>(map[from]));
    }
  }
}

} // namespace

bool threadtalk_shim_copy_loop(void *analysis, LLVMBasicBlockRef header, const LLVMValueRef *accesses, size_t count,
                               bool strays, ThreadtalkAffine *affine, ThreadtalkLoopCopy *out) {
  auto &a = *static_cast<Analysis *>(analysis);
  Loop *loop = a.loops.getLoopFor(unwrap(header));
  if (!loop || loop->getHeader() != unwrap(header) || !loop->isInnermost() || !loop->getLoopPreheader() ||
      !loop->isSafeToClone())
    return false;
  BasicBlock *latch = loop->getLoopLatch(), *exit = loop->getUniqueExitBlock();
  if (!latch || !exit || loop->getExitingBlock() != latch || exit->isEHPad())
    return false;
  for (BasicBlock *block : loop->blocks())
    for (Instruction &instruction : *block)
      if (!keeps_to_itself(instruction))
        return false;

  const SCEV *taken = a.evolution.getBackedgeTakenCount(loop);
  if (isa<SCEVCouldNotCompute>(taken) || a.evolution.getTypeSizeInBits(taken->getType()) > 64)
    return false;
  SmallVector<Description, 16> descriptions(count);
  SmallVector<size_t, 16> others;
  for (size_t i = 0; i < count; i++) {
    if (describe(a, *loop, unwrap<Instruction>(accesses[i]), descriptions[i]))
      continue;
    if (!strays || !getLoadStorePointerOperand(unwrap(accesses[i])))
      return false;
    descriptions[i] = {nullptr, nullptr};
    others.push_back(i);
  }
  // What may meet a stray stays in its place beside it, and is one more that others may meet.
  for (size_t met = 0; met < others.size(); met++)
    for (size_t i = 0; i < count; i++)
      if (descriptions[i].start && !never_meet(a, accesses[others[met]], accesses[i])) {
        descriptions[i] = {nullptr, nullptr};
        others.push_back(i);
      }
  if (others.size() == count)
    return false;
  for (size_t i = 0; i < count; i++) {
    affine[i] = {nullptr, nullptr, i, 0, nullptr};
    if (descriptions[i].start)
      find_leader(a, descriptions, i, affine);
  }
  auto leads = [&](size_t i) { return descriptions[i].start && affine[i].leader == i; };

  Type *word = Type::getInt64Ty(a.function.getContext());
  const SCEV *iterations =
      a.evolution.getAddExpr(a.evolution.getNoopOrZeroExtend(taken, word), a.evolution.getOne(word));
  BasicBlock *decision = loop->getLoopPreheader();
  Instruction *at = decision->getTerminator();
  const DataLayout &layout = a.function.getParent()->getDataLayout();
  SCEVExpander expander(a.evolution, layout, "threadtalk");
  bool can = expander.isSafeToExpandAt(iterations, at);
  for (size_t i = 0; i < count; i++)
    can = can && (!leads(i) || (expander.isSafeToExpandAt(descriptions[i].start, at) &&
                                            expander.isSafeToExpandAt(descriptions[i].stride, at)));
  if (!can)
    return false;
  // From here on the function changes. The pipeline's last simplification lets the branch that skips a loop and the
  // loop end in one block; a loop that is copied needs an exit of its own.
  formDedicatedExitBlocks(loop, &a.tree, &a.loops, nullptr, /*PreserveLCSSA=*/false);
  exit = loop->getUniqueExitBlock();
  formLCSSA(*loop, a.tree, &a.loops, &a.evolution);
  out->iterations = wrap(expander.expandCodeFor(iterations, word, at));
  for (size_t i = 0; i < count; i++) {
    if (!leads(i))
      continue;
    const SCEV *start = descriptions[i].start, *stride = descriptions[i].stride;
    affine[i].address = wrap(expander.expandCodeFor(start, start->getType(), at));
    affine[i].stride = wrap(expander.expandCodeFor(a.evolution.getTruncateOrSignExtend(stride, word), word, at));
  }
  expander.clear();

  BasicBlock *preheader = SplitBlock(decision, decision->getTerminator(), &a.tree, &a.loops, nullptr,
                                     loop->getHeader()->getName() + ".hooked");
  ValueToValueMapTy map;
  SmallVector<BasicBlock *, 8> blocks;
  Loop *copy =
      cloneLoopWithPreheader(preheader, decision, loop, map, ".plain", &a.loops, &a.tree, blocks);
  remapInstructionsInBlocks(blocks, map);
  join_exits(*loop, exit, map);
  for (size_t stray : others) {
    Value *copied = map.lookup(unwrap(accesses[stray]));
    affine[stray].stray = wrap(copied);
    affine[stray].address = wrap(getLoadStorePointerOperand(copied));
  }
  Instruction *old = decision->getTerminator();
  IRBuilder<> builder(old);
  auto *branch = builder.CreateCondBr(builder.getFalse(), copy->getLoopPreheader(), preheader);
  branch->setDebugLoc(old->getDebugLoc());
  old->eraseFromParent();
  a.tree.changeImmediateDominator(exit, decision);
  // Loops must leave to blocks of their own.
  formDedicatedExitBlocks(copy, &a.tree, &a.loops, nullptr, /*PreserveLCSSA=*/true);
  formDedicatedExitBlocks(loop, &a.tree, &a.loops, nullptr, /*PreserveLCSSA=*/true);
  a.evolution.forgetTopmostLoop(loop);
  out->branch = wrap(branch);
  return true;
}
