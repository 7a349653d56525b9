// Scalar evolution of one function, and what it needs.
#pragma once
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/BasicAliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScopedNoAliasAA.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

// Whether an instruction of a loop keeps to itself: no synchronisation, no way out, no memory but by loads and stores.
bool keeps_to_itself(const llvm::Instruction &instruction);

// Whether what tells two reads apart may be `restrict` alone. It speaks of memory that is written: both may read one place,
// and then it matters which one is first.
bool may_read_one_place(const llvm::Value *one, const llvm::Value *other);
// A place without what `restrict` promises of it where a function was inlined.
llvm::MemoryLocation without_promises(llvm::MemoryLocation at);

// Whether a function may have loops: a block branches to one that is not behind it. Trees of dominators, which are what
// tells for sure, take as long as all else that is done with functions that have none.
bool may_loop(const llvm::Function &function);

struct Analysis {
  llvm::Function &function;
  // For counters only, of a function with more blocks than anything is gained by looking at closely, and no loops: there
  // are no trees then, without which nothing else can be asked.
  bool is_long_and_straight;
  llvm::DominatorTree tree;
  llvm::LoopInfo loops;
  llvm::AssumptionCache assumptions;
  llvm::TargetLibraryInfoImpl library_data;
  llvm::TargetLibraryInfo library;
  llvm::ScalarEvolution evolution;
  // The program's own rules: objects, types, and what the vectoriser has tested.
  llvm::BasicAAResult objects;
  llvm::TypeBasedAAResult types;
  llvm::ScopedNoAliasAAResult scopes;
  llvm::AAResults aliases;

  explicit Analysis(llvm::Function &f, bool for_counters)
      : function(f), is_long_and_straight(for_counters && f.size() > 4000 && !may_loop(f)), assumptions(f),
        library_data(llvm::Triple(f.getParent()->getTargetTriple())),
        library(library_data, &f), evolution(f, library, assumptions, tree, loops),
        objects(f.getParent()->getDataLayout(), f, library, assumptions, &tree), aliases(library) {
    if (!is_long_and_straight) {
      tree.recalculate(f);
      loops.analyze(tree);
    }
    aliases.addAAResult(objects);
    aliases.addAAResult(types);
    aliases.addAAResult(scopes);
  }
};
