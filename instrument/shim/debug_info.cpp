// Names in debug information.
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

#include "shim.h"

using namespace llvm;

LLVMMetadataRef threadtalk_shim_subprogram_of(LLVMMetadataRef scope) {
  auto *local = dyn_cast_or_null<DILocalScope>(unwrap(scope));
  return local ? wrap(local->getSubprogram()) : nullptr;
}

const char *threadtalk_shim_subprogram_name(LLVMMetadataRef subprogram, bool linkage, size_t *length) {
  auto *program = cast<DISubprogram>(unwrap(subprogram));
  StringRef name = linkage ? program->getLinkageName() : program->getName();
  *length = name.size();
  return name.data();
}

const char *threadtalk_shim_main_file(LLVMModuleRef module, size_t *length) {
  const std::string &name = unwrap(module)->getSourceFileName();
  *length = name.size();
  return name.data();
}

bool threadtalk_shim_location(LLVMValueRef instruction, ThreadtalkLocation *out) {
  DILocation *at = unwrap<Instruction>(instruction)->getDebugLoc().get();
  DISubprogram *subprogram = at ? at->getScope()->getSubprogram() : nullptr;
  if (!subprogram)
    return false;
  out->raw = wrap(at), out->scope = wrap(at->getScope()), out->subprogram = wrap(subprogram);
  out->inlined_at = wrap(at->getInlinedAt()), out->line = at->getLine();
  return true;
}
