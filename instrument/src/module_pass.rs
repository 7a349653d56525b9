//! What happens to a module: analyse all functions, then change them, then register the module.

use crate::access::called::Called;
use crate::access::collect::Collector;
use crate::access::{Inlined, Plan, Worth};
use crate::control::{self, Control, Counted};
use crate::emit::function::Style;
use crate::emit::{self, ModuleEmitter};
use crate::error::PassError;
use crate::ignorelist::Ignorelist;
use crate::llvm;
use crate::optimise::{self, Dropped, Optimised};
use crate::options::{Options, Verify};
use crate::pure::PureFunctions;
use crate::regions::functions::Functions;
use crate::skip::SkippedFunctions;
use crate::tables::Tables;
use inkwell::module::{FlagBehavior, Module};
use inkwell::values::FunctionValue;
use std::collections::HashMap;

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
    if options.functions {
        let emitter = ModuleEmitter::new(module);
        emitter.define_functions()?;
        emitter.drop_bases();
        verify(module, &options, &[])?;
        return Ok(true);
    }
    let ignorelist = options.ignorelist.as_deref().map(Ignorelist::open).transpose()?;
    let ignored = |prefix: &str, text: &str| ignorelist.as_ref().is_some_and(|l| l.contains(prefix, text));
    if ignored("src", &llvm::main_file(module)) {
        return Ok(false);
    }
    let mut work = Work::new(module, options);
    let skipped = SkippedFunctions::find(module);
    let functions: Vec<_> = module.get_functions().filter(|&f| !skipped.contains(f, ignored)).collect();
    if work.options.optimise && work.options.features.memory {
        work.pure = PureFunctions::find(module);
    }
    functions.iter().for_each(|&function| llvm::assembly::keep_out_of_rbx(function));
    if work.options.features.control {
        work.count_control_flow(&functions)?;
    }
    let plans = work.plans(&functions)?;
    let Some(emitter) = work.emitter.take().or_else(|| (!plans.is_empty()).then(|| ModuleEmitter::new(module))) else {
        return Ok(false);
    };
    llvm::debug::follow_variables_alone();
    if work.options.features.memory && is_mostly_calls(&plans) {
        llvm::hurry();
    }
    let Work { mut tables, options, counted, mut pure, .. } = work;
    pure.note_asking(plans.iter().filter(|(_, found)| found.asks()).map(|(plan, _)| plan.function));
    let mut statistics = Statistics::default();
    for (plan, found) in plans {
        if options.features.memory {
            let counted = counted.get(&plan.function);
            statistics.instrument(&emitter, (plan, found), &options, (&tables, &pure), counted)?;
        }
    }
    counted.values().for_each(control::Counted::tidy);
    for (&function, of) in counted.iter().filter(|(_, of)| !of.slots.is_empty()) {
        llvm::promote(function, &of.slots);
    }
    functions.iter().for_each(|&function| llvm::effects::forget(function));
    emitter.register(&mut tables)?;
    module.add_basic_value_flag(DONE_FLAG, FlagBehavior::Override, emitter.c32(threadtalk_abi::ABI_VERSION));
    verify(module, &options, &statistics.copied)?;
    if options.stats {
        statistics.print(&llvm::main_file(module), &tables);
    }
    Ok(true)
}

/// Whether nearly all accesses of a module are in functions that call others for them.
fn is_mostly_calls(plans: &[(Plan<'_>, Optimised<'_>)]) -> bool {
    let (mut calls, mut inlined) = (0, 0);
    for (plan, _) in plans {
        let kept = match &plan.inlined {
            Inlined::Everywhere => plan.accesses,
            Inlined::Only(_) => plan.events.iter().filter(|event| event.worth > Worth::Call).count(),
        };
        inlined += kept;
        calls += plan.accesses.saturating_sub(kept);
    }
    calls > 9 * inlined
}

/// `copied`: functions in which loops were copied.
fn verify(module: &Module<'_>, options: &Options, copied: &[FunctionValue<'_>]) -> Result<(), PassError> {
    match options.verify {
        Verify::Nothing => Ok(()),
        Verify::Copies => match copied.iter().find(|function| !function.verify(true)) {
            Some(function) => Err(PassError::Invalid(format!("function {}", function.get_name().to_string_lossy()))),
            None => Ok(()),
        },
        Verify::Module => module.verify().map_err(|e| PassError::Invalid(e.to_string())),
    }
}

/// What is known of a module on the way.
struct Work<'m, 'ctx> {
    module: &'m Module<'ctx>,
    options: Options,
    tables: Tables,
    functions: Functions,
    /// Once something is emitted.
    emitter: Option<ModuleEmitter<'m, 'ctx>>,
    counted: HashMap<FunctionValue<'ctx>, Counted<'ctx>>,
    /// As they were before anything was emitted.
    pure: PureFunctions<'ctx>,
}

impl<'m, 'ctx> Work<'m, 'ctx> {
    fn new(module: &'m Module<'ctx>, options: Options) -> Self {
        Work {
            module,
            options,
            tables: Tables::default(),
            functions: Functions::scan(module),
            emitter: None,
            counted: HashMap::new(),
            pure: PureFunctions::default(),
        }
    }

