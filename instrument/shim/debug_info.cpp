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

// Values and users that are looked at for the location of a load.
static constexpr size_t MostValues = 64;
static constexpr unsigned MostUsers = 1024;

// The one that comes first in its file: which of several is taken must not hang on the order of uses, which changes with
// each PHI node that the pass adds.
static DILocation *first(DILocation *a, DILocation *b) {
  auto place = [](DILocation *at) { return std::make_pair(at->getLine(), at->getColumn()); };
  return !a || (b && place(b) < place(a)) ? b : a;
}

// Whether `inner` is in a block of the source that is in the one of `outer`.
static bool is_within(const DILocation *inner, const DILocation *outer) {
  if (inner->getInlinedAt() != outer->getInlinedAt())
    return false;
  const DILocalScope *scope = inner->getScope(), *around = outer->getScope();
  while (scope != around && isa<DILexicalBlockBase>(scope))
    scope = cast<DILexicalBlockBase>(scope)->getScope();
  return scope == around && inner->getScope() != around;
}

// What a memory access without a location belongs to: LLVM drops that of what it moves out of a loop, makes for a loop's
// first iteration or joins to vectors. A load that a later one takes turns with is as that one, else it is where its value
// is used; a store is where its value was made. PHI nodes that lead from one to the other are looked through, as the pass
// adds some, and so is what has no location either. A value that is used only after the block of the source that the load
// is executed in belongs to that block, as its end tells it.
static DILocation *beside(const Instruction *access) {
  if (auto *store = dyn_cast<StoreInst>(access))
    return known(store->getValueOperand());
  if (!isa<LoadInst>(access))
    return nullptr;
  DILocation *by_turns = nullptr, *use = nullptr;
  // Where the value goes; and the PHI nodes from which it may come there in another's place. What these give elsewhere is
  // no use of it.
  SmallVector<const Instruction *, 8> values{access};
  SmallVector<const PHINode *, 8> origins;
  auto add = [](auto &list, auto *value) {
    if (list.size() < MostValues && !is_contained(list, value))
      list.push_back(value);
  };
  unsigned users = 0;
  for (size_t at = 0; at < values.size() && users <= MostUsers; at++) {
    if (auto *phi = dyn_cast<PHINode>(values[at]))
      add(origins, phi);
    for (const User *user : values[at]->users()) {
      if (++users > MostUsers)
        break;
      auto *instruction = cast<Instruction>(user);
      if (DILocation *place = isa<PHINode>(instruction) ? nullptr : known(instruction))
        use = first(use, place);
      else
        add(values, instruction);
    }
  }
  for (size_t at = 0; at < origins.size(); at++)
    for (const Value *other : origins[at]->incoming_values())
      if (auto *phi = dyn_cast<PHINode>(other))
        add(origins, phi);
      else if (other != access && isa<LoadInst>(other))
        by_turns = first(by_turns, known(other));
  if (by_turns)
    return by_turns;
  DILocation *here = known(access->getParent()->getTerminator());
  return here && (!use || is_within(here, use)) ? here : use;
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
