"use strict";

/** Lines of the list that are shown at first, and added by "more". */
const PAGE = 100;

function make(name, properties, ...children) {
  const node = document.createElement(name);
  Object.assign(node, properties);
  node.append(...children);
  return node;
}

function draw(name, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  node.append(...children);
  return node;
}

/**
 * The outcome of an instance, as the filter names it and as people read it. A gold that gives nothing is the benchmark's
 * matter, a prediction that gives nothing the system's.
 */
function outcome(row, ex, words) {
  if (row.error) return ["error", words[row.error] || row.error];
  if (row.ref_error) return ["gold", `gold: ${words[row.ref_error] || row.ref_error}`];
  if (ex === undefined || row.pred_n === undefined) return ["", ""];
  if (row.ref_n === 0) return ["gold", row.pred_n === 0 ? "both without results" : "gold without results"];
  if (ex === 1) return ["same", "same results"];
  if (row.pred_n === 0) return ["empty", "no results"];
  return ["other", "other results"];
}

/** How many predictions failed, by class; nothing where no query was run. */
function errors(summary) {
  if (!summary.errors && !summary.sparql) return undefined;
  return Object.assign({}, summary.errors, summary.sparql && summary.sparql.errors);
}

/** The metrics that the run has. */
function shownMetrics({ summary, metrics }) {
  return metrics.filter(([name]) => name in summary);
}

/** The parts of the run that the table has a line for: a name, the scores, how many instances. */
function parts(summary) {
  const all = [["all", summary, summary.n]];
  const more = Object.entries(summary.complexity || {}).concat(summary.hard ? [["hard", summary.hard]] : []);
  return all.concat(more.map(([name, part]) => [name, part, part.n]));
}

function table(data) {
  const { summary } = data;
  const shown = shownMetrics(data);
  const cells = (scores, intervals) => shown.map(([name, title]) => {
    const cell = make("td", {}, scores[name] === undefined ? "" : scores[name].toFixed(1));
    cell.dataset.title = title;
    if (intervals && intervals[name]) {
      cell.append(make("small", {}, intervals[name].map((bound) => bound.toFixed(1)).join(" – ")));
    }
    return cell;
  });
  const count = (classes) => Object.values(classes).reduce((sum, n) => sum + n, 0);
  const failed = errors(summary);
  const number = (title, text) => {
    const cell = make("td", {}, text);
    cell.dataset.title = title;
    return cell;
  };
  const body = make("tbody", {}, ...parts(summary).map(([name, part, n], i) => make("tr", {}, make("td", {}, name),
    ...cells(part, i === 0 && summary.intervals), number("errors", i === 0 && failed ? String(count(failed)) : ""),
    number("n", String(n)))));
  return make("table", {}, make("thead", {}, make("tr", {}, make("th", {}), ...shown.map(([, title, meaning]) =>
    make("th", { title: meaning }, title)), make("th", {}, "errors"), make("th", {}, "n"))), body);
}

/** What each metric says. */
function legend(data) {
  return shownMetrics(data).flatMap(([, title, meaning]) => [make("dt", {}, title), make("dd", {}, meaning)]);
}

/** A line of CSV. */
function csvLine(cells) {
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return `${cells.map((cell) => quoted(cell === null || cell === undefined ? "" : String(cell))).join(",")}\r\n`;
}

/** The table of scores: means and their intervals in per cent. */
function tableAsCsv(data) {
  const shown = shownMetrics(data), bounds = data.summary.intervals;
  const head = shown.flatMap(([name]) => [name, `${name}_low`, `${name}_high`]);
  return csvLine(["part", "n", ...head]) + parts(data.summary).map(([name, part, n], i) => csvLine([name, n,
    ...shown.flatMap(([metric]) => [part[metric], ...(i === 0 && bounds[metric] ? bounds[metric] : ["", ""])])])).join("");
}

