// Which pointers lie at constant distances from each other.
#include "llvm/Analysis/ScalarEvolutionExpressions.h"

#include "llvm/Analysis/MemoryLocation.h"
#include "llvm/Analysis/ValueTracking.h"

#include "analysis.h"
#include "shim.h"

using namespace llvm;

// How many leaders of a segment a pointer is compared with: those used last. Keeps the work linear.
static constexpr size_t MaxLeaders = 8;

void *threadtalk_shim_analysis_open(LLVMValueRef function, bool for_counters) {
  return new Analysis(*unwrap<Function>(function), for_counters);
}

void threadtalk_shim_analysis_close(void *analysis) { delete static_cast<Analysis *>(analysis); }

uint32_t threadtalk_shim_most_iterations(void *analysis, LLVMBasicBlockRef header) {
  auto &all = *static_cast<Analysis *>(analysis);
  const Loop *loop = all.loops.getLoopFor(unwrap(header));
  return loop && loop->getHeader() == unwrap(header) ? all.evolution.getSmallConstantMaxTripCount(loop) : 0;
}

void threadtalk_shim_distances(void *analysis, const LLVMValueRef *pointers, const uint32_t *segments,
                               size_t count, uint32_t *leaders, int64_t *distances) {
  ScalarEvolution &evolution = static_cast<Analysis *>(analysis)->evolution;
  SmallVector<uint32_t, MaxLeaders> recent;
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0 && segments[i] != segments[i - 1])
      recent.clear();
    leaders[i] = i;
    distances[i] = 0;
    const SCEV *pointer = evolution.getSCEV(unwrap(pointers[i]));
    for (auto leader = recent.rbegin(); leader != recent.rend(); ++leader) {
      const SCEV *other = evolution.getSCEV(unwrap(pointers[*leader]));
      auto *distance = dyn_cast<SCEVConstant>(evolution.getMinusSCEV(pointer, other));
      if (!distance || distance->getAPInt().getSignificantBits() > 32)
        continue;
      leaders[i] = *leader;
      distances[i] = distance->getAPInt().getSExtValue();
      break;
    }
    if (leaders[i] == i) {
      if (recent.size() == MaxLeaders)
        recent.erase(recent.begin());
      recent.push_back(i);
    }
  }
}

bool may_read_one_place(const Value *one, const Value *other) {
  auto is_promised = [](const Value *pointer) {
    SmallVector<const Value *, 4> objects;
    getUnderlyingObjects(pointer, objects);
    return any_of(objects, [](const Value *object) {
      auto *argument = dyn_cast<Argument>(object);
      return argument && argument->hasNoAliasAttr();
    });
  };
  return is_promised(one) || is_promised(other);
}

MemoryLocation without_promises(MemoryLocation at) {
  at.AATags.Scope = at.AATags.NoAlias = nullptr;
  return at;
}

bool threadtalk_shim_disjoint(void *analysis, LLVMValueRef one, LLVMValueRef other) {
  auto first = MemoryLocation::getOrNone(unwrap<Instruction>(one));
  auto second = MemoryLocation::getOrNone(unwrap<Instruction>(other));
  if (!first || !second)
    return false;
  if (isa<LoadInst>(unwrap(one)) && isa<LoadInst>(unwrap(other))) {
    if (may_read_one_place(first->Ptr, second->Ptr))
      return false;
    first = without_promises(*first), second = without_promises(*second);
  }
  return static_cast<Analysis *>(analysis)->aliases.isNoAlias(*first, *second);
}
