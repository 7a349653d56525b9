// How far the alignment that an access claims can be true: `*(uint64_t *)(bytes + n)` claims that of its type, wherever
// the bytes are. Processors do not mind, and codecs, compressors and hash functions are full of it.
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/KnownBits.h"

#include "shim.h"

using namespace llvm;

namespace {

// No access claims more.
constexpr uint64_t Most = 64;
// PHI nodes and selects that are followed.
constexpr unsigned MostTurns = 16;

// The greatest power of two of which a number of bytes is a multiple.
uint64_t power(const APInt &bytes) { return bytes.isZero() ? Most : uint64_t(1) << std::min(bytes.countr_zero(), 6u); }

// The same of a number that the program computes.
uint64_t power_of(const Value *number, const DataLayout &layout) {
  // The distance of two pointers is a multiple of what they are.
  auto *difference = dyn_cast<BinaryOperator>(number);
  if (difference && difference->getOpcode() == Instruction::Sub && isa<PtrToIntOperator>(difference->getOperand(0)) &&
      isa<PtrToIntOperator>(difference->getOperand(1)))
    return Most;
  return uint64_t(1) << std::min(computeKnownBits(number, layout).countMinTrailingZeros(), 6u);
}

// What of a claim the arithmetic that leads to a pointer leaves. `constant`: bytes that were added behind it.
uint64_t left(const Value *pointer, APInt constant, const DataLayout &layout, SmallPtrSetImpl<const Value *> &turns) {
  uint64_t all = Most;
  while (auto *step = dyn_cast<GEPOperator>(pointer)) {
    MapVector<Value *, APInt> numbers;
    if (step->getType()->isVectorTy() || !step->collectOffset(layout, constant.getBitWidth(), numbers, constant))
      return all;
    for (const auto &[number, scale] : numbers)
      all = std::min(all, power(scale) * power_of(number, layout));
    pointer = step->getPointerOperand();
  }
  SmallVector<const Value *, 4> before;
  if (auto *phi = dyn_cast<PHINode>(pointer))
    before.append(phi->value_op_begin(), phi->value_op_end());
  else if (auto *select = dyn_cast<SelectInst>(pointer))
    before = {select->getTrueValue(), select->getFalseValue()};
  // Of a loop's pointer: after a step from where it was.
  if (before.empty() || turns.size() == MostTurns || !turns.insert(pointer).second) {
    if (isa<AllocaInst, GlobalVariable>(pointer))
      all = std::min(all, pointer->getPointerAlignment(layout).value());
    return std::min(all, power(constant));
  }
  for (const Value *value : before)
    all = std::min(all, left(value, constant, layout, turns));
  return all;
}

} // namespace

uint64_t threadtalk_shim_left_of_alignment(LLVMValueRef pointer, LLVMModuleRef module) {
  const DataLayout &layout = unwrap(module)->getDataLayout();
  const Value *value = unwrap(pointer);
  SmallPtrSet<const Value *, MostTurns> turns;
  return left(value, APInt(layout.getIndexTypeSizeInBits(value->getType()), 0), layout, turns);
}
