// Loop nests of which each iteration takes the same way and whose accesses are all known before they run: describes
// them (for __threadtalk_nest).
#include "llvm/Analysis/Loads.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"

#include "analysis.h"
#include "read_ahead.h"
#include "way.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// Log2 of the most iterations of a loop, and of what is no longer a stride: their products do not wrap around.
constexpr unsigned MOST_ITERATIONS = 20, LARGE = 31;
// Log2 of the end of addresses and of what is compared with them.
constexpr unsigned ADDRESSES = 62;

struct Dimension {
  const SCEV *stride, *count;
};

struct Described {
  const SCEV *start;
  SmallVector<Dimension, 3> dimensions; // innermost first
};

class Nest {
public:
  Nest(Analysis &analysis, Loop &loop, MutableArrayRef<ThreadtalkNestItem> all)
      : a(analysis), outer(loop), items(all), way(analysis, loop, all),
        expander(a.evolution, a.function.getParent()->getDataLayout(), "threadtalk"),
        word(Type::getInt64Ty(a.function.getContext())), before(way.before()) {}

  bool describe(ThreadtalkNest &out) {
    read_ahead();
    bool described = try_to_describe(out);
    out.fixed_count = 0;
    for (LoadInst *ahead : read) {
      if (ahead->use_empty() && !(described && is_told(ahead))) {
        ahead->eraseFromParent();
        continue;
      }
      out.fixed[out.fixed_count] = wrap(ahead->getPointerOperand());
      out.fixed_bytes[out.fixed_count++] = bytes_of(*ahead);
    }
    return described;
  }

private:
  Analysis &a;
  Loop &outer;
  MutableArrayRef<ThreadtalkNestItem> items;
  Way way;
  SCEVExpander expander;
  Type *word;
  Instruction *before;
  SmallVector<LoadInst *, 4> read;
  // Whether the nest takes the side of each condition on the way, before it.
  SmallVector<Value *, 4> taken;

  bool try_to_describe(ThreadtalkNest &out) {
    if (!way.find())
      return false;
    SmallVector<Described, 8> all(items.size());
    for (auto [item, described] : zip(items, all)) {
      item.on_way = way.contains(*unwrap<Instruction>(item.at));
      if (item.on_way && !locate(item, described))
        return false;
    }
    for (const Parting &parting : way.conditions())
      if (!always(parting.condition, parting.side, false))
        return false;
    // From here on the function changes.
    IRBuilder<> builder(before);
    Value *feasible = builder.getTrue();
    for (const Parting &parting : way.conditions()) {
      taken.push_back(always(parting.condition, parting.side, true));
      if (!parting.end)
        feasible = builder.CreateAnd(feasible, taken.back());
    }
    SmallVector<Value *, 8> made;
    SmallSetVector<std::pair<const SCEV *, Value *>, 8> counts;
    for (auto [item, described] : zip(items, all)) {
      made.push_back(item.on_way ? is_made(item) : nullptr);
      for (const Dimension &dimension : described.dimensions)
        counts.insert({dimension.count, made.back()});
    }
    for (auto [count, detour] : counts) {
      Value *small = is_small(count);
      feasible = builder.CreateAnd(feasible, detour ? builder.CreateLogicalOr(builder.CreateNot(detour), small) : small);
    }
    out.feasible = wrap(builder.CreateFreeze(feasible));
    out.before = wrap(before);
    for (auto [item, described, detour] : zip(items, all, made)) {
      if (!item.on_way)
        continue;
      item.start = wrap(expander.expandCodeFor(described.start, described.start->getType(), before));
      for (size_t i = 0; i < 3; i++) {
        bool used = i < described.dimensions.size();
        const SCEV *stride = used ? described.dimensions[i].stride : a.evolution.getZero(word);
        const SCEV *count = used ? described.dimensions[i].count : a.evolution.getOne(word);
        item.strides[i] = wrap(expander.expandCodeFor(stride, word, before));
        item.counts[i] = wrap(expander.expandCodeFor(count, word, before));
      }
      if (detour)
        item.counts[0] = wrap(builder.CreateSelect(detour, unwrap(item.counts[0]), builder.getInt64(0)));
    }
    expander.clear();
    return true;
  }

  // Whether a value is part of what is found out as it is.
  bool is_told(Value *value) {
    LLVMValueRef told = wrap(value);
    return any_of(items, [&](const ThreadtalkNestItem &item) {
      return item.on_way && (item.start == told || is_contained(item.strides, told) || is_contained(item.counts, told));
    });
  }

