import { afterEach, expect, test, vi } from "vitest";
import { MAX_TEXT_BYTES, readText } from "@/components/files/file-panel";

afterEach(() => vi.unstubAllGlobals());

test("a service that knows no ranges and sends without end is read to the bound, and no further", async () => {
  const chunk = new Uint8Array(64 * 1024).fill(97);
  const state = { pulled: 0, isGivenUp: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        state.pulled += 1;
        controller.enqueue(chunk);
      },
      cancel: () => void (state.isGivenUp = true),
    },
    { highWaterMark: 0 },
  );
  vi.stubGlobal("fetch", async () => new Response(body));
  const text = await readText("endless.txt", "c");
  expect(text.ok && text.value.kind === "text" && [text.value.text.length, text.value.isWhole]).toEqual([MAX_TEXT_BYTES, false]);
  // One chunk beyond the limit shows that there is more.
  expect(state).toEqual({ pulled: MAX_TEXT_BYTES / chunk.length + 1, isGivenUp: true });
});

test("an empty file is an empty text, and a refusal is returned", async () => {
  vi.stubGlobal("fetch", async () => new Response(null, { status: 416 }));
  expect(await readText("empty.txt", "c")).toEqual({ ok: true, value: { kind: "text", text: "", isWhole: true } });
  vi.stubGlobal("fetch", async () => Response.json({ code: "NOT_FOUND", message: "", request_id: "r" }, { status: 404 }));
  expect(await readText("gone.txt", "c")).toMatchObject({ ok: false, failure: { status: 404 } });
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("network")));
  expect(await readText("gone.txt", "c")).toMatchObject({ ok: false, failure: { code: "CONSOLE_UNREACHABLE" } });
});
