// Helpers shared by the suites about durable steps.
import sharp from "sharp";

/** The blobs that got their name in these steps. */
export function blobsIn(steps: readonly string[][]): string[] {
  const renamedPaths = steps.flatMap(([operation, , to = ""]) => (operation === "named" && to.includes("/blobs/") ? [to] : []));
  return [...new Set(renamedPaths)];
}

/** A picture of one colour with the given alpha. */
export async function painted(red: number, alpha: number): Promise<Uint8Array<ArrayBuffer>> {
  const background = { r: red, g: 200, b: 30, alpha: alpha / 255 };
  return new Uint8Array(
    await sharp({ create: { width: 8, height: 8, channels: 4, background } })
      .png()
      .toBuffer(),
  );
}
