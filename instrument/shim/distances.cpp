// Which pointers lie at constant distances from each other.
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

#include "shim.h"

using namespace llvm;

// How many leaders of a segment a pointer is compared with: those used last. Keeps the work linear.
static constexpr size_t MaxLeaders = 8;

void threadtalk_shim_distances(LLVMValueRef function, const LLVMValueRef *pointers, const uint32_t *segments,
                               size_t count, uint32_t *leaders, int64_t *distances) {
  Function &f = *unwrap<Function>(function);
  DominatorTree tree(f);
  LoopInfo loops(tree);
  AssumptionCache assumptions(f);
  TargetLibraryInfoImpl library_impl(Triple(f.getParent()->getTargetTriple()));
  TargetLibraryInfo library(library_impl, &f);
  ScalarEvolution evolution(f, library, assumptions, tree, loops);
  SmallVector<uint32_t, MaxLeaders> recent;
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0 && segments[i] != segments[i - 1])
      recent.clear();
    leaders[i] = i;
    distances[i] = 0;
    const SCEV *pointer = evolution.getSCEV(unwrap(pointers[i]));
    for (auto leader = recent.rbegin(); leader != recent.rend(); ++leader) {
      auto *distance = dyn_cast<SCEVConstant>(evolution.getMinusSCEV(pointer, evolution.getSCEV(unwrap(pointers[*leader]))));
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
