// The way that each iteration of a nest of loops takes: through the plain copies of its innermost loops, and past what
// cannot be described.
#pragma once
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include "analysis.h"
#include "shim.h"

// A condition on the way, and the side on which the way goes on.
struct Parting {
  llvm::Value *condition;
  bool side;
  // Where the other side begins, but for blocks with nothing in them, and where it comes from.
  llvm::BasicBlock *other, *from;
  // The first block behind the condition, and the one where the other side comes back, by their numbers on the way: if
  // all that is computed there is the same on both sides, what lies between is a detour, which the nest makes always or
  // never. An end of 0: the way is this side alone.
  size_t behind, end;
};

class Way {
public:
  // What the way may lead to: the loops' decisions ("br false, plain copy, loop"), accesses that can be described, and
  // those that cannot, which the way avoids.
  Way(Analysis &analysis, llvm::Loop &outer, llvm::ArrayRef<ThreadtalkNestItem> items);

  // Values that are something else in terms of which the nest can be described: loads that are read ahead of it, and, on
  // the way, PHIs where it comes from one side.
  llvm::ValueToSCEVMapTy known;

  // Whether there is one from the outermost loop's header to its latch, with a decision on it.
  bool find();

  llvm::Instruction *before() const { return outer.getLoopPreheader()->getTerminator(); }
  llvm::ArrayRef<Parting> conditions() const { return partings; }
  bool contains(const llvm::Instruction &instruction) const { return place_of(instruction.getParent()) < places.size(); }
  // Whether the loop is the outermost one or one on the way.
  bool runs(const llvm::Loop *loop) const { return is_contained(counted, loop); }
  // Whether the way comes to an instruction only where a condition's side is taken.
  bool is_behind(const llvm::Instruction &instruction, const Parting &parting) const {
    size_t place = place_of(instruction.getParent());
    return parting.behind <= place && place < parting.end;
  }

  // What a value is on the way.
  const llvm::SCEV *evolution_of(llvm::Value *value) { return known_as(a.evolution.getSCEV(value)); }
  // How often a loop runs each time.
  const llvm::SCEV *count(llvm::Loop &loop);
  // Whether a value is one before the nest.
  bool is_known(const llvm::SCEV *value);

private:
  Analysis &a;
  llvm::Loop &outer;
  llvm::SCEVExpander expander;
  llvm::Type *word;
  llvm::SmallPtrSet<const llvm::BasicBlock *, 8> decisions;
  llvm::SmallPtrSet<llvm::Instruction *, 16> item_of, strangers;
  llvm::SmallVector<llvm::BasicBlock *, 16> places;
  llvm::SmallVector<Parting, 4> partings;
  llvm::SmallVector<const llvm::Loop *, 4> counted;

  size_t place_of(const llvm::BasicBlock *block) const;
  bool is_counted(llvm::Loop &loop);
  bool follow(llvm::Loop &loop, llvm::BasicBlock *block, llvm::BasicBlock *from);
  bool step(llvm::Loop &loop, llvm::BasicBlock *block, llvm::BasicBlock *from);
  bool part(llvm::Loop &loop, llvm::BranchInst &branch);
  void arrive(llvm::BasicBlock *block, llvm::BasicBlock *from);
  void join(Parting &parting, llvm::BasicBlock *block, llvm::BasicBlock *from);
  void go_back(size_t blocks);
  void pass_empty(Parting &parting);
  bool leads_to_copies(llvm::BasicBlock *block);
  const llvm::SCEV *known_as(const llvm::SCEV *value);
  const llvm::SCEV *value_from(llvm::PHINode &phi, llvm::BasicBlock *from);
};
