// Registration: the pass runs at the end of the optimiser's pipeline at every level, before any LTO.
#include "llvm/IR/Module.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"

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

// Sets an option of LLVM unless the command line does.
void choose(StringRef name, StringRef value) {
  auto &options = cl::getRegisteredOptions();
  auto found = options.find(name);
  if (found != options.end() && found->second->getNumOccurrences() == 0)
    found->second->addOccurrence(0, name, value);
}

} // namespace

void threadtalk_shim_register(void *pass_builder) {
  static_cast<PassBuilder *>(pass_builder)
      ->registerOptimizerLastEPCallback(
          [](ModulePassManager &passes, OptimizationLevel) { passes.addPass(InstrumentPass()); });
}

void threadtalk_shim_error(LLVMContextRef context, const char *text, size_t length) {
  unwrap(context)->emitError(Twine(StringRef(text, length)));
}

// LLVM 19 finds out where variables are by following the values of all registers and stack slots through all blocks,
// in functions without variables, too: a tenth of what instrumented code takes to generate. The other of its two ways
// follows variables alone. It is chosen by an option of the process; one that the command line gives stays.
void threadtalk_shim_follow_variables_alone() { choose("experimental-debug-variable-locations", "false"); }

// Where each access is a call there is nothing to schedule but the arguments of one, and nothing common to calls but
// constants.
void threadtalk_shim_hurry() {
  choose("enable-misched", "false");
  choose("disable-machine-cse", "true");
}
