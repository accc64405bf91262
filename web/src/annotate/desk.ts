// The services of annotation: an entry to work on, and the work on it. Work is sent until the server confirms it.

import type { Language } from '../link';
import { Refused, json } from '../service';
import { t } from '../text/lookup';

export interface Entry {
  id: string;
  lang: Language;
  query: string;
  bbox?: string;
  context?: string;
  suggestions?: string[];
}

export type Verdict = 'agree' | 'correct' | 'reject';

export interface Task {
  task: 'write' | 'validate';
  entry: Entry;
  /** The number of the question to validate. */
  number?: number;
  /** The question to validate. */
  question?: string;
  /** Earlier questions, with the verdicts on them and their reasons. */
  history?: { question: string; verdicts: [Verdict, string | null][] }[];
  lease_seconds: number;
}

export interface Progress {
  entries: number;
  status: Record<'open' | 'answered' | 'corrected' | 'rejected' | 'agreed', number>;
  disputed: number;
  written: number;
  verdicts: number;
  to_write: number;
  to_validate: number;
}

export interface Reply {
  annotator: string;
  progress: Progress;
  task?: Task | null;
}

/** An entry of the export. */
export interface Annotation {
  id: string;
  nl?: string;
  gold: string;
  lang: Language;
  status: string;
  rounds?: { question: string; by: string; correction?: boolean; verdicts?: { by: string; verdict: Verdict; reason?: string }[] }[];
}

export interface Summary {
  entries: number;
  status: Progress['status'];
  disputed: number;
  validated: number;
  as_written: number;
  share_as_written?: number;
  kappa?: number;
  annotators: Record<string, { written: number; agreed: number; corrected: number; rejected: number; verdicts: number; agreements: number; skipped: number }>;
}

/** Milliseconds between two attempts. */
const AGAIN = 1500;

/** Whether a later attempt may succeed: the server is away, busy or stopping. */
const isPassing = (problem: unknown): boolean => !(problem instanceof Refused) || [408, 429, 500, 502, 503, 504].includes(problem.status);

export class Desk {
  /** The annotator's name, where no token gives it. */
  name: string | undefined;

  /** Sends once. */
  async once(what: string, body: Record<string, unknown>): Promise<Reply> {
    return json<Reply>(`/annotations/${what}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ ...(this.name !== undefined && { annotator: this.name }), ...body }) });
  }

  /** Sends until the server answers; `waiting` is told why it has not. */
  async send(what: string, body: Record<string, unknown>, waiting: (why: string) => void, signal: AbortSignal): Promise<Reply> {
    for (;;) {
      try {
        return await this.once(what, body);
      } catch (problem) {
        if (!isPassing(problem)) throw problem;
        waiting(problem instanceof Refused ? problem.message : t('theServerDoesNotAnswer'));
        await new Promise((resolve) => setTimeout(resolve, AGAIN));
        if (signal.aborted) throw new Error('stopped');
      }
    }
  }
}
