// Loops whose accesses are all known before they run: describes them and makes a second copy (for __threadtalk_loop).
#include "llvm/ADT/BitVector.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include "loop_accesses.h"
#include "read_ahead.h"

using namespace llvm;

namespace {

// Whether two accesses of a loop touch different memory, whichever iterations they are in.
bool never_meet(Analysis &a, const Access &one, const Access &other) {
  if (one.reads() && other.reads() && may_read_one_place(one.pointer(), other.pointer()))
    return false;
  BatchAAResults aliases(a.aliases);
  aliases.enableCrossIterationMode();
  auto anywhere = [](const Access &access) {
    // What is promised may hold for one iteration only.
    MemoryLocation at = without_promises(access.location());
    return at.getWithNewSize(LocationSize::beforeOrAfterPointer());
  };
  return aliases.alias(anywhere(one), anywhere(other)) == AliasResult::NoAlias;
}

// Bytes behind some address.
struct Bytes {
  int64_t first, end;

  void join(Bytes other) { first = std::min(first, other.first), end = std::max(end, other.end); }
};

// Where a stray is in any iteration: some bytes behind a value before the loop. Tables that bytes are looked up in are of
// this kind.
struct Range {
  const SCEV *base;
  Bytes bytes;
};
// Longer ones would mostly not be apart from what the loop goes through: a table for all 16-bit numbers of 64 bytes.
constexpr int64_t LONGEST_RANGE = 4 << 20;

std::optional<Range> range_of(Analysis &a, Loop &loop, const Access &access) {
  auto *address = dyn_cast<SCEVAddExpr>(a.evolution.getSCEV(access.pointer()));
  if (!address)
    return std::nullopt;
  SmallVector<const SCEV *, 4> fixed, moving;
  for (const SCEV *part : address->operands())
    (a.evolution.isLoopInvariant(part, &loop) ? fixed : moving).push_back(part);
  if (fixed.empty() || moving.empty())
    return std::nullopt;
  const SCEV *base = a.evolution.getAddExpr(fixed);
  const SCEV *behind = a.evolution.getAddExpr(moving);
  if (!base->getType()->isPointerTy() || behind->getType()->isPointerTy())
    return std::nullopt;
  ConstantRange range = a.evolution.getSignedRange(behind);
  APInt first = range.getSignedMin(), last = range.getSignedMax();
  if (first.slt(-LONGEST_RANGE) || last.sgt(LONGEST_RANGE))
    return std::nullopt;
  return Range{base, {first.getSExtValue(), last.getSExtValue() + int64_t(access.bytes())}};
}

// What has to be asked before the loop: that the bytes behind the access number `leader`, and as many one stride further in
// each iteration, are not in the range of a stray.
struct Apart {
  size_t leader;
  Bytes bytes;
  Range from;
};

// With each place that is kept away from, one takes some eight instructions when the loop is entered.
constexpr size_t MOST_COMPARED = 8;

// The accesses of a loop, and those that are strays.
struct Found {
  const SCEV *taken = nullptr; // how often the loop goes on; null: the loop cannot be described
  BitVector late;              // accesses behind the way out: the last iteration leaves before them
  SmallVector<Description, 16> descriptions;
  SmallVector<Lead, 16> leads;
  SmallVector<size_t, 16> others;
  SmallVector<Apart, 4> apart;
};

// `ask`: whether strays may be told apart from others by their ranges.
Found find(Analysis &a, Loop &loop, ArrayRef<Access> accesses, bool ask) {
  const SCEV *taken = a.evolution.getBackedgeTakenCount(&loop);
  if (isa<SCEVCouldNotCompute>(taken) || a.evolution.getTypeSizeInBits(taken->getType()) > 64)
    return {};
  Found found;
  auto &descriptions = found.descriptions;
  auto &others = found.others;
  descriptions.resize(accesses.size());
  found.late.resize(accesses.size());
  SmallVector<std::optional<Range>, 16> ranges(accesses.size());
  for (auto [i, access] : enumerate(accesses)) {
    if (describe(a, loop, loop.getExitingBlock(), access, descriptions[i]))
      continue;
    if (describe(a, loop, loop.getLoopLatch(), access, descriptions[i])) {
      found.late.set(i);
      continue;
    }
    descriptions[i] = {nullptr, nullptr};
    if (ask)
      ranges[i] = range_of(a, loop, access);
    others.push_back(i);
  }
  // Disjoint bytes may share a granule.
  auto are_known_apart = [&](size_t one, size_t other) {
    return !accesses[one].beside() && !accesses[other].beside() && never_meet(a, accesses[one], accesses[other]);
  };
  // What may meet a stray stays in its place beside it, and is one more that others may meet.
  for (size_t met = 0; met < others.size(); met++)
    for (size_t i = 0; i < accesses.size(); i++)
      if (descriptions[i].start && !ranges[others[met]] && !are_known_apart(others[met], i)) {
        descriptions[i] = {nullptr, nullptr};
        found.late.reset(i);
        others.push_back(i);
      }
  if (others.size() == accesses.size())
    return {};
  for (size_t i = 0; i < accesses.size(); i++)
    found.leads.push_back(find_leader(a, descriptions, found.leads));
  for (size_t other : others)
    for (size_t i = 0; i < accesses.size(); i++) {
      if (!descriptions[i].start || !ranges[other] || are_known_apart(other, i))
        continue;
      const Lead &lead = found.leads[i];
      Bytes bytes = {lead.offset, lead.offset + int64_t(accesses[i].bytes())};
      Range from = *ranges[other];
      // Bytes that are in none of some whole granules are in other granules.
      int64_t beside = std::min(accesses[i].beside(), accesses[other].beside());
      from.bytes.first -= beside;
      from.bytes.end += beside;
      auto *like = llvm::find_if(found.apart, [&](const Apart &before) {
        return before.leader == lead.leader && before.from.base == from.base;
      });
      if (like == found.apart.end())
        found.apart.push_back({lead.leader, bytes, from});
      else
        like->bytes.join(bytes), like->from.bytes.join(from.bytes);
    }
  if (found.apart.size() > MOST_COMPARED)
    return find(a, loop, accesses, false);
  found.taken = taken;
  return found;
}

// What a loop writes in step with one of its accesses: bytes behind that. It might change what is read ahead.
struct Threat {
  size_t leader;
  Bytes bytes;
};
using Threats = SmallVector<Threat, 4>;

// False: there are too many, or such whose addresses are not known before the loop.
bool find_threats(Analysis &a, Loop &loop, ArrayRef<Access> accesses, const Found &found, const ReadAhead &read,
                  Threats &threats) {
  for (BasicBlock *block : loop.blocks())
    for (Instruction &instruction : *block) {
      if (!isa<StoreInst>(instruction) && !isa<MemIntrinsic>(instruction))
        continue;
      Access store(instruction, true);
      if (all_of(read.ahead(), [&](LoadInst *load) { return never_meet(a, store, Access(*load, false)); }))
        continue;
      size_t number = llvm::find(accesses, store) - accesses.begin();
      if (number == accesses.size() || !found.descriptions[number].start)
        return false;
      const Lead &lead = found.leads[number];
      Bytes bytes = {lead.offset, lead.offset + int64_t(store.bytes())};
      auto *threat = llvm::find_if(threats, [&](const Threat &other) { return other.leader == lead.leader; });
      if (threat == threats.end())
        threats.push_back({lead.leader, bytes});
      else
        threat->bytes.join(bytes);
    }
  return threats.size() * read.places().size() <= MOST_COMPARED;
}

// Whether an access that is first at `address`, then `stride` bytes further each time, never reaches a place.
Value *stays_away(IRBuilder<> &builder, Value *address, Value *stride, Value *iterations, uint64_t bytes,
                  const ReadAhead::Place &place) {
  Type *word = builder.getInt64Ty();
  Value *none = builder.getInt64(0), *first = builder.CreatePtrToInt(address, word);
  Value *reach = builder.CreateMul(stride, builder.CreateSub(iterations, builder.getInt64(1)));
  Value *down = builder.CreateBinaryIntrinsic(Intrinsic::smin, reach, none);
  Value *up = builder.CreateBinaryIntrinsic(Intrinsic::smax, reach, none);
  Value *end = builder.CreateAdd(builder.CreateAdd(first, up), builder.getInt64(bytes));
  Value *read = builder.CreateAdd(builder.CreatePtrToInt(place.pointer, word), builder.getInt64(place.first));
  Value *below = builder.CreateICmpULE(end, read);
  Value *behind = builder.CreateAdd(read, builder.getInt64(place.bytes));
  return builder.CreateOr(below, builder.CreateICmpUGE(builder.CreateAdd(first, down), behind));
}

// Whether the loop is what its description in terms of loads ahead of it says. Null: it always is.
Value *is_feasible(Instruction *at, const ReadAhead &read, const Threats &threats, ArrayRef<Apart> apart,
                   SCEVExpander &expander, const ThreadtalkAffine *affine, Value *iterations) {
  IRBuilder<> builder(at);
  Value *feasible = nullptr;
  auto require = [&](Value *condition) { feasible = feasible ? builder.CreateAnd(feasible, condition) : condition; };
  for (auto [one, other] : read.alike())
    require(builder.CreateICmpEQ(one, other));
  SmallVector<ReadAhead::Place, 4> places = read.places();
  auto require_apart = [&](size_t leader, Bytes bytes, const ReadAhead::Place &place) {
    Value *address = builder.CreatePtrAdd(unwrap(affine[leader].address), builder.getInt64(bytes.first));
    require(stays_away(builder, address, unwrap(affine[leader].stride), iterations, bytes.end - bytes.first, place));
  };
  for (const auto &[leader, bytes] : threats)
    for (const ReadAhead::Place &place : places)
      require_apart(leader, bytes, place);
  for (const auto &[leader, bytes, from] : apart) {
    Value *base = expander.expandCodeFor(from.base, from.base->getType(), at);
    require_apart(leader, bytes, {base, from.bytes.first, uint64_t(from.bytes.end - from.bytes.first)});
  }
  return feasible ? builder.CreateFreeze(feasible) : nullptr;
}

// Values that leave the loop get a second origin: the copy.
void join_exits(Loop &loop, BasicBlock *exit, ValueToValueMapTy &map) {
  for (PHINode &phi : exit->phis()) {
    for (unsigned i = 0, n = phi.getNumIncomingValues(); i < n; i++) {
      BasicBlock *from = phi.getIncomingBlock(i);
      if (!loop.contains(from))
        continue;
      Value *value = phi.getIncomingValue(i);
      if (Value *copied = map.lookup(value))
        value = copied;
      phi.addIncoming(value, cast<BasicBlock>(map[from]));
    }
  }
}

// Where the copy has ended, what its last iteration has accessed before it left.
void tell_last(ArrayRef<Access> accesses, const Found &found, BasicBlock &exit, ValueToValueMapTy &map,
               ThreadtalkAffine *affine) {
  for (auto [i, access] : enumerate(accesses)) {
    if (!found.descriptions[i].start || found.late[i])
      continue;
    affine[i].last = wrap(exit.getTerminator());
    affine[i].last_address = wrap(access.in(*cast<Instruction>(&*map.lookup(access.instruction()))).pointer());
  }
}

} // namespace

