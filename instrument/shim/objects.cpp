// What an access goes to, in the words of the source, and how far it moves from one iteration to the next.
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/AbstractCallSite.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include <optional>

#include "analysis.h"
#include "shim.h"

using namespace llvm;

namespace {

// Numbers of threadtalk_abi::module::ObjectKind.
enum Kind : uint32_t { Unknown = 0, Global = 1, Stack = 2, Pointer = 3 };

// How many loads, PHI nodes and selects are followed to a name.
constexpr int MostSteps = 6;
// Callers of a function that are looked at.
constexpr int MostCallers = 16;
// Uses of a variable that are looked through for each access: in huge functions all would be, without optimisation.
constexpr unsigned MostUses = 1024;

struct Object {
  std::string name;
  Kind kind = Unknown;
  const DIFile *file = nullptr;
  uint32_t line = 0;
  const DIType *type = nullptr; // of what the name names
};

const DIType *strip(const DIType *type) {
  while (auto *derived = dyn_cast_or_null<DIDerivedType>(type)) {
    auto tag = derived->getTag();
    if (tag != dwarf::DW_TAG_typedef && tag != dwarf::DW_TAG_const_type && tag != dwarf::DW_TAG_volatile_type &&
        tag != dwarf::DW_TAG_restrict_type && tag != dwarf::DW_TAG_atomic_type && tag != dwarf::DW_TAG_member)
      break;
    type = derived->getBaseType();
  }
  return type;
}

// What a pointer or reference of this type leads to.
const DIType *pointee(const DIType *type) {
  auto *derived = dyn_cast_or_null<DIDerivedType>(strip(type));
  if (!derived || (derived->getTag() != dwarf::DW_TAG_pointer_type &&
                   derived->getTag() != dwarf::DW_TAG_reference_type &&
                   derived->getTag() != dwarf::DW_TAG_rvalue_reference_type))
    return nullptr;
  return strip(derived->getBaseType());
}

// Whether it is a number, a character, or a name of one such as `std::byte`.
bool is_number(const DIType *type) {
  type = strip(type);
  return type && (isa<DIBasicType>(type) || type->getTag() == dwarf::DW_TAG_enumeration_type);
}

// How names of members begin that only the language's library may give: nobody knows its containers' own members.
constexpr StringLiteral LibraryMembers[] = {"_M_", "__"};

// The member of a structure at a byte offset: appends its name and gives its type. Arrays of structures: the offset
// within one element.
const DIType *member(const DIType *type, uint64_t offset, std::string &path, StringRef arrow) {
  type = strip(type);
  auto *composite = dyn_cast_or_null<DICompositeType>(type);
  if (!composite)
    return type;
  if (composite->getTag() == dwarf::DW_TAG_array_type) {
    const DIType *element = strip(composite->getBaseType());
    if (!element || element->getSizeInBits() < 8)
      return nullptr;
    return member(element, offset % (element->getSizeInBits() / 8), path, arrow);
  }
  if (composite->getTag() != dwarf::DW_TAG_structure_type && composite->getTag() != dwarf::DW_TAG_class_type)
    return type;
  for (const DINode *node : composite->getElements()) {
    auto *field = dyn_cast<DIDerivedType>(node);
    // Members of a class that this one is derived from. What is behind them may lie in its padding; where a virtual one
    // lies is known when the program runs.
    if (field && field->getTag() == dwarf::DW_TAG_inheritance && !(field->getFlags() & DINode::FlagVirtual)) {
      const DIType *base = strip(field->getBaseType());
      uint64_t begin = field->getOffsetInBits() / 8, bytes = base ? base->getSizeInBits() / 8 : 0;
      std::string inherited;
      if (offset < begin || offset >= begin + bytes)
        continue;
      const DIType *found = member(base, offset - begin, inherited, arrow);
      StringRef first = StringRef(inherited).substr(arrow.size());
      if (found && none_of(LibraryMembers, [&](StringRef begin) { return first.starts_with(begin); })) {
        path += inherited;
        return found;
      }
      continue;
    }
    if (!field || field->getTag() != dwarf::DW_TAG_member || field->isStaticMember())
      continue;
    uint64_t begin = field->getOffsetInBits() / 8, bytes = field->getSizeInBits() / 8;
    if (offset < begin || offset >= begin + bytes)
      continue;
    // Where the functions of an object are is no member that the source names.
    if (!field->getName().empty() && !field->isArtificial()) {
      path += arrow;
      path += field->getName();
      arrow = ".";
    }
    return member(field->getBaseType(), offset - begin, path, arrow);
  }
  return nullptr;
}

void fill(Object &object, const DIVariable *variable) {
  object.name = variable->getName().str();
  object.file = variable->getFile();
  object.line = variable->getLine();
  object.type = strip(variable->getType());
  // The block of a task is where the construct is.
  auto *local = dyn_cast<DILocalVariable>(variable);
  const DISubprogram *function = local && !object.file ? local->getScope()->getSubprogram() : nullptr;
  if (function) {
    object.file = function->getFile();
    object.line = function->getLine();
  }
}

// What OpenMP's outlined functions get: the block that holds a task with its arguments, or a part of it.
bool is_task_data(StringRef name) { return name == ".task_t." || name == ".privates." || name == "__context"; }

// Whether the name means something to whoever wrote the source: the compiler's other variables (`.global_tid.`,
// `__begin1`) are in the way of better names. `this` is in no source either, but everybody knows it.
bool is_meaningful(const DILocalVariable *variable) {
  return !variable->getName().empty() &&
         (!variable->isArtificial() || variable->isObjectPointer() || is_task_data(variable->getName()));
}

// How many calls that were inlined into each other a place is in.
unsigned calls_around(const DILocation *at) {
  unsigned calls = 0;
  while (at && (at = at->getInlinedAt()))
    calls++;
  return calls;
}

// How well a variable names what it is the value or the place of: what an object is called where a member of it was inlined
// says more than `this`, and what the caller calls it more than a parameter of what was inlined.
enum Telling { Itself, Parameter, Variable };

Telling tells(const DILocalVariable *variable, const DILocation *at) {
  if (variable->getName() == "this")
    return Itself;
  return variable->isParameter() && at && at->getInlinedAt() ? Parameter : Variable;
}

// The variable whose value (`address`: whose place) this is, if debug information names one.
std::optional<Telling> find_variable(Value *value, bool address, Object &object) {
  SmallVector<DbgVariableIntrinsic *, 4> intrinsics;
  SmallVector<DbgVariableRecord *, 4> records;
  findDbgUsers(intrinsics, value, &records);
  auto fits = [&](bool declares, const DIExpression *expression) {
    if (!expression)
      return false;
    // A parameter that stands for a captured variable: "the variable is where this points".
    bool indirect = expression->getNumElements() == 1 && expression->getElement(0) == dwarf::DW_OP_deref;
    bool plain = expression->getNumElements() == 0;
    return address ? (declares && plain) || (!declares && indirect) : !declares && plain;
  };
  // What was optimised by assignments has no declaration, but each assignment says where the variable lies.
  if (address)
    for (DbgVariableRecord *record : records)
      if (record->isDbgAssign() && record->getAddress() == value &&
          record->getAddressExpression()->getNumElements() == 0 && is_meaningful(record->getVariable())) {
        fill(object, record->getVariable());
        return Variable;
      }
  // Of those that tell as much, the outermost one; of variables that are none of these, the first.
  std::optional<Telling> best;
  unsigned calls = 0;
  auto consider = [&](const DILocalVariable *variable, const DILocation *at) {
    if (!is_meaningful(variable))
      return;
    Telling telling = tells(variable, at);
    unsigned inlined = calls_around(at);
    if (!best || telling > *best || (telling == *best && telling != Variable && inlined < calls)) {
      fill(object, variable);
      best = telling;
      calls = inlined;
    }
  };
  for (DbgVariableRecord *record : records)
    if (fits(record->isDbgDeclare(), record->getExpression()))
      consider(record->getVariable(), record->getDebugLoc());
  for (DbgVariableIntrinsic *intrinsic : intrinsics)
    if (fits(isa<DbgDeclareInst>(intrinsic), intrinsic->getExpression()))
      consider(intrinsic->getVariable(), intrinsic->getDebugLoc());
  return best;
}

bool describe(Value *pointer, int steps, Object &object);
bool describe_base(Value *base, int steps, Object &object, bool &pointed);

bool same(const Object &a, const Object &b) {
  return a.kind == b.kind && a.name == b.name && a.file == b.file && a.line == b.line;
}

bool is_variable(const Object &object) { return object.kind == Global || object.kind == Stack; }

// What a call that `use` is part of hands to a parameter; null if the function may be called in ways not seen here.
Value *passed(const Use &use, const Argument &parameter) {
  auto *call = dyn_cast<CallBase>(use.getUser());
  if (!call)
    return nullptr;
  // The header's declaration has no !callback: thread, attributes, function, argument.
  Function *callee = call->getCalledFunction();
  if (callee && callee->getName() == "pthread_create" && call->arg_size() == 4 && call->isArgOperand(&use))
    return call->getArgOperandNo(&use) == 2 && parameter.getArgNo() == 0 ? call->getArgOperand(3) : nullptr;
  AbstractCallSite site(&use);
  if (!site || !site.isCallee(&use) || parameter.getArgNo() >= site.getNumArgOperands())
    return nullptr;
  return site.getCallArgOperand(parameter.getArgNo());
}

// The variable that a parameter points into, if nobody else can call the function and all callers pass this one: OpenMP's
// outlined bodies, what starts a thread, helpers.
bool describe_parameter(const Argument &parameter, int steps, Object &object) {
  const Function *function = parameter.getParent();
  if (steps == 0 || !function->hasLocalLinkage() || function->hasNUsesOrMore(MostCallers + 1) ||
      parameter.hasPassPointeeByValueCopyAttr())
    return false;
  bool found = false;
  for (const Use &use : function->uses()) {
    Value *pointer = passed(use, parameter);
    if (!pointer)
      return false;
    Value *base = getUnderlyingObject(pointer, 32);
    if (base == &parameter)
      continue;
    Object variable;
    bool pointed = false;
    if (!describe_base(base, steps - 1, variable, pointed) || pointed || !is_variable(variable))
      return false;
    if (found && !same(object, variable))
      return false;
    // Somewhere inside: at which member is not known.
    if (pointer->stripPointerCasts() != base)
      variable.type = nullptr;
    object = variable;
    found = true;
  }
  return found;
}

// The only value that a local variable ever has, which is read here: without optimisation parameters lie in memory.
Value *only_value(Value *value) {
  for (int step = 0; step < MostSteps; step++) {
    auto *load = dyn_cast<LoadInst>(value);
    auto *slot = load ? dyn_cast<AllocaInst>(load->getPointerOperand()) : nullptr;
    if (!slot || !slot->getAllocatedType()->isPointerTy() || slot->hasNUsesOrMore(MostUses + 1))
      return value;
    Value *stored = nullptr;
    for (User *user : slot->users()) {
      auto *store = dyn_cast<StoreInst>(user);
      if (isa<LoadInst>(user))
        continue;
      if (!store || store->getPointerOperand() != slot || stored)
        return value;
      stored = store->getValueOperand();
    }
    if (!stored)
      return value;
    value = getUnderlyingObject(stored, 32);
  }
  return value;
}

// The name of the place that `pointer` leads to is that of its base plus a member.
void add_member(Object &object, uint64_t offset, bool known, StringRef arrow) {
  // Of numbers and characters each is one, wherever it is.
  if (is_number(object.type))
    return;
  if (!known || !object.type) {
    object.type = nullptr;
    return;
  }
  std::string path;
  object.type = member(object.type, offset, path, arrow);
  object.name += path;
}

// What several values have in common that are one pointer by turns: the same name, or none. What is made from `self` (the
// next step of a loop) adds nothing.
bool describe_all(const Value *self, ArrayRef<Value *> values, int steps, Object &object) {
  bool found = false;
  for (Value *value : values) {
    if (getUnderlyingObject(value, 32) == self)
      continue;
    Object other;
    if (!describe(value, steps - 1, other) || (found && !same(object, other)))
      return false;
    object = other;
    found = true;
  }
  return found;
}

// What receives a value, in the outermost frame of those that were inlined into each other.
struct Receiver {
  Object object;
  bool found = false;
  unsigned frames = 0;
};

// By how many inlined calls a frame is outside of that of `inner`, if it called that one.
std::optional<unsigned> frames_outside(const DILocation *inner, const DILocation *frame) {
  unsigned frames = 0;
  for (; inner && frame; inner = inner->getInlinedAt(), frames++)
    if (inner->getInlinedAt() == frame->getInlinedAt() &&
        inner->getScope()->getSubprogram() == frame->getScope()->getSubprogram())
      return frames;
  return std::nullopt;
}

// Without what the language keeps for its libraries: `rows` for `rows._M_impl._M_start`.
void cut_library_members(std::string &name) {
  StringRef all = name;
  for (StringRef member : LibraryMembers)
    for (StringRef arrow : {".", "->"})
      all = all.substr(0, all.find((arrow + member).str()));
  name = all.str();
}

void consider(Object object, const DILocation *made, const DILocation *received, Receiver &best) {
  std::optional<unsigned> frames = frames_outside(made, received);
  cut_library_members(object.name);
  // What the value was handed to receives it only if nothing else does.
  if (object.name.empty() || (best.found && frames.value_or(0) <= best.frames))
    return;
  best = {std::move(object), true, frames.value_or(0)};
}

// A value, and what it is after the calls that return it or null.
SmallVector<Value *, 4> handed_on(Value *value) {
  SmallVector<Value *, 4> all{value};
  for (size_t at = 0; at < all.size() && at < MostSteps; at++)
    for (User *user : all[at]->users())
      if (auto *phi = dyn_cast<PHINode>(user); phi && !is_contained(all, phi) && all_of(phi->incoming_values(), [&](Value *in) {
            return in == all[at] || isa<ConstantPointerNull>(in);
          }))
        all.push_back(phi);
  return all;
}

void find_receivers(Value *block, const DILocation *made, int steps, Receiver &best) {
  SmallVector<DbgVariableIntrinsic *, 4> intrinsics;
  SmallVector<DbgVariableRecord *, 4> records;
  findDbgUsers(intrinsics, block, &records);
  auto variable = [&](bool declares, const DIExpression *expression, const DILocalVariable *variable, const DILocation *at) {
    // A part of a structure that lies in registers, or all of a pointer.
    std::optional<DIExpression::FragmentInfo> part = expression->getFragmentInfo();
    if (declares || expression->getNumElements() != (part ? 3 : 0) || !is_meaningful(variable))
      return;
    Object object;
    fill(object, variable);
    if (part)
      add_member(object, part->OffsetInBits / 8, true, ".");
    consider(std::move(object), made, at, best);
  };
  // Uses are listed from the last to the first, and what received the value first is what it was made for.
  for (DbgVariableRecord *record : reverse(records))
    variable(record->isDbgDeclare(), record->getExpression(), record->getVariable(), record->getDebugLoc());
  for (DbgVariableIntrinsic *intrinsic : reverse(intrinsics))
    variable(isa<DbgDeclareInst>(intrinsic), intrinsic->getExpression(), intrinsic->getVariable(), intrinsic->getDebugLoc());
  // Without optimisation, and for globals and members, the block is stored.
  for (User *user : block->users()) {
    auto *store = dyn_cast<StoreInst>(user);
    Object object;
    if (store && store->getValueOperand() == block && steps > 0 && describe(store->getPointerOperand(), steps - 1, object))
      consider(std::move(object), made, store->getDebugLoc(), best);
  }
}

// The variable that receives the result of a call, through functions that were inlined.
Receiver receiver(CallBase &call, int steps) {
  Receiver best;
  for (Value *block : handed_on(&call))
    find_receivers(block, call.getDebugLoc(), steps, best);
  return best;
}

// The variable that receives a block whose address a call stores in a local variable: what is read there is handed on.
Receiver receiver_behind(CallBase &call, int steps) {
  Receiver best;
  auto *slot = dyn_cast<AllocaInst>(call.getArgOperand(0)->stripPointerCasts());
  if (!slot || slot->hasNUsesOrMore(MostUses + 1))
    return best;
  for (User *user : slot->users())
    if (auto *load = dyn_cast<LoadInst>(user); load && load->getType()->isPointerTy())
      for (Value *block : handed_on(load))
        find_receivers(block, call.getDebugLoc(), steps, best);
  return best;
}

// A pointer by its own name.
bool describe_pointer(Value *base, int steps, Object &object) {
  if (auto *call = dyn_cast<CallBase>(base)) {
    Receiver best = receiver(*call, steps);
    object = std::move(best.object);
    object.kind = Pointer;
    object.type = pointee(object.type);
    return best.found;
  }
  std::optional<Telling> variable = find_variable(base, false, object);
  const DIType *type = variable ? pointee(object.type) : nullptr;
  // Of a pointer that was handed to what is inlined here, where it was read.
  auto *load = dyn_cast<LoadInst>(base);
  Object place;
  bool read = load && steps > 0 && variable != Variable && describe(load->getPointerOperand(), steps - 1, place);
  if (read)
    object = std::move(place);
  if (variable || read) {
    const DIType *behind = read ? pointee(object.type) : type;
    object.kind = Pointer;
    object.type = behind ? behind : type;
    return true;
  }
  if (load || steps == 0)
    return false;
  if (auto *phi = dyn_cast<PHINode>(base))
    return describe_all(phi, SmallVector<Value *>(phi->incoming_values()), steps, object);
  if (auto *select = dyn_cast<SelectInst>(base))
    return describe_all(select, {select->getTrueValue(), select->getFalseValue()}, steps, object);
  return false;
}

// Without what LLVM adds: of a block that one global pointer leads to from the beginning to the end of a program it
// makes a global, `pointer.body`, for which there is no debug information.
StringRef own_name(StringRef global) {
  global.consume_back(".body");
  return global;
}

// `pointed`: the name is that of a pointer which leads to the place.
bool describe_base(Value *base, int steps, Object &object, bool &pointed) {
  pointed = false;
  if (auto *global = dyn_cast<GlobalVariable>(base)) {
    SmallVector<DIGlobalVariableExpression *, 1> expressions;
    global->getDebugInfo(expressions);
    object.kind = Global;
    if (!expressions.empty())
      fill(object, expressions.front()->getVariable());
    if (object.name.empty())
      object.name = demangle(own_name(global->getName()));
    return true;
  }
  if (isa<AllocaInst>(base)) {
    object.kind = Stack;
    return find_variable(base, true, object).has_value();
  }
  if (find_variable(base, true, object)) {
    object.kind = Stack;
    return true;
  }
  pointed = true;
  bool named = describe_pointer(base, steps, object);
  auto *parameter = dyn_cast<Argument>(only_value(base));
  Object variable;
  if (!parameter || !describe_parameter(*parameter, steps, variable))
    return named;
  // The callee's own type tells members, also behind `void *`.
  if (named && object.type)
    variable.type = object.type;
  object = variable;
  pointed = false;
  return true;
}

// The last constant distance on the way from the base: members of structures, also of those in arrays.
bool offset_from(Value *pointer, Value *base, const DataLayout &layout, uint64_t &offset) {
  APInt sum(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  Value *at = pointer;
  bool exact = true;
  while (at != base) {
    auto *gep = dyn_cast<GEPOperator>(at);
    if (!gep)
      return false;
    APInt step(sum.getBitWidth(), 0);
    if (gep->accumulateConstantOffset(layout, step))
      sum += step;
    else {
      // Elements of an array: a multiple of the stride, which does not change the member in an element.
      MapVector<Value *, APInt> variable;
      APInt constant(sum.getBitWidth(), 0);
      if (!gep->collectOffset(layout, sum.getBitWidth(), variable, constant))
        return false;
      sum += constant;
      exact = exact && variable.size() == 1;
    }
    at = gep->getPointerOperand();
  }
  if (!exact || sum.isNegative())
    return false;
  offset = sum.getZExtValue();
  return true;
}

bool describe(Value *pointer, int steps, Object &object) {
  auto *place = dyn_cast<Instruction>(pointer);
  const Module *module = place ? place->getModule() : nullptr;
  Value *base = getUnderlyingObject(pointer, 32);
  if (!module) {
    if (auto *argument = dyn_cast<Argument>(base))
      module = argument->getParent()->getParent();
    else if (auto *global = dyn_cast<GlobalVariable>(base))
      module = global->getParent();
    else if (auto *instruction = dyn_cast<Instruction>(base))
      module = instruction->getModule();
  }
  bool pointed = false;
  if (!module || !describe_base(base, steps, object, pointed) || object.name.empty())
    return false;
  uint64_t offset = 0;
  bool known = offset_from(pointer, base, module->getDataLayout(), offset);
  // Behind a pointer an array of structures looks like one structure: the offset in one element is what counts.
  if (known && object.type && isa<DICompositeType>(object.type) && object.type->getSizeInBits() >= 8)
    offset %= object.type->getSizeInBits() / 8;
  add_member(object, offset, known, pointed ? "->" : ".");
  return true;
}

// Whether a pointer is an element of an array of words or more, by the arithmetic that leads to it.
bool is_element(const Value *pointer) {
  for (; auto *step = dyn_cast<GEPOperator>(pointer); pointer = step->getPointerOperand()) {
    Type *element = step->getSourceElementType();
    bool narrow = element->isIntegerTy(8) || element->isIntegerTy(16) || element->is16bitFPTy();
    if (!step->hasAllConstantIndices() && !narrow)
      return true;
  }
  return false;
}

// Whether it is a number or a character of less than a word.
bool is_narrow(const DIType *type) { return is_number(type) && strip(type)->getSizeInBits() < 32; }

// Whether a value is also that of a pointer to words or structures: memory is asked for as bytes, and used as what it is.
bool is_also_wide(Value *value) {
  SmallVector<DbgVariableIntrinsic *, 4> intrinsics;
  SmallVector<DbgVariableRecord *, 4> records;
  findDbgUsers(intrinsics, value, &records);
  auto is_wide = [](const DIVariable *variable) {
    const DIType *type = pointee(variable->getType());
    return type && !is_narrow(type);
  };
  return any_of(records, [&](auto *record) { return !record->isDbgDeclare() && is_wide(record->getVariable()); }) ||
         any_of(intrinsics, [&](auto *one) { return !isa<DbgDeclareInst>(one) && is_wide(one->getVariable()); });
}

// Bytes of what the pointer that leads to an object is declared to point to, if that is less than a word, and nothing
// says that it leads to something wider.
uint32_t element_bytes(Value *pointer, const Object &object) {
  const DIType *type = object.kind == Pointer ? object.type : nullptr;
  Value *base = getUnderlyingObject(pointer, 32);
  // A parameter that is known to point into a variable.
  if (object.kind != Pointer) {
    auto *load = dyn_cast<LoadInst>(base);
    Object variable;
    if (isa<AllocaInst, GlobalVariable>(base) ||
        !find_variable(load ? load->getPointerOperand() : base, load != nullptr, variable))
      return 0;
    type = pointee(variable.type);
  }
  if (!is_narrow(type) || is_element(pointer) || is_also_wide(base))
    return 0;
  return strip(type)->getSizeInBits() / 8;
}

// Where the address starts from a pointer that the loop reads again and again from the same place (a member of a structure,
// most often), without that pointer: the compiler cannot know that no store changes it, but it is what programs do.
const SCEV *without_fixed_base(ScalarEvolution &evolution, const SCEV *address, const Loop *loop) {
  auto *base = dyn_cast<SCEVUnknown>(evolution.getPointerBase(address));
  auto *load = base ? dyn_cast<LoadInst>(base->getValue()) : nullptr;
  if (!load || !loop->contains(load) || load->isVolatile() || !loop->isLoopInvariant(load->getPointerOperand()))
    return address;
  return evolution.removePointerBase(address);
}

bool stride_in(ScalarEvolution &evolution, const SCEV *&address, const Loop *loop, int64_t &stride) {
  stride = INT32_MIN;
  if (!loop)
    return false;
  address = without_fixed_base(evolution, address, loop);
  auto *recurrence = dyn_cast<SCEVAddRecExpr>(address);
  if (!recurrence || recurrence->getLoop() != loop) {
    if (!evolution.isLoopInvariant(address, loop))
      return false;
    stride = 0;
    return true;
  }
  if (!recurrence->isAffine())
    return false;
  const SCEV *step = recurrence->getStepRecurrence(evolution);
  address = recurrence->getStart();
  if (auto *constant = dyn_cast<SCEVConstant>(step)) {
    if (constant->getAPInt().getSignificantBits() > 31)
      return false;
    stride = constant->getAPInt().getSExtValue();
  } else {
    stride = INT32_MAX;
  }
  return true;
}

} // namespace

bool threadtalk_shim_object(LLVMValueRef pointer, ThreadtalkObject *out, void *data, ThreadtalkNameVisitor on_name) {
  Object object;
  if (!describe(unwrap(pointer), MostSteps, object))
    return false;
  cut_library_members(object.name);
  out->kind = object.kind;
  out->line = object.line;
  out->file = wrap(const_cast<DIFile *>(object.file));
  out->element = element_bytes(unwrap(pointer), object);
  on_name(data, object.name.data(), object.name.size());
  return true;
}

bool threadtalk_shim_receiver(LLVMValueRef value, bool behind, ThreadtalkObject *out, void *data,
                              ThreadtalkNameVisitor on_name) {
  auto &call = *cast<CallBase>(unwrap(value));
  Receiver best = behind ? receiver_behind(call, MostSteps) : receiver(call, MostSteps);
  if (!best.found)
    return false;
  out->kind = Pointer;
  out->line = best.object.line;
  out->file = wrap(const_cast<DIFile *>(best.object.file));
  out->frames = best.frames;
  on_name(data, best.object.name.data(), best.object.name.size());
  return true;
}

void threadtalk_shim_strides(void *analysis, LLVMValueRef pointer, LLVMBasicBlockRef block, int64_t *inner,
                             int64_t *outer) {
  auto &all = *static_cast<Analysis *>(analysis);
  *inner = *outer = INT32_MIN;
  const Loop *loop = all.loops.getLoopFor(unwrap(block));
  if (!loop)
    return;
  const SCEV *address = all.evolution.getSCEV(unwrap(pointer));
  if (stride_in(all.evolution, address, loop, *inner))
    stride_in(all.evolution, address, loop->getParentLoop(), *outer);
}

const char *threadtalk_shim_file_part(LLVMMetadataRef file, bool directory, size_t *length) {
  auto *described = cast<DIFile>(unwrap(file));
  StringRef part = directory ? described->getDirectory() : described->getFilename();
  *length = part.size();
  return part.data();
}
