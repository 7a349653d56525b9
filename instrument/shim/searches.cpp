// Loops that end by what they find, whose accesses are affine: a second copy takes over after some iterations, and says
// where it leaves how far it got (for __threadtalk_searched).
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include "loop_accesses.h"

using namespace llvm;

namespace {

// A block of the loop, and one behind it.
struct Exit {
  BasicBlock *from, *to;
  size_t executed; // accesses of the last iteration
};

// The ways out of a loop, each once. False: there is none, or one that cannot get a block of its own.
bool find_exits(Analysis &a, Loop &loop, ArrayRef<Access> accesses, SmallVectorImpl<Exit> &exits) {
  for (BasicBlock *from : loop.blocks()) {
    if (!isa<BranchInst, SwitchInst>(from->getTerminator()))
      return false;
    // An access that each iteration comes to or leaves before, and that does not dominate a way out, is behind it: else
    // an iteration that goes on would come past the access twice, or not at all.
    auto comes_before = [&](const Access &access) { return a.tree.dominates(access.instruction()->getParent(), from); };
    size_t executed = find_if_not(accesses, comes_before) - accesses.begin();
    for (BasicBlock *to : successors(from)) {
      if (loop.contains(to) || any_of(exits, [&](const Exit &exit) { return exit.from == from && exit.to == to; }))
        continue;
      if (to->isEHPad())
        return false;
      exits.push_back({from, to, executed});
    }
  }
  return !exits.empty();
}

// What a loop reads again until another thread has written it is not what it was when the loop has ended.
bool waits_for_others(const Loop &loop) {
  return any_of(loop.blocks(), [](const BasicBlock *block) {
    return any_of(*block, [](const Instruction &instruction) { return instruction.isVolatile(); });
  });
}

// A number that is 0 when a loop is entered from `before` and 1 more in each iteration. Returns the next one, too.
std::pair<PHINode *, Value *> number_iterations(Loop &loop, BasicBlock *before, BasicBlock *latch) {
  BasicBlock *header = loop.getHeader();
  IRBuilder<> builder(header, header->begin());
  PHINode *number = builder.CreatePHI(builder.getInt64Ty(), 2);
  builder.SetInsertPoint(latch->getTerminator());
  Value *next = builder.CreateAdd(number, builder.getInt64(1));
  number->addIncoming(builder.getInt64(0), before);
  number->addIncoming(next, latch);
  return {number, next};
}

// Gives each way out of the copy a block of its own, which leads where the loop's leads.
void add_exits(Analysis &a, ArrayRef<Exit> exits, ValueToValueMapTy &map, PHINode *number, ThreadtalkSearchExit *out) {
  for (const Exit &exit : exits) {
    auto *from = cast<BasicBlock>(map[exit.from]);
    BasicBlock *way = BasicBlock::Create(a.function.getContext(), "", &a.function, exit.to);
    IRBuilder<> builder(way);
    PHINode *iterations = builder.CreatePHI(builder.getInt64Ty(), 1);
    for (size_t edges = llvm::count(successors(from), exit.to); edges > 0; edges--)
      iterations->addIncoming(number, from);
    BranchInst *end = builder.CreateBr(exit.to);
    end->setDebugLoc(exit.from->getTerminator()->getDebugLoc());
    for (PHINode &phi : exit.to->phis()) {
      Value *value = phi.getIncomingValueForBlock(exit.from);
      Value *copied = map.lookup(value);
      phi.addIncoming(copied ? copied : value, way);
    }
    from->getTerminator()->replaceSuccessorWith(exit.to, way);
    a.tree.addNewBlock(way, from);
    if (Loop *around = a.loops.getLoopFor(exit.to))
      around->addBasicBlockToLoop(way, a.loops);
    *out++ = {wrap(end), wrap(iterations), exit.executed};
  }
}

} // namespace

