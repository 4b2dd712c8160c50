// How long the making of one thumbnail waits for a service: a few requests that wait longer would block all others.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { failed, type Result } from "@/lib/shared/result";
import { type Access } from "../connections/access";
import { createDeadline } from "../upstream/deadline";
import { timedOut, wasSilent } from "../upstream/failures";
import { isEmbedded } from "../upstream/send";

const LIMIT_MS = 15_000;
/** Without a byte. */
const SILENT_MS = 3_000;

export type Patience = {
  /** One exchange with its limits. An answer that asks to wait is passed on too: it is not a silence. */
  ask<T>(exchange: (limits: { exchangeMs: number; attempts: 1 }) => Promise<Result<T, Failure>>, of?: Origin): Promise<Result<T, Failure>>;
  /** Reads one body; every byte restarts the time limit. */
  read<T>(work: (signal: AbortSignal, touch: () => void) => Promise<Result<T, Failure>>, of?: Origin): Promise<Result<T, Failure>>;
  /** Whether the service itself was late. */
  wasLate(): boolean;
};
/** `isForeign`: another host's answer, which says nothing about the service. */
type Origin = { isForeign: boolean };

export function patienceWith({ connection: { baseUrl }, upstreamOptions: { limits } }: Access, signal: AbortSignal): Patience {
  const wholeMs = Math.min(LIMIT_MS, limits?.readMs ?? LIMIT_MS);
  // Pictures drawn in this process send no byte until they are done.
  const silentMs = isEmbedded(baseUrl) ? wholeMs : Math.min(SILENT_MS, wholeMs);
  let wasLate = false;
  const noted = <T>(result: Result<T, Failure>, of?: Origin) => {
    wasLate ||= !result.ok && wasSilent(result.failure) && !of?.isForeign;
    return result;
  };
  return {
    ask: async (exchange, of) => noted(await exchange({ exchangeMs: silentMs, attempts: 1 }), of),
    async read(work, of) {
      const deadline = createDeadline(silentMs, signal, wholeMs);
      const begunMs = performance.now();
      try {
        const result = await work(deadline.signal, deadline.touch);
        if (result.ok || !deadline.expired) return result;
        return noted(failed(timedOut(baseUrl, performance.now() - begunMs < wholeMs ? silentMs : wholeMs)), of);
      } finally {
        deadline.clear();
      }
    },
    wasLate: () => wasLate,
  };
}
