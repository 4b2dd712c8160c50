// Files that are dropped on an element, or generated.
import { readFileSync } from "node:fs";
import { type Locator } from "@playwright/test";
import sharp from "sharp";

export type DroppedFile = { name: string; type: string; bytes: Buffer };

export function sample(name: string): DroppedFile {
  return { name: `${name}.json`, type: "application/json", bytes: readFileSync(`public/samples/${name}.json`) };
}

export function workflow(name: string, graph: unknown): DroppedFile {
  return { name, type: "application/json", bytes: Buffer.from(typeof graph === "string" ? graph : JSON.stringify(graph)) };
}

/** A single colour, so that the effect of a workflow can be read from any pixel. */
export async function createPhoto(colour: { r: number; g: number; b: number }): Promise<DroppedFile> {
  const bytes = await sharp({ create: { width: 1400, height: 1000, channels: 3, background: colour } })
    .png()
    .toBuffer();
  return { name: "my-photograph.png", type: "image/png", bytes };
}

export async function drop(target: Locator, file: DroppedFile): Promise<void> {
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
