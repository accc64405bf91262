// Texts as literals of programming languages. Each returns a literal whose value is exactly the text.

/** Escapes of characters that a source file cannot hold as they are, or that its reader would change, such as CR. */
const CONTROL = /[\0-\x08\x0b-\x1f\x7f]/g;

const hex = (char: string, width: number): string => char.charCodeAt(0).toString(16).padStart(width, '0');
const control = (char: string): string => (char === '\r' ? '\\r' : `\\x${hex(char, 2)}`);

/** A string of Python; on several lines if the text has them. The text begins on a line of its own. */
export function python(text: string): string {
  if (!text.includes('\n')) return `"${text.replace(/[\\"]/g, '\\$&').replace(CONTROL, control)}"`;
  const escaped = text.replace(/\\/g, '\\\\').replace(/"(?=""|$)/g, '\\"').replace(CONTROL, control);
  return `"""\\\n${escaped}"""`;
}

/** A template of JavaScript without substitutions. */
export const javascript = (text: string): string => `\`${text.replace(/\\|`|\$(?=\{)/g, '\\$&').replace(CONTROL, control)}\``;

/** A string of R: raw where it can be, as its quotes are then as in the query. R has no NUL. */
export function r(text: string): string {
  const plain = text.replace(/\0/g, '');
  if (/[\x01-\x08\x0b-\x1f\x7f]/.test(plain)) return `"${plain.replace(/[\\"]/g, '\\$&').replace(CONTROL, control)}"`;
  let dashes = '';
  while (plain.includes(`)${dashes}"`)) dashes += '-';
  return `r"${dashes}(${plain})${dashes}"`;
}

/** A string of Julia, which may have several lines; unlike one in three quotes it keeps its indentation. */
export const julia = (text: string): string => `"${text.replace(/[\\"$]/g, '\\$&').replace(CONTROL, control)}"`;

/** A word of a POSIX shell, which cannot have a NUL. */
export const shell = (text: string): string => `'${text.replace(/\0/g, '').replace(/'/g, `'\\''`)}'`;
