// The random inputs of the load: graphs, with their expected state and number of files, and small valid images.
// All randomness in a round derives from its seed, which is printed when the round fails.
import sharp from "sharp";

export type Random = { integerBelow(bound: number): number; pick<T>(items: readonly [T, ...T[]]): T };

/** mulberry32, a public-domain 32-bit generator. Its quality suffices to choose the next step. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const integerBelow = (bound: number) => Math.floor(next() * bound);
  return {
    integerBelow,
    pick: (items) => items[integerBelow(items.length)] ?? items[0],
  };
}

export type GraphKind = "single" | "several" | "loaded" | "slow" | "text" | "failing" | "partial";
type Node = { class_type: string; inputs: Record<string, unknown> };
export type PromptRequest = { prompt: Record<string, Node>; partial_execution_targets?: string[] };

export const expectedResults: Readonly<Record<GraphKind, { state: "completed" | "failed"; files: number }>> = {
  single: { state: "completed", files: 1 },
  several: { state: "completed", files: 5 },
  loaded: { state: "completed", files: 1 },
  slow: { state: "completed", files: 1 },
  text: { state: "completed", files: 0 },
  failing: { state: "failed", files: 1 },
  partial: { state: "completed", files: 1 },
};

/** `image`: the name of an upload. A random colour prevents hits in the worker's cache. */
export function createGraph(kind: GraphKind, random: Random, image: string): PromptRequest {
  const color = random.integerBelow(0xffffff);
  const empty = (batch_size = 1) => ({ class_type: "EmptyImage", inputs: { width: 16, height: 16, batch_size, color } });
  const save = (source: string) => ({ class_type: "SaveImage", inputs: { images: [source, 0], filename_prefix: "kill" } });
  const wait = (source: string, seconds: number) => ({ class_type: "Wait", inputs: { seconds, anything: [source, 0] } });
  switch (kind) {
    case "single":
      return { prompt: { "1": empty(), "2": save("1") } };
    case "several":
      return {
        prompt: {
          "1": empty(2),
          "2": save("1"),
          "3": { class_type: "ImageInvert", inputs: { image: ["1", 0] } },
          "4": wait("3", 0.02),
          "5": { class_type: "PreviewImage", inputs: { images: ["4", 0] } },
          "6": empty(),
          "7": save("6"),
        },
      };
    case "loaded":
      return {
        prompt: {
          "1": { class_type: "LoadImage", inputs: { image } },
          "2": {
            class_type: "ImageScale",
            inputs: { image: ["1", 0], upscale_method: "lanczos", width: 8 + random.integerBelow(64), height: 24, crop: "disabled" },
          },
          "3": save("2"),
        },
      };
    case "slow":
      return { prompt: { "1": empty(), "2": wait("1", random.integerBelow(400) / 1000), "3": save("2") } };
    case "text":
      return {
        prompt: {
          "1": { class_type: "PrimitiveString", inputs: { value: `text ${color}` } },
          "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
        },
      };
    case "failing":
      return {
        prompt: {
          "1": empty(),
          "2": save("1"),
          "3": wait("1", 0.05),
          "4": { class_type: "Fail", inputs: { message: "on purpose", anything: ["3", 0] } },
          "5": save("4"),
        },
      };
    case "partial":
      return { prompt: { "1": empty(), "2": save("1"), "3": wait("1", 3000), "4": save("3") }, partial_execution_targets: ["2"] };
  }
}

const EDGE_PX = 64;

export async function createUserPicture(user: string): Promise<Uint8Array<ArrayBuffer>> {
  const shade = [...user].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 256;
  const background = { r: shade, g: 40, b: 90 };
  return new Uint8Array(
    await sharp({ create: { width: EDGE_PX, height: EDGE_PX, channels: 3, background } })
      .png()
      .toBuffer(),
  );
}

/** Paints (alpha 0) a different number of pixels each time, so that no two masks of a user have the same result. */
export async function createMask(serial: number, color: number): Promise<Uint8Array<ArrayBuffer>> {
  const pixels = Buffer.alloc(EDGE_PX * EDGE_PX * 4, 255);
  const painted = serial % (EDGE_PX * EDGE_PX);
  for (let index = 0; index < painted; index += 1) pixels.set([color & 255, (color >> 8) & 255, (color >> 16) & 255, 0], index * 4);
  return new Uint8Array(
    await sharp(pixels, { raw: { width: EDGE_PX, height: EDGE_PX, channels: 4 } })
      .png()
      .toBuffer(),
  );
}
