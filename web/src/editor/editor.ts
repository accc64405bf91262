// The editor. It lies in a shadow tree, where its styles are a sheet of the tree's own: the page's policy allows no element
// that has styles in it.

import { autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from '@codemirror/commands';
import { HighlightStyle, bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { forceLinting, lintKeymap, linter, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, Prec, type Extension } from '@codemirror/state';
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers, placeholder, tooltips } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { h } from '../dom';
import type { Language } from '../link';
import { json } from '../service';
import type { Surroundings } from '../shortcuts';
import { t } from '../text/lookup';
import { check } from './check';
import { completeOverpass } from './complete';
import { completeSparql } from './complete-sparql';
import { hover } from './hover';
import { overpassql } from './overpass';
import { phrases } from './phrases';
import { sparqlLanguage } from './sparql';

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--code-keyword)', fontWeight: '500' },
  { tag: tags.typeName, color: 'var(--code-type)', fontWeight: '500' },
  { tag: [tags.string, tags.url], color: 'var(--code-string)' },
  { tag: tags.propertyName, color: 'var(--code-key)' },
  { tag: tags.variableName, color: 'var(--code-variable)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: [tags.meta, tags.modifier], color: 'var(--code-macro)' },
  { tag: tags.function(tags.variableName), color: 'var(--code-macro)' },
  { tag: [tags.operator, tags.punctuation, tags.bracket], color: 'var(--code-sign)' },
]);

const look = EditorView.theme({
  '&': { height: '100%', fontSize: '13px', backgroundColor: 'var(--field)', color: 'var(--ink)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { padding: '10px 0', caretColor: 'var(--accent)' },
  '.cm-line': { padding: '0 12px 0 8px' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--muted)', border: 'none', paddingLeft: '6px' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '22px', padding: '0 4px' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--line-active)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--selection)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--selection)', outline: 'none' },
  '.cm-selectionMatch': { backgroundColor: 'var(--selection)' },
  '.cm-placeholder': { color: 'var(--muted)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', border: '1px solid var(--edge)', borderRadius: '6px', boxShadow: 'var(--shadow)', color: 'var(--ink)', overflow: 'hidden' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', fontSize: '12.5px', maxHeight: '16em', minWidth: '17em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px', display: 'flex', gap: '10px', alignItems: 'baseline' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent-soft)', color: 'var(--ink)' },
  '.cm-completionIcon': { display: 'none' },
  '.cm-completionLabel': { flex: '1' },
  '.cm-completionDetail': { color: 'var(--muted)', fontStyle: 'normal', marginLeft: '0', maxWidth: '16em', overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' },
  '.cm-completionMatchedText': { textDecoration: 'none', color: 'var(--accent)', fontWeight: '500' },
  '.cm-completionInfo': { padding: '6px 10px', fontFamily: 'var(--sans)', maxWidth: '22em' },
  '.cm-diagnostic': { padding: '6px 10px', whiteSpace: 'pre-wrap', fontFamily: 'var(--sans)', fontSize: '12.5px', maxWidth: '44em' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--error)' },
  '.cm-diagnostic-warning': { borderLeft: '3px solid var(--warning)' },
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--error) 1px', textUnderlineOffset: '3px' },
  '.cm-lintRange-warning': { backgroundImage: 'none', textDecoration: 'underline wavy var(--warning) 1px', textUnderlineOffset: '3px' },
  '.cm-lintPoint:after': { borderBottomColor: 'var(--error)' },
  '.cm-hover': { padding: '6px 10px', fontFamily: 'var(--sans)', fontSize: '12.5px', maxWidth: '36em' },
  '.cm-panels': { backgroundColor: 'var(--raised)', color: 'var(--ink)', borderColor: 'var(--edge)' },
  '.cm-panel input, .cm-panel button': { font: 'inherit', fontSize: '12px' },
  '.cm-panel :focus-visible': { outline: '2px solid var(--focus)', outlineOffset: '1px' },
  '.cm-textfield': { backgroundColor: 'var(--field)', border: '1px solid var(--edge)', color: 'var(--ink)' },
  '.cm-button': { backgroundImage: 'none', backgroundColor: 'var(--paper)', border: '1px solid var(--edge)', color: 'var(--ink)' },
});

/**
 * Text typed over several lines: left to the browser, that joins the lines and gives what is left styles of its own, which
 * the page's policy refuses with a message in the console.
 */
