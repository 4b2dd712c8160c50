// Processes that share a database: liveness, notifications and broadcast requests.

import { randomUUID } from "node:crypto";
import { type RawBuilder, sql, type SqlBool } from "kysely";
import { z } from "zod";
import { type ServiceLog } from "../options";
import { type Transaction } from "./database";

export const MAX_NOTICE_BYTES = 7_000;

export type Processes = {
  readonly id: string;

  /** Notifies other processes, with `tx` once it has committed. A process that isn't listening gets `missed` later. */
  tell(channel: string, payload: unknown, tx?: Transaction): Promise<void>;
  /** Receives notices of other processes. `missed`: notices may have been lost. */
  listen(channel: string, receive: (payload: unknown, from: string) => void, missed?: () => void): () => void;

  /** The ids of living processes, including this one, the oldest first. */
  live(): Promise<string[]>;
  /** The slots of the built-in runner at all living processes, this one with `own` among them. */
  slots(own: number): Promise<number>;
  /** How long a process that is no longer listed may still be at work: it was cut off or suspended, and has not ended. */
  readonly lingersMs: number;
  readonly isHolderGone: RawBuilder<SqlBool>;
  readonly isNotRunHere: RawBuilder<SqlBool>;

  /** Registers this process with its number of built-in slots, and starts exchanging notices with the others. */
  start(slots: number): Promise<void>;
  watch(on: ProcessEvents): void;
  /** Removes expired processes. Returns their ids and those of their workers. */
  giveUpSilent(tx: Transaction): Promise<string[]>;
  close(): Promise<void>;
};

export type ProcessEvents = {
  /** Others were silent for too long: their work may be given back, in a commit that begins with `giveUpSilent`. */
  othersSilent(): void;
  /** This process was given up, and is listed again: its work may belong to another one. */
  wasGivenUp(): void;
};

export function createOnlyProcess(): Processes {
  const id = randomUUID();
  return {
    id,
    tell: () => Promise.resolve(),
    listen: () => () => undefined,
    live: () => Promise.resolve([id]),
    slots: (own) => Promise.resolve(own),
    lingersMs: 0,
    isHolderGone: sql<SqlBool>`true`,
    isNotRunHere: sql<SqlBool>`false`,
    start: () => Promise.resolve(),
    watch: () => undefined,
    giveUpSilent: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  };
}

const ANSWERS = "answers";
const PATIENCE_MS = 10_000;
const LOOK_EVERY_MS = 1000;

export type PeerRequests = ReturnType<typeof createPeerRequests>;
/** Anyone who may use the database can send anything here. */
const messageSchema = z.object({ id: z.string(), content: z.unknown().optional(), answer: z.unknown().optional() }).catch({ id: "" });
type Open = { waitsFor: Set<string>; answers: unknown[]; settle(): void };

export function createPeerRequests(processes: Processes, log: ServiceLog) {
  const open = new Map<string, Open>();

  processes.listen(ANSWERS, (message, from) => {
    const { id, answer } = messageSchema.parse(message);
    const question = open.get(id);
    if (!question?.waitsFor.delete(from)) return;
    if (answer !== undefined && answer !== null) question.answers.push(answer);
    if (question.waitsFor.size === 0) question.settle();
  });

  async function others(): Promise<string[]> {
    return (await processes.live()).filter((id) => id !== processes.id);
  }

  return {
    /** The answers of the others, without those that have nothing to say. */
    async ask(channel: string, content: unknown): Promise<unknown[]> {
      const waitsFor = new Set(await others());
      if (waitsFor.size === 0) return [];
      const id = randomUUID();
      let settle: () => void = () => undefined;
      const settled = new Promise<void>((resolve) => (settle = resolve));
      const question = { waitsFor, answers: [], settle };
      const timers = [
        setTimeout(settle, PATIENCE_MS),
        setInterval(() => {
          others()
            .then((living) => {
              for (const one of waitsFor) if (!living.includes(one)) waitsFor.delete(one);
              if (waitsFor.size === 0) settle();
            })
            .catch(() => undefined); // the time limit ends it
        }, LOOK_EVERY_MS),
      ];
      open.set(id, question);
      try {
        await processes.tell(channel, { id, content });
        await settled;
        return question.answers;
      } finally {
        timers.forEach(clearTimeout);
        open.delete(id);
      }
    },

    /** Sets how this process answers. Undefined: it has nothing to say. */
    answer(channel: string, give: (content: unknown) => Promise<unknown>): void {
      processes.listen(channel, (message) => {
        const { id, content } = messageSchema.parse(message);
        give(content)
          .catch((error: unknown) => void log.error({ err: error, channel }, "another process could not be answered"))
          .then((answer) => processes.tell(ANSWERS, { id, answer }))
          .catch((error: unknown) => log.warn({ err: error, channel }, "another process could not be told the answer"));
      });
    },
  };
}
