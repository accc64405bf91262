// Where arrow keys lead, also from right to left (ARIA Authoring Practices, "Tabs" and "Menu").

import { afterEach, describe, expect, test } from 'vitest';
import { placeAfter } from '../src/keys';
import { en } from '../src/text/en';
import { useCatalogue } from '../src/text/lookup';

afterEach(() => useCatalogue({ tag: 'en', texts: en }));

describe('arrow keys', () => {
  test('go up and down a menu, around its ends', () => {
    expect(['ArrowDown', 'ArrowUp'].map((key) => placeAfter(key, 0, 3, 'vertical'))).toEqual([1, 2]);
    expect(['ArrowDown', 'ArrowUp'].map((key) => placeAfter(key, 2, 3, 'vertical'))).toEqual([0, 1]);
  });

  test('go to the first or the last if no element has the focus', () => {
    expect(['ArrowDown', 'ArrowUp'].map((key) => placeAfter(key, -1, 3, 'vertical'))).toEqual([0, 2]);
  });

  test('leave other keys, other axes and empty menus alone', () => {
    for (const key of ['ArrowLeft', 'ArrowRight', 'Home', 'End', 'Enter', 'a']) expect(placeAfter(key, 0, 3, 'vertical')).toBeUndefined();
    for (const key of ['ArrowUp', 'ArrowDown', 'Tab']) expect(placeAfter(key, 0, 3, 'sides')).toBeUndefined();
    for (const key of ['ArrowUp', 'Home', 'End']) expect(placeAfter(key, -1, 0, 'both')).toBeUndefined();
  });

  test('go through tabs in the direction of the language', () => {
    const keys = ['ArrowRight', 'ArrowLeft', 'Home', 'End'];
    expect(keys.map((key) => placeAfter(key, 1, 4, 'sides'))).toEqual([2, 0, 0, 3]);
    useCatalogue({ tag: 'ar', texts: en });
    expect(keys.map((key) => placeAfter(key, 1, 4, 'sides'))).toEqual([0, 2, 0, 3]);
  });

  test('go through choices in both directions', () => {
    expect(['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowUp'].map((key) => placeAfter(key, 0, 2, 'both'))).toEqual([1, 1, 1, 1]);
  });
});
