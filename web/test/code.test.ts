/// <reference types="node" />
import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { javascript, julia, python, r, shell } from '../src/code/quote';
import { formOf, SNIPPETS, type Repeated } from '../src/code/snippets';

// Texts that end a literal early, are read as an escape or as a substitution, or are changed by a reader of lines.
const HOSTILE = [
  '', ' ', '"', '\'', '`', '\\', '\\\\', '\\n', '$', '$x ${x} $(id) `id`', '#{x} %s {0}', '"""', '\'\'\'', '""""', 'a"""b\n"""', 'ends with "', 'ends with \\', 'ends with """\n"', '\n', '\n\n  indented\n\ttab\n', 'a\r\nb\rc', ')"', ')-"', 'r"(x)"', '-- -x', '!x !!', '*?~', '@file', 'a=b&c=d+%20', 'Ħal Għaxaq', '日本語 عربي 🐢', 'e\u0301', '\u2028\u2029\u200b\ufeff', '\x01\x1b\x7f\x0b\x0c', '</script>', '//x /*y*/ #z',
];
const has = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;

/** Runs a program and returns what it printed: hexadecimal digits of the UTF-8 of each text. */
function printed(program: string, args: string[], source: string): string[] {
  const done = spawnSync(program, args, { input: source, encoding: 'utf8', env: { ...process.env, LC_ALL: 'C.UTF-8' } });
  if (done.status !== 0) throw new Error(done.stderr);
  return done.stdout.trim().split('\n').map((line) => Buffer.from(line.trim().slice(1), 'hex').toString());
}

describe('a literal has exactly the text', () => {
  it.skipIf(!has('python3', '--version'))('in Python', () => {
    expect(printed('python3', ['-'], HOSTILE.map((text) => `print("x" + (${python(text)}).encode().hex())\n`).join(''))).toEqual(HOSTILE);
  }, 60_000);

  it('in JavaScript', () => {
    for (const text of HOSTILE) expect(new Function(`return ${javascript(text)}`)()).toBe(text);
  });

  it.skipIf(!has('sh', '-c', 'od -An /dev/null'))('in a shell', () => {
    expect(printed('sh', [], HOSTILE.map((text) => `printf x; printf %s ${shell(text)} | od -An -v -tx1 | tr -d ' \\n'; echo\n`).join(''))).toEqual(HOSTILE);
  }, 60_000);

  it.skipIf(!has('Rscript', '--version'))('in R', () => {
    expect(printed('Rscript', ['-'], HOSTILE.map((text) => `cat("x", paste(charToRaw(enc2utf8(${r(text)})), collapse = ""), "\\n", sep = "")\n`).join(''))).toEqual(HOSTILE);
  }, 60_000);

  // Julia's manual, Strings: escapes as in C; `$` interpolates; quotes end it.
  it('in Julia', () => {
    for (const text of HOSTILE) {
      const literal = julia(text);
      expect(literal).toMatch(/^"(?:[^"\\$]|\\[\s\S])*"$/);
      const value = literal.slice(1, -1).replace(/\\(x([0-9a-f]{2})|[\s\S])/g, (_, sign: string, code?: string) => (code ? String.fromCharCode(Number.parseInt(code, 16)) : sign === 'r' ? '\r' : sign));
      expect(value).toBe(text);
    }
  });
});

describe('programs', () => {
  const of = (language: Repeated['language'], query: string, token = false): Repeated => ({ language, query, origin: 'http://127.0.0.1:8080', snapshot: 'malta.terrapin', digest: 'abc', token });
  const ids = (repeated: Repeated) => SNIPPETS.filter((one) => one.fits(repeated)).map(({ id }) => id);

  it('are those that can run the query', () => {
    expect(ids(of('overpassql', '[out:json];node(1);out;'))).toEqual(['python', 'overpy', 'r', 'javascript', 'julia', 'curl', 'terrapin']);
    expect(ids(of('overpassql', '[out:csv(name)];node(1);out;'))).not.toContain('overpy');
    expect(ids(of('sparql', 'SELECT * {}'))).toEqual(['python', 'sparqlwrapper', 'r', 'javascript', 'julia', 'curl', 'terrapin']);
  });

  it('know the form of the answer', () => {
    expect(formOf(of('overpassql', '[timeout:5][out:json];'))).toBe('json');
    expect(formOf(of('overpassql', 'node(1);out;'))).toBe('text');
    expect(formOf(of('sparql', '# ask\nPREFIX select: <http://ask/> CONSTRUCT {} WHERE {}'))).toBe('triples');
    expect(formOf(of('sparql', 'ASK { ?s ?p "select" }'))).toBe('ask');
    expect(formOf(of('sparql', 'BASE <http://describe.org/> SELECT * {}'))).toBe('solutions');
  });

  it('read the token from the environment', () => {
    for (const snippet of SNIPPETS.filter((one) => one.fits(of('sparql', 'ASK {}', true)) && one.id !== 'python' && one.id !== 'terrapin')) expect(snippet.text(of('sparql', 'ASK {}', true))).toContain('TERRAPIN_TOKEN');
    expect(ids(of('overpassql', 'out;', true))).not.toContain('overpy');
  });
});
