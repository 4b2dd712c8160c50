// The body of a member's request; the member is looked up again while it arrives and when it is complete, because that may take long.
// Guarantees: if the sender has lost their rights, the end of the body is not read, so nothing is done with it.
// Must never: hold more than a chunk.

import "server-only";
import { type Failure } from "@/lib/contract/failure";

const EVERY_MS = 1000;

export type CheckedBody = { request: Request; refused(): Failure | undefined };

/** `check`: answers why the sender may not continue. */
export function checkedBody(request: Request, check: () => Promise<Failure | undefined>): CheckedBody {
  if (request.body === null) return { request, refused: () => undefined };
  const reader = request.body.getReader();
  const length = Number(request.headers.get("content-length") ?? Number.NaN);
  let refused: Failure | undefined;
  let checkedMs = Date.now();
  let counted = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await reader.read();
        counted += next.value?.byteLength ?? 0;
        // A service may take an upload as complete with its last byte, before the end is signalled.
        if (next.done || counted >= length || Date.now() - checkedMs >= EVERY_MS) {
          refused = await check();
          checkedMs = Date.now();
        }
        if (refused) {
          controller.error(new Error(refused.message));
          await reader.cancel().catch(() => undefined);
        } else if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Nothing is read before it is asked for: the sender may be waiting for the answer whether it has to send at all.
    { highWaterMark: 0 },
  );
  const init = { method: request.method, headers: request.headers, signal: request.signal, body, duplex: "half" } as const;
  return { request: new Request(request.url, init), refused: () => refused };
}
