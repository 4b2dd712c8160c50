import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { beforeEach, describe, expect, it, test } from "vitest";
import { readTextExcerpt } from "@/lib/browser/files/byte-source";
import { toWebStream } from "@/lib/shared/web-stream";
import { openTestServer } from "@/tests/support/servers";
import { type TestServer } from "@/tests/support/test-server";

test("destroys an idle source when the reader cancels", async () => {
  const source = new PassThrough();
  const reader = toWebStream(source).getReader();
  const pending = reader.read();
  await reader.cancel();
  expect(source.destroyed).toBe(true);
  expect(await pending).toEqual({ done: true, value: undefined });
});

test.each(["data", "end", "close"])("ends cleanly when the reader cancels during the last %s event", async (event) => {
  const source = new Readable({
    read() {
      source.push("x");
      source.push(null);
    },
  });
  const closed = once(source, "close");
  const readers: ReadableStreamDefaultReader[] = [];
  source.prependListener(event, () => readers.forEach((item) => void item.cancel()));
  const reader = toWebStream(source).getReader();
  readers.push(reader);
  for (let step = await reader.read(); !step.done;) step = await reader.read();
  await closed;
  await new Promise(setImmediate);
});

test("ignores a source's error after the reader cancelled", async () => {
  const source = new Readable({ read: () => undefined, destroy: (_, callback) => callback(new Error("left")) });
  const closed = new Promise((resolve) => source.once("close", resolve));
  await toWebStream(source).cancel();
  await closed;
  expect(source.destroyed).toBe(true);
});

test("forwards an error unchanged", async () => {
  const source = new PassThrough();
  const readPromise = toWebStream(source).getReader().read();
  const error = new Error("The disk failed.");
  source.destroy(error);
  await expect(readPromise).rejects.toBe(error);
});

test("reads only on demand", async () => {
  let chunkCount = 0;
  const source = new Readable({ highWaterMark: 1, read: () => void source.push(chunkCount++ < 100 ? Buffer.alloc(1024) : null) });
  const reader = toWebStream(source).getReader();
  await reader.read();
  await new Promise(setImmediate);
  expect(chunkCount).toBeLessThan(4);
  await reader.cancel();
});

describe("readBeginning", () => {
  const KIB = 1024;
  let content = Buffer.alloc(0);
  /** The number of bytes that the server sent before the reader stopped. */
  let sentBytes = 0;
  let supportsRanges = true;
  let server: TestServer;

  beforeEach(async () => {
    [supportsRanges, sentBytes] = [true, 0];
    server = await openTestServer(({ headers }, response) => {
      const range = supportsRanges ? /^bytes=0-(\d+)$/.exec(headers.range ?? "") : null;
      if (range && content.length === 0) return response.writeHead(416).end();
      const body = range ? content.subarray(0, Number(range[1]) + 1) : content;
      response.writeHead(range ? 206 : 200);
      Readable.from(splitIntoChunks(body)).pipe(response);
    });
  });

  function* splitIntoChunks(body: Buffer) {
    for (let offset = 0; offset < body.length; offset += 16 * KIB) {
      const chunk = body.subarray(offset, offset + 16 * KIB);
      sentBytes += chunk.length;
      yield chunk;
    }
  }

  async function readFrom(text: string | Buffer) {
    content = Buffer.from(text);
    const beginningResult = await readTextExcerpt(server.url);
    if (!beginningResult.ok) throw new Error(beginningResult.failure.code);
    return beginningResult.value;
  }

  it("returns a whole file up to the limit", async () => {
    expect(await readFrom("Grüße, 你好\n")).toEqual({ text: "Grüße, 你好\n", isComplete: true });
    expect(await readFrom("")).toEqual({ text: "", isComplete: true });
    expect((await readFrom("x".repeat(64 * KIB))).isComplete).toBe(true);
  });

  it("truncates a longer file without splitting a character", async () => {
    const excerpt = await readFrom(`a${"é".repeat(40 * KIB)}`);
    expect(excerpt).toEqual({ text: `a${"é".repeat(32 * KIB - 1)}`, isComplete: false });
  });

  it("stops reading at the limit when the server ignores ranges", async () => {
    supportsRanges = false;
    const { text, isComplete } = await readFrom(Buffer.alloc(60 * KIB * KIB, "x"));
    expect([text.length, isComplete]).toEqual([64 * KIB, false]);
    expect(sentBytes).toBeLessThan(40 * KIB * KIB);
  });

  it("returns a failure when the server is unreachable", async () => {
    await server.close();
    expect((await readTextExcerpt(server.url)).ok).toBe(false);
  });
});
