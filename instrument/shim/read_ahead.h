// Loads that stay in a loop only because one of its stores might change what they find, for all that the compiler knows:
// OpenMP's outlined functions read the pointers that they share through pointers, again and again, and a store of a byte
// or of a structure may be to any of them. What such a load finds before the loop it finds in it, unless that writes there.
#pragma once
#include "analysis.h"

// What cannot be in private memory, whose stores nobody is told of: something else has its address.
bool may_be_read_ahead(Analysis &a, const llvm::LoadInst &load);

uint64_t bytes_of(const llvm::LoadInst &load);

// Makes an innermost loop use what its loads find before it. All loads that are read ahead run in each iteration.
class ReadAhead {
public:
  // Bytes that some of the loads read, from `pointer + first` on.
  struct Place {
    llvm::Value *pointer;
    int64_t first;
    uint64_t bytes;
  };

  ReadAhead(Analysis &analysis, llvm::Loop &loop) : a(analysis), loop(loop) {}
  ~ReadAhead() { put_back(); }
  ReadAhead(const ReadAhead &) = delete;

  // Whether there are any. From here on the loop is in terms of them.
  bool begin();
  // The loads before the loop, and where they read.
  llvm::ArrayRef<llvm::LoadInst *> ahead() const { return loads; }
  llvm::SmallVector<Place, 4> places() const;
  // Values before the loop that have to be the same: what an iteration has got from the one before, and the first one
  // from before the loop.
  llvm::ArrayRef<std::pair<llvm::Value *, llvm::Value *>> alike() const { return same; }
  // The loop is as it was; copies that were made of it are not. Loads before it that nothing needs are gone.
  void put_back();

private:
  Analysis &a;
  llvm::Loop &loop;
  llvm::SmallVector<llvm::LoadInst *, 8> loads;
  llvm::SmallPtrSet<llvm::Value *, 16> replaced;
  llvm::SmallVector<std::pair<llvm::Value *, llvm::Value *>, 4> same;
  llvm::SmallVector<std::pair<llvm::Use *, llvm::Value *>, 16> uses;

  bool find_more();
  llvm::LoadInst *ahead_of(llvm::LoadInst &load);
  void replace(llvm::Value *value, llvm::LoadInst *ahead);
};