    /// Comes first: the graph that is counted is the program's own.
    fn count_control_flow(&mut self, functions: &[FunctionValue<'ctx>]) -> Result<(), PassError> {
        if functions.is_empty() {
            return Ok(());
        }
        let emitter = self.emitter.insert(ModuleEmitter::new(self.module));
        let mut control = Control {
            emitter,
            functions: &mut self.functions,
            tables: &mut self.tables,
            all_blocks: self.options.control_all,
            most_inline: self.options.features.memory.then_some(self.options.inline_limit),
            timings: Vec::new(),
        };
        for &function in functions {
            self.counted.insert(function, control.function(function)?);
        }
        let counted = &self.counted;
        let first = |function| llvm::first_after(counted.get(&function)?.header);
        let timed = control::times::emit(control.emitter, &control.timings, first)?;
        let numbers = functions.iter().enumerate().filter(|(_, f)| timed.contains(f)).map(|(number, _)| number);
        self.tables.set_timed(numbers);
        Ok(())
    }

    fn plans(&mut self, functions: &[FunctionValue<'ctx>]) -> Result<Vec<(Plan<'ctx>, Optimised<'ctx>)>, PassError> {
        if !self.options.features.memory && !self.options.features.cache {
            return Ok(Vec::new());
        }
        // Loops get copies after the accesses behind them were noted.
        if self.options.optimise {
            functions.iter().for_each(|&function| llvm::loops::close(function));
        }
        let called = match self.options.features.memory {
            true => Called::find(self.module),
            false => Called::default(),
        };
        let mut collector = Collector { module: self.module, functions: &mut self.functions, tables: &mut self.tables };
        let mut plans = Vec::new();
        for &function in functions {
            let mut walked = collector.walk(function);
            if let (Some(walked), true) = (&mut walked, self.options.features.cache) {
                let emitter = self.emitter.get_or_insert_with(|| ModuleEmitter::new(self.module));
                emitter.model_caches(&walked.events)?;
                walked.analysis = None;
            }
            let optimises = self.options.features.memory && self.options.optimise;
            let dropped = match &mut walked {
                Some(walked) if optimises => optimise::drop_idle(self.module, &mut walked.events),
                _ => Dropped::default(),
            };
            let planned = walked.map(|walked| walked.plan(self.options.inline_limit, called.runs(function)));
            if let (Some(emitter), Some(counted)) = (&self.emitter, self.counted.get_mut(&function)) {
                let inlined = planned.as_ref().map_or(&Inlined::Everywhere, |(plan, _)| &plan.inlined);
                counted.complete(emitter, inlined)?;
            }
            let Some((mut plan, analysis)) = planned else { continue };
            // At once: the analysis, most of the pass's time in numeric code, still holds.
            let found = match optimises && plan.inlined.allows_some() {
                true => optimise::run(&mut plan, analysis, &self.pure, collector.tables),
                false => Optimised::default(),
            };
            plans.push((plan, Optimised { dropped, ..found }));
        }
        Ok(plans)
    }
}

#[derive(Default)]
struct Statistics<'ctx> {
    functions: usize,
    outlined: usize,
    events: usize,
    dropped: Dropped,
    joined: usize,
    bundled: usize,
    loops: usize,
    searches: usize,
    windows: usize,
    /// Functions with copies of loops.
    copied: Vec<FunctionValue<'ctx>>,
}

impl<'ctx> Statistics<'ctx> {
    /// Instruments the accesses of a function.
    fn instrument(
        &mut self,
        emitter: &ModuleEmitter<'_, 'ctx>,
        (plan, mut found): (Plan<'ctx>, Optimised<'ctx>),
        options: &Options,
        (tables, pure): (&Tables, &PureFunctions<'ctx>),
        counted: Option<&Counted<'ctx>>,
    ) -> Result<(), PassError> {
        let is_huge = plan.inlined != Inlined::Everywhere;
        self.functions += 1;
        self.events += plan.events.len();
        self.dropped.reads += found.dropped.reads;
        self.dropped.writes += found.dropped.writes;
        self.joined += found.joined;
        self.outlined += usize::from(is_huge);
        self.loops += found.loops.len();
        self.searches += found.searches.len();
        if !found.loops.is_empty() || !found.searches.is_empty() {
            self.copied.push(plan.function);
        }
        emitter.offer_loops(plan.function, &mut found.loops)?;
        emitter.tell_searches(plan.function, &found.searches)?;
        if options.optimises(&plan) {
            optimise::run_late(emitter.module, &plan, &mut found, pure, tables);
        }
        self.bundled += found.bundles.of.len();
        self.windows += found.memos.windows.questions.len();
        let style = if is_huge { Style::Calls } else { Style::Inline };
        emit::function::emit(emitter, &plan, &found, style, tables, counted)
    }

    fn print(&self, file: &str, tables: &Tables) {
        eprintln!(
            "threadtalk: {file}: {} functions ({} without inlining), {} events ({} reads and \
             {} writes left out, {} accesses joined to others, {} in bundles), {} loops with a plain copy \
             ({} with windows) and {} that go on in one, {} sites, {} regions, {} counters in {} functions",
            self.functions,
            self.outlined,
            self.events,
            self.dropped.reads,
            self.dropped.writes,
            self.joined,
            self.bundled,
            self.loops,
            self.windows,
            self.searches,
            tables.sites(),
            tables.regions(),
            tables.counters(),
            tables.functions()
        );
    }
}
