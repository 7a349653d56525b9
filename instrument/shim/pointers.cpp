// What a pointer points to.
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include "shim.h"

using namespace llvm;

LLVMValueRef threadtalk_shim_underlying_object(LLVMValueRef pointer) {
  // 32 steps: a chain of more is treated as an object of its own, which is instrumented.
  return wrap(const_cast<Value *>(getUnderlyingObject(unwrap(pointer), 32)));
}

bool threadtalk_shim_captured(LLVMValueRef pointer, bool return_captures) {
  // The default limit of 100 uses would call most arrays of -O0 code captured.
  return PointerMayBeCaptured(unwrap(pointer), return_captures, /*StoreCaptures=*/true, /*MaxUsesToExplore=*/4096);
}

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
