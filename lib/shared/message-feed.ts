// Messages that one side tells and another hears over a socket: the shape that servers of sockets and sources of messages agree on.

/** A close code of RFC 6455 (or a private one from 4000 on) and a sentence of up to 123 bytes. */
export type FeedEnd = { code: number; reason: string };

export type FeedTarget = {
  send(message: string | Uint8Array): void;
  end(end: FeedEnd): void;
};

export type Feed = {
  stop(): void;
  /** Why the listener would not be let in again; undefined while they would. Asked now and then. */
  objection(): string | undefined | Promise<string | undefined>;
};

export type FeedAdmission =
  | { ok: true; owner: string; open(target: FeedTarget): Promise<Feed | undefined> }
  | { ok: false; refused: { status: number; code: string; message: string; headers?: Record<string, string> } };

export const feedEnds = {
  goingAway: 1001,
  notAllowed: 1008,
  tryLater: 1013,
  /** There is nothing to hear: as the HTTP status says it. */
  notFound: 4404,
} as const;
