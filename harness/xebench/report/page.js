"use strict";
// filter, order and anchors of the patterns: the page can be read without
(() => {
  const form = document.getElementById("page:choose");
  const flat = document.getElementById("page:flat");
  const count = document.getElementById("page:count");
  const patterns = [...document.querySelectorAll("details.pattern")];
  const homes = patterns.map((pattern) => pattern.parentElement);
  const chapters = [...document.querySelectorAll("section.chapter")];
  const keys = { gain: -1, loss: 1, guide: -1 };
  const wanted = (token, answer, sure, here) =>
    (answer === "all" || (answer === "open" ? /^(undecided|skipped|not-asked)/ : new RegExp(`^${answer}[!@]*$`)).test(token)) &&
    (!sure || token.includes("!")) && (!here || !token.includes("@"));
  const choose = () => {
    const { answer, words, order } = Object.fromEntries(new FormData(form));
    const sure = form.elements.sure.checked, here = form.elements.here.checked;
    const narrow = answer !== "all" || sure || here;
    const sought = words.trim().toLowerCase();
    let shown = 0;
    for (const pattern of patterns) {
      const answers = pattern.dataset.answers.split(" ");
      const fits = (!narrow || answers.some((token) => wanted(token, answer, sure, here))) &&
        (!sought || pattern.querySelector("summary").textContent.toLowerCase().includes(sought));
      pattern.hidden = !fits;
      shown += fits;
    }
    const sorted = patterns.map((pattern, number) => [pattern, number]);
    if (order === "name") sorted.sort((a, b) => a[0].id.localeCompare(b[0].id));
    else if (order !== "chapter") sorted.sort((a, b) => keys[order] * (a[0].dataset[order] - b[0].dataset[order]));
    for (const [pattern, number] of sorted) (order === "chapter" ? homes[number] : flat).append(pattern);
    for (const chapter of chapters) chapter.hidden = order !== "chapter" || !chapter.querySelector("details.pattern:not([hidden])");
    count.textContent = `${shown} of ${patterns.length} patterns`;
  };
  const all = (open) => patterns.forEach((pattern) => { if (!pattern.hidden) pattern.open = open; });
  const arrive = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || !target.matches("details.pattern")) return;
    if (target.hidden) { form.reset(); choose(); }
    target.open = true;
    target.scrollIntoView();
  };
  // charts: drawn by Vega-Lite when they come into view, in the page's colours
  const text = { labelColor: "var(--dim)", titleColor: "var(--dim)", labelFontWeight: 400, titleFontWeight: 400, labelFontSize: 12, titleFontSize: 12 };
  const config = {
    background: null, font: "system-ui, sans-serif", view: { stroke: null }, text: { fill: "var(--text)" },
    axis: { ...text, gridColor: "var(--line)", domainColor: "var(--line)", tickColor: "var(--line)" },
    legend: { ...text, labelColor: "var(--text)", symbolOpacity: 1 }, header: { ...text, labelColor: "var(--text)" }, title: { color: "var(--text)", anchor: "start", fontSize: 12 },
  };
  const draw = (chart) => {
    seen.unobserve(chart);
    const drawing = JSON.parse(chart.dataset.spec);
    if (drawing.spec) drawing.spec.width = chart.clientWidth - 60; // panels know no container
    return vegaEmbed(chart, drawing, { actions: false, renderer: "svg", config }).catch(console.error);
  };
  const seen = new IntersectionObserver((entries) => entries.forEach((entry) => { if (entry.isIntersecting) draw(entry.target); }), { rootMargin: "400px" });
  document.querySelectorAll("[data-spec]").forEach((chart) => seen.observe(chart));
  addEventListener("beforeprint", () => document.querySelectorAll("[data-spec]:empty").forEach((chart) => { if (chart.checkVisibility()) draw(chart); }));
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", choose);
  document.getElementById("page:open").addEventListener("click", () => all(true));
  document.getElementById("page:close").addEventListener("click", () => all(false));
  addEventListener("hashchange", arrive);
  choose();
  arrive();
})();
