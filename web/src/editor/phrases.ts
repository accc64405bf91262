// What CodeMirror itself shows and announces, in the language of the page. Its phrases are the keys, as in its documentation
// (`EditorState.phrases`); `$` is a value that it fills in.

import { t } from '../text/lookup';

export const phrases = (): Record<string, string> => ({
  // @codemirror/search
  'Go to line': t('goToLine'),
  go: t('goToLineNow'),
  Find: t('findField'),
  Replace: t('replaceField'),
  next: t('nextMatch'),
  previous: t('previousMatch'),
  all: t('allMatches'),
  'match case': t('matchCase'),
  regexp: t('regexp'),
  'by word': t('byWord'),
  replace: t('replaceMatch'),
  'replace all': t('replaceAll'),
  close: t('close'),
  'current match': t('currentMatch'),
  'on line': t('onLine'),
  'replaced match on line $': t('replacedOnLine', { line: '$' }),
  'replaced $ matches': t('replacedMatches', { number: '$' }),
  // @codemirror/view, commands, autocomplete and lint
  'Control character': t('controlCharacter'),
  'Selection deleted': t('selectionDeleted'),
  Completions: t('completions'),
  Diagnostics: t('diagnostics'),
  'No diagnostics': t('noDiagnostics'),
});
