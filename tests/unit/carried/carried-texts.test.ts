// Which files carry a workflow, as their programs write it: ffmpeg made the fixtures, the pictures are made here.
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { carriedBy } from "@/lib/browser/carried-texts";
import { bytesOfBlob } from "@/lib/browser/files/byte-source";
import { readWorkflow } from "@/lib/contract/workflow/graph";
import { drawingIn } from "@/lib/contract/workflow/workflow-name";
import { avif, box, carried, carrier, chunk, glb, jpeg, packedText, plainText, png, safetensors, webp, worldText } from "./files";

const graph = '{"1":{"class_type":"EmptyImage","inputs":{"width":48,"height":32,"batch_size":1,"color":255}}}';
const drawing = '{"id":"3d1f2a54-8f6f-4a86-9b7c-0c2a5d1e9f10","nodes":[{"id":1,"type":"EmptyImage"}],"links":[],"version":0.4}';

async function both(bytes: Uint8Array) {
  const found = await carried(bytes);
  const reading = found.kind === "workflow" ? readWorkflow(found.text) : undefined;
  return reading?.ok ? { graph: reading.value.graph, drawing: drawingIn(reading.value.extraData) } : found;
}

it.each(readdirSync("tests/fixtures/carriers"))("%s holds what was run and the editor's drawing", async (name) => {
  expect(await both(carrier(name))).toMatchObject({
    graph: { "1": { class_type: "EmptyImage", inputs: { width: 48 } }, "2": { inputs: { filename_prefix: "carried ☃" } } },
    drawing: { id: "3d1f2a54-8f6f-4a86-9b7c-0c2a5d1e9f10", nodes: { length: 3 } },
  });
});

describe("pictures and scenes", () => {
  const comf = (keyword: string, text: string) => chunk("comf", Buffer.from(`${keyword}\0${text}`));
  it.each([
    ["PNG with plain texts", () => png(plainText("prompt", graph), plainText("workflow", drawing))],
    ["PNG with packed texts", () => png(packedText("prompt", graph), packedText("Workflow", drawing))],
    ["PNG with international texts", () => png(worldText("prompt", graph, false), worldText("workflow", drawing, true))],
    ["animated PNG", () => png(comf("prompt", graph), comf("workflow", drawing))],
    ["WebP", () => webp({ Model: `prompt:${graph}`, Make: `workflow:${drawing}` })],
    ["AVIF", () => avif({ Model: `prompt:${graph}`, Make: `workflow:${drawing}` })],
    ["JPEG", () => jpeg({ Model: `prompt:${graph}`, Make: `workflow:${drawing}` })],
    ["JPEG of another writer", () => jpeg({ Make: `Prompt:${graph}`, ImageDescription: `Workflow: ${drawing}` })],
    ["GLB", async () => glb(JSON.stringify({ asset: { extras: { prompt: graph, workflow: JSON.parse(drawing) } } }))],
    ["latent", async () => safetensors(JSON.stringify({ __metadata__: { prompt: graph, workflow: drawing }, latent_tensor: {} }))],
    [
      "SVG",
      async () =>
        Buffer.from(
          `<svg xmlns="http://www.w3.org/2000/svg"><metadata><![CDATA[{"prompt":${graph},"workflow":${drawing}}]]></metadata></svg>`,
        ),
    ],
  ])("%s", async (_, make) => {
    expect(await both(await make())).toMatchObject({ graph: JSON.parse(graph), drawing: JSON.parse(drawing) });
  });

  it.each(["avif", "avis", "heic", "mif1"])("%s without an EXIF block is a picture without a workflow", async (brand) => {
    const bytes = Buffer.concat([
      box("ftyp", Buffer.from(`${brand}\0\0\0\0`)),
      box("meta", Buffer.alloc(40)),
      box("mdat", Buffer.alloc(600)),
    ]);
    expect(await carried(bytes)).toEqual({ kind: "none", isPicture: true });
  });

  it("letters of every script stay, and numbers that JSON does not know become nothing", async () => {
    const written =
      '{"1":{"class_type":"PreviewAny","inputs":{"text":"雪 NaN, ок","seed":18446744073709551615,"cfg":NaN},"is_changed":[NaN]}}';
    expect(await both(await png(plainText("prompt", written)))).toMatchObject({
      graph: { "1": { inputs: { text: "雪 NaN, ок", seed: 18446744073709551615n, cfg: null } } },
    });
  });
});

it("of a film of two gigabytes no more is read than its headers", async () => {
  const film = carrier("both.mp4");
  const moov = film.indexOf("moov") - 4;
  const head = Buffer.alloc(16);
  head.writeUInt32BE(1);
  head.write("mdat", 4);
  head.writeBigUInt64BE(2_000_000_000n, 8);
  const begins = film.subarray(0, film.readUInt32BE(0));
  const parts = [begins, head];
  const at = begins.length + 2_000_000_000;
  let read = 0;
  const source = {
    size: at + film.length - moov,
    text: () => Promise.reject(new Error("too much")),
    read: async (from: number, to: number) => {
      read += to - from;
      const bytes = new Uint8Array(to - from);
      bytes.set(Buffer.concat(parts).subarray(from, to));
      if (to > at) bytes.set(film.subarray(moov + Math.max(0, from - at), moov + to - at), Math.max(0, at - from));
      return bytes;
    },
  };
  expect((await carriedBy(source)).kind).toBe("workflow");
  expect(read).toBeLessThan(100_000);
});

it.each([
  ["a picture without texts", () => png(), { kind: "none", isPicture: true }],
  ["a picture with others", () => png(plainText("Software", "a camera")), { kind: "none", isPicture: true }],
  ["an AVIF", () => avif({ Model: "a camera" }), { kind: "none", isPicture: true }],
  ["a photograph", () => jpeg({ Model: "a camera" }), { kind: "none", isPicture: true }],
  ["weights", async () => safetensors('{"w":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}}'), { kind: "none", isPicture: false }],
  ["weights that are cut", async () => safetensors('{"__metadata__":{}}', 5_000), { kind: "damaged" }],
  ["weights whose header is longer than any workflow", async () => safetensors(`{${" ".repeat(13_000_000)}}`), { kind: "too_much" }],
  ["JSON", async () => Buffer.from(graph), { kind: "unknown" }],
  ["nothing", async () => Buffer.alloc(0), { kind: "unknown" }],
])("%s carries none", async (_, make, answer) => {
  expect(await carried(await make())).toEqual(answer);
});

it("a part that a service does not hand out is no fault of the file", async () => {
  const source = { ...bytesOfBlob(new Blob([new Uint8Array(carrier("both.flac"))])), read: () => Promise.reject(new Error("gone")) };
  await expect(carriedBy(source)).rejects.toThrow("gone");
});
