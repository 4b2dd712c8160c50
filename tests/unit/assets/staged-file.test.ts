import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stageStream } from "@/lib/service/assets/staged-file";

const MIB = 1024 ** 2;
let folder: string;

beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "lightdesk-staged-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** In pieces of odd sizes, as a socket delivers them. */
async function* piecesOf(content: Buffer) {
  for (let at = 0, size = 70_001; at < content.length; at += size) yield content.subarray(at, at + size);
  await Promise.resolve();
}

describe("a staged file", () => {
  it.each([0, 1, 3, 24])("of %i MiB and a bit is kept byte for byte, with its SHA-256, however many arrive at once", async (mib) => {
    const contents = [0, 1, 2].map(() => randomBytes(mib * MIB + 17));
    const staged = await Promise.all(contents.map((content) => stageStream(piecesOf(content), { folder, maxBytes: 100 * MIB })));
    for (const [index, content] of contents.entries()) {
      expect(staged[index]?.sha256).toBe(createHash("sha256").update(content).digest("hex"));
      expect(staged[index]?.size).toBe(content.length);
      expect(readFileSync(staged[index]?.path ?? "").equals(content)).toBe(true);
    }
  });

  it("that grows beyond the limit, or whose sender breaks off, leaves nothing behind and keeps nobody else from hashing", async () => {
    async function* broken() {
      yield* piecesOf(randomBytes(20 * MIB));
      throw new Error("gone");
    }
    await expect(stageStream(piecesOf(randomBytes(20 * MIB)), { folder, maxBytes: 18 * MIB })).rejects.toThrow("larger than");
    await expect(stageStream(broken(), { folder, maxBytes: 100 * MIB })).rejects.toThrow("gone");
    expect(readdirSync(folder)).toEqual([]);
    const content = randomBytes(20 * MIB);
    const { sha256 } = await stageStream(piecesOf(content), { folder, maxBytes: 100 * MIB });
    expect(sha256).toBe(createHash("sha256").update(content).digest("hex"));
  });
});
