// Errors and warnings while somebody types: the parser's own, from `/feedback`, without running anything.

import type { Diagnostic } from '@codemirror/lint';
import type { EditorView } from '@codemirror/view';
import type { Language } from '../link';
import { json } from '../service';
import { Unknown, expand, type Expanded, type Surroundings } from '../shortcuts';
import { t } from '../text/lookup';

interface Problem {
  class: string;
  message: string;
  line: number | null;
  column: number | null;
  near: string | null;
  hint: string | null;
}

interface Warning {
  message: string;
  nearest: string[];
}

const TAIL = 20;

export async function check(view: EditorView, language: Language, around: Surroundings): Promise<Diagnostic[]> {
  const text = view.state.doc.toString();
  if (!text.trim()) return [];
  let expanded: Expanded = { text, style: '', elsewhere: false, guessed: [], origin: (at) => at };
  if (language === 'overpassql') {
    try {
      expanded = await expand(text, around);
    } catch (problem) {
      if (problem instanceof Unknown) return [{ from: problem.from, to: problem.to, severity: 'error', message: problem.message }];
      return [];
    }
  }
  let said: { errors: Problem[]; warnings: Warning[] };
  try {
    const body = JSON.stringify({ query: expanded.text, lang: language, sample: 0, run: false });
    said = await json('/feedback', { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
  } catch {
    // Whatever that is, running the query tells it.
    return [];
  }
  const length = view.state.doc.length;
  const bounded = (at: number) => Math.max(0, Math.min(length, at));
  const errors = said.errors.map((problem): Diagnostic => {
    const [start, end] = place(expanded.text, problem);
    let from = bounded(expanded.origin(start));
    let to = bounded(expanded.origin(end));
    if (to <= from) [from, to] = around_of(text, from);
    const message = problem.hint ? `${problem.message}\n${problem.hint}` : problem.message;
    return { from, to, severity: 'error', source: problem.class, message };
  });
  const warnings = said.warnings.map((warning): Diagnostic => {
    const [from, to] = named(text, warning.message);
    const message = warning.nearest.length ? `${warning.message}\n${t('thereIs', { values: warning.nearest.join(', ') })}` : warning.message;
    return { from, to, severity: 'warning', message };
  });
  return [...errors, ...warnings];
}

/** First and last letter of a place that is told in lines and characters, with the text at it. */
function place(text: string, problem: Problem): [number, number] {
  if (problem.line === null) return [0, 0];
  const lines = text.split('\n');
  let start = 0;
  for (const line of lines.slice(0, problem.line - 1)) start += line.length + 1;
  const line = lines[problem.line - 1] ?? '';
  if (problem.column === null) return [start, start + line.length];
  // Characters are code points there, and halves of them here.
  start += [...line].slice(0, problem.column - 1).join('').length;
  const inside = /^[\s\S]{0,40}?>>([\s\S]*?)<<[\s\S]{0,40}$/.exec(problem.near ?? '')?.[1] ?? '';
  void TAIL;
  return [start, start + inside.length];
}

/** Something to underline at a place that is only a point: the word there, or the last letter before. */
function around_of(text: string, at: number): [number, number] {
  const word = /^[\p{L}\p{N}_]+/u.exec(text.slice(at))?.[0] ?? '';
  if (word) return [at, at + word.length];
  let start = at;
  while (start > 0 && /\s/.test(text[start - 1] ?? '')) start -= 1;
  return [Math.max(0, start - 1), Math.max(start, Math.min(1, text.length))];
}

/** Where a text has what a warning names; its first line where it has not. */
function named(text: string, message: string): [number, number] {
  const first: [number, number] = [0, text.indexOf('\n') < 0 ? text.length : text.indexOf('\n')];
  const parts = [/"([^"]+)"/.exec(message)?.[1], /\b(?:has|have) ([^\s;,]+=[^;,]+)$/.exec(message)?.[1]?.split('=')[1], /no triple has (\S+)/.exec(message)?.[1], /alone, (.+) finds nothing/.exec(message)?.[1], /no area fits (.+)$/.exec(message)?.[1], /set \.(\w+)/.exec(message)?.[1], /(\d{2,})/.exec(message)?.[1]];
  for (const part of parts) {
    const at = part ? text.indexOf(part) : -1;
    if (part && at >= 0) return [at, at + part.length];
  }
  return first;
}
