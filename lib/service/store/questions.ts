// Questions to the other processes, each of which answers: for what is known only to the process that works on it.
// Guarantees: the asking process waits only for living ones, and for a bounded time; if there are no others, it does not wait.

import { randomUUID } from "node:crypto";
import { type ServiceLog } from "../options";
import { type Processes } from "./processes";

const ANSWERS = "answers";
const PATIENCE_MS = 10_000;
/** How often it checks which of them still live. */
const LOOK_EVERY_MS = 1000;

export type Questions = ReturnType<typeof createQuestions>;
type Open = { waitsFor: Set<string>; answers: unknown[]; settle(): void };

export function createQuestions(processes: Processes, log: ServiceLog) {
  const open = new Map<string, Open>();

  processes.listen(ANSWERS, (message, from) => {
    const { id, answer } = readMessage(message);
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
        const { id, content } = readMessage(message);
        give(content)
          .catch((error: unknown) => void log.error({ err: error, channel }, "another process could not be answered"))
          .then((answer) => processes.tell(ANSWERS, { id, answer }))
          .catch((error: unknown) => log.warn({ err: error, channel }, "another process could not be told the answer"));
      });
    },
  };
}

/** Anyone who may use the database can send anything here. */
function readMessage(message: unknown): { id: string; content?: unknown; answer?: unknown } {
  if (typeof message !== "object" || message === null || !("id" in message) || typeof message.id !== "string") return { id: "" };
  const { id } = message;
  return { id, ...("content" in message && { content: message.content }), ...("answer" in message && { answer: message.answer }) };
}