bool threadtalk_shim_copy_loop(void *analysis, LLVMBasicBlockRef header, const ThreadtalkLoopAccess *accesses,
                               size_t count, ThreadtalkAffine *affine, ThreadtalkLoopCopy *out) {
  auto &a = *static_cast<Analysis *>(analysis);
  Loop *loop = a.loops.getLoopFor(unwrap(header));
  if (!loop || loop->getHeader() != unwrap(header) || !may_be_copied(*loop))
    return false;
  BasicBlock *exit = loop->getUniqueExitBlock();
  if (!exit || !loop->getExitingBlock() || exit->isEHPad())
    return false;

  SmallVector<Access, 16> all(accesses, accesses + count);
  Found found = find(a, *loop, all, true);
  ReadAhead read(a, *loop);
  Threats threats;
  if ((!found.taken || !found.others.empty()) && read.begin()) {
    Found with = find(a, *loop, all, true);
    bool more = with.taken && (!found.taken || with.others.size() < found.others.size());
    if (more && find_threats(a, *loop, all, with, read, threats))
      found = std::move(with);
    else
      read.put_back();
  }
  if (!found.taken)
    return false;
  auto &[taken, late, descriptions, leads, others, apart] = found;
  Type *word = Type::getInt64Ty(a.function.getContext());
  // Whole ones: of one that leaves in between, what it accesses is told behind the loop.
  const SCEV *iterations = a.evolution.getNoopOrZeroExtend(taken, word);
  if (late.none())
    iterations = a.evolution.getAddExpr(iterations, a.evolution.getOne(word));
  BasicBlock *decision = loop->getLoopPreheader();
  Instruction *at = decision->getTerminator();
  const DataLayout &layout = a.function.getParent()->getDataLayout();
  SCEVExpander expander(a.evolution, layout, "threadtalk");
  bool can = expander.isSafeToExpandAt(iterations, at) && can_be_computed(expander, descriptions, leads, at);
  for (const Apart &one : apart)
    can = can && expander.isSafeToExpandAt(one.from.base, at);
  if (!can)
    return false;
  // From here on the function changes. The pipeline's last simplification lets the branch that skips a loop and the
  // loop end in one block; a loop that is copied needs an exit of its own.
  formDedicatedExitBlocks(loop, &a.tree, &a.loops, nullptr, /*PreserveLCSSA=*/false);
  exit = loop->getUniqueExitBlock();
  formLCSSA(*loop, a.tree, &a.loops, &a.evolution);
  out->iterations = wrap(expander.expandCodeFor(iterations, word, at));
  compute(a, expander, descriptions, leads, at, affine);
  Value *begun = unwrap(out->iterations);
  if (late.any())
    begun = IRBuilder<>(at).CreateAdd(begun, ConstantInt::get(word, 1));
  out->feasible = wrap(is_feasible(at, read, threats, apart, expander, affine, begun));
  expander.clear();

  BasicBlock *preheader = SplitBlock(decision, decision->getTerminator(), &a.tree, &a.loops, nullptr,
                                     loop->getHeader()->getName() + ".hooked");
  ValueToValueMapTy map;
  SmallVector<BasicBlock *, 8> blocks;
  Loop *copy =
      cloneLoopWithPreheader(preheader, decision, loop, map, ".plain", &a.loops, &a.tree, blocks);
  remapInstructionsInBlocks(blocks, map);
  join_exits(*loop, exit, map);
  for (size_t stray : others) {
    auto *copied = cast<Instruction>(&*map.lookup(all[stray].instruction()));
    affine[stray].stray = wrap(copied);
    affine[stray].address = wrap(all[stray].in(*copied).pointer());
  }
  Instruction *old = decision->getTerminator();
  IRBuilder<> builder(old);
  auto *branch = builder.CreateCondBr(builder.getFalse(), copy->getLoopPreheader(), preheader);
  branch->setDebugLoc(old->getDebugLoc());
  old->eraseFromParent();
  a.tree.changeImmediateDominator(exit, decision);
  // Loops must leave to blocks of their own.
  formDedicatedExitBlocks(copy, &a.tree, &a.loops, nullptr, /*PreserveLCSSA=*/true);
  formDedicatedExitBlocks(loop, &a.tree, &a.loops, nullptr, /*PreserveLCSSA=*/true);
  if (late.any())
    tell_last(all, found, *copy->getUniqueExitBlock(), map, affine);
  a.evolution.forgetTopmostLoop(loop);
  out->branch = wrap(branch);
  return true;
}
