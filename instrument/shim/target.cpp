// What the CPU is that a function is compiled for.
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Function.h"
#include "llvm/TargetParser/X86TargetParser.h"

#include "shim.h"

using namespace llvm;

void threadtalk_shim_has_features(LLVMValueRef function, const char *const *names, size_t count, bool *has) {
  auto *of = unwrap<Function>(function);
  StringMap<bool> features;
  StringRef cpu = of->getFnAttribute("target-cpu").getValueAsString();
  if (X86::parseArchX86(cpu) != X86::CK_None) {
    SmallVector<StringRef, 64> own;
    X86::getFeaturesForCPU(cpu, own);
    for (StringRef name : own)
      features[name] = true;
  }
  // Later ones count, and clang names implied ones, too; other compilers may not.
  SmallVector<StringRef, 64> given;
  of->getFnAttribute("target-features").getValueAsString().split(given, ',', -1, false);
  for (StringRef text : given) {
    bool enabled = text.front() == '+';
    X86::updateImpliedFeatures(text.drop_front(), enabled, features);
    features[text.drop_front()] = enabled;
  }
  for (size_t i = 0; i < count; i++)
    has[i] = features.lookup(names[i]);
}