  // Whether what such a load finds has changed is for the runtime to tell: it knows what the nest writes.
  void read_ahead() {
    for (BasicBlock *block : outer.blocks())
      for (Instruction &instruction : *block)
        if (auto *load = dyn_cast<LoadInst>(&instruction); load && can_be_ahead(*load))
          if (LoadInst *ahead = ahead_of(*load))
            way.known[load] = a.evolution.getSCEV(ahead);
  }

  bool can_be_ahead(LoadInst &load) {
    return may_be_read_ahead(a, load) && outer.isLoopInvariant(load.getPointerOperand()) && bytes_of(load) % 4 == 0;
  }

  LoadInst *ahead_of(LoadInst &load) {
    for (LoadInst *ahead : read)
      if (ahead->getPointerOperand() == load.getPointerOperand() && ahead->getType() == load.getType())
        return ahead;
    if (read.size() == THREADTALK_MOST_FIXED ||
        !isSafeToLoadUnconditionally(load.getPointerOperand(), load.getType(), load.getAlign(),
                                     a.function.getParent()->getDataLayout(), before, &a.assumptions, &a.tree, &a.library))
      return nullptr;
    IRBuilder<> builder(before);
    read.push_back(builder.CreateAlignedLoad(load.getType(), load.getPointerOperand(), load.getAlign()));
    return read.back();
  }

  // Whether the nest makes the detours that an item is on; null: it is on none.
  Value *is_made(const ThreadtalkNestItem &item) {
    Value *all = nullptr;
    for (auto [parting, side] : zip(way.conditions(), taken))
      if (way.is_behind(*unwrap<Instruction>(item.at), parting))
        all = all ? IRBuilder<>(before).CreateAnd(all, side) : side;
    return all;
  }

  // The first address of an item and how it moves with each loop around it.
  bool locate(const ThreadtalkNestItem &item, Described &out) {
    // Behind a loop, what that comes to in the end.
    Loop *innermost = a.loops.getLoopFor(unwrap<Instruction>(item.at)->getParent());
    const SCEV *at = a.evolution.getSCEVAtScope(way.evolution_of(unwrap(item.address)), innermost);
    if (item.stride) {
      Dimension inner = {way.evolution_of(unwrap(item.stride)), way.evolution_of(unwrap(item.iterations))};
      if (!way.is_known(inner.stride) || !way.is_known(inner.count))
        return false;
      out.dimensions.push_back(inner);
    }
    for (Loop *loop = innermost;; loop = loop->getParentLoop()) {
      if (out.dimensions.size() == 3)
        return false;
      const SCEV *stride = a.evolution.getZero(word);
      if (!a.evolution.isLoopInvariant(at, loop)) {
        auto *moves = dyn_cast<SCEVAddRecExpr>(at);
        if (!moves || moves->getLoop() != loop || !moves->isAffine())
          return false;
        stride = moves->getStepRecurrence(a.evolution);
        at = moves->getStart();
      }
      if (stride->getType() != word || !way.is_known(stride))
        return false;
      out.dimensions.push_back({stride, way.count(*loop)});
      if (loop == &outer)
        break;
    }
    out.start = at;
    return way.is_known(at);
  }

  // Whether a count is at least 1 and no more than 2^MOST_ITERATIONS.
  Value *is_small(const SCEV *count) {
    Value *value = expander.expandCodeFor(count, word, before);
    IRBuilder<> builder(before);
    return builder.CreateICmpULT(builder.CreateSub(value, builder.getInt64(1)), builder.getInt64(1ull << MOST_ITERATIONS));
  }

  // Whether a condition on the way has this value in each iteration, as a value before the nest; null: it cannot be
  // told. Without `emit`, nothing is made, and anything else than null is good.
  Value *always(Value *condition, bool holds, bool emit) {
    IRBuilder<> builder(before);
    if (outer.isLoopInvariant(condition)) {
      if (!emit)
        return condition;
      Value *fixed = isa<Constant>(condition) ? condition : builder.CreateFreeze(condition);
      return holds ? fixed : builder.CreateNot(fixed);
    }
    Value *one, *other;
    if (auto *frozen = dyn_cast<FreezeInst>(condition))
      return always(frozen->getOperand(0), holds, emit);
    if (match(condition, m_Not(m_Value(one))))
      return always(one, !holds, emit);
    bool both = match(condition, m_LogicalAnd(m_Value(one), m_Value(other)));
    if (both || match(condition, m_LogicalOr(m_Value(one), m_Value(other)))) {
      Value *first = always(one, holds, emit), *second = always(other, holds, emit);
      if (both == holds) // all of them must be so
        return !first || !second ? nullptr : emit ? builder.CreateAnd(first, second) : first;
      return !first || !second ? first ? first : second : emit ? builder.CreateOr(first, second) : first;
    }
    auto *compare = dyn_cast<ICmpInst>(condition);
    return compare ? always_compares(*compare, holds, emit) : nullptr;
  }

