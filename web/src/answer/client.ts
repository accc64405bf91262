// The worker that fetches, reads and keeps the answer, so that nothing of it blocks the page.

import { Refused } from '../service';
import { shownCatalogue } from '../text/languages';
import { t } from '../text/lookup';
import type { Message, Order, Replies, Summary } from './model';

type Waiting = { resolve(value: never): void; reject(why: Error): void };

/** Milliseconds in which a worker that is not stuck does as it is told. */
const PATIENCE = 1500;

export class Answers {
  private worker = this.start();
  private waiting = new Map<number, Waiting>();
  private next = 0;

  /** `progress` is told how many bytes have come, `sofar` what can be read of an answer that still comes. */
  constructor(private readonly progress: (bytes: number, ms: number) => void, private readonly sofar: (summary: Summary) => void) {}

  ask<K extends Order['do']>(order: Extract<Order, { do: K }>): Promise<Replies[K]> {
    const id = (this.next += 1);
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, order });
    });
  }

  /** Stops what runs. What does not stop is ended with all that is kept: whether that was so. */
  async stop(): Promise<boolean> {
    const asked = this.ask({ do: 'stop' });
    asked.catch(() => undefined);
    const stuck = await Promise.race([asked.then(() => false), new Promise<boolean>((ready) => setTimeout(ready, PATIENCE, true))]);
    if (stuck) this.restart('stopped');
    return stuck;
  }

  private restart(why: string): void {
    this.worker.terminate();
    for (const waiting of this.waiting.values()) waiting.reject(new Refused(0, why));
    this.waiting.clear();
    this.worker = this.start();
  }

  private start(): Worker {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'answers' });
    worker.addEventListener('message', ({ data }: MessageEvent<Message>) => {
      if ('progress' in data) return this.progress(data.progress.bytes, data.progress.ms);
      if ('sofar' in data) return this.sofar(data.sofar);
      const waiting = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if ('ok' in data) waiting?.resolve(data.ok as never);
      else waiting?.reject(new Refused(data.refused.status, data.refused.message));
    });
    worker.addEventListener('error', (event) => this.restart(t('theAnswerCannotBeRead', { why: event.message })));
    worker.postMessage({ catalogue: shownCatalogue() });
    return worker;
  }
}
