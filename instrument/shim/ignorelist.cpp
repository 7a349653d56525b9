// Lists of functions and files to leave alone, in the format of clang's -fsanitize-ignorelist.
#include "llvm/Support/SpecialCaseList.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "shim.h"

using namespace llvm;

void *threadtalk_shim_ignorelist_open(const char *path, size_t length, char *error, size_t error_size) {
  std::string message;
  auto list = SpecialCaseList::create({std::string(path, length)}, *vfs::getRealFileSystem(), message);
  if (list)
    return list.release();
  size_t copied = std::min(message.size(), error_size - 1);
  std::memcpy(error, message.data(), copied);
  error[copied] = 0;
  return nullptr;
}

bool threadtalk_shim_ignorelist_contains(void *list, const char *prefix, const char *text, size_t length) {
  return static_cast<SpecialCaseList *>(list)->inSection("threadtalk", prefix, StringRef(text, length));
}

void threadtalk_shim_ignorelist_close(void *list) { delete static_cast<SpecialCaseList *>(list); }
