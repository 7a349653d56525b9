// Control flow graphs: their edges and how often they are expected to run, and places for counters on them.
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include <optional>

#include "analysis.h"
#include "shim.h"

using namespace llvm;

namespace {

const char *const mark = "threadtalk.control";

// The mark's number is looked up by its name, in a table of strings: most instructions have no metadata at all.
bool is_marked(const Instruction &instruction) {
  return instruction.hasMetadataOtherThanDebugLoc() && instruction.getMetadata(mark);
}

// What comes before `at` becomes a block of its own. The branch between the two is no instruction of the program.
void split_before(Instruction *at) {
  BasicBlock *head = at->getParent();
  head->splitBasicBlock(at->getIterator());
  Instruction *branch = head->getTerminator();
  branch->setMetadata(mark, MDNode::get(branch->getContext(), {}));
}

// Whether the function leaves right after this instruction, so that it does not matter whether it returns.
bool leaves_after(const Instruction &call) {
  const Instruction *next = call.getNextNonDebugInstruction();
  return isa<ReturnInst>(next) || isa<UnreachableInst>(next) || isa<ResumeInst>(next);
}

bool is_real_call(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  return call && !isa<IntrinsicInst>(call) && !call->isInlineAsm() && !call->isMustTailCall();
}

bool may_leave(const Instruction &instruction, bool jumps) {
  auto *call = dyn_cast<CallInst>(&instruction);
  if (!call || call->isMustTailCall() || leaves_after(instruction))
    return false;
  if (!call->doesNotThrow() && !call->getFunction()->doesNotThrow())
    return true;
  return jumps && is_real_call(instruction);
}

bool returns_twice(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  return call && call->hasFnAttr(Attribute::ReturnsTwice);
}

// The call that ends a block after `prepare`, if there is one.
const Instruction *last_call(const BasicBlock &block) {
  const Instruction *branch = block.getTerminator();
  return branch && is_marked(*branch) ? branch->getPrevNonDebugInstruction() : nullptr;
}

// A counter on an edge that must be split costs a jump beside the three instructions of a counter.
constexpr double split_costs = 1.5;
// What a vectorised loop leaves over runs less than one of its iterations; LLVM does not know that.
constexpr double remainder_costs = 0.1;

bool has_vectors(const Loop &loop) {
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block) {
      auto *store = dyn_cast<StoreInst>(&instruction);
      if (instruction.getType()->isVectorTy() || (store && store->getValueOperand()->getType()->isVectorTy()))
        return true;
    }
  return false;
}

// Blocks of loops that run what is left of a vectorised one, and blocks before them that lead to no vectorised one.
SmallPtrSet<const BasicBlock *, 16> remainders(Function &function, const DominatorTree &tree, LoopInfo &loops) {
  SmallVector<const Loop *, 8> vectors, rest;
  for (const Loop *loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && findOptionMDForLoop(loop, "llvm.loop.isvectorized"))
      (has_vectors(*loop) ? vectors : rest).push_back(loop);
  SmallPtrSet<const BasicBlock *, 16> found;
  if (vectors.empty())
    return found;
  for (const Loop *remainder : rest) {
    found.insert(remainder->block_begin(), remainder->block_end());
    const DomTreeNode *node = tree.getNode(remainder->getHeader())->getIDom();
    for (; node && loops.getLoopFor(node->getBlock()) == remainder->getParentLoop(); node = node->getIDom()) {
      auto before = [&](const Loop *loop) { return tree.dominates(node->getBlock(), loop->getHeader()); };
      if (any_of(vectors, before))
        break;
      found.insert(node->getBlock());
    }
  }
  return found;
}

// A single place on the edge, or null if it must be split for that.
Instruction *free_place(BasicBlock *from, BasicBlock *to) {
  if (from->getUniqueSuccessor() && !isa<IndirectBrInst>(from->getTerminator()))
    return from->getTerminator();
  if (to->getUniquePredecessor())
    return &*to->getFirstInsertionPt();
  return nullptr;
}

bool can_split(BasicBlock *from, BasicBlock *to) {
  Instruction *last = from->getTerminator();
  return !to->isEHPad() && !isa<IndirectBrInst, CatchSwitchInst, CleanupReturnInst, CatchReturnInst>(last);
}

// How often the edge back from the only latch to the header of a loop is taken, if that can be computed before the loop
// and the thread neither synchronises in the loop nor leaves it otherwise.
const SCEV *known_trips(Analysis &a, BasicBlock *from, BasicBlock *to) {
  Loop *loop = a.loops.getLoopFor(to);
  if (!loop || loop->getHeader() != to || loop->getLoopLatch() != from || !loop->getLoopPreheader())
    return nullptr;
  for (BasicBlock *block : loop->blocks())
    for (Instruction &instruction : *block)
      if (!keeps_to_itself(instruction))
        return nullptr;
  const SCEV *taken = a.evolution.getBackedgeTakenCount(loop);
  if (isa<SCEVCouldNotCompute>(taken) || a.evolution.getTypeSizeInBits(taken->getType()) > 64)
    return nullptr;
  const SCEV *trips = a.evolution.getNoopOrZeroExtend(taken, Type::getInt64Ty(to->getContext()));
  SCEVExpander expander(a.evolution, a.function.getParent()->getDataLayout(), mark);
  return expander.isSafeToExpandAt(trips, loop->getLoopPreheader()->getTerminator()) ? trips : nullptr;
}

