// Names in debug information.
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

#include "shim.h"
#include <utility>

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

// PHI nodes and users that are looked at for the location of a load.
static constexpr size_t MostPhis = 64;
static constexpr unsigned MostUsers = 1024;

// The one that comes first in its file: which of several is taken must not hang on the order of uses, which changes with
// each PHI node that the pass adds.
static DILocation *first(DILocation *a, DILocation *b) {
  auto place = [](DILocation *at) { return std::make_pair(at->getLine(), at->getColumn()); };
  return !a || (b && place(b) < place(a)) ? b : a;
}

// What a memory access without a location belongs to: LLVM drops that of what it moves out of a loop or makes for a
// loop's first iteration. A load that a later one takes turns with is as that one, else it is where its value is used; a
// store is where its value was made. PHI nodes that lead from one to the other are looked through, as the pass adds some.
static DILocation *beside(const Instruction *access) {
  if (auto *store = dyn_cast<StoreInst>(access))
    return known(store->getValueOperand());
  if (!isa<LoadInst>(access))
    return nullptr;
  DILocation *by_turns = nullptr, *use = nullptr;
  SmallVector<const PHINode *, 8> phis;
  unsigned users = 0;
  auto add = [&](const PHINode *phi) {
    if (phis.size() < MostPhis && !is_contained(phis, phi))
      phis.push_back(phi);
  };
  auto look_at_users = [&](const Instruction *value) {
    for (const User *user : value->users()) {
      if (++users > MostUsers)
        return;
      if (auto *phi = dyn_cast<PHINode>(user))
        add(phi);
      else
        use = first(use, known(user));
    }
  };
  look_at_users(access);
  for (size_t at = 0; at < phis.size(); at++) {
    look_at_users(phis[at]);
    for (const Value *other : phis[at]->incoming_values())
      if (auto *phi = dyn_cast<PHINode>(other))
        add(phi);
      else if (other != access && isa<LoadInst>(other))
        by_turns = first(by_turns, known(other));
  }
  return by_turns ? by_turns : use;
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