/** The same as a table of LaTeX's, by booktabs. */
function tableAsLatex(data) {
  const shown = shownMetrics(data);
  const escaped = (text) => text.replace(/[&%$#_{}]/g, "\\$&");
  const line = (cells) => `${cells.join(" & ")} \\\\\n`;
  const score = (part, metric) => (part[metric] === undefined ? "" : part[metric].toFixed(1));
  return `\\begin{tabular}{l${"r".repeat(shown.length + 1)}}\n\\toprule\n`
    + line(["", ...shown.map(([, title]) => escaped(title)), "$n$"]) + "\\midrule\n"
    + parts(data.summary).map(([name, part, n]) =>
      line([escaped(name), ...shown.map(([metric]) => score(part, metric)), n])).join("")
    + "\\bottomrule\n\\end{tabular}\n";
}

/** The instances: their scores, what they gave, their queries. */
function instancesAsCsv(data) {
  const shown = data.metrics.map(([name], i) => [name, i]).filter(([name]) => name in data.summary);
  return csvLine(["line", "id", ...shown.map(([name]) => name), "gold_n", "pred_n", "error", "question", "gold", "prediction"])
    + data.rows.map((row) => csvLine([row.line, row.id, ...shown.map(([, i]) => row.scores[i]), row.ref_n, row.pred_n,
      row.error, row.nl, row.gold, row.pred])).join("");
}

/** Hands a text over as a file. */
function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** OQS against EX, a point an instance; a click leads to it. Within EX points are spread so that they can be told apart. */
function scatter(items, oqs, ex) {
  const points = items.filter(({ row }) => row.scores[oqs] !== null && row.scores[ex] !== null);
  if (!points.length || oqs === undefined || ex === undefined) return null;
  const svg = draw("svg", { viewBox: "0 0 420 250", width: 420, height: 250, role: "img", class: "scatter" },
    draw("title", {}, "OQS against EX"), draw("text", { x: 210, y: 18, "text-anchor": "middle" }, "OQS against EX"));
  const at = (score) => 60 + 340 * score;
  for (const percent of [0, 20, 40, 60, 80, 100]) {
    svg.append(draw("path", { d: `M${at(percent / 100)} 32V215`, class: "rule" }),
      draw("text", { x: at(percent / 100), y: 230, "text-anchor": "middle" }, String(percent)));
  }
  svg.append(draw("text", { x: 230, y: 245, "text-anchor": "middle" }, "OQS"),
    draw("text", { x: 48, y: 82, "text-anchor": "end" }, "EX 1"), draw("text", { x: 48, y: 174, "text-anchor": "end" }, "EX 0"));
  for (const { row, kind, words } of points) {
    // Always the same for a line: by the golden ratio neighbours lie apart.
    const spread = ((row.line * 0.618034) % 1 - 0.5) * 68;
    const y = (row.scores[ex] === 1 ? 78 : 170) + spread;
    svg.append(draw("a", { href: `#line-${row.line}` }, draw("circle", { cx: at(row.scores[oqs]).toFixed(1), cy: y.toFixed(1),
      r: 3.5, class: kind || "other" }, draw("title", {}, `${row.id || row.line}: OQS ${(100 * row.scores[oqs]).toFixed(1)}, ${words}`))));
  }
  return svg;
}

/** Marks what only one of two texts has, by words and signs. */
function differences(gold, pred) {
  const cut = (text) => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) || [];
  const a = cut(gold), b = cut(pred);
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const x = a.slice(head, a.length - tail), y = b.slice(head, b.length - tail);
  const left = [a.slice(0, head).join("")], right = [b.slice(0, head).join("")];
  const put = (side, name, text) => side.push(name ? make(name, {}, text) : text);
  if (x.length * y.length > 4e6) {
    put(left, "del", x.join(""));
    put(right, "ins", y.join(""));
  } else {
    const width = y.length + 1, longest = new Uint16Array((x.length + 1) * width);
    for (let i = x.length - 1; i >= 0; i--) {
      for (let j = y.length - 1; j >= 0; j--) {
        longest[i * width + j] = x[i] === y[j] ? longest[(i + 1) * width + j + 1] + 1
          : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
      }
    }
    let i = 0, j = 0;
    while (i < x.length || j < y.length) {
      if (i < x.length && j < y.length && x[i] === y[j]) {
        put(left, "", x[i++]);
        put(right, "", y[j++]);
      } else if (j === y.length || (i < x.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1])) {
        put(left, "del", x[i++]);
      } else {
        put(right, "ins", y[j++]);
      }
    }
  }
  put(left, "", a.slice(a.length - tail).join(""));
  put(right, "", b.slice(b.length - tail).join(""));
  return [left, right];
}

