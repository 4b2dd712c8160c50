// Small pictures with different colours, uploaded with names, tags and metadata.
import { crc32, deflateSync } from "node:zlib";
import { expect, type Page } from "@playwright/test";
import { type Desk } from "./desk";

/** Creates a one-pixel PNG whose colour depends on the index. */
function createPng(index: number): Buffer {
  const chunk = (name: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
    const frame = Buffer.alloc(8 + body.length);
    frame.writeUInt32BE(data.length, 0);
    body.copy(frame, 4);
    frame.writeUInt32BE(crc32(body), 4 + body.length);
    return frame;
  };
  const header = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]);
  const pixel = deflateSync(Buffer.from([0, index & 255, (index * 7) & 255, (index * 31) & 255]));
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("IDAT", pixel),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Uploads pictures with alternating tags, and `extraTags`. */
export async function uploadPictures(page: Page, desk: Desk, count: number, extraTags: string[] = []): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const response = await page.request.post(`${desk.url}/api/assets`, {
      headers: { origin: desk.url },
      multipart: {
        tags: JSON.stringify([...(index % 2 === 0 ? ["even", "output"] : ["odd"]), ...extraTags]),
        name: `wall_${String(index).padStart(3, "0")}.png`,
        user_metadata: JSON.stringify({ seed: index, camera: { lens: index % 3 === 0 ? "50mm" : "85mm" } }),
        file: { name: `wall_${index}.png`, mimeType: "image/png", buffer: createPng(index) },
      },
    });
    expect(response.ok(), await response.text()).toBe(true);
  }
}