// How often blocks and edges are expected to run in a call of a function, and which edges go back in loops.
//
// LLVM's estimate takes two trees of dominators and several walks. In long functions without loops each branch is taken
// for even: there the counters are only to be somewhere.
class Expectations {
  std::optional<BranchProbabilityInfo> probabilities;
  std::optional<BlockFrequencyInfo> frequencies;
  DenseMap<const BasicBlock *, double> even;
  DenseSet<std::pair<const BasicBlock *, const BasicBlock *>> back;
  double entry = 1;

public:
  explicit Expectations(Analysis &a) {
    Function &f = a.function;
    if (a.is_long_and_straight) {
      even.reserve(f.size());
      even[&f.getEntryBlock()] = 1;
      // Each block comes behind those that branch to it.
      for (const BasicBlock &block : f) {
        unsigned count = block.getTerminator()->getNumSuccessors();
        double each = count ? even.lookup(&block) / count : 0;
        for (const BasicBlock *next : successors(&block))
          even[next] += each;
      }
      return;
    }
    probabilities.emplace(f, a.loops, nullptr, &a.tree);
    frequencies.emplace(f, *probabilities, a.loops);
    SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 8> found;
    FindFunctionBackedges(f, found);
    back.insert(found.begin(), found.end());
    entry = std::max<double>(1, frequencies->getBlockFreq(&f.getEntryBlock()).getFrequency());
  }

  double frequency(const BasicBlock *block) const {
    return frequencies ? frequencies->getBlockFreq(block).getFrequency() / entry : even.lookup(block);
  }

  // Of the times that a block runs, the share that goes to its successor number `successor`.
  double share(const BasicBlock *block, unsigned successor) const {
    if (!probabilities)
      return 1.0 / block->getTerminator()->getNumSuccessors();
    return double(probabilities->getEdgeProbability(block, successor).getNumerator()) /
           BranchProbability::getDenominator();
  }

  bool goes_back(const BasicBlock *from, const BasicBlock *to) const {
    return !back.empty() && back.contains({from, to});
  }
};

} // namespace

void threadtalk_shim_control_prepare(LLVMValueRef function) {
  Function &f = *unwrap<Function>(function);
  // A jump back into this function leaves from some call in it.
  bool jumps = f.callsFunctionThatReturnsTwice();
  SmallVector<Instruction *, 16> before;
  for (BasicBlock &block : f) {
    // Opcodes of a block are counted in 16 bits.
    size_t length = 0;
    for (Instruction &instruction : block) {
      bool is_start = isa<PHINode>(instruction) || instruction.isEHPad();
      if (++length % 30000 == 0 && !is_start && !instruction.isTerminator())
        before.push_back(&instruction);
      if (instruction.isTerminator() || is_start)
        continue;
      if (jumps && is_real_call(instruction) && &*block.getFirstInsertionPt() != &instruction)
        before.push_back(&instruction);
      Instruction *next = instruction.getNextNode();
      if (may_leave(instruction, jumps) || returns_twice(instruction))
        before.push_back(next);
    }
    // An unwind edge to the pad of a block that unwinds again.
    if (block.isEHPad() && isa<InvokeInst>(block.getTerminator()))
      before.push_back(block.getTerminator());
  }
  SmallPtrSet<Instruction *, 16> done;
  // Last one first: each split then moves only what is up to the next one.
  for (Instruction *at : reverse(before))
    if (done.insert(at).second && &at->getParent()->front() != at)
      split_before(at);
}