/** Lines of round degrees. `back` gives the flat coordinates of a place on the paper. */
function grid(extent, width, height, back, narrow) {
  const rough = extent / 2, power = 10 ** Math.floor(Math.log10(rough));
  const step = [5, 2, 1].map((n) => n * power).find((n) => n <= rough);
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  const [x0, y0] = back([0, 0]), [x1, y1] = back([width, height]);
  const node = draw("g", { class: "grid" });
  const lines = (low, high, put) => {
    for (let n = Math.ceil(low / step); n * step < high; n++) put(n * step, (n * step - low) / (high - low));
  };
  lines(x0 / narrow, x1 / narrow, (lon, share) => {
    const x = share * width;
    node.append(draw("path", { d: `M${x.toFixed(1)} 0v${height}` }));
    if (x > 34 && x < width - 34) node.append(draw("text", { x: x + 2, y: height - 3 }, lon.toFixed(digits)));
  });
  lines(-y1, -y0, (lat, share) => {
    const y = (1 - share) * height;
    node.append(draw("path", { d: `M0 ${y.toFixed(1)}h${width}` }));
    if (y > 14) node.append(draw("text", { x: 2, y: y - 2 }, lat.toFixed(digits)));
  });
  return node;
}

/** Missing, extra and common elements where they lie. */
function map(points) {
  const all = [...points.common, ...points.missing, ...points.extra];
  /** A mark that leads to its element, or, in files without names, to its place. */
  const linked = (point, node) => {
    const [lat, lon, name] = point;
    const href = name ? `https://www.openstreetmap.org/${name}` : `https://www.openstreetmap.org/?mlat=${lat}&mlon=${lon}#map=18/${lat}/${lon}`;
    node.append(draw("title", {}, name || `${lat}, ${lon}`));
    return draw("a", { href, target: "_blank", rel: "noreferrer" }, node);
  };
  const middle = all.reduce((sum, [lat]) => sum + lat, 0) / all.length;
  const narrow = Math.max(Math.cos(middle * Math.PI / 180), 0.01);
  const flat = ([lat, lon]) => [lon * narrow, -lat];
  const xs = all.map((p) => flat(p)[0]), ys = all.map((p) => flat(p)[1]);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const extent = Math.max(Math.max(...xs) - left, Math.max(...ys) - top, 1e-4);
  const scale = 320 / extent;
  const width = Math.max((Math.max(...xs) - left) * scale + 40, 240);
  const height = Math.max((Math.max(...ys) - top) * scale + 40, 60) + 24;
  const place = (p) => flat(p).map((v, i) => ((v - [left, top][i]) * scale + 20).toFixed(1));
  const svg = draw("svg", { class: "map", viewBox: `0 0 ${width.toFixed(0)} ${height.toFixed(0)}`, role: "img" },
    grid(extent, width, height - 24, ([x, y]) => [(x - 20) / scale + left, (y - 20) / scale + top], narrow));
  const mark = {
    common: ([x, y]) => draw("circle", { class: "common", cx: x, cy: y, r: 2.5 }),
    missing: ([x, y]) => draw("circle", { class: "missing", cx: x, cy: y, r: 4.5 }),
    extra: ([x, y]) => draw("path", { class: "extra", d: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8` }),
  };
  let at = 10;
  for (const kind of ["common", "missing", "extra"]) {
    svg.append(...points[kind].map((p) => linked(p, mark[kind](place(p).map(Number)))));
    svg.append(mark[kind]([at, height - 10]), draw("text", { x: at + 9, y: height - 6 }, kind));
    at += 70;
  }
  const metres = extent * 111195;
  const round = 10 ** Math.floor(Math.log10(metres / 3));
  svg.append(draw("path", { class: "extra", style: "stroke: currentColor",
    d: `M${width - 10} ${height - 4}h${-(round / 111195 * scale).toFixed(1)}` }),
  draw("text", { x: width - 10, y: height - 8, "text-anchor": "end" },
    round >= 1000 ? `${round / 1000} km` : `${round} m`));
  return svg;
}

/** An element, by a link where there is a page of it. */
function element(name, i) {
  const page = /^(node|way|relation)\/\d+$/.test(name);
  const href = `https://www.openstreetmap.org/${name}`;
  return [i > 0 ? ", " : "", page ? make("a", { href, rel: "noreferrer" }, name) : name];
}

function detail(row, metrics, words) {
  const [left, right] = differences(row.gold, row.pred);
  const box = make("div", { className: "detail" });
  if (row.nl) box.append(make("p", {}, row.nl));
  box.append(make("div", { className: "pair" },
    make("div", {}, make("h3", {}, `gold${row.ref_error ? `: ${words[row.ref_error] || row.ref_error}`
      : row.ref_n === undefined ? "" : `: ${row.ref_n}`}`), make("pre", {}, ...left)),
    make("div", {}, make("h3", {}, `prediction${row.error ? `: ${words[row.error] || row.error}` : row.pred_n === undefined ? "" : `: ${row.pred_n}`}`),
      make("pre", {}, ...right))));
  if (row.error_text) box.append(make("p", { className: "said" }, row.error_text));
  const scores = metrics.map(([, title, meaning], i) => [title, meaning, row.scores[i]]).filter(([, , score]) => score !== null)
    .map(([title, meaning, score]) => make("span", { title: meaning }, `${title} ${(100 * score).toFixed(1)}`));
  if (row.limited) scores.push(make("span", {}, "cut by a limit"));
  scores.push(make("a", { href: `#line-${row.line}` }, "link to this instance"));
  box.append(make("p", { className: "facts" }, ...scores.flatMap((score, i) => (i > 0 ? [" · ", score] : [score]))));
  for (const kind of ["missing", "extra"]) {
    if (row[kind]) box.append(make("p", { className: "facts" }, `${kind}: `, ...row[kind].flatMap(element)));
  }
  const other = row.counterexample;
  if (other) {
    const number = (n) => (n === undefined || n === null ? "no" : String(n));
    const came = other.error ? words[other.error] || other.error : `${number(other.pred_n)} results`;
    box.append(make("h3", {}, "counterexample"), make("p", { className: "facts" },
      `On ${other.name} the gold has ${number(other.ref_n)} results, the prediction: ${came}.`));
    for (const [kind, who] of [["missing", "only the gold"], ["extra", "only the prediction"]]) {
      if (other[kind]) box.append(make("p", { className: "facts" }, `${who}: `, ...other[kind].flatMap(element)));
    }
  }
  if (row.map) {
    const full = Object.assign({ common: [], missing: [], extra: [] }, row.map);
    box.append(make("h3", {}, "where (at most 60 of each)"), map(full));
  }
  return box;
}

function show(data) {
  const $ = (id) => document.getElementById(id);
  const { summary, metrics, measures, rows, words } = data;
  $("about").textContent = [summary.model, summary.dataset, summary.benchmark, summary.snapshot && `snapshot ${summary.snapshot}`,
    summary.engine].filter(Boolean).join(" · ");
  const notices = [];
  if (summary.usable !== undefined && 2 * summary.usable < summary.n) {
    notices.push(`Only ${summary.usable} of ${summary.n} gold queries give something on this snapshot: the scores say little.`);
  }
  if (summary.with_unknown) {
    notices.push(`${summary.with_unknown} of ${summary.n} predictions have a name that the snapshot lacks.`);
  }
  if (summary.not_queries) {
    notices.push(`${summary.not_queries} of ${summary.n} predictions do not look like queries.`);
  }
  $("notice").textContent = notices.join(" ");
  $("notice").hidden = notices.length === 0;
  $("table").append(table(data));
  $("legend").querySelector("dl").append(...legend(data));
  $("csv").addEventListener("click", () => download("scores.csv", "text/csv", tableAsCsv(data)));
  $("latex").addEventListener("click", () => download("scores.tex", "text/plain", tableAsLatex(data)));
  $("instances").addEventListener("click", () => download("instances.csv", "text/csv", instancesAsCsv(data)));
  const index = Object.fromEntries(metrics.map(([name], i) => [name, i]));
  const classes = errors(summary);
  for (const name of Object.keys(classes || {})) $("error").append(make("option", { value: name }, words[name] || name));
  $("error").hidden = !Object.keys(classes || {}).length;
  $("outcome").hidden = !classes;
  $("tertile").hidden = !measures.length && !summary.complexity;
  measures.forEach((measure, i) => ["easy", "medium", "hard"].forEach((tertile) =>
    $("tertile").append(make("option", { value: `${i} ${tertile}` }, `${measure}: ${tertile}`))));
  for (const name of Object.keys(summary.complexity || {})) {
    $("tertile").append(make("option", { value: `complexity ${name}` }, `complexity: ${name}`));
  }
  metrics.forEach(([name, title], i) => {
    if (name in summary) $("sort").append(make("option", { value: String(i) }, `lowest ${title} first`));
  });
  const percent = (score) => (100 * score).toFixed(0);
  /** The line of an instance in the list; a click opens it. */
  const line = ({ row, kind, words: came }) => {
    const facts = [["oqs", "OQS"], ["ex_soft", "soft"], ["compat.codebleu", "CodeBLEU"], ["strict.jaccard", "Jaccard"]]
      .filter(([name]) => row.scores[index[name]] !== null && name in summary)
      .map(([name, title]) => `${title} ${percent(row.scores[index[name]])}`);
    const button = make("button", { type: "button" }, make("span", {}, row.id || String(row.line)),
      make("span", {}, row.nl || row.gold),
      make("span", { className: kind === "same" ? "good" : kind === "error" ? "bad" : "" }, came),
      make("span", {}, facts[0] || ""), make("span", {}, facts[1] || ""));
    const node = make("li", { id: `line-${row.line}` }, button);
    button.setAttribute("aria-expanded", "false");
    node.toggle = (open) => {
      if (open === (node.lastChild !== button)) return;
      if (open) node.append(detail(row, metrics, words)); else node.lastChild.remove();
      button.setAttribute("aria-expanded", String(open));
    };
    button.addEventListener("click", () => {
      const open = node.lastChild === button;
      node.toggle(open);
      if (open) history.replaceState(null, "", `#line-${row.line}`);
    });
    return node;
  };
  const items = rows.map((row) => {
    // Where a limit cut SPARQL's answers, only their Jaccard index is known.
    const ex = ["ex", "strict.multiset", "strict.jaccard"].map((name) => row.scores[index[name]])
      .find((score) => score !== null);
    let [kind, came] = outcome(row, ex, words);
    if (kind === "same" && row.counterexample) [kind, came] = ["suite", "differs in the suite"];
    const text = [row.id, row.nl, row.gold, row.pred, row.error_text, row.error, came].filter(Boolean).join("\n").toLowerCase();
    return { row, kind, words: came, text, node: null };
  });
  const cloud = scatter(items, index.oqs, index.ex);
  if (cloud) $("plots").append(cloud);
  let fitting = items, limit = PAGE;
  const list = () => {
    const shown = fitting.slice(0, limit);
    for (const item of shown) item.node = item.node || line(item);
    $("rows").replaceChildren(...shown.map((item) => item.node));
    $("shown").textContent = `${fitting.length} of ${rows.length}`;
    $("more").hidden = fitting.length <= limit;
  };
  const filter = () => {
    const text = $("text").value.toLowerCase(), kind = $("outcome").value, error = $("error").value;
    const tertile = $("tertile").value, cut = tertile.indexOf(" "), measure = tertile.slice(0, cut);
    const part = (row) => (measure === "complexity" ? row.complexity : (row.tertiles || [])[measure]);
    fitting = items.filter(({ row, kind: own, text: all }) => (!kind || own === kind)
      && (!error || row.error === error) && (!text || all.includes(text))
      && (!tertile || part(row) === tertile.slice(cut + 1)));
    limit = PAGE;
    list();
  };
  const sort = () => {
    const by = $("sort").value;
    const key = by === "line" ? (row) => row.line : (row) => (row.scores[by] === null ? 2 : row.scores[by]);
    items.sort((a, b) => key(a.row) - key(b.row) || a.row.line - b.row.line);
    filter();
  };
  $("filters").addEventListener("input", filter);
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("sort").addEventListener("change", sort);
  $("more").addEventListener("click", () => {
    limit += PAGE;
    list();
  });
  /** Opens the instance that the address names, whatever the filters leave out. */
  const follow = () => {
    const name = /^#line-(\d+)$/.exec(location.hash);
    const item = name && items.find(({ row }) => row.line === Number(name[1]));
    if (!item) return;
    if (!fitting.includes(item)) {
      for (const id of ["text", "outcome", "error", "tertile"]) $(id).value = "";
      filter();
    }
    limit = Math.max(limit, PAGE * Math.ceil((fitting.indexOf(item) + 1) / PAGE));
    list();
    item.node.toggle(true);
    item.node.scrollIntoView();
  };
  filter();
  window.addEventListener("hashchange", follow);
  follow();
}
