// Reads, generates and drops files.
import { readFileSync } from "node:fs";
import { type Locator } from "@playwright/test";
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
