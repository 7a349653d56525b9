// Registration: the pass runs at the end of the optimiser's pipeline at every level, before any LTO.
#include "llvm/IR/Module.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Passes/PassBuilder.h"

#include "shim.h"

using namespace llvm;

namespace {

struct InstrumentPass : PassInfoMixin<InstrumentPass> {
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
    return threadtalk_pass_run(wrap(&module)) ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  // Runs under -O0 and -opt-bisect-limit too: a profile must not depend on them.
  static bool isRequired() { return true; }
};

} // namespace

void threadtalk_shim_register(void *pass_builder) {
  static_cast<PassBuilder *>(pass_builder)
      ->registerOptimizerLastEPCallback(
          [](ModulePassManager &passes, OptimizationLevel) { passes.addPass(InstrumentPass()); });
}

void threadtalk_shim_error(LLVMContextRef context, const char *text, size_t length) {
  unwrap(context)->emitError(Twine(StringRef(text, length)));
}
