//! What each kernel of `programs/special/kernels.c` reads and writes, in its own order.

use threadtalk_tests::oracle::Oracle;

/// Bytes of the program's buffer.
pub const MEMORY: usize = 1 << 16;

/// Names, by the numbers in the schedule.
pub const KERNELS: [&str; 25] = [
    "fill1",
    "fill2",
    "fill4",
    "fill8",
    "sum1",
    "sum2",
    "sum4",
    "sum8",
    "sumf",
    "sumd",
    "strided_sum",
    "strided_fill",
    "backwards",
    "increment",
    "add",
    "shift",
    "repeated",
    "columns",
    "triangle",
    "fields",
    "assign",
    "unaligned",
    "copy",
    "move",
    "set",
];

/// A call of a kernel: its number, two offsets into the buffer, a length and a stride or repetition.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub kernel: usize,
    pub a: i64,
    pub b: i64,
    pub n: i64,
    pub s: i64,
}

impl Step {
    /// A random call whose accesses lie in the buffer's first 8 KiB, so that calls meet each other.
    pub fn random(random: &mut fastrand::Rng) -> Self {
        let kernel = random.usize(0..KERNELS.len());
        let align = |offset: i64, to: i64| offset / to * to;
        let mut step = Self {
            kernel,
            a: random.i64(0..2048),
            b: random.i64(4096..6000),
            n: random.i64(0..200),
            s: random.i64(1..9),
        };
        match KERNELS[kernel] {
            "copy" | "set" | "fill1" | "sum1" | "unaligned" => {}
            // Overlaps in both directions.
            "move" => step.b = step.a + random.i64(-50..50).max(-step.a),
            "fill2" | "sum2" | "backwards" => step.a = align(step.a, 2),
            "strided_sum" | "strided_fill" => {
                step.a = align(step.a, 8);
                step.n = random.i64(0..60);
                if random.bool() {
                    step.a += 4096;
                    step.s = -step.s;
                }
            }
            "triangle" | "columns" => {
                step.a = align(step.a, 4);
                step.n = random.i64(0..20);
            }
            "repeated" => {
                step.a = align(step.a, 8);
                step.s = random.i64(0..5);
            }
            _ => (step.a, step.b) = (align(step.a, 8), align(step.b, 8)),
        }
        step
    }

    /// Tells the model what the call does.
    pub fn apply(&self, oracle: &mut Oracle, t: usize) {
        let Self { a, b, n, s, .. } = *self;
        let name = KERNELS[self.kernel];
        let each = |count: i64, mut body: Box<dyn FnMut(i64) + '_>| (0..count).for_each(&mut body);
        match name {
            "fill1" | "fill2" | "fill4" | "fill8" => {
                let size = name[4..].parse::<i64>().expect("the size ends the name");
                each(n, Box::new(|i| oracle.write(t, a + i * size, size)));
            }
            "sum1" => each(n, Box::new(|i| oracle.read(t, a + i, 1))),
            "sum2" | "backwards" => each(n, Box::new(|i| oracle.read(t, a + 2 * i, 2))),
            "sum4" | "sumf" => each(n, Box::new(|i| oracle.read(t, a + 4 * i, 4))),
            "sum8" | "sumd" => each(n, Box::new(|i| oracle.read(t, a + 8 * i, 8))),
            "strided_sum" => each(n, Box::new(|i| oracle.read(t, a + 4 * i * s, 4))),
            "strided_fill" => each(n, Box::new(|i| oracle.write(t, a + 8 * i * s, 8))),
            "increment" => each(n, Box::new(|i| update(oracle, t, a + 4 * i))),
            "add" => each(
                n,
                Box::new(|i| {
                    oracle.read(t, a + 4 * i, 4);
                    update(oracle, t, b + 4 * i);
                }),
            ),
            "shift" => each(
                n,
                Box::new(|i| {
                    oracle.read(t, a + 4 * i, 4);
                    oracle.write(t, a + 4 * (i + s), 4);
                }),
            ),
            "repeated" => each(n * s, Box::new(|k| oracle.read(t, a + 8 * (k % n), 8))),
            "columns" => each(n * s, Box::new(|k| oracle.read(t, a + 4 * (k % n * s + k / n), 4))),
            "triangle" => each(n, Box::new(|i| (0..=i).for_each(|j| oracle.read(t, a + 4 * (i * n + j), 4)))),
            "fields" => each(
                n,
                Box::new(|i| {
                    oracle.read(t, a + 16 * i, 4);
                    oracle.read(t, a + 16 * i + 8, 8);
                    oracle.read(t, a + 16 * i, 4);
                }),
            ),
            "assign" => each(
                n,
                Box::new(|i| {
                    oracle.read(t, a + 16 * i, 16);
                    oracle.write(t, b + 16 * i, 16);
                }),
            ),
            "unaligned" => each(n, Box::new(|i| oracle.read(t, a + 5 * i, 4))),
            "copy" | "move" => {
                oracle.read(t, a, n);
                oracle.write(t, b, n);
            }
            "set" => oracle.write(t, a, n),
            other => unreachable!("{other} is not in the list"),
        }
    }
}

fn update(oracle: &mut Oracle, t: usize, address: i64) {
    oracle.read(t, address, 4);
    oracle.write(t, address, 4);
}
