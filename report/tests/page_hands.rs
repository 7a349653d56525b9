//! The page under a reader's hands.

#[path = "support/browser.rs"]
mod browser;
#[path = "support/example.rs"]
mod example;

use browser::{in_browser, table_rows};
use threadtalk::html;
use threadtalk_crd::model::{Lowers, Means, Promise, Suggestion, SuggestionKind};

/// The head of the page after `hands` have done their work; None without a browser.
fn after(page: &str, hands: &str) -> Option<String> {
    let hands = format!("addEventListener('load', () => {{ const root = document.documentElement.dataset; {hands} }})");
    Some(in_browser(page, &hands)?.split('>').take(3).collect())
}

#[track_caller]
fn assert_attributes(head: &str, attributes: &[&str]) {
    for attribute in attributes {
        assert!(head.contains(attribute), "{attribute} is not in {head}");
    }
}

/// The whole program begins with what to change anywhere, the busiest region first, and leads there.
#[test]
fn suggestions_of_all_regions_lead_to_their_region() {
    let mut report = example::report(4, example::ring);
    for (region, rule) in [(3, "false-sharing"), (2, "array-blocking")] {
        report.regions[region].suggestions.push(Suggestion {
            rule: rule.into(),
            kind: SuggestionKind::Data,
            means: Means::Code,
            text: format!("Do <{rule}>."),
            evidence: [("share".to_string(), 0.5)].into(),
            promise: Promise { lowers: Lowers::Raw, region: region as u32, now: None },
            lines: Vec::new(),
        });
    }
    let hands = "
        const advice = () => [...document.querySelectorAll('.advice h4')].map((h) => h.textContent).join('; ');
        root.all = advice();
        root.text = document.querySelector('.advice p').textContent;
        location.hash = document.querySelector('.advice h4 a').getAttribute('href');
        dispatchEvent(new HashChangeEvent('hashchange'));
        root.one = advice();";
    let Some(head) = after(&html::page(&report), hands) else { return };
    assert_attributes(
        &head,
        &[
            "data-all=\"bmod array-blocking: data affinity, code; loop in bmod false-sharing: data affinity, code\"",
            "data-text=\"Do &lt;array-blocking",
            "data-one=\"array-blocking: data affinity, code\"",
        ],
    );
}

#[test]
fn keys_search_sort_and_select() {
    let hands = "
        const press = (key, on) => on.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
        press('/', document.body);
        const search = document.activeElement;
        search.value = 'loop'; search.dispatchEvent(new Event('input'));
        press('Enter', search);
        const root = document.documentElement.dataset;
        root.focus = search.id;
        root.rows = document.querySelectorAll('#regions tbody tr').length;
        root.selected = document.querySelector('#regions [aria-selected=true]').dataset.id;
        root.title = document.querySelector('#detail h2').textContent;
        search.value = ''; search.dispatchEvent(new Event('input'));
        document.querySelector('th[data-key=name] button').click();
        root.first = document.querySelectorAll('#regions tbody tr')[1].cells[0].textContent;
        press('t', document.body); press('t', document.body);
        root.chosen = root.theme;
        const matrix = document.querySelector('svg.matrix');
        press('ArrowRight', matrix); press('ArrowRight', matrix);
        root.tip = document.getElementById('tip').textContent;";
    let hands = format!("addEventListener('load', () => {{ {hands} }})");
    let Some(dom) = in_browser(&html::page(&example::report(4, example::ring)), &hands) else { return };
    let head = dom.split('>').take(3).collect::<String>();
    for attribute in [
        "data-focus=\"search\"",
        "data-rows=\"2\"",
        "data-selected=\"3\"",
        "data-title=\"loop in bmod\"",
        "data-first=\"bmod",
        "data-chosen=\"dark\"",
        "data-tip=\"0 main wrote, 1 worker read",
    ] {
        assert!(head.contains(attribute), "{attribute} is not in {head}");
    }
}

