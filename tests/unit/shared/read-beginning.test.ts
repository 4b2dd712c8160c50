import { Readable } from "node:stream";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readBeginning } from "@/lib/browser/files/byte-source";
import { type LittleServer, startLittleServer } from "@/tests/support/little-server";

const KIB = 1024;
let content = Buffer.alloc(0);
/** The bytes that were sent before the reader had enough. */
let sent = 0;
let knowsRanges = true;
let server: LittleServer;

beforeEach(async () => {
  [knowsRanges, sent] = [true, 0];
  server = await startLittleServer(({ headers }, response) => {
    const range = knowsRanges ? /^bytes=0-(\d+)$/.exec(headers.range ?? "") : null;
    if (range && content.length === 0) return response.writeHead(416).end();
    const part = range ? content.subarray(0, Number(range[1]) + 1) : content;
    response.writeHead(range ? 206 : 200);
    Readable.from(inPieces(part)).pipe(response);
  });
});
afterEach(() => server.close());

function* inPieces(part: Buffer) {
  for (let at = 0; at < part.length; at += 16 * KIB) {
    const piece = part.subarray(at, at + 16 * KIB);
    sent += piece.length;
    yield piece;
  }
}

async function read(text: string | Buffer) {
  content = Buffer.from(text);
  const read = await readBeginning(server.url);
  if (!read.ok) throw new Error(read.failure.code);
  return read.value;
}

it("a short file is there in full, and so is one of exactly as many bytes as are shown", async () => {
  expect(await read("Grüße, 你好\n")).toEqual({ text: "Grüße, 你好\n", isWhole: true });
  expect(await read("")).toEqual({ text: "", isWhole: true });
  expect((await read("x".repeat(64 * KIB))).isWhole).toBe(true);
});

it("a longer one is marked as its beginning only, also where letters take several bytes, and no letter is cut", async () => {
  const { text, isWhole } = await read("é".repeat(40 * KIB));
  expect(isWhole).toBe(false);
  expect(text).toBe("é".repeat(32 * KIB));
  const odd = await read(`a${"é".repeat(40 * KIB)}`);
  expect(odd.text).toBe(`a${"é".repeat(32 * KIB - 1)}`);
});

it("of a service that knows no ranges no more is taken than is shown", async () => {
  knowsRanges = false;
  const { text, isWhole } = await read(Buffer.alloc(200 * KIB * KIB, "x"));
  expect([text.length, isWhole]).toEqual([64 * KIB, false]);
  expect(sent).toBeLessThan(40 * KIB * KIB);
});

it("a refusal is a failure with its code", async () => {
  await server.close();
  expect((await readBeginning(server.url)).ok).toBe(false);
});
