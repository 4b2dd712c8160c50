import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { hashFile } from "@/lib/browser/uploads/hash-file";
import { type FromHashWorker, type ToHashWorker } from "@/lib/browser/uploads/hash-worker";
import { findKnownContent } from "@/lib/browser/uploads/offer-hash";

/** Hashes like the real worker, but on this thread, since there are no browser workers here. */
class ThisThread {
  onmessage: ((event: { data: FromHashWorker }) => void) | null = null;
  async postMessage(message: ToHashWorker) {
    if (!("file" in message)) return;
    const outcome = await hashFile(message.file, { signal: { aborted: false } });
    this.onmessage?.({ data: { id: message.id, outcome } });
  }
}
const file = new File(["hello"], "hello.png", { type: "image/png" });
const hash = "ea8f163db38682925e4491c5e58d4bb3506ef8c14eb78a86e908c5624a67200f";
let sent: unknown[];
let answer: () => Response;
beforeEach(() => {
  sent = [];
  vi.stubGlobal("Worker", ThisThread);
  vi.stubGlobal("fetch", async (path: string, { body }: RequestInit) => {
    if (body) sent.push([path, JSON.parse(String(body))]);
    return answer();
  });
});
afterEach(() => vi.unstubAllGlobals());
const find = (signal = new AbortController().signal) => findKnownContent(file, { tags: ["input"], connection: "c", signal });

test("content is offered by the hash that was made here, and known where the service names the very same", async () => {
  answer = () => Response.json({ asset: { id: "a", asset_hash: `blake3:${hash}` } });
  expect(await find()).toBe(hash);
  const offered = { hash: `blake3:${hash}`, tags: ["input"], name: "hello.png", mime_type: "image/png" };
  expect(sent).toEqual([["/api/console/known-content?connection=c", offered]]);
});

test("whatever else the service says is not known, and nothing is offered after a stop", async () => {
  for (const other of [
    () => Response.json({ asset: { id: "a", asset_hash: `blake3:${"0".repeat(64)}` } }),
    () => Response.json({ asset: { id: "a" } }),
    () => Response.json({ asset: null }),
    () => Response.json({ code: "UPSTREAM_UNREACHABLE", message: "", request_id: "r" }, { status: 502 }),
    () => new Response("<h1>Welcome", { status: 200 }),
  ]) {
    answer = other;
    expect(await find()).toBeUndefined();
  }
  const offered = sent.length;
  expect(await find(AbortSignal.abort())).toBeUndefined();
  expect(sent).toHaveLength(offered);
});
