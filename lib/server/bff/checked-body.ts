// Checks a request's origin, and rechecks the sender's rights while the body arrives.

import "server-only";
import { type Failure } from "@/lib/contract/failure";

const EVERY_MS = 1000;

type CheckedBody = { request: Request; refused(): Failure | undefined };

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

export function isSameOrigin(request: Pick<Request, "headers">, publicUrl: string | undefined): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return false;
  const origin = request.headers.get("origin");
  if (origin === null) return true;
  if (!URL.canParse(origin)) return false;
  const from = new URL(origin);
  if (publicUrl !== undefined && from.origin === new URL(publicUrl).origin) return true;
  // If the public address is https, a page opened over plain http is another origin.
  return from.host === request.headers.get("host") && (publicUrl === undefined || from.protocol === new URL(publicUrl).protocol);
}
