// Runs the script of a report's page over a small document of its own, which has as much of the DOM as the page uses, and
// prints what a reader would see. Asked by tests/eval/report_page.rs: node report_page.mjs report.html
import { readFileSync } from "node:fs";
import vm from "node:vm";

class Node {
  constructor(name) {
    Object.assign(this, { name, children: [], dataset: {}, attributes: {}, listeners: {}, hidden: false, value: "", id: "" });
  }
  append(...children) {
    for (const child of children) {
      const node = typeof child === "object" ? child : Object.assign(new Node("#text"), { text: String(child) });
      node.parent = this;
      this.children.push(node);
    }
  }
  replaceChildren(...children) { this.children = []; this.append(...children); }
  remove() { this.parent.children = this.parent.children.filter((child) => child !== this); }
  setAttribute(name, value) { this.attributes[name] = value; }
  addEventListener(name, f) { this.listeners[name] = f; }
  click() { if (this.download) downloads[this.download] = blobs[this.href]; else this.listeners.click?.({ preventDefault() {} }); }
  scrollIntoView() { scrolled.push(this.id); }
  querySelector(name) { return this.all().find((node) => node.name === name); }
  get lastChild() { return this.children.at(-1); }
  set textContent(text) { this.replaceChildren(text); }
  get textContent() { return this.text ?? this.children.map((child) => child.textContent).join(""); }
  all() { return this.children.flatMap((child) => [child, ...child.all()]); }
}

const page = readFileSync(process.argv[2], "utf8");
const ids = {}, downloads = {}, blobs = {}, scrolled = [];
const body = new Node("body");
for (const [, name, id] of page.matchAll(/<(\w+) (?:type="\w+" )?id="(\w+)"/g)) {
  ids[id] = Object.assign(new Node(name), { id });
  body.append(ids[id]);
}
ids.sort.value = "line";
ids.legend.append(new Node("dl"));
const window = { listeners: {}, addEventListener(name, f) { this.listeners[name] = f; } };
const location = { hash: process.argv[3] || "" };
const context = {
  window, location, history: { replaceState: (a, b, hash) => { location.hash = hash; } },
  document: { getElementById: (id) => ids[id], createElement: (name) => new Node(name), createElementNS: (_, name) => new Node(name) },
  Blob: class { constructor([text]) { this.text = text; } }, setTimeout: () => {},
  URL: { createObjectURL: (blob) => { blobs[`blob:${Object.keys(blobs).length}`] = blob.text; return `blob:${Object.keys(blobs).length - 1}`; }, revokeObjectURL: () => {} },
};
vm.runInNewContext(/<script>([\s\S]*)<\/script>/.exec(page)[1], context);

const links = (node) => node.all().filter((n) => n.name === "a").map((n) => n.href ?? n.attributes.href);
const rows = () => ids.rows.children.map((row) => row.children[0].children.map((cell) => cell.textContent));
const filtered = (id, value) => {
  ids[id].value = value;
  ids.filters.listeners.input();
  const shown = rows().map((row) => row[0]);
  ids[id].value = "";
  ids.filters.listeners.input();
  return shown;
};
const opened = ids.rows.children.filter((row) => row.children.length > 1).map((row) => row.id);
for (const id of ["csv", "latex", "instances"]) ids[id].click();
for (const row of ids.rows.children) row.toggle(true);
process.stdout.write(JSON.stringify({
  about: ids.about.textContent,
  notice: ids.notice.textContent || null,
  head: ids.table.all().filter((node) => node.name === "th").map((node) => [node.textContent, node.title ?? ""]),
  titles: ids.table.all().filter((node) => node.name === "td").map((node) => node.dataset.title ?? ""),
  legend: ids.legend.all().filter((node) => node.name === "dt" || node.name === "dd").map((node) => node.textContent),
  outcomes: rows().map((row) => row[2]),
  classes: ids.error.children.map((option) => option.textContent),
  gold: filtered("outcome", "gold"),
  empty: filtered("outcome", "empty"),
  scatter: links(ids.plots),
  elements: ids.rows.all().filter((node) => node.name === "svg").flatMap(links),
  own: ids.rows.children.map((row) => links(row).filter((link) => link.startsWith("#"))),
  opened, scrolled, downloads,
}));
