import { beforeEach, describe, expect, it } from 'vitest';
import { exported, imported, remove, save, saved } from '../src/state/saved';

const query = (name: string, text = 'node(1);out;') => ({ name, language: 'overpassql' as const, query: text, at: 1 });

describe('saved queries', () => {
  beforeEach(() => localStorage.clear());

  it('are kept by name', () => {
    save(query('b'));
    save(query('a'));
    save(query('b', 'way(2);out;'));
    expect(saved().map((entry) => [entry.name, entry.query])).toEqual([['a', 'node(1);out;'], ['b', 'way(2);out;']]);
    remove('a');
    expect(saved()).toHaveLength(1);
  });

  it('go to another browser by a file', () => {
    save(query('a'));
    const file = exported();
    localStorage.clear();
    save(query('b'));
    expect(imported(file)).toBe(1);
    expect(saved().map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('of other files are refused or left out', () => {
    expect(() => imported('<xml/>')).toThrow(/no JSON/);
    expect(() => imported('{"queries":[]}')).toThrow(/format/);
    expect(imported(JSON.stringify({ format: 'terrapin-queries', queries: [null, 5, { name: '' }, { name: 'x', query: 7 }, { name: ' y ', query: 'node;', language: 'other' }] }))).toBe(1);
    expect(saved()[0]).toEqual({ name: 'y', query: 'node;', language: 'overpassql', at: 0 });
    localStorage.setItem('saved', 'broken');
    expect(saved()).toEqual([]);
  });
});