size_t threadtalk_shim_copy_search(void *analysis, LLVMBasicBlockRef header, uint64_t after,
                                   const ThreadtalkLoopAccess *accesses, size_t count,
                                   ThreadtalkAffine *affine, LLVMValueRef *ask, ThreadtalkSearchExit *ways,
                                   size_t most_ways) {
  auto &a = *static_cast<Analysis *>(analysis);
  Loop *loop = a.loops.getLoopFor(unwrap(header));
  if (!loop || loop->getHeader() != unwrap(header) || !may_be_copied(*loop) || waits_for_others(*loop))
    return 0;
  SmallVector<Access, 16> all(accesses, accesses + count);
  SmallVector<Exit, 4> exits;
  if (!find_exits(a, *loop, all, exits) || exits.size() > most_ways)
    return 0;
  SmallVector<Description, 16> descriptions(all.size());
  SmallVector<Lead, 16> leads;
  for (auto [i, access] : enumerate(all)) {
    if (!describe(a, *loop, loop->getLoopLatch(), access, descriptions[i]))
      return 0;
    auto block = [&](size_t number) { return all[number].instruction()->getParent(); };
    if (i > 0 && !a.tree.dominates(block(i - 1), block(i)))
      return 0;
  }
  for (size_t i = 0; i < all.size(); i++)
    leads.push_back(find_leader(a, descriptions, leads));
  BasicBlock *before = loop->getLoopPreheader();
  Type *word = Type::getInt64Ty(a.function.getContext());
  SCEVExpander expander(a.evolution, a.function.getParent()->getDataLayout(), "threadtalk");
  bool moves = false;
  for (auto [access, description] : zip(all, descriptions)) {
    auto &[start, stride] = description;
    stride = a.evolution.getTruncateOrSignExtend(stride, word);
    // Of what lies farther apart, or is read downwards, a look takes longer than the access's own.
    auto *bytes = dyn_cast<SCEVConstant>(stride);
    if (!bytes || !(bytes->isZero() || bytes->getAPInt() == access.bytes()))
      return 0;
    moves |= !bytes->isZero();
    start = a.evolution.getAddExpr(start, a.evolution.getMulExpr(stride, a.evolution.getConstant(word, after)));
  }
  if (!moves || !can_be_computed(expander, descriptions, leads, before->getTerminator()))
    return 0;

  // From here on the function changes.
  formLCSSA(*loop, a.tree, &a.loops, &a.evolution);
  // What is before the loop stays there alone.
  before = SplitBlock(before, before->getTerminator(), &a.tree, &a.loops);
  MDNode *id = loop->getLoopID();
  BasicBlock *old_latch = loop->getLoopLatch();
  DebugLoc location = old_latch->getTerminator()->getDebugLoc();
  // Before anything is copied: to what nothing leads yet is forgotten when the tree is brought up to date.
  BasicBlock *turn = SplitEdge(old_latch, loop->getHeader(), &a.tree, &a.loops, nullptr, ".turn");
  ValueToValueMapTy map;
  SmallVector<BasicBlock *, 8> blocks;
  Loop *copy = cloneLoopWithPreheader(loop->getHeader(), before, loop, map, ".searching", &a.loops, &a.tree, blocks);
  remapInstructionsInBlocks(blocks, map);
  BasicBlock *start = copy->getLoopPreheader();
  BasicBlock *leave = BasicBlock::Create(a.function.getContext(), ".leave", &a.function, start);

  // The loop goes on in its copy where its next iteration would begin.
  for (PHINode &phi : loop->getHeader()->phis()) {
    PHINode *last = PHINode::Create(phi.getType(), 1, "", leave);
    last->addIncoming(phi.getIncomingValueForBlock(turn), turn);
    cast<PHINode>(map[&phi])->setIncomingValueForBlock(start, last);
  }
  IRBuilder<> builder(leave);
  builder.CreateBr(start)->setDebugLoc(location);
  PHINode *number = number_iterations(*copy, start, copy->getLoopLatch()).first;
  Value *taken = number_iterations(*loop, before, turn).second;
  Instruction *end = turn->getTerminator();
  builder.SetInsertPoint(end);
  Value *enough = builder.CreateICmpEQ(taken, builder.getInt64(after));
  BranchInst *branch = builder.CreateCondBr(enough, leave, loop->getHeader());
  branch->setDebugLoc(location);
  end->eraseFromParent();
  loop->setLoopID(id);
  a.tree.addNewBlock(leave, turn);
  a.tree.changeImmediateDominator(start, leave);
  if (Loop *around = loop->getParentLoop())
    around->addBasicBlockToLoop(leave, a.loops);
  // What only the loop led to, the copy leads to as well.
  SmallVector<DomTreeNode *, 8> behind;
  for (BasicBlock *block : loop->blocks())
    for (DomTreeNode *child : *a.tree.getNode(block))
      if (child->getBlock() != leave && !loop->contains(child->getBlock()))
        behind.push_back(child);
  for (DomTreeNode *node : behind)
    a.tree.changeImmediateDominator(node,
                                    a.tree.getNode(a.tree.findNearestCommonDominator(node->getIDom()->getBlock(), turn)));
  add_exits(a, exits, map, number, ways);

  compute(a, expander, descriptions, leads, leave->getTerminator(), affine);
  expander.clear();
  a.evolution.forgetTopmostLoop(loop);
  *ask = wrap(leave->getTerminator());
  return exits.size();
}
