// Loops, block splitting and SSA construction.
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

#include "analysis.h"
#include "shim.h"

using namespace llvm;

bool may_loop(const Function &function) {
  // Where each block stands, from 1; 0: elsewhere than here, right behind the only one that branches to it.
  DenseMap<const BasicBlock *, size_t> places;
  places.reserve(function.size());
  for (const BasicBlock &block : function) {
    size_t &place = places[&block] = places.size() + 1;
    for (const BasicBlock *next : successors(&block)) {
      auto found = places.find(next);
      if (found == places.end())
        continue;
      // A cold block at the end, as the one that attaches a thread.
      const BasicBlock *only = block.getSinglePredecessor();
      size_t before = only ? places.lookup(only) : 0;
      if (next == &block || before == 0 || found->second <= before)
        return true;
      place = 0;
    }
  }
  return false;
}

void threadtalk_shim_loops(LLVMValueRef function, void *data, ThreadtalkLoopVisitor on_loop,
                           ThreadtalkBlockVisitor on_block) {
  Function &f = *unwrap<Function>(function);
  if (!may_loop(f))
    return;
  DominatorTree tree(f);
  LoopInfo loops(tree);
  if (loops.empty())
    return;
  auto preorder = loops.getLoopsInPreorder();
  DenseMap<const Loop *, uint32_t> number;
  for (Loop *loop : preorder) {
    BasicBlock *preheader = loop->getLoopPreheader();
    if (!preheader)
      preheader = InsertPreheaderForLoop(loop, &tree, &loops, nullptr, /*PreserveLCSSA=*/false);
    ThreadtalkLoop out{};
    out.header = wrap(loop->getHeader());
    out.preheader = wrap(preheader);
    out.parent = loop->getParentLoop() ? number.lookup(loop->getParentLoop()) : 0;
    out.derived = findOptionMDForLoop(loop, "llvm.loop.isvectorized") ||
                  findOptionMDForLoop(loop, "llvm.loop.unroll.disable");
    Loop::LocRange range = loop->getLocRange();
    out.start = wrap(range.getStart().get());
    out.end = wrap(range.getEnd().get());
    number[loop] = number.size() + 1;
    on_loop(data, &out);
  }
  for (BasicBlock &block : f)
    if (Loop *loop = loops.getLoopFor(&block))
      on_block(data, wrap(&block), number.lookup(loop));
}

void threadtalk_shim_close_loops(LLVMValueRef function) {
  Function &f = *unwrap<Function>(function);
  if (!may_loop(f))
    return;
  DominatorTree tree(f);
  LoopInfo loops(tree);
  for (Loop *loop : loops)
    formLCSSARecursively(*loop, tree, &loops, nullptr);
}

void *threadtalk_shim_dominators_open(LLVMValueRef function) { return new DominatorTree(*unwrap<Function>(function)); }

bool threadtalk_shim_dominates(void *dominators, LLVMValueRef first, LLVMValueRef second) {
  return static_cast<DominatorTree *>(dominators)->dominates(unwrap(first), unwrap<Instruction>(second));
}

LLVMBasicBlockRef threadtalk_shim_common_dominator(void *dominators, const LLVMBasicBlockRef *blocks, size_t count) {
  auto *tree = static_cast<DominatorTree *>(dominators);
  BasicBlock *common = unwrap(blocks[0]);
  for (size_t i = 1; i < count && common; i++)
    common = tree->findNearestCommonDominator(common, unwrap(blocks[i]));
  return wrap(common);
}

void threadtalk_shim_dominators_close(void *dominators) { delete static_cast<DominatorTree *>(dominators); }

void threadtalk_shim_exits(LLVMValueRef function, const LLVMBasicBlockRef *headers, size_t count, void *data,
                           ThreadtalkExitVisitor on_exit) {
  DominatorTree tree(*unwrap<Function>(function));
  LoopInfo loops(tree);
  for (size_t i = 0; i < count; i++) {
    Loop *loop = loops.getLoopFor(unwrap(headers[i]));
    bool found = loop && loop->getHeader() == unwrap(headers[i]);
    SmallVector<BasicBlock *, 4> exits;
    if (found) {
      formDedicatedExitBlocks(loop, &tree, &loops, nullptr, /*PreserveLCSSA=*/false);
      loop->getUniqueExitBlocks(exits);
      found = loop->hasDedicatedExits() && none_of(exits, [](BasicBlock *exit) { return exit->isEHPad(); });
    }
    if (!found) {
      on_exit(data, i, nullptr);
      continue;
    }
    for (BasicBlock *exit : exits)
      on_exit(data, i, wrap(&*exit->getFirstInsertionPt()));
  }
}

LLVMBasicBlockRef threadtalk_shim_split_before(LLVMValueRef instruction) {
  auto *at = unwrap<Instruction>(instruction);
  return wrap(at->getParent()->splitBasicBlock(at->getIterator()));
}

// Where code may go that dominates everything but static allocas. Moves the static allocas of the entry block together,
// so that they stay static when the block is split there.
LLVMValueRef threadtalk_shim_entry_point(LLVMValueRef function) {
  BasicBlock &entry = unwrap<Function>(function)->getEntryBlock();
  auto at = entry.getFirstNonPHIOrDbgOrAlloca();
  Instruction *point = &*at;
  for (Instruction &instruction : make_early_inc_range(make_range(at, entry.end()))) {
    auto *alloca = dyn_cast<AllocaInst>(&instruction);
    if (alloca && isa<ConstantInt>(alloca->getArraySize()) && alloca != point)
      alloca->moveBefore(point);
  }
  return wrap(point);
}

// The first place at which a call has returned normally; null if there is none.
LLVMValueRef threadtalk_shim_after_call(LLVMValueRef call) {
  auto *instruction = unwrap<Instruction>(call);
  if (auto *invoke = dyn_cast<InvokeInst>(instruction)) {
    BasicBlock *next = invoke->getNormalDest();
    if (!next->getSinglePredecessor())
      next = SplitEdge(invoke->getParent(), next);
    return wrap(&*next->getFirstInsertionPt());
  }
  if (instruction->isTerminator())
    return nullptr;
  return wrap(instruction->getNextNode());
}

// Where code may go that runs when the function leaves through this block, or null if it does not leave here.
LLVMValueRef threadtalk_shim_before_exit(LLVMBasicBlockRef block) {
  Instruction *last = unwrap(block)->getTerminator();
  if (auto *call = unwrap(block)->getTerminatingMustTailCall())
    return wrap(call);
  if (isa<ReturnInst>(last) || isa<ResumeInst>(last))
    return wrap(last);
  return nullptr;
}

void threadtalk_shim_promote(LLVMValueRef function, const LLVMValueRef *slots, size_t count) {
  DominatorTree tree(*unwrap<Function>(function));
  SmallVector<AllocaInst *, 8> allocas;
  for (size_t i = 0; i < count; i++)
    allocas.push_back(unwrap<AllocaInst>(slots[i]));
  PromoteMemToReg(allocas, tree);
}

void threadtalk_shim_add_constructor(LLVMModuleRef module, LLVMValueRef function, int priority) {
  appendToGlobalCtors(*unwrap(module), unwrap<Function>(function), priority);
}
