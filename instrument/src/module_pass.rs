//! What happens to a module: analyse all functions, then change them, then register the module.

use crate::access::Plan;
use crate::access::collect::Collector;
use crate::emit::function::Style;
use crate::emit::{self, ModuleEmitter};
use crate::error::PassError;
use crate::ignorelist::Ignorelist;
use crate::llvm;
use crate::optimise;
use crate::options::Options;
use crate::regions::functions::Functions;
use crate::skip::SkippedFunctions;
use crate::tables::Tables;
use inkwell::module::{FlagBehavior, Module};

/// A module flag that marks instrumented modules, so that none is instrumented twice when LTO compiles it again.
const DONE_FLAG: &str = "threadtalk";

/// Instruments a module; says whether it changed.
pub fn run(module: &Module<'_>) -> Result<bool, PassError> {
    if module.get_flag(DONE_FLAG).is_some() {
        return Ok(false);
    }
    let options = Options::from_environment()?;
    let triple = module.get_triple();
    let triple = triple.as_str().to_string_lossy();
    if !triple.starts_with("x86_64") || triple.ends_with("x32") {
        return Err(PassError::Target(triple.into_owned()));
    }
    let ignorelist = options.ignorelist.as_deref().map(Ignorelist::open).transpose()?;
    let ignored = |prefix: &str, text: &str| ignorelist.as_ref().is_some_and(|l| l.contains(prefix, text));
    let mut tables = Tables::default();
    let plans = if ignored("src", &llvm::main_file(module)) { vec![] } else { plans(module, &mut tables, ignored) };
    if plans.is_empty() {
        return Ok(false);
    }
    let emitter = ModuleEmitter::new(module);
    let mut statistics = Statistics::default();
    for mut plan in plans {
        let inline = plan.accesses <= options.inline_limit;
        let mut found =
            if options.optimise && inline { optimise::run(&mut plan) } else { optimise::Optimised::default() };
        statistics.functions += 1;
        statistics.events += plan.events.len();
        statistics.dropped += found.dropped;
        statistics.outlined += usize::from(!inline);
        statistics.loops += found.loops.len();
        emitter.offer_loops(plan.function, &found.loops)?;
        if options.optimise && inline {
            found.memos = optimise::memos::find(&plan);
        }
        let style = if inline { Style::Inline } else { Style::Calls };
        emit::function::emit(&emitter, &plan, &found, style, &tables)?;
    }
    emitter.register(&mut tables)?;
    module.add_basic_value_flag(DONE_FLAG, FlagBehavior::Override, emitter.c32(threadtalk_abi::ABI_VERSION));
    if options.verify {
        module.verify().map_err(|e| PassError::Invalid(e.to_string()))?;
    }
    if options.stats {
        statistics.print(&llvm::main_file(module), &tables);
    }
    Ok(true)
}

fn plans<'ctx>(module: &Module<'ctx>, tables: &mut Tables, ignored: impl Fn(&str, &str) -> bool) -> Vec<Plan<'ctx>> {
    let skipped = SkippedFunctions::find(module);
    let mut functions = Functions::scan(module);
    let mut collector = Collector { module, functions: &mut functions, tables };
    module
        .get_functions()
        .filter(|&function| !skipped.contains(function, &ignored))
        .filter_map(|function| collector.plan(function))
        .collect()
}

#[derive(Default)]
struct Statistics {
    functions: usize,
    outlined: usize,
    events: usize,
    dropped: usize,
    loops: usize,
}

impl Statistics {
    fn print(&self, file: &str, tables: &Tables) {
        eprintln!(
            "threadtalk: {file}: {} functions ({} without inlining), {} events ({} reads left out), \
             {} loops with a plain copy, {} sites, {} regions",
            self.functions,
            self.outlined,
            self.events,
            self.dropped,
            self.loops,
            tables.sites(),
            tables.regions()
        );
    }
}
