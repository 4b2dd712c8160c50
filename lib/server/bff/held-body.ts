// The body of a request of a member, who is looked up again while it comes and once it is there: a body may take its time.
// Guarantees: the end of a body whose sender has lost their rights is not read, so that nothing is done with it.
// Must never: hold more than a chunk.

import "server-only";
import { type Failure } from "@/lib/contract/failure";

const EVERY_MS = 1000;

export type HeldBody = { request: Request; refused(): Failure | undefined };

/** `check`: why the sender may not go on. */
export function holdBody(request: Request, check: () => Promise<Failure | undefined>): HeldBody {
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
        // With its last byte a service may take an upload for whole, before the end is told.
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
    // Nothing is read before it is asked for: a sender may be waiting to hear whether it has to send at all.
    { highWaterMark: 0 },
  );
  const held = { method: request.method, headers: request.headers, signal: request.signal, body, duplex: "half" } as const;
  return { request: new Request(request.url, held), refused: () => refused };
}
