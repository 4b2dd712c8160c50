// The beginning of a text file, of whatever length the file is.
// Guarantees: no more than the bound is kept or waited for, also of a service that does not know ranges; a letter that the bound cuts is left out.

import { type ApiFailure, failureOfThrown, readFailure } from "./read-failure";
import { failed, ok, type Result } from "@/lib/shared/result";

const MOST_BYTES = 64 * 1024;
export type Beginning = { text: string; isWhole: boolean };

export async function readBeginning(src: string): Promise<Result<Beginning, ApiFailure>> {
  try {
    // One byte more than is shown tells a longer file from one that ends there.
    const answer = await fetch(src, { headers: { range: `bytes=0-${MOST_BYTES}` } });
    if (answer.status === 416) return ok({ text: "", isWhole: true });
    if (!answer.ok) return failed(readFailure(answer.status, answer.headers.get("retry-after"), await answer.text()));
    return ok(await beginningOf(answer));
  } catch (cause) {
    return failed(failureOfThrown(cause));
  }
}

async function beginningOf({ body }: Response): Promise<Beginning> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let [text, room] = ["", MOST_BYTES];
  for (;;) {
    const { done, value = new Uint8Array() } = (await reader?.read()) ?? { done: true };
    if (done) return { text: text + decoder.decode(), isWhole: true };
    text += decoder.decode(value.subarray(0, room), { stream: true });
    room -= value.length;
    if (room >= 0) continue;
    await reader?.cancel();
    return { text, isWhole: false };
  }
}
