// The ring under options that change what the pass and the linker see: none of them changes a count.
// LEVELS: Oz, O2 -fstack-protector-all -fcf-protection -fPIE -pie, O2 -fno-omit-frame-pointer -fno-pie -no-pie, O2 -fsanitize=undefined, O2 -fprofile-instr-generate, O2 -march=native, O2 -gdwarf-4, O2 -gline-tables-only, O2 -static, O2 -static-pie, O3 -fno-plt, O2 -fno-builtin -ffreestanding, O2 -mcmodel=medium, Og -fno-inline
// THREADS: 5
// LET: N = 1000
// LET: K = 3
// EXPECT: raw in work = N if w > 0 && r > 0 && r == w % 4 + 1
// EXPECT: rar in work = (K - 1) * N if w > 0 && r > 0 && r == w % 4 + 1
// EXPECT: raw = N if w > 0 && r > 0 && r == w % 4 + 1
#include "ring.c"
