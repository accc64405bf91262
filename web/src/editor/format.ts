// Queries laid out: a statement or pattern a line, blocks indented. Only white space is changed, and none within strings,
// comments, brackets and shortcuts; a text that is laid out already stays as it is.

import type { Language } from '../link';

interface Piece {
  kind: 'text' | 'space' | 'comment' | 'sign';
  text: string;
}

export function format(text: string, language: Language): string {
  // The XML form of OverpassQL is left alone.
  if (/^\s*</.test(text)) return text;
  return language === 'sparql' ? sparql(text) : overpass(text);
}

class Lines {
  private readonly lines: string[] = [];
  private line = '';
  depth = 0;

  add(text: string): void {
    this.line = this.line === '' ? '  '.repeat(this.depth) + text.trimStart() : this.line + text;
  }

  end(): void {
    if (this.line.trim()) this.lines.push(this.line.trimEnd());
    this.line = '';
  }

  /** An empty line, as one stood there before. */
  gap(): void {
    if (this.line === '' && this.lines.length && this.lines[this.lines.length - 1] !== '') this.lines.push('');
  }

  get empty(): boolean {
    return this.line === '';
  }

  get text(): string {
    this.end();
    return `${this.lines.join('\n').trim()}\n`;
  }
}

const OVERPASS = /(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(\{\{[\s\S]*?\}\})|("(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*')|(\s+)|([\s\S])/g;

function overpass(text: string): string {
  const out = new Lines();
  /** What each open bracket is: a union, a block, or a part of a statement. */
  const open: ('union' | 'block' | 'part')[] = [];
  const isInside = () => open[open.length - 1] === 'part';
  let begins = true;
  const pieces = [...text.matchAll(OVERPASS)];
  pieces.forEach(([whole, comment, shortcut, string, space], i) => {
    if (comment) {
      const alone = out.empty || /\n/.test(pieces[i - 1]?.[0] ?? '\n');
      if (alone) out.end();
      else if (pieces[i - 1]?.[4] === undefined) out.add(' ');
      out.add(comment);
      if (comment.startsWith('//') || alone) out.end();
      return;
    }
    if (space) {
      if (/\n\s*\n/.test(space)) out.gap();
      if (!out.empty) out.add(isInside() ? space.replace(/\s*\n\s*/g, ' ') : ' ');
      return;
    }
    if (shortcut || string) {
      out.add(whole);
      begins = begins && shortcut !== undefined;
      return;
    }
    switch (whole) {
      case '(':
        if (begins) {
          out.add('(');
          out.end();
          out.depth += 1;
          open.push('union');
          return;
        }
        out.add(whole);
        open.push('part');
        break;
      case '[':
        out.add(whole);
        open.push('part');
        break;
      case '{':
        if (isInside()) {
          out.add(whole);
          break;
        }
        out.end();
        out.add('{');
        out.end();
        out.depth += 1;
        open.push('block');
        begins = true;
        return;
      case ')':
      case ']':
      case '}': {
        const kind = open.pop();
        if (kind === 'union' || kind === 'block') {
          out.end();
          out.depth = Math.max(0, out.depth - 1);
          out.add(whole);
          if (kind === 'block') {
            out.end();
            begins = true;
            return;
          }
        } else out.add(whole);
        break;
      }
      case ';':
        out.add(';');
        if (isInside()) return;
        // What is said of a statement stays in its line.
        if (/^[ \t]*\/\//.test(text.slice((pieces[i]?.index ?? 0) + 1))) break;
        out.end();
        begins = true;
        return;
      default:
        out.add(whole);
    }
    begins = false;
  });
  return out.text;
}

const SPARQL = /(#[^\n]*)|("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|<[^<>"{}|^`\\\s]*>)|(\s+)|([{}])|([.;](?=\s|[{}]|$))|([()[\]])|((?:[^\s{}()[\].;"'<#]|[.;](?!\s|[{}]|$)|<)+|[\s\S])/g;

function sparql(text: string): string {
  const out = new Lines();
  let round = 0;
  /** Whether the lines of a subject with many properties are indented. */
  let hanging = false;
  const rest = () => {
    if (hanging) out.depth -= 1;
    hanging = false;
  };
  const pieces: Piece[] = [...text.matchAll(SPARQL)].map((match) => ({ text: match[0], kind: match[1] ? 'comment' : match[3] ? 'space' : match[4] || match[5] || match[6] ? 'sign' : 'text' }));
  pieces.forEach((piece, i) => {
    const before = pieces[i - 1];
    switch (piece.kind) {
      case 'comment': {
        const alone = !before || /\n/.test(before.text);
        if (alone) out.end();
        out.add(piece.text);
        out.end();
        return;
      }
      case 'space': {
        if (/\n\s*\n/.test(piece.text)) out.gap();
        const next = pieces[i + 1];
        // A comment stays behind what it is about; words such as LIMIT keep their line.
        if (/\n/.test(piece.text) && round === 0 && next?.kind === 'text' && /^(select|construct|describe|ask|where|from|group|order|having|limit|offset|values|filter|optional|bind|service|minus|union|prefix|base|with|include)$/i.test(next.text)) return out.end();
        if (!out.empty) out.add(' ');
        return;
      }
      case 'text':
        return out.add(piece.text);
    }
    switch (piece.text) {
      case '{':
        if (!out.empty && before?.kind !== 'space') out.add(' ');
        out.add('{');
        if (round > 0) return;
        out.end();
        out.depth += 1;
        return;
      case '}':
        if (round > 0) return out.add('}');
        rest();
        out.end();
        out.depth = Math.max(0, out.depth - 1);
        out.add('}');
        if (!/^\s*(union|as)\b/i.test(pieces.slice(i + 1, i + 3).map((next) => next.text).join(''))) out.end();
        return;
      case '(':
      case '[':
        round += 1;
        return out.add(piece.text);
      case ')':
      case ']':
        round = Math.max(0, round - 1);
        return out.add(piece.text);
      default: {
        out.add(piece.text);
        if (round > 0) return;
        const isSaid = pieces[i + 1]?.kind === 'space' && pieces[i + 2]?.kind === 'comment' && !/\n/.test(pieces[i + 1]?.text ?? '');
        if (!isSaid) out.end();
        if (piece.text === '.') rest();
        else if (!hanging) {
          out.depth += 1;
          hanging = true;
        }
      }
    }
  });
  return out.text;
}
