// The images that an answer names, as a grid of links to Wikimedia Commons. The page fetches none of them: its content security
// policy allows no other hosts, and a host that serves an image learns the reader's address.

import type { Answers } from '../answer/client';
import type { ImageOfRow } from '../answer/columns';
import { h } from '../dom';
import { t } from '../text/lookup';

export const IMAGE_TEXTS = {
  get region() { return t('images'); },
  get links() { return t('theImagesAreOnCommons'); },
  number: (n: number) => t('imagesNumber', { n }),
  more: (n: number) => t('imagesMore', { n }),
  open: (name: string) => t('imageOnCommons', { name }),
};

export class ImageGrid {
  private readonly note = h('p', { class: 'muted' });
  private readonly grid = h('ul', { class: 'image-grid' });
  readonly element = h('div', { class: 'images-view', tabindex: '0', role: 'region', 'aria-label': IMAGE_TEXTS.region }, h('div', { class: 'chart-tools' }, this.note), this.grid);
  private found: { images: ImageOfRow[]; more: number } | null = null;
  private hidden: string[] = [];
  private turn = 0;

  constructor(private readonly answers: Answers, private readonly picked: (index: number) => void) {
    this.grid.addEventListener('click', (event) => {
      const item = (event.target as Element).closest('[data-index]');
      if (item && !(event.target as Element).closest('a')) this.picked(Number(item.getAttribute('data-index')));
    });
  }

  show(hidden: string[]): void {
    this.clear();
    this.hidden = hidden;
  }

  clear(): void {
    this.turn += 1;
    this.found = null;
    this.grid.replaceChildren();
  }

  refresh(): void {
    this.clear();
    if (this.element.checkVisibility()) void this.open();
  }

  async open(): Promise<void> {
    if (this.found) return;
    const turn = (this.turn += 1);
    const found = await this.answers.ask({ do: 'images', hidden: this.hidden });
    if (turn !== this.turn) return;
    this.found = found;
    this.draw();
  }

  mark(index: number): void {
    for (const item of this.grid.children) item.classList.toggle('on', item.getAttribute('data-index') === String(index));
  }

  private draw(): void {
    if (!this.found) return;
    const { images, more } = this.found;
    this.note.textContent = [IMAGE_TEXTS.number(images.length), more ? IMAGE_TEXTS.more(more) : '', IMAGE_TEXTS.links].filter(Boolean).join(' · ');
    this.grid.replaceChildren(...images.map((image) => this.item(image)));
  }

  private item({ index, title, name, page, pairs }: ImageOfRow): HTMLElement {
    return h(
      'li',
      { 'data-index': index },
      h('a', { href: page, target: '_blank', rel: 'noopener noreferrer', class: 'image', title: IMAGE_TEXTS.open(name) }, h('span', { class: 'image-place' }, name.replace(/\.\w+$/, ''))),
      h('button', { type: 'button', class: 'link image-title', onclick: () => this.picked(index) }, title),
      ...pairs.map(([column, value]) => h('p', { class: 'muted' }, `${column}: ${value}`)),
    );
  }
}