void threadtalk_shim_control_graph(void *analysis, void *data, ThreadtalkBlockFrequencyVisitor on_block,
                                   ThreadtalkEdgeVisitor on_edge) {
  auto &a = *static_cast<Analysis *>(analysis);
  Function &f = a.function;
  LoopInfo &loops = a.loops;
  Expectations expected(a);
  auto frequency = [&](const BasicBlock *block) { return expected.frequency(block); };
  bool jumps = f.callsFunctionThatReturnsTwice();

  for (BasicBlock &block : f)
    on_block(data, wrap(&block), frequency(&block));
  auto report = [&](BasicBlock *from, BasicBlock *to, double weight, ThreadtalkEdgeKind kind, bool countable) {
    ThreadtalkEdge edge{};
    edge.from = wrap(from), edge.to = wrap(to);
    edge.weight = weight, edge.kind = kind, edge.countable = countable;
    edge.back = from && to && expected.goes_back(from, to);
    on_edge(data, &edge);
  };
  SmallPtrSet<const BasicBlock *, 16> rest = remainders(f, a.tree, loops);
  report(nullptr, &f.getEntryBlock(), 1, THREADTALK_BRANCH, true);
  for (BasicBlock &block : f) {
    if (const Instruction *call = last_call(block)) {
      if (may_leave(*call, jumps) && !returns_twice(*call))
        report(&block, nullptr, 0, THREADTALK_ABNORMAL, false);
      if (returns_twice(*call))
        report(nullptr, block.getUniqueSuccessor(), 0, THREADTALK_ABNORMAL, false);
    }
    Instruction *last = block.getTerminator();
    // Several cases of a switch may lead to one block.
    SmallMapVector<BasicBlock *, double, 8> targets;
    for (unsigned i = 0; i < last->getNumSuccessors(); i++)
      targets[last->getSuccessor(i)] += expected.share(&block, i);
    bool indirect = isa<IndirectBrInst>(last);
    if (targets.empty())
      report(&block, nullptr, frequency(&block), THREADTALK_BRANCH, true);
    for (auto [to, share] : targets) {
      double weight = frequency(&block) * share;
      bool only_indirect =
          all_of(predecessors(to), [](BasicBlock *b) { return isa<IndirectBrInst>(b->getTerminator()); });
      bool countable = indirect ? only_indirect : free_place(&block, to) || can_split(&block, to);
      if (expected.goes_back(&block, to) && known_trips(a, &block, to))
        weight = frequency(loops.getLoopFor(to)->getLoopPreheader()); // counted at once, there
      else if (!indirect && !free_place(&block, to))
        weight *= split_costs;
      if (rest.contains(&block) || rest.contains(to))
        weight *= remainder_costs;
      report(&block, to, weight, indirect ? THREADTALK_INDIRECT : THREADTALK_BRANCH, countable);
    }
  }
}

LLVMValueRef threadtalk_shim_control_place(LLVMBasicBlockRef from_block, LLVMBasicBlockRef to_block, bool back) {
  BasicBlock *from = unwrap(from_block), *to = unwrap(to_block);
  // All that enters leaves: the start of the block does, whatever its end may be.
  if (!to)
    return wrap(&*from->getFirstInsertionPt());
  if (!from)
    return wrap(&*to->getFirstInsertionPt());
  // A call that may not come back: behind it. One that comes back twice: before it.
  const Instruction *call = last_call(*from);
  if (from->getUniqueSuccessor() && (!call || returns_twice(*call)))
    return wrap(&*from->getFirstInsertionPt());
  if (Instruction *free = free_place(from, to))
    return wrap(free);
  if (!can_split(from, to))
    return nullptr;
  Instruction *last = from->getTerminator();
  MDNode *loop = last->getMetadata(LLVMContext::MD_loop);
  CriticalEdgeSplittingOptions options;
  options.setMergeIdenticalEdges();
  BasicBlock *middle = SplitKnownCriticalEdge(last, GetSuccessorNumber(from, to), options);
  if (!middle)
    return nullptr;
  Instruction *branch = middle->getTerminator();
  branch->setMetadata(mark, MDNode::get(branch->getContext(), {}));
  // The new block is the latch now: what is known of the loop belongs to its branch.
  if (loop && back) {
    branch->setMetadata(LLVMContext::MD_loop, loop);
    last->setMetadata(LLVMContext::MD_loop, nullptr);
  }
  return wrap(branch);
}

bool threadtalk_shim_control_trips(void *analysis, LLVMBasicBlockRef from_block, LLVMBasicBlockRef to_block,
                                   ThreadtalkTrips *out) {
  auto &a = *static_cast<Analysis *>(analysis);
  const SCEV *trips = known_trips(a, unwrap(from_block), unwrap(to_block));
  if (!trips)
    return false;
  Instruction *at = a.loops.getLoopFor(unwrap(to_block))->getLoopPreheader()->getTerminator();
  SCEVExpander expander(a.evolution, a.function.getParent()->getDataLayout(), mark);
  out->count = wrap(expander.expandCodeFor(trips, trips->getType(), at));
  out->before = wrap(at);
  return true;
}

bool threadtalk_shim_control_unseen(void *analysis, LLVMBasicBlockRef header) {
  auto &a = *static_cast<Analysis *>(analysis);
  Loop *loop = a.loops.getLoopFor(unwrap(header));
  if (!loop || loop->getHeader() != unwrap(header) || !loop->isInnermost() || !loop->getLoopPreheader())
    return false;
  // A volatile access may wait for somebody, for as long as the program runs.
  for (BasicBlock *block : loop->blocks())
    for (Instruction &instruction : *block)
      if (!keeps_to_itself(instruction) || instruction.isVolatile())
        return false;
  return true;
}

bool threadtalk_shim_is_control(LLVMValueRef instruction) {
  return is_marked(*unwrap<Instruction>(instruction));
}
