#include "read_ahead.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace {

constexpr size_t MOST_LOADS = 8;
// Members of one structure are one place.
constexpr int64_t LONGEST_PLACE = 64;

// The program's type of what a load reads: stores of other types need not be compared with it. Scopes of `restrict` may
// be those of one iteration.
MDNode *type_of(const LoadInst &load) { return load.getMetadata(LLVMContext::MD_tbaa); }
void set_type(LoadInst &load, MDNode *type) { load.setMetadata(LLVMContext::MD_tbaa, type); }

} // namespace

bool may_be_read_ahead(Analysis &a, const LoadInst &load) {
  if (!load.isSimple() || load.getPointerAddressSpace() || !a.evolution.isSCEVable(load.getType()))
    return false;
  const Value *object = getUnderlyingObject(load.getPointerOperand());
  auto *global = dyn_cast<GlobalVariable>(object);
  return (global && !global->isThreadLocal()) || isa<Argument>(object) || isa<LoadInst>(object);
}

uint64_t bytes_of(const LoadInst &load) { return load.getModule()->getDataLayout().getTypeStoreSize(load.getType()); }

bool ReadAhead::begin() {
  while (find_more())
    ;
  if (!loads.empty())
    a.evolution.forgetLoop(&loop);
  return !loads.empty();
}

// A load of each iteration finds its value in the first one, so it may as well be before the loop. What it finds may lead
// to others.
bool ReadAhead::find_more() {
  size_t before = replaced.size();
  for (BasicBlock *block : loop.blocks()) {
    if (!a.tree.dominates(block, loop.getExitingBlock()))
      continue;
    for (Instruction &instruction : *block) {
      auto *load = dyn_cast<LoadInst>(&instruction);
      LoadInst *ahead = load && !replaced.contains(load) && may_be_read_ahead(a, *load) ? ahead_of(*load) : nullptr;
      if (!ahead)
        continue;
      replace(load, ahead);
      for (PHINode &phi : loop.getHeader()->phis())
        if (phi.getIncomingValueForBlock(loop.getLoopLatch()) == load && !replaced.contains(&phi)) {
          same.push_back({phi.getIncomingValueForBlock(loop.getLoopPreheader()), ahead});
          replace(&phi, ahead);
        }
    }
  }
  return replaced.size() > before;
}

void ReadAhead::replace(Value *value, LoadInst *ahead) {
  replaced.insert(value);
  a.evolution.forgetValue(value);
  for (Use &use : make_early_inc_range(value->uses()))
    if (auto *user = cast<Instruction>(use.getUser()); loop.contains(user) && !isa<PHINode>(user)) {
      uses.push_back({&use, value});
      use.set(ahead);
    }
}

LoadInst *ReadAhead::ahead_of(LoadInst &load) {
  Instruction *before = loop.getLoopPreheader()->getTerminator();
  SCEVExpander expander(a.evolution, load.getModule()->getDataLayout(), "threadtalk");
  const SCEV *at = a.evolution.getSCEV(load.getPointerOperand());
  if (!a.evolution.isLoopInvariant(at, &loop) || !expander.isSafeToExpandAt(at, before))
    return nullptr;
  for (LoadInst *ahead : loads)
    if (a.evolution.getSCEV(ahead->getPointerOperand()) == at && ahead->getType() == load.getType()) {
      set_type(*ahead, MDNode::getMostGenericTBAA(type_of(*ahead), type_of(load)));
      return ahead;
    }
  if (loads.size() == MOST_LOADS)
    return nullptr;
  Value *pointer = expander.expandCodeFor(at, load.getPointerOperandType(), before);
  expander.clear();
  loads.push_back(IRBuilder<>(before).CreateAlignedLoad(load.getType(), pointer, load.getAlign()));
  set_type(*loads.back(), type_of(load));
  return loads.back();
}

SmallVector<ReadAhead::Place, 4> ReadAhead::places() const {
  SmallVector<Place, 4> all;
  for (LoadInst *load : loads) {
    Value *pointer = load->getPointerOperand();
    int64_t bytes = bytes_of(*load);
    bool joined = any_of(all, [&](Place &place) {
      const SCEV *distance = a.evolution.getMinusSCEV(a.evolution.getSCEV(pointer), a.evolution.getSCEV(place.pointer));
      auto *constant = dyn_cast<SCEVConstant>(distance);
      if (!constant || constant->getAPInt().abs().ugt(LONGEST_PLACE))
        return false;
      int64_t at = constant->getAPInt().getSExtValue();
      int64_t first = std::min(place.first, at), end = std::max<int64_t>(place.first + place.bytes, at + bytes);
      if (end - first > LONGEST_PLACE)
        return false;
      place = {place.pointer, first, uint64_t(end - first)};
      return true;
    });
    if (!joined)
      all.push_back({pointer, 0, uint64_t(bytes)});
  }
  return all;
}

void ReadAhead::put_back() {
  if (loads.empty())
    return;
  for (auto [use, value] : uses) {
    a.evolution.forgetValue(use->getUser());
    use->set(value);
  }
  a.evolution.forgetLoop(&loop);
  // Those that are read through others come last.
  for (LoadInst *ahead : reverse(loads))
    if (ahead->use_empty()) {
      a.evolution.forgetValue(ahead);
      ahead->eraseFromParent();
    }
  loads.clear();
  replaced.clear();
  same.clear();
  uses.clear();
}
