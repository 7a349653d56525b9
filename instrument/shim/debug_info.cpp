// Names in debug information.
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
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

// The location of an instruction, if it is one in the source.
static DILocation *known(const Value *value) {
  auto *instruction = dyn_cast<Instruction>(value);
  DILocation *at = instruction ? instruction->getDebugLoc().get() : nullptr;
  return at && at->getLine() > 0 ? at : nullptr;
}

// What a memory access without a location belongs to: LLVM drops that of what it moves out of a loop or makes for a
// loop's first iteration. A load that a later one takes turns with is as that one, else it is where its value is used;
// a store is where its value was made.
static DILocation *beside(const Instruction *access) {
  if (auto *store = dyn_cast<StoreInst>(access))
    return known(store->getValueOperand());
  if (!isa<LoadInst>(access))
    return nullptr;
  DILocation *use = nullptr;
  for (const User *user : access->users()) {
    auto *phi = dyn_cast<PHINode>(user);
    if (!phi) {
      use = use ? use : known(user);
      continue;
    }
    for (const Value *other : phi->incoming_values())
      if (DILocation *at = other != access && isa<LoadInst>(other) ? known(other) : nullptr)
        return at;
    for (const User *later : phi->users())
      use = use ? use : known(later);
  }
  return use;
}

bool threadtalk_shim_location(LLVMValueRef instruction, ThreadtalkLocation *out) {
  auto *of = unwrap<Instruction>(instruction);
  DILocation *at = of->getDebugLoc().get();
  at = at ? at : beside(of);
  DISubprogram *subprogram = at ? at->getScope()->getSubprogram() : nullptr;
  if (!subprogram)
    return false;
  out->raw = wrap(at), out->scope = wrap(at->getScope()), out->subprogram = wrap(subprogram);
  out->inlined_at = wrap(at->getInlinedAt()), out->line = at->getLine();
  return true;
}
