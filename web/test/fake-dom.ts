// Elements without a browser: as much of them as drawings need.

export class FakeElement {
  readonly attributes = new Map<string, string>();
  readonly children: (FakeElement | string)[] = [];
  readonly dataset: Record<string, string> = {};
  readonly style = { cssText: '' };

  constructor(readonly tag: string) {}

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
  }

  getAttribute(name: string): string | null {
    return this.attributes.get(name) ?? null;
  }

  append(child: FakeElement | string): void {
    this.children.push(child);
  }

  /** Text of the canvas's font: six pixels a letter. */
  getContext(): { font: string; measureText: (text: string) => { width: number } } {
    return { font: '', measureText: (text) => ({ width: 6 * text.length }) };
  }

  get textContent(): string {
    return this.children.map((child) => (typeof child === 'string' ? child : child.textContent)).join('');
  }

  /** All elements below with a tag. */
  all(tag: string): FakeElement[] {
    return this.children.flatMap((child) => (typeof child === 'string' ? [] : [...(child.tag === tag ? [child] : []), ...child.all(tag)]));
  }

  number(name: string): number {
    return Number(this.attributes.get(name));
  }
}

/** Gives modules a document. */
export function useFakeDom(): void {
  Object.assign(globalThis, { document: { createElement: (tag: string) => new FakeElement(tag), createElementNS: (_: string, tag: string) => new FakeElement(tag) } });
}
