// Texts are copied over plain HTTP as well, where there is no `navigator.clipboard`.

import { afterEach, expect, test, vi } from 'vitest';
import { copyText } from '../src/clipboard';

/** A document that copies what is selected if `allowed`; returns what was copied and what is left in it. */
function documentThatCopies(allowed: boolean | Error) {
  const copied: string[] = [];
  const inside: object[] = [];
  const focused = { closest: () => null, focus: vi.fn() };
  const field = { value: '', focus: vi.fn(), select: vi.fn(), setAttribute: vi.fn(), append: vi.fn(), remove: () => void inside.pop() };
  const execCommand = () => {
    if (allowed instanceof Error) throw allowed;
    if (allowed) copied.push(field.value);
    return allowed;
  };
  vi.stubGlobal('document', { activeElement: focused, body: { append: (one: object) => inside.push(one) }, createElement: () => field, execCommand });
  return { copied, inside, focused };
}

afterEach(() => vi.unstubAllGlobals());

test('a text is copied by the clipboard of the browser', async () => {
  const writeText = vi.fn(async () => undefined);
  vi.stubGlobal('navigator', { clipboard: { writeText } });
  expect(await copyText('a query')).toBe(true);
  expect(writeText).toHaveBeenCalledWith('a query');
});

test.each([['without TLS', {}], ['refused', { clipboard: { writeText: () => Promise.reject(new Error('no')) } }]])('a text is copied by selection: %s', async (_, navigator) => {
  vi.stubGlobal('navigator', navigator);
  const { copied, inside, focused } = documentThatCopies(true);
  expect(await copyText('a\nquery')).toBe(true);
  expect(copied).toEqual(['a\nquery']);
  expect(inside).toEqual([]);
  expect(focused.focus).toHaveBeenCalled();
});

test.each([[false], [new Error('not supported')]])('a browser that does not copy is reported: %s', async (allowed) => {
  vi.stubGlobal('navigator', {});
  const { inside } = documentThatCopies(allowed);
  expect(await copyText('a query')).toBe(false);
  expect(inside).toEqual([]);
});
