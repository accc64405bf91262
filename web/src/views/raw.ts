// The answer as it came, piece by piece.

import type { Answers } from '../answer/client';
import { h, size } from '../dom';
import { t } from '../text/lookup';

const PIECE = 200_000;

export class Raw {
  private readonly text = h('pre', { tabindex: '0', 'aria-label': t('theAnswerAsItCame') });
  private readonly more = h('button', { type: 'button', class: 'button', onclick: () => void this.next() });
  readonly element = h('div', { class: 'raw-view' }, this.text, this.more);
  private to = 0;

  constructor(private readonly answers: Answers) {
    this.clear();
  }

  clear(): void {
    this.to = 0;
    this.text.textContent = '';
    this.more.hidden = true;
  }

  async show(): Promise<void> {
    if (this.to === 0) await this.next();
  }

  private async next(): Promise<void> {
    const from = this.to;
    const { text, to, size: all } = await this.answers.ask({ do: 'raw', from, to: from + PIECE });
    this.to = to;
    this.text.append(text);
    this.more.hidden = this.to >= all;
    this.more.textContent = t('moreOfShown', { size: size(this.to), total: size(all) });
  }
}