  // A comparison of what moves evenly, without wrapping around, holds everywhere if it holds at all corners of the nest.
  Value *always_compares(ICmpInst &compare, bool holds, bool emit) {
    Value *sides[] = {compare.getOperand(0), compare.getOperand(1)};
    const SCEV *values[2];
    SmallVector<Loop *, 2> moving;
    SmallVector<const SCEV *, 4> strides;
    for (int i = 0; i < 2; i++) {
      if (!a.evolution.isSCEVable(sides[i]->getType()) || a.evolution.getTypeSizeInBits(sides[i]->getType()) != 64)
        return nullptr;
      values[i] = way.evolution_of(sides[i]);
      const SCEV *rest = values[i];
      while (!a.evolution.isLoopInvariant(rest, &outer)) {
        auto *moves = dyn_cast<SCEVAddRecExpr>(rest);
        if (!moves || !moves->isAffine() || !way.runs(moves->getLoop()))
          return nullptr;
        auto *loop = const_cast<Loop *>(moves->getLoop());
        if (!is_contained(moving, loop))
          moving.push_back(loop);
        strides.push_back(moves->getStepRecurrence(a.evolution));
        if (!way.is_known(strides.back()))
          return nullptr;
        rest = moves->getStart();
      }
      if (!way.is_known(rest))
        return nullptr;
    }
    if (moving.size() > 2 || (!moving.empty() && compare.isEquality()))
      return nullptr;
    if (!emit)
      return &compare;
    IRBuilder<> builder(before);
    Value *all = builder.getTrue();
    for (const SCEV *stride : strides) {
      Value *value = expander.expandCodeFor(stride, word, before);
      Value *positive = builder.CreateAdd(value, builder.getInt64(1ull << LARGE));
      all = builder.CreateAnd(all, builder.CreateICmpULT(positive, builder.getInt64(2ull << LARGE)));
    }
    auto predicate = holds ? compare.getPredicate() : compare.getInversePredicate();
    for (unsigned corner = 0; corner < 1u << moving.size(); corner++) {
      Value *at[2];
      for (int i = 0; i < 2; i++) {
        at[i] = expander.expandCodeFor(value_at(values[i], moving, corner), sides[i]->getType(), before);
        if (at[i]->getType()->isPointerTy())
          at[i] = builder.CreatePtrToInt(at[i], word);
        if (!moving.empty())
          all = builder.CreateAnd(all, builder.CreateICmpULT(at[i], builder.getInt64(1ull << ADDRESSES)));
      }
      all = builder.CreateAnd(all, builder.CreateICmp(predicate, at[0], at[1]));
    }
    return builder.CreateFreeze(all);
  }

  // A value in the first or the last iterations of loops.
  const SCEV *value_at(const SCEV *value, ArrayRef<Loop *> moving, unsigned corner) {
    if (a.evolution.isLoopInvariant(value, &outer))
      return value;
    auto *moves = cast<SCEVAddRecExpr>(value);
    const SCEV *start = value_at(moves->getStart(), moving, corner);
    size_t number = find(moving, moves->getLoop()) - moving.begin();
    if (!(corner >> number & 1))
      return start;
    const SCEV *last = a.evolution.getMinusSCEV(way.count(*moving[number]), a.evolution.getOne(word));
    return a.evolution.getAddExpr(start, a.evolution.getMulExpr(moves->getStepRecurrence(a.evolution), last));
  }
};

} // namespace

bool threadtalk_shim_nest(void *analysis, LLVMBasicBlockRef header, ThreadtalkNestItem *items, size_t count,
                          ThreadtalkNest *out) {
  auto &a = *static_cast<Analysis *>(analysis);
  Loop *loop = a.loops.getLoopFor(unwrap(header));
  if (!loop || loop->getHeader() != unwrap(header) || !loop->getLoopPreheader())
    return false;
  return Nest(a, *loop, MutableArrayRef(items, count)).describe(*out);
}
