/** A close code of RFC 6455 (or a private one from 4000 on) and a sentence of up to 123 bytes. */
export type FeedEnd = { code: number; reason: string };

export type FeedTarget = {
  send(message: string | Uint8Array): void;
  end(end: FeedEnd): void;
};

export type Feed = {
  stop(): void;
  /** Why the listener would no longer be admitted; undefined while it would. Asked now and then. */
  objection(): string | undefined | Promise<string | undefined>;
};

export type FeedAdmission =
  | { ok: true; owner: string; open(target: FeedTarget): Promise<Feed | undefined> }
  | { ok: false; refused: { status: number; code: string; message: string; headers?: Record<string, string> } };

export const feedEnds = {
  goingAway: 1001,
  notAllowed: 1008,
  tryLater: 1013,
  /** There is nothing to listen to; the code follows HTTP 404. */
  notFound: 4404,
} as const;
