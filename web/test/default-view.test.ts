import { describe, expect, test } from 'vitest';
import { defaultView, defaultViewComment, withDefaultView } from '../src/default-view';
import { commentOf, styleOfComment, withStyle } from '../src/style/written';
import { UNSTYLED } from '../src/style/styling';

describe('the comment with the view of an answer', () => {
  test.each([
    ['#defaultView:Graph\nSELECT * {}', 'graph', ''],
    ['  #  defaultView : BarChart \nSELECT * {}', 'barchart', ''],
    ['SELECT * {}\n#DEFAULTVIEW:map{"hide": "?a"}\n', 'map', '{"hide": "?a"}'],
    ['#defaultView:Graph of classes\nSELECT * {}', 'graph', ''],
    ['#defaultView:Map{"a": \nSELECT * {}', 'map', ''],
    ['SELECT * {} #defaultView:Graph', '', ''],
    ['SELECT * { ?a ?b "#defaultView:Graph" }', '', ''],
    ['', '', ''],
  ])('%j', (text, view, options) => expect(defaultView(text)).toEqual({ view, options }));

  test('is replaced, and removed with its line', () => {
    expect(withDefaultView('#defaultView:Graph and more\nASK {}', defaultViewComment('Map', { heat: true }))).toBe('#defaultView:Map{"heat":true}\nASK {}');
    expect(withDefaultView('#defaultView:Graph\nASK {}', '')).toBe('ASK {}');
    expect(defaultViewComment('Map', {})).toBe('#defaultView:Map');
  });

  test('holds a style', () => {
    const styling = { ...UNSTYLED, colour: 'kind', heat: true };
    const text = withStyle('#defaultView:Graph\nASK {}', 'sparql', commentOf(styling));
    expect(styleOfComment(text)).toEqual(styling);
    expect(withStyle(text, 'sparql', '')).toBe('ASK {}');
    expect(() => styleOfComment('#defaultView:Map{"a"}\nASK {}')).toThrow(/options/);
  });
});