#[test]
fn a_thousand_regions_and_256_threads_come_up() {
    let mut report = example::report(256, example::halo);
    let pattern = report.regions[2].clone();
    for id in 5..1000 {
        let mut region = pattern.clone();
        (region.id, region.name) = (id, format!("region_{id}"));
        report.regions.push(region);
    }
    let size = html::page(&report).len();
    assert!(size < 30_000_000, "{size} bytes");
    let hands = "
        const press = (key, on) => on.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
        const rows = () => [...document.querySelectorAll('#regions tbody tr[data-id]')].map(row => row.dataset.id);
        const search = document.getElementById('search');
        const ask = (words) => { search.value = words; search.dispatchEvent(new Event('input')); };
        ask('region_77');
        root.found = rows().join(' ');
        ask('');
        document.querySelector('th[data-key=name] button').click();
        document.querySelector('th[data-key=name] button').click();
        root.last = rows()[1];
        for (let i = 0; i < 150; i++) press('PageDown', document.body);
        root.walked = rows().indexOf(document.querySelector('#regions [aria-selected=true]').dataset.id);
        root.matrices = document.querySelectorAll('svg.matrix').length;";
    let hands = format!("addEventListener('load', () => {{ const root = document.documentElement.dataset; {hands} }})");
    let Some(dom) = in_browser(&html::page(&report), &hands) else { return };
    assert_eq!(table_rows(&dom), 1 + 3 + 995);
    let found: Vec<String> = [77].into_iter().chain(770..780).map(|id| id.to_string()).collect();
    let found = format!("data-found=\"all {}\"", found.join(" "));
    let head: String = dom.split('>').take(3).collect();
    assert_attributes(&head, &[&found, "data-last=\"999\"", "data-walked=\"998\"", "data-matrices=\"3\""]);
}

/// Each column sorts, and sorts the other way round when it is clicked again.
#[test]
fn every_column_sorts_both_ways() {
    let hands = "
        const names = () => [...document.querySelectorAll('#regions tbody tr[data-id]')].slice(1).map(r => r.dataset.id);
        const wrong = [];
        for (const th of document.querySelectorAll('#regions th')) {
            const button = () => document.querySelector(`#regions th[data-key=${th.dataset.key}] button`);
            button().click();
            const one = names(), way = th.getAttribute('aria-sort');
            button().click();
            const other = names(), back = th.getAttribute('aria-sort');
            if (way === back || !way || !back) wrong.push(th.dataset.key + ' direction');
            if (one.length < 3 || [...one].sort().join() !== [...other].sort().join()) wrong.push(th.dataset.key + ' rows');
        }
        document.querySelector('th[data-key=rar] button').click();
        const rar = [...document.querySelectorAll('#regions tbody tr[data-id]')].slice(1);
        root.ids = rar.map(r => r.dataset.id).join(' ');
        root.wrong = wrong.join(', ') || 'nothing';";
    let mut report = example::report(4, example::ring);
    // Distinct counts, so that there is one right order.
    for (factor, region) in (1..).zip(&mut report.regions) {
        if let Some(counts) = &mut region.counts {
            **counts = example::counts(4, [example::ring, example::halo, example::master][factor as usize % 3]);
        }
    }
    let mut order: Vec<_> = report.regions.iter().filter(|r| r.counts.is_some()).collect();
    order.sort_by_key(|r| std::cmp::Reverse((r.counts.as_ref().map_or(0, |c| c.rar.sum()), std::cmp::Reverse(r.id))));
    let ids: Vec<_> = order.iter().map(|r| r.id.to_string()).collect();
    let Some(head) = after(&html::page(&report), hands) else { return };
    assert_attributes(&head, &["data-wrong=\"nothing\"", &format!("data-ids=\"{}\"", ids.join(" "))]);
}

