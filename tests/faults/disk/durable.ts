// Helpers for the durability tests.
import sharp from "sharp";

/** Returns the blobs that were named in these steps. */
export function findNamedBlobs(steps: readonly string[][]): string[] {
  const renamedPaths = steps.flatMap(([operation, , to = ""]) => (operation === "named" && to.includes("/blobs/") ? [to] : []));
  return [...new Set(renamedPaths)];
}

/** Creates a picture of one colour with this alpha. */
export async function createPicture(red: number, alpha: number): Promise<Uint8Array<ArrayBuffer>> {
  const background = { r: red, g: 200, b: 30, alpha: alpha / 255 };
  return new Uint8Array(
    await sharp({ create: { width: 8, height: 8, channels: 4, background } })
      .png()
      .toBuffer(),
  );
}
