// Reads, generates, drops and uploads files.
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Locator, type Page } from "@playwright/test";
import sharp from "sharp";

export type DroppedFile = { name: string; type: string; bytes: Buffer };

export function readSample(name: string): DroppedFile {
  return { name: `${name}.json`, type: "application/json", bytes: readFileSync(`public/samples/${name}.json`) };
}

export function createWorkflowFile(name: string, graph: unknown): DroppedFile {
  return { name, type: "application/json", bytes: Buffer.from(typeof graph === "string" ? graph : JSON.stringify(graph)) };
}

/** Creates a picture of a single colour, so that any pixel shows a workflow's effect. */
export async function createPhoto(colour: { r: number; g: number; b: number }): Promise<DroppedFile> {
  const bytes = await sharp({ create: { width: 1400, height: 1000, channels: 3, background: colour } })
    .png()
    .toBuffer();
  return { name: "my-photograph.png", type: "image/png", bytes };
}

export async function dropFile(target: Locator, file: DroppedFile): Promise<void> {
  const transfer = await target.page().evaluateHandle(
    ({ name, type, base64 }) => {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([bytes], name, { type }));
      return dataTransfer;
    },
    { name: file.name, type: file.type, base64: file.bytes.toString("base64") },
  );
  for (const event of ["dragenter", "dragover", "drop"]) await target.dispatchEvent(event, { dataTransfer: transfer });
  await transfer.dispose();
}

export const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
/** The default size is more than one slice of the hasher, but not a whole number of slices. */
export const createRandomFile = (name: string, size = 4_300_001): DroppedFile => ({
  name,
  type: "application/octet-stream",
  bytes: randomBytes(size),
});
export const toFilePayload = ({ name, type, bytes }: DroppedFile) => ({ name, mimeType: type, buffer: bytes });

export const getTray = (page: Page): Locator => page.getByRole("region", { name: "Transfers" });
export const confirmAdd = (page: Page) => page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click();