#[test]
fn the_pointer_shows_what_a_cell_and_a_bar_stand_for() {
    let hands = "
        const at = (element) => { const b = element.getBoundingClientRect(); return { clientX: b.x + b.width * 0.4,
            clientY: b.y + b.height / 2, bubbles: true }; };
        const tip = document.getElementById('tip');
        const matrix = document.querySelector('svg.matrix');
        const hit = matrix.querySelector('[data-hit], .hit') || matrix;
        hit.dispatchEvent(new PointerEvent('pointermove', at(hit)));
        root.matrix = tip.hidden ? 'hidden' : tip.textContent;
        hit.dispatchEvent(new PointerEvent('pointerleave', { bubbles: true }));
        const bar = document.querySelector('.distance [data-tip]');
        bar.dispatchEvent(new PointerEvent('pointermove', at(bar)));
        root.bar = tip.hidden ? 'hidden' : tip.textContent;
        document.querySelector('.distance').dispatchEvent(new PointerEvent('pointerleave'));
        root.gone = tip.hidden;";
    let Some(head) = after(&html::page(&example::report(4, example::all_to_all)), hands) else { return };
    assert_attributes(&head, &[" wrote, ", "data-bar=\"4 % of distancesat once\"", "data-gone=\"true\""]);
}

/// The lines around what communicates, as they were when the page was made.
#[test]
fn sources_open_and_close() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lu.c");
    let text: String = (1..=40).map(|line| format!("line {line} <of> the & source;\n")).collect();
    std::fs::write(&file, text).unwrap();
    let mut report = example::report(4, example::ring);
    let name = file.to_string_lossy().into_owned();
    for counts in report.regions.iter_mut().chain([&mut report.program_total]).filter_map(|r| r.counts.as_mut()) {
        for position in counts.lines.iter_mut().flat_map(|l| [&mut l.writer, &mut l.reader]) {
            if position.file.is_some() {
                position.file = Some(name.as_str().into());
            }
        }
    }
    let hands = "
        const open = document.querySelector('.lines .open');
        open.click();
        root.source = document.querySelector('.source').textContent;
        root.bold = document.querySelector('.source b').textContent;
        open.click();
        root.left = document.querySelectorAll('.source').length;";
    let Some(head) = after(&html::page(&report), hands) else { return };
    assert_attributes(&head, &["line 8 &lt;of&gt; the &amp; source;", "line 31 &lt;of", "data-left=\"0\""]);
    assert_attributes(&head, &["data-bold=\"   12  line 12 &lt;of&gt; the &amp; source;\""]);
}

/// Words are darker than the page in light dress and lighter in dark, and the matrices follow.
#[test]
fn light_and_dark_have_their_own_colours() {
    let hands = "
        const light = (colour) => { const [r, g, b] = colour.match(/[\\d.]+/g).map(Number); return 0.3*r + 0.6*g + 0.1*b; };
        const look = () => { const style = getComputedStyle(document.body);
            return light(style.color) < light(style.backgroundColor) ? 'dark on light' : 'light on dark'; };
        const press = () => document.getElementById('theme').click();
        while (root.theme !== 'light') press();
        root.first = look();
        const cells = document.querySelector('svg.matrix').outerHTML;
        while (root.theme !== 'dark') press();
        root.second = look();
        root.follow = document.querySelector('svg.matrix').outerHTML !== cells;";
    let Some(head) = after(&html::page(&example::report(4, example::ring)), hands) else { return };
    assert_attributes(&head, &["first=\"dark on light\"", "second=\"light on dark\"", "follow=\"true\""]);
}

/// Regions inside and silent ones come and go with their boxes.
#[test]
fn boxes_choose_what_is_counted() {
    let hands = "
        const rows = () => document.querySelectorAll('#regions tbody tr[data-id]').length;
        const raw = () => document.querySelectorAll('#regions tbody tr')[1].cells[2].textContent;
        const tick = (id) => document.getElementById(id).click();
        root.before = rows();
        tick('silent');
        root.silent = rows() > root.before;
        tick('silent');
        root.again = rows() == root.before;
        root.shown = document.getElementById('shown').textContent;
        const own = raw();
        tick('inside');
        root.inside = raw() + ' for ' + own;";
    let Some(head) = after(&html::page(&example::report(4, example::ring)), hands) else { return };
    assert_attributes(&head, &["data-silent=\"true\"", "data-again=\"true\"", " regions\"", "data-inside=\""]);
}
