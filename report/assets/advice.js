// What to change in a region, and the objects that its threads communicate through.

// Of the regions with the most communication first.
function allAdvice() {
  const events = (region) => (region.own ? region.own.raw + region.own.rar : 0);
  const advised = data.regions.filter((region) => region.suggestions).sort((a, b) => events(b) - events(a));
  return advised.flatMap((region) => region.suggestions.map((suggestion) => ({ region, suggestion })));
}

// `advice`: suggestions; those of other regions in short, with the way to their region.
function adviceSection(advice) {
  const section = element("section", { class: "section advice" }, element("h3", {}, "What to change"));
  for (const { region, suggestion } of advice) {
    if (region) {
      const link = element("a", { href: `#r${region.id}` }, region.label);
      section.append(element("h4", {}, link, ` ${suggestion.category}`), element("p", {}, suggestion.text));
      continue;
    }
    const figures = Object.entries(suggestion.evidence).map(([name, value]) => `${name.replaceAll("_", " ")} ${quantity(value)}`);
    const places = element("ul", { class: "small" });
    for (const at of suggestion.lines) {
      const item = element("li", {}, element("span", { class: "where" }, position(at)));
      item.insertAdjacentHTML("beforeend", codeLine(at));
      places.append(item);
    }
    section.append(
      element("h4", {}, suggestion.category),
      element("p", {}, suggestion.text),
      element("p", { class: "muted" }, figures.join(" · ")),
      places,
    );
  }
  return section;
}

function objectSection(objects) {
  const section = element("section", { class: "section objects" }, element("h3", {}, "Objects"));
  const table = element("table", { class: "small" });
  table.innerHTML =
    '<thead><tr title="share of RaW + RaR; estimated where one line reads several objects">' +
    '<th>share</th><th>RaW</th><th>RaR</th><th class="word">object</th>' +
    '<th class="word">kind</th><th class="word">where</th></tr></thead>';
  const body = table.createTBody();
  for (const object of objects) {
    const word = (text) => `<td class="word">${escapeText(text)}</td>`;
    body.insertRow().innerHTML =
      cellOf(percent(object.share)) +
      cellOf(count(object.raw), "", ` title="${exactly(object.raw)}"`) +
      cellOf(count(object.rar), "", ` title="${exactly(object.rar)}"`) +
      word(object.name || "(no name)") +
      word(object.kind === "pointer" ? "through this pointer" : object.kind) +
      word(object.at ? position(object.at) : "");
  }
  section.append(table);
  return section;
}
