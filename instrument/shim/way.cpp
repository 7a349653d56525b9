#include "way.h"

using namespace llvm;

namespace {

// Blocks on the way through a nest.
constexpr size_t MOST_BLOCKS = 64;

} // namespace

Way::Way(Analysis &analysis, Loop &loop, ArrayRef<ThreadtalkNestItem> items)
    : a(analysis), outer(loop), expander(a.evolution, a.function.getParent()->getDataLayout(), "threadtalk"),
      word(Type::getInt64Ty(a.function.getContext())) {
  for (const ThreadtalkNestItem &item : items) {
    auto *at = unwrap<Instruction>(item.at);
    if (item.stride)
      decisions.insert(at->getParent());
    (item.stride || item.address ? item_of : strangers).insert(at);
  }
}

bool Way::find() {
  return is_counted(outer) && follow(outer, outer.getHeader(), nullptr) &&
         any_of(places, [&](BasicBlock *place) { return decisions.contains(place); });
}

size_t Way::place_of(const BasicBlock *block) const {
  return llvm::find(places, block) - places.begin();
}

const SCEV *Way::known_as(const SCEV *value) {
  return known.empty() ? value : SCEVParameterRewriter::rewrite(value, a.evolution, known);
}

const SCEV *Way::count(Loop &loop) {
  const SCEV *taken = known_as(a.evolution.getBackedgeTakenCount(&loop));
  return a.evolution.getAddExpr(a.evolution.getNoopOrZeroExtend(taken, word), a.evolution.getOne(word));
}

bool Way::is_known(const SCEV *value) {
  return a.evolution.isLoopInvariant(value, &outer) && expander.isSafeToExpandAt(value, before());
}

bool Way::is_counted(Loop &loop) {
  BasicBlock *latch = loop.getLoopLatch();
  const SCEV *taken = a.evolution.getBackedgeTakenCount(&loop);
  if (!latch || loop.getExitingBlock() != latch || !loop.getUniqueExitBlock() || isa<SCEVCouldNotCompute>(taken) ||
      a.evolution.getTypeSizeInBits(taken->getType()) > 64 || !is_known(count(loop)))
    return false;
  counted.push_back(&loop);
  return true;
}

// Follows an iteration of `loop` from a block to the latch.
bool Way::follow(Loop &loop, BasicBlock *block, BasicBlock *from) {
  if (places.size() == MOST_BLOCKS || !loop.contains(block))
    return false;
  size_t blocks = places.size(), parted = partings.size(), loops = counted.size();
  if (step(loop, block, from))
    return true;
  partings.truncate(parted);
  counted.truncate(loops);
  go_back(blocks);
  return false;
}

bool Way::step(Loop &loop, BasicBlock *block, BasicBlock *from) {
  Loop *inner = a.loops.getLoopFor(block);
  if (inner != &loop)
    return inner->getHeader() == block && inner->getParentLoop() == &loop && is_counted(*inner) &&
           follow(*inner, block, from) && follow(loop, inner->getUniqueExitBlock(), inner->getLoopLatch());
  if (place_of(block) < places.size() || any_of(*block, [&](Instruction &i) { return strangers.contains(&i); }))
    return false;
  arrive(block, from);
  if (block == loop.getLoopLatch())
    return true;
  auto *branch = dyn_cast<BranchInst>(block->getTerminator());
  if (!branch)
    return false;
  if (decisions.contains(block)) {
    BasicBlock *header = branch->getSuccessor(0)->getSingleSuccessor();
    Loop *plain = header ? a.loops.getLoopFor(header) : nullptr;
    BasicBlock *exit = plain && plain->getHeader() == header ? plain->getUniqueExitBlock() : nullptr;
    BasicBlock *exiting = exit ? plain->getExitingBlock() : nullptr;
    return exiting && follow(loop, exit, exiting);
  }
  return branch->isConditional() ? part(loop, *branch) : follow(loop, branch->getSuccessor(0), block);
}

// Where the way parts, the side with loops that have a plain copy is taken. If the other one leads to some as well, the
// side that does so alone: remainders are run on both.
bool Way::part(Loop &loop, BranchInst &branch) {
  BasicBlock *sides[] = {branch.getSuccessor(1), branch.getSuccessor(0)};
  bool leads[] = {leads_to_copies(sides[0]), leads_to_copies(sides[1])};
  bool first = leads[0] && leads[1] ? sides[1]->getSinglePredecessor() != nullptr : leads[1] || !leads[0];
  for (bool side : {first, !first}) {
    partings.push_back({branch.getCondition(), side, sides[!side], branch.getParent(), places.size(), 0});
    pass_empty(partings.back());
    if (follow(loop, sides[side], branch.getParent()))
      return true;
    partings.pop_back();
  }
  return false;
}

bool Way::leads_to_copies(BasicBlock *block) {
  return any_of(decisions, [&](const BasicBlock *decision) { return a.tree.dominates(block, decision); });
}

void Way::pass_empty(Parting &parting) {
  for (BasicBlock *block = parting.other; block->getSinglePredecessor() && block->getSingleSuccessor();
       block = block->getSingleSuccessor()) {
    if (any_of(*block, [&](Instruction &i) { return strangers.contains(&i) || item_of.contains(&i); }))
      return;
    parting.from = block;
    parting.other = block->getSingleSuccessor();
  }
}

// A remainder begins where the loop before it ends, for all that is known of the way there.
void Way::arrive(BasicBlock *block, BasicBlock *from) {
  if (from && !a.loops.isLoopHeader(block)) {
    for (Parting &parting : partings)
      if (parting.other == block)
        join(parting, block, from);
    for (PHINode &phi : block->phis())
      if (a.evolution.isSCEVable(phi.getType()) && isa<SCEVUnknown>(a.evolution.getSCEV(&phi)))
        known[&phi] = value_from(phi, from);
  }
  places.push_back(block);
}

// The nest itself is no detour: the first loops with copies are on the way in any case.
void Way::join(Parting &parting, BasicBlock *block, BasicBlock *from) {
  auto is_same = [&](PHINode &phi) {
    return !a.evolution.isSCEVable(phi.getType()) || value_from(phi, from) == value_from(phi, parting.from);
  };
  bool is_inside = any_of(ArrayRef(places).take_front(parting.behind),
                          [&](BasicBlock *place) { return decisions.contains(place); });
  if (is_inside && outer.isLoopInvariant(parting.condition) && all_of(block->phis(), is_same))
    parting.end = places.size();
}

void Way::go_back(size_t blocks) {
  for (BasicBlock *place : drop_begin(places, blocks))
    for (PHINode &phi : place->phis())
      known.erase(&phi);
  places.truncate(blocks);
  for (Parting &parting : partings)
    if (parting.end >= blocks)
      parting.end = 0;
}

const SCEV *Way::value_from(PHINode &phi, BasicBlock *from) {
  const SCEV *value = a.evolution.getSCEV(phi.getIncomingValueForBlock(from));
  return known_as(a.evolution.getSCEVAtScope(value, a.loops.getLoopFor(phi.getParent())));
}
