//! C programs with random control flow that come to an end.

/// Steele, Lea, Flood 2014: SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// A program of five functions; each may call those before it. `fuel` ends what would run too long.
pub fn source(seed: u64) -> String {
    let mut random = Random(seed);
    let mut text = String::from(
        "#include <stdio.h>\nstatic long fuel = 20000; static volatile int hidden = 1; static int a[64];\n",
    );
    for f in 0..5 {
        text += &format!("__attribute__((noinline)) static int f{f}(int x, int y) {{\n");
        text += "  if (fuel-- < 0) return 0;\n";
        statements(&mut random, &mut text, f, 4);
        text += "  return x ^ y;\nout: return x + 1;\n  goto out;\n}\n";
    }
    text + "int main(void) { int s = 0; for (int i = 0; i < 9; i++) s += f4(i, s & 7); printf(\"%d\\n\", s); }\n"
}

fn statements(random: &mut Random, text: &mut String, function: u64, depth: u64) {
    for _ in 0..1 + random.below(3) {
        statement(random, text, function, depth);
    }
}

fn statement(random: &mut Random, text: &mut String, function: u64, depth: u64) {
    let k = random.below(7) + 2;
    let choice = if depth == 0 { random.below(4) } else { random.below(12) };
    let var = format!("i{}", random.below(1 << 40));
    match choice {
        0 => *text += &format!("  x = x * {k} + y; y ^= x >> 3;\n"),
        1 => *text += &format!("  a[(x + {k}) & 63] += y; y += a[y & 63];\n"),
        2 if function > 0 => *text += &format!("  y += f{}(x & 15, y);\n", random.below(function)),
        2 | 3 => *text += &format!("  if ((x + hidden) % {k} == 0) goto out;\n"),
        4 | 5 => {
            *text += &format!("  if ((x ^ y) % {k}) {{\n");
            statements(random, text, function, depth - 1);
            *text += "  } else {\n";
            statements(random, text, function, depth - 1);
            *text += "  }\n";
        }
        6 | 7 => {
            *text += &format!("  for (int {var} = 0; {var} < {}; {var}++) {{\n", random.below(20));
            statements(random, text, function, depth - 1);
            if random.below(3) == 0 {
                *text += &format!("  if (x % {k} == 1) break;\n");
            }
            *text += "  }\n";
        }
        8 => {
            *text += &format!("  for (int {var} = y & 31; {var} > 0; {var} -= {k}) a[{var}] = a[{var} - 1] + x;\n");
        }
        9 => {
            *text += "  do {\n  if (fuel-- < 0) goto out;\n";
            statements(random, text, function, depth - 1);
            *text += &format!("  y = y * 5 + {k}; }} while ((y & 7) > 2);\n");
        }
        10 => {
            *text += &format!("  switch ((unsigned)x % {k}) {{\n");
            for case in 0..k {
                *text += &format!("  case {case}:\n");
                statements(random, text, function, depth - 1);
                if random.below(4) > 0 {
                    *text += "  break;\n";
                }
            }
            *text += "  }\n";
        }
        _ => {
            *text +=
                &format!("  for (int {var} = 0; {var} < (x & 31); {var}++) if (a[{var}] & 1) y++; else x += hidden;\n")
        }
    }
}
