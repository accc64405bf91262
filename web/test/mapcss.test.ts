import { describe, expect, it } from 'vitest';
import { stylesheet } from '../src/answer/mapcss';

/** The style of one element, without the number of the rule that the legend counts. */
const look = (style: string, tags: Record<string, string>, type = 'node', more: { isArea?: boolean; isClosed?: boolean } = {}) => {
  const { rule: _rule, ...drawn } = stylesheet(style)?.style({ type, isArea: false, isClosed: false, ...more, tags }) ?? {};
  return drawn;
};

// https://wiki.openstreetmap.org/wiki/MapCSS/0.2
describe('selectors', () => {
  it.each([
    ['node[a]', { a: 'x' }, true],
    ['node[!a]', { a: 'x' }, false],
    ['node[a=b]', { a: 'b' }, true],
    ['node[a!=b]', {}, true],
    ['node[a=~/^b/]', { a: 'bc' }, true],
    ['node[a^=b]', { a: 'cb' }, false],
    ['node[a$=b]', { a: 'cb' }, true],
    ['node[a*=b]', { a: 'cbc' }, true],
    ['node[n<5]', { n: '4' }, true],
    ['node[n>=5]', { n: '4' }, false],
    ['node[a?]', { a: 'yes' }, true],
    ['way[a]', { a: 'x' }, false],
    ['*[a]', { a: 'x' }, true],
    ['node:active', {}, false],
  ])('%s', (selector, tags, fits) => expect(look(`${selector} { color: red }`, tags as Record<string, string>)).toEqual(fits ? { color: 'red' } : {}));

  it('of ways that are closed, and of areas', () => {
    expect(look('way:closed { width: 3 }', {}, 'way', { isClosed: true })).toEqual({ width: 3 });
    expect(look('way:!closed { width: 3 }', {}, 'way', { isClosed: true })).toEqual({});
    expect(look('area { fill-color: blue }', {}, 'way', { isArea: true })).toMatchObject({ fill: 'blue' });
  });

  it('of classes that rules before them set', () => expect(look('node[a] { set .big } node.big { symbol-size: 20 } node!.big { symbol-size: 2 }', { a: '1' })).toMatchObject({ radius: 20 }));
});

it('later rules stand before earlier ones, values may be tags', () => {
  expect(look('node { color: red; text: name } node { color: tag(colour) }', { colour: '#123456', name: 'N' })).toEqual({ color: '#123456', text: 'N' });
});

it('what is not understood is left out', () => {
  expect(stylesheet('nothing of a style')).toBeNull();
  expect(look('node { color: red; unknown: 5; width: x }', {})).toEqual({ color: 'red' });
});
