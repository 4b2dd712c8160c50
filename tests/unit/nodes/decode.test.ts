// Files that the decoder itself refuses, whatever let them through to it.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readPixels } from "@/lib/service/images/decode";

it("draws no SVG, whatever the file is called", async () => {
  const folder = await mkdtemp(join(tmpdir(), "lightdesk-decode-"));
  try {
    const path = join(folder, "drawn.png");
    await writeFile(path, "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>");
    const nothing = () => undefined;
    await expect(readPixels(path, nothing)).rejects.toThrow("The file has an unsupported image format.");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
