// OverpassQL as the editor colours it, and the words of it that completion offers.

import { StreamLanguage, type StreamParser, type StringStream } from '@codemirror/language';

export const TYPES = ['node', 'way', 'relation', 'rel', 'nwr', 'nw', 'nr', 'wr', 'area', 'derived'];
export const STATEMENTS = ['out', 'foreach', 'if', 'else', 'for', 'complete', 'retro', 'timeline', 'compare', 'convert', 'make', 'is_in', 'map_to_area', 'local', 'delta'];
export const MODES = ['ids', 'skel', 'body', 'tags', 'meta', 'count', 'noids', 'geom', 'bb', 'center', 'asc', 'qt'];
export const SETTINGS = ['out', 'timeout', 'maxsize', 'bbox', 'date', 'diff', 'adiff'];
export const FORMATS = ['json', 'xml', 'csv', 'geojson', 'custom', 'popup'];
export const FILTERS = ['around', 'area', 'poly', 'id', 'user', 'uid', 'newer', 'changed', 'pivot', 'bn', 'bw', 'br', 'w', 'r', 'n', 'if'];
export const SHORTCUTS = ['bbox', 'center', 'geocodeArea:', 'geocodeId:', 'geocodeBbox:', 'geocodeCoords:', 'date:', 'style:'];
const WORDS = new Set([...TYPES, ...STATEMENTS, ...MODES]);
const KINDS = new Set(TYPES);

interface State {
  /** What the text is within: a comment, a shortcut, a string by its quote. */
  within: '' | 'comment' | 'shortcut' | '"' | "'";
  /** How deep brackets are, and whether the innermost is a filter by tag. */
  square: number;
  /** Whether a value follows in the brackets. */
  value: boolean;
  /** Whether statements have begun, after which brackets hold no settings. */
  begun: boolean;
}

const parser: StreamParser<State> = {
  name: 'overpassql',
  startState: () => ({ within: '', square: 0, value: false, begun: false }),
  token(stream, state) {
    if (state.within) return inside(stream, state);
    if (stream.eatSpace()) return null;
    if (stream.match('//')) {
      stream.skipToEnd();
      return 'comment';
    }
    if (stream.match('/*')) {
      state.within = 'comment';
      return inside(stream, state);
    }
    if (stream.match('{{')) {
      state.within = 'shortcut';
      return inside(stream, state);
    }
    const next = stream.peek();
    if (next === '"' || next === "'") {
      stream.next();
      state.within = next;
      return inside(stream, state);
    }
    if (stream.match(/^->\s*\.\w+/) || stream.match(/^\.[A-Za-z_]\w*/)) return 'variableName';
    if (stream.match(/^-?\d+(\.\d+)?(?![\w:])/)) return 'number';
    if (stream.match(/^(->|<<|>>|!=~|!~|!=|[~=<>!|&+*/-])/)) {
      state.value = state.square > 0;
      return 'operator';
    }
    if (stream.match(/^[\p{L}_][\p{L}\p{N}_:-]*/u)) {
      const word = stream.current();
      if (state.square > 0) {
        if (!state.begun && SETTINGS.includes(word.split(':')[0] ?? '')) {
          stream.backUp(word.length - (word.split(':')[0] ?? '').length);
          state.value = true;
          return 'keyword';
        }
        return state.value ? 'string' : 'propertyName';
      }
      if (KINDS.has(word)) {
        state.begun = true;
        return 'typeName';
      }
      if (stream.match(/^\s*\(/, false) && !WORDS.has(word)) return 'variableName.function';
      return WORDS.has(word) ? 'keyword' : word.includes(':') || FILTERS.includes(word) ? 'modifier' : 'name';
    }
    const sign = stream.next();
    if (sign === '[') {
      state.square += 1;
      state.value = false;
    } else if (sign === ']') state.square = Math.max(0, state.square - 1);
    else if (sign === ';') state.square = 0;
    if (sign === ':' || sign === ',') return 'punctuation';
    return sign && '[]()'.includes(sign) ? 'bracket' : 'punctuation';
  },
  languageData: {
    commentTokens: { line: '//', block: { open: '/*', close: '*/' } },
    closeBrackets: { brackets: ['(', '[', '{', '"', "'"] },
  },
};

function inside(stream: StringStream, state: State): string {
  const end = state.within === 'comment' ? '*/' : state.within === 'shortcut' ? '}}' : state.within;
  const name = state.within === 'comment' ? 'comment' : state.within === 'shortcut' ? 'meta' : state.square > 0 && !state.value ? 'propertyName' : 'string';
  while (!stream.eol()) {
    if (stream.match(end)) {
      state.within = '';
      return name;
    }
    if (stream.next() === '\\' && (state.within === '"' || state.within === "'")) stream.next();
  }
  return name;
}

export const overpassql = StreamLanguage.define(parser);
