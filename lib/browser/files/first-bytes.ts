// The first bytes of a file, or some further in, however long the file is.
// Guarantees: no more than the bound is kept or waited for, even from a service without ranges.

import { failed, ok, type Result } from "@/lib/shared/result";
import { readFailure } from "../read-answer";
import { type ApiFailure, failureOfThrown } from "../read-failure";

/** `isWhole`: nothing comes after the bytes. `size`: of the whole file, if the service knows ranges. */
export type FirstBytes = { bytes: Uint8Array<ArrayBuffer>; isWhole: boolean; size?: number };

export async function readFirstBytes(src: string, most: number, from = 0): Promise<Result<FirstBytes, ApiFailure>> {
  try {
    // One byte more than wanted, to tell a longer file from one that ends there.
    const answer = await fetch(src, { headers: { range: `bytes=${from}-${from + most}` } });
    if (answer.status === 416) return ok({ bytes: new Uint8Array(), isWhole: true });
    if (!answer.ok) return failed(readFailure(answer.status, answer.headers.get("retry-after"), await answer.text()));
    if (from > 0 && answer.status !== 206) {
      await answer.body?.cancel();
      return failed({ code: "UPSTREAM_UNREADABLE", message: "", status: 502 });
    }
    const size = /\/(\d+)$/.exec(answer.headers.get("content-range") ?? "")?.[1];
    return ok({ ...(await take(answer, most)), ...(answer.status === 206 && size !== undefined && { size: Number(size) }) });
  } catch (cause) {
    return failed(failureOfThrown(cause));
  }
}

async function take({ body }: Response, most: number): Promise<FirstBytes> {
  const reader = body?.getReader();
  const bytes = new Uint8Array(most);
  for (let filled = 0; ;) {
    const { done, value = new Uint8Array() } = (await reader?.read()) ?? { done: true };
    if (done) return { bytes: bytes.subarray(0, filled), isWhole: true };
    bytes.set(value.subarray(0, most - filled), filled);
    if (filled + value.length > most) {
      await reader?.cancel();
      return { bytes, isWhole: false };
    }
    filled += value.length;
  }
}
