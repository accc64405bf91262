// The comment in which a SPARQL query names the view of its answer, with options in JSON, as the Wikidata Query Service has it:
// `#defaultView:BarChart{"hide": "?item"}`.

/** Words after the view are a remark. */
const COMMENT = /^[ \t]*#[ \t]*defaultView[ \t]*:[ \t]*(\w+)[ \t]*(\{.*\})?.*$/im;

/** Returns the view that a query names, in lower case (empty: none), and its options as they are written. */
export function defaultView(text: string): { view: string; options: string } {
  const [, view = '', options = ''] = COMMENT.exec(text) ?? [];
  return { view: view.toLowerCase(), options };
}

/** Returns the comment for a view. */
export const defaultViewComment = (view: string, options: object): string => `#defaultView:${view}${Object.keys(options).length ? JSON.stringify(options) : ''}`;

/** Returns the text of a query with another comment; an empty one removes it. */
export function withDefaultView(text: string, comment: string): string {
  const without = text.replace(COMMENT, '').replace(/^\n/, '');
  return comment ? `${comment}\n${without}` : without;
}
