// What a pointer points to.
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include "shim.h"

using namespace llvm;

namespace {

// Values that are one pointer by turns, as far as they are followed.
constexpr unsigned MostTurns = 16;

// 32 steps: a chain of more is treated as an object of its own, which is instrumented.
const Value *underlying(const Value *pointer) { return getUnderlyingObject(pointer, 32); }

} // namespace

LLVMValueRef threadtalk_shim_underlying_object(LLVMValueRef pointer) {
  const Value *first = underlying(unwrap(pointer));
  // A pointer that a loop moves through one object.
  const Value *object = nullptr;
  SmallSetVector<const Value *, 8> turns;
  turns.insert(first);
  for (unsigned next = 0; next < turns.size(); next++) {
    if (turns.size() > MostTurns)
      return wrap(const_cast<Value *>(first));
    if (auto *phi = dyn_cast<PHINode>(turns[next])) {
      for (const Value *value : phi->incoming_values())
        turns.insert(underlying(value));
    } else if (auto *select = dyn_cast<SelectInst>(turns[next])) {
      turns.insert(underlying(select->getTrueValue()));
      turns.insert(underlying(select->getFalseValue()));
    } else if (object) {
      return wrap(const_cast<Value *>(first));
    } else {
      object = turns[next];
    }
  }
  return wrap(const_cast<Value *>(object ? object : first));
}

LLVMValueRef threadtalk_shim_base(LLVMModuleRef module, LLVMValueRef pointer, int64_t *offset) {
  const DataLayout &layout = unwrap(module)->getDataLayout();
  const Value *value = unwrap(pointer);
  APInt bytes(layout.getIndexTypeSizeInBits(value->getType()), 0);
  const Value *base = value->stripAndAccumulateConstantOffsets(layout, bytes, /*AllowNonInbounds=*/true);
  *offset = bytes.getSExtValue();
  return wrap(const_cast<Value *>(base));
}

namespace {

// Arithmetic on an address between the address and a comparison.
constexpr unsigned MostSteps = 64;

// Whether nothing is done with what is computed from an address but to compare it, or to subtract another address of
// the same object from it.
bool only_compared(const Value *number, const Value *object, unsigned &steps) {
  return all_of(number->users(), [&](const User *user) {
    if (++steps > MostSteps)
      return false;
    if (isa<ICmpInst>(user))
      return true;
    auto *binary = dyn_cast<BinaryOperator>(user);
    if (binary && binary->getOpcode() == Instruction::Sub) {
      auto *other = dyn_cast<PtrToIntInst>(binary->getOperand(binary->getOperand(0) == number ? 1 : 0));
      if (other && isa<PtrToIntInst>(number) && underlying(other->getPointerOperand()) == object)
        return true;
    }
    return (binary || isa<TruncInst, ZExtInst, FreezeInst>(user)) && only_compared(user, object, steps);
  });
}

// Looks for a way in which others get to know an address. LLVM's own tracker counts comparisons, because they give away
// bits of it. Nobody gets at the memory by them: loops compare pointers with where arrays end, and vectorised ones test
// whether arrays overlap.
struct Others : CaptureTracker {
  Others(const Value *object, bool return_captures) : object(object), return_captures(return_captures) {}

  void tooManyUses() override { captures = true; }

  bool captured(const Use *use) override {
    const User *user = use->getUser();
    unsigned steps = 0;
    if (isa<ICmpInst>(user) || (isa<ReturnInst>(user) && !return_captures))
      return false;
    if (isa<PtrToIntInst>(user) && only_compared(user, object, steps))
      return false;
    captures = true;
    return true;
  }

  const Value *object;
  bool return_captures;
  bool captures = false;
};

} // namespace

bool threadtalk_shim_captured(LLVMValueRef pointer, bool return_captures) {
  Others others(unwrap(pointer), return_captures);
  // The default limit of 100 uses would call most arrays of -O0 code captured.
  PointerMayBeCaptured(unwrap(pointer), &others, /*MaxUsesToExplore=*/4096);
  return others.captures;
}

bool threadtalk_shim_interposable(LLVMValueRef function) { return unwrap<Function>(function)->isInterposable(); }

bool threadtalk_shim_only_reads(LLVMValueRef function) { return unwrap<Function>(function)->onlyReadsMemory(); }

uint64_t threadtalk_shim_fixed_store_size(LLVMModuleRef module, LLVMTypeRef type) {
  Type *ty = unwrap(type);
  if (!ty->isSized())
    return 0;
  TypeSize size = unwrap(module)->getDataLayout().getTypeStoreSize(ty);
  return size.isScalable() ? 0 : size.getFixedValue();
}

uint64_t threadtalk_shim_static_alloca_size(LLVMValueRef value) {
  auto *alloca = unwrap<AllocaInst>(value);
  if (!isa<ConstantInt>(alloca->getArraySize()))
    return 0;
  auto size = alloca->getAllocationSize(alloca->getModule()->getDataLayout());
  return size && !size->isScalable() ? size->getFixedValue() : 0;
}

uint64_t threadtalk_shim_known_alignment(LLVMValueRef pointer, LLVMModuleRef module) {
  return unwrap(pointer)->getPointerAlignment(unwrap(module)->getDataLayout()).value();
}

uint64_t threadtalk_shim_alloca_element_size(LLVMValueRef value) {
  auto *alloca = unwrap<AllocaInst>(value);
  TypeSize size = alloca->getModule()->getDataLayout().getTypeAllocSize(alloca->getAllocatedType());
  return size.isScalable() ? 0 : size.getFixedValue();
}
