import { once } from "node:events";
import { PassThrough, Readable } from "node:stream";
import { beforeEach, describe, expect, it, test } from "vitest";
import { readBeginning } from "@/lib/browser/files/byte-source";
import { toWebStream } from "@/lib/shared/web-stream";
import { openTestServer } from "@/tests/support/servers";
import { type TestServer } from "@/tests/support/test-server";

test("ends a silent source when the reader leaves", async () => {
  const source = new PassThrough();
  const reader = toWebStream(source).getReader();
  const pending = reader.read();
  await reader.cancel();
  expect(source.destroyed).toBe(true);
  expect(await pending).toEqual({ done: true, value: undefined });
});

test.each(["data", "end", "close"])("ends cleanly when the reader leaves at the last %s", async (event) => {
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

test("ignores a source's error after the reader left", async () => {
  const source = new Readable({ read: () => undefined, destroy: (_, callback) => callback(new Error("left")) });
  const closed = new Promise((resolve) => source.once("close", resolve));
  await toWebStream(source).cancel();
  await closed;
  expect(source.destroyed).toBe(true);
});

test("forwards an error unchanged", async () => {
  const source = new PassThrough();
  const reading = toWebStream(source).getReader().read();
  const broken = new Error("the disk broke");
  source.destroy(broken);
  await expect(reading).rejects.toBe(broken);
});

test("reads only on demand", async () => {
  let createdCount = 0;
  const source = new Readable({ highWaterMark: 1, read: () => void source.push(createdCount++ < 100 ? Buffer.alloc(1024) : null) });
  const reader = toWebStream(source).getReader();
  await reader.read();
  await new Promise(setImmediate);
  expect(createdCount).toBeLessThan(4);
  await reader.cancel();
});

describe("read beginning", () => {
  const KIB = 1024;
  let content = Buffer.alloc(0);
  /** The bytes that were sent before the reader had enough. */
  let sentCount = 0;
  let knowsRanges = true;
  let server: TestServer;

  beforeEach(async () => {
    [knowsRanges, sentCount] = [true, 0];
    server = await openTestServer(({ headers }, response) => {
      const range = knowsRanges ? /^bytes=0-(\d+)$/.exec(headers.range ?? "") : null;
      if (range && content.length === 0) return response.writeHead(416).end();
      const part = range ? content.subarray(0, Number(range[1]) + 1) : content;
      response.writeHead(range ? 206 : 200);
      Readable.from(inPieces(part)).pipe(response);
    });
  });

  function* inPieces(part: Buffer) {
    for (let at = 0; at < part.length; at += 16 * KIB) {
      const piece = part.subarray(at, at + 16 * KIB);
      sentCount += piece.length;
      yield piece;
    }
  }

  async function read(text: string | Buffer) {
    content = Buffer.from(text);
    const beginningResult = await readBeginning(server.url);
    if (!beginningResult.ok) throw new Error(beginningResult.failure.code);
    return beginningResult.value;
  }

  it("returns a short file whole, up to the exact limit", async () => {
    expect(await read("Grüße, 你好\n")).toEqual({ text: "Grüße, 你好\n", isWhole: true });
    expect(await read("")).toEqual({ text: "", isWhole: true });
    expect((await read("x".repeat(64 * KIB))).isWhole).toBe(true);
  });

  it("marks a longer file as cut and never splits a letter", async () => {
    const { text, isWhole } = await read("é".repeat(40 * KIB));
    expect(isWhole).toBe(false);
    expect(text).toBe("é".repeat(32 * KIB));
    const oddText = await read(`a${"é".repeat(40 * KIB)}`);
    expect(oddText.text).toBe(`a${"é".repeat(32 * KIB - 1)}`);
  });

  it("reads only the shown bytes without ranges", async () => {
    knowsRanges = false;
    const { text, isWhole } = await read(Buffer.alloc(200 * KIB * KIB, "x"));
    expect([text.length, isWhole]).toEqual([64 * KIB, false]);
    expect(sentCount).toBeLessThan(40 * KIB * KIB);
  });

  it("returns a refusal as a failure with its code", async () => {
    await server.close();
    expect((await readBeginning(server.url)).ok).toBe(false);
  });
});
