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

/** The outcome of an instance, as the filter names it and as people read it. */
function outcome(row, ex) {
  if (row.error) return ["error", row.error];
  if (ex === undefined || row.pred_n === undefined) return ["", ""];
  if (ex === 1) return ["same", "same results"];
  if (row.pred_n === 0) return ["empty", "no results"];
  return ["other", "other results"];
}

/** How many predictions failed, by class; nothing where no query was run. */
function errors(summary) {
  if (!summary.errors && !summary.sparql) return undefined;
  return Object.assign({}, summary.errors, summary.sparql && summary.sparql.errors);
}

function table(data) {
  const { summary, metrics } = data;
  const shown = metrics.filter(([name]) => name in summary);
  const cells = (scores, intervals) => shown.map(([name]) => {
    const cell = make("td", {}, scores[name] === undefined ? "" : scores[name].toFixed(1));
    if (intervals && intervals[name]) {
      cell.append(make("small", {}, intervals[name].map((bound) => bound.toFixed(1)).join(" – ")));
    }
    return cell;
  });
  const count = (classes) => Object.values(classes).reduce((sum, n) => sum + n, 0);
  const failed = errors(summary);
  const body = make("tbody", {}, make("tr", {}, make("td", {}, "all"), ...cells(summary, summary.intervals),
    make("td", {}, failed ? String(count(failed)) : ""), make("td", {}, String(summary.n))));
  const parts = Object.entries(summary.complexity || {}).concat(summary.hard ? [["hard", summary.hard]] : []);
  for (const [name, part] of parts) {
    body.append(make("tr", {}, make("td", {}, name), ...cells(part), make("td", {}), make("td", {}, String(part.n))));
  }
  return make("table", {}, make("thead", {}, make("tr", {}, make("th", {}), ...shown.map(([, title]) =>
    make("th", {}, title)), make("th", {}, "errors"), make("th", {}, "n"))), body);
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
    svg.append(...points[kind].map((p) => mark[kind](place(p).map(Number))));
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

function detail(row, metrics) {
  const [left, right] = differences(row.gold, row.pred);
  const box = make("div", { className: "detail" });
  if (row.nl) box.append(make("p", {}, row.nl));
  box.append(make("div", { className: "pair" },
    make("div", {}, make("h3", {}, `gold${row.ref_n === undefined ? "" : `: ${row.ref_n}`}`), make("pre", {}, ...left)),
    make("div", {}, make("h3", {}, `prediction${row.error ? `: ${row.error}` : row.pred_n === undefined ? "" : `: ${row.pred_n}`}`),
      make("pre", {}, ...right))));
  if (row.error_text) box.append(make("p", { className: "said" }, row.error_text));
  const scores = metrics.map(([, title], i) => [title, row.scores[i]]).filter(([, score]) => score !== null)
    .map(([title, score]) => `${title} ${(100 * score).toFixed(1)}`);
  if (row.limited) scores.push("cut by a limit");
  box.append(make("p", { className: "facts" }, scores.join(" · ")));
  for (const kind of ["missing", "extra"]) {
    if (row[kind]) box.append(make("p", { className: "facts" }, `${kind}: `, ...row[kind].flatMap(element)));
  }
  if (row.map) {
    const full = Object.assign({ common: [], missing: [], extra: [] }, row.map);
    box.append(make("h3", {}, "where (at most 60 of each)"), map(full));
  }
  return box;
}

function show(data) {
  const $ = (id) => document.getElementById(id);
  const { summary, metrics, measures, rows } = data;
  $("about").textContent = [summary.benchmark, summary.snapshot && `snapshot ${summary.snapshot}`, summary.engine]
    .filter(Boolean).join(" · ");
  $("table").append(table(data));
  const index = Object.fromEntries(metrics.map(([name], i) => [name, i]));
  const classes = errors(summary);
  for (const name of Object.keys(classes || {})) $("error").append(make("option", { value: name }, name));
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
  const line = ({ row, kind, words }) => {
    const facts = [["oqs", "OQS"], ["ex_soft", "soft"], ["compat.codebleu", "CodeBLEU"], ["strict.jaccard", "Jaccard"]]
      .filter(([name]) => row.scores[index[name]] !== null && name in summary)
      .map(([name, title]) => `${title} ${percent(row.scores[index[name]])}`);
    const button = make("button", { type: "button" }, make("span", {}, row.id || String(row.line)),
      make("span", {}, row.nl || row.gold),
      make("span", { className: kind === "same" ? "good" : kind === "error" ? "bad" : "" }, words),
      make("span", {}, facts[0] || ""), make("span", {}, facts[1] || ""));
    const node = make("li", {}, button);
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => {
      const open = node.lastChild !== button;
      if (open) node.lastChild.remove(); else node.append(detail(row, metrics));
      button.setAttribute("aria-expanded", String(!open));
    });
    return node;
  };
  const items = rows.map((row) => {
    // Where a limit cut SPARQL's answers, only their Jaccard index is known.
    const ex = ["ex", "strict.multiset", "strict.jaccard"].map((name) => row.scores[index[name]])
      .find((score) => score !== null);
    const [kind, words] = outcome(row, ex);
    const text = [row.id, row.nl, row.gold, row.pred, row.error_text, words].filter(Boolean).join("\n").toLowerCase();
    return { row, kind, words, text, node: null };
  });
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
    fitting = items.filter(({ row, kind: own, text: words }) => (!kind || own === kind)
      && (!error || row.error === error) && (!text || words.includes(text))
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
  filter();
}
