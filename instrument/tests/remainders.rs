//! What a vectorised loop leaves over is not asked about, unless it runs whenever arrays overlap.

mod support;

use support::{Project, function};

/// Of `sweep` the test for overlaps is before the nest: rows of one array overlap there in every round. The rows of
/// `add` are two arrays that cannot overlap, those of `other` may be, and those of `single` are compared each time.
const LOOPS: &str = "
void sweep(int rows, int columns, double (*at)[columns], int from, int to) {
  for (int i = 1; i < rows; i++) for (int j = from; j < to; j++) at[i][j] -= .5 * at[i - 1][j]; }
void add(int rows, int columns, double (*restrict to)[columns], double (*restrict of)[columns]) {
  for (int i = 1; i < rows; i++) for (int j = 0; j < columns; j++) to[i][j] += of[i][j]; }
void other(int rows, int columns, double (*to)[columns], double (*of)[columns], int first, int last) {
  for (int i = 1; i < rows; i++) for (int j = first; j < last; j++) to[i][j] += of[i][j]; }
void single(int n, double *to, const double *of) { for (int i = 0; i < n; i++) to[i] += of[i]; }
";

#[test]
fn remainders_are_asked_about_only_if_a_test_before_the_nest_leads_there() {
    let ir = Project::new("a.c", LOOPS).ir("a.c", &["-O2"]);
    let questions = |name| {
        let body = function(&ir, name);
        let vectors = body.contains("load <2 x double>");
        (vectors, body.matches(" @__threadtalk_loop(").count())
    };
    assert_eq!(["sweep", "add", "other", "single"].map(questions), [(true, 2), (true, 1), (true, 1), (true, 1)]);
}