function overLines(event: InputEvent, view: EditorView): boolean {
  const { from, to } = view.state.selection.main;
  const { data } = event;
  if (event.inputType !== 'insertText' || !data || view.composing || /^[([{"']$/.test(data)) return false;
  if (view.state.doc.lineAt(from).number === view.state.doc.lineAt(to).number) return false;
  event.preventDefault();
  view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
  return true;
}

/** A character that is not seen, by its code: CodeMirror's names are English. */
function specialChar(code: number, _: string | null, sign: string): HTMLElement {
  const title = `${t('controlCharacter')} U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return h('span', { class: 'cm-specialChar', title, 'aria-label': title, role: 'img' }, sign);
}

export interface Wiring {
  /** The map's box and the data's time. */
  around(): Surroundings;
  /** Ctrl+Enter. */
  run(): void;
  /** Escape, when nothing else takes it. */
  leave(): void;
  changed(text: string): void;
  /** After each look at the text. */
  checked(problems: readonly Diagnostic[]): void;
  /** Whether the text is only to be read. */
  readOnly?: boolean;
  /** The server could not format the text. */
  notFormatted?(why: string): void;
}

export class Editor {
  readonly element = h('div', { class: 'editor', dir: 'ltr' });
  private readonly view: EditorView;
  private readonly mode = new Compartment();
  private current: Language = 'overpassql';
  /** Whether the last key changed the text. */
  private typed = false;

  constructor(private readonly wiring: Wiring) {
    const root = this.element.attachShadow({ mode: 'open' });
    this.view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        extensions: [
          EditorState.readOnly.of(wiring.readOnly === true),
          EditorState.phrases.of(phrases()),
          lineNumbers(),
          highlightActiveLineGutter(),
          highlightSpecialChars({ render: specialChar }),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          search({ top: true }),
          EditorView.lineWrapping,
          syntaxHighlighting(colours),
          look,
          tooltips({ position: 'fixed' }),
          hover(() => this.current),
          linter(
            async (view) => {
              const problems = await check(view, this.current, wiring.around());
              wiring.checked(problems);
              return problems;
            },
            { delay: 350 },
          ),
          Prec.highest(
            keymap.of([
              { key: 'Mod-Enter', run: (view) => (closeCompletion(view), wiring.run(), true) },
              { key: 'Shift-Enter', run: (view) => (closeCompletion(view), wiring.run(), true) },
              { key: 'Shift-Alt-f', run: () => (void this.format(), true) },
            ]),
          ),
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
          // Tab leaves the editor, unless the last key changed the text or several lines are selected.
          keymap.of([{ key: 'Tab', run: (view) => this.indents(view) && indentMore(view), shift: (view) => this.indents(view) && indentLess(view) }]),
          keymap.of([{ key: 'Escape', run: () => (wiring.leave(), true) }]),
          EditorView.domEventHandlers({ beforeinput: overLines }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) wiring.changed(update.state.doc.toString());
            if (update.docChanged || update.focusChanged) this.typed = update.transactions.some((step) => step.isUserEvent('input') || step.isUserEvent('delete') || step.isUserEvent('indent'));
            else if (update.selectionSet) this.typed = false;
          }),
          EditorView.contentAttributes.of({ 'aria-label': t('query'), 'aria-description': t('escapeThenTabLeavesThe'), 'aria-multiline': 'true', ...(wiring.readOnly && { 'aria-readonly': 'true' }), spellcheck: 'false', autocapitalize: 'off' }),
          placeholder(t('writeAQueryOrTakeOne')),
          this.mode.of(this.extensions()),
        ],
      }),
    });
  }

  private indents(view: EditorView): boolean {
    const { from, to } = view.state.selection.main;
    return this.typed || view.state.doc.lineAt(from).number !== view.state.doc.lineAt(to).number;
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set text(text: string) {
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text }, selection: { anchor: 0 } });
  }

  get language(): Language {
    return this.current;
  }

  set language(language: Language) {
    if (language === this.current) return;
    this.current = language;
    this.view.dispatch({ effects: this.mode.reconfigure(this.extensions()) });
    this.check();
  }

  /** Looks at the text again, as what it is held against has changed. */
  check(): void {
    this.view.dispatch(setDiagnostics(this.view.state, []));
    forceLinting(this.view);
  }

  /** Formats the query by the server, as `terrapin fmt` does. A text that changed meanwhile stays. */
  async format(): Promise<void> {
    if (this.wiring.readOnly) return;
    const before = this.text;
    const body = JSON.stringify({ query: before, lang: this.current });
    try {
      const { query } = await json<{ query: string }>('/format', { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
      if (this.text === before && query !== before) this.view.dispatch({ changes: { from: 0, to: before.length, insert: query }, userEvent: 'format' });
    } catch (problem) {
      this.wiring.notFormatted?.((problem as Error).message);
    }
  }

  focus(): void {
    this.view.focus();
  }

  /** Puts the cursor there. */
  show(at: number): void {
    this.view.dispatch({ selection: { anchor: at }, scrollIntoView: true });
    this.view.focus();
  }

  private extensions(): Extension {
    const isSparql = this.current === 'sparql';
    return [
      isSparql ? sparqlLanguage : overpassql,
      autocompletion({ override: [isSparql ? completeSparql : completeOverpass], maxRenderedOptions: 60, closeOnBlur: true }),
    ];
  }
}
