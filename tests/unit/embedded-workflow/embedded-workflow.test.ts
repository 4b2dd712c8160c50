// Files with an embedded workflow: fixtures by ffmpeg, and generated pictures.
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readEmbeddedWorkflow } from "@/lib/browser/embedded-workflow";
import { type ByteSource, createBlobSource, openByteSource, PartReadError } from "@/lib/browser/files/byte-source";
import { readWorkflow } from "@/lib/contract/workflow/graph";
import { getDrawing } from "@/lib/contract/workflow/workflow-name";
import { openTestServer } from "@/tests/support/servers";
import { avif, box, chunk, glb, jpeg, packedText, plainText, png, readCarrier, readEmbedded, safetensors, webp, worldText } from "./files";

const graph = '{"1":{"class_type":"EmptyImage","inputs":{"width":48,"height":32,"batch_size":1,"color":255}}}';
const drawing = '{"id":"3d1f2a54-8f6f-4a86-9b7c-0c2a5d1e9f10","nodes":[{"id":1,"type":"EmptyImage"}],"links":[],"version":0.4}';

async function readBoth(bytes: Uint8Array) {
  const result = await readEmbedded(bytes);
  const reading = result.kind === "workflow" ? readWorkflow(result.text) : undefined;
  return reading?.ok ? { graph: reading.value.graph, drawing: getDrawing(reading.value.extraData) } : result;
}

it.each(readdirSync("tests/fixtures/carriers"))("%s contains the executed graph and the editor's drawing", async (name) => {
  expect(await readBoth(readCarrier(name))).toMatchObject({
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
    expect(await readBoth(await make())).toMatchObject({ graph: JSON.parse(graph), drawing: JSON.parse(drawing) });
  });

  it.each(["avif", "avis", "heic", "mif1"])("%s without an EXIF block is a picture without a workflow", async (brand) => {
    const bytes = Buffer.concat([
      box("ftyp", Buffer.from(`${brand}\0\0\0\0`)),
      box("meta", Buffer.alloc(40)),
      box("mdat", Buffer.alloc(600)),
    ]);
    expect(await readEmbedded(bytes)).toEqual({ kind: "none", isPicture: true });
  });

  it("keeps letters of every script and drops numbers JSON can't represent", async () => {
    const promptText =
      '{"1":{"class_type":"PreviewAny","inputs":{"text":"雪 NaN, ок","seed":18446744073709551615,"cfg":NaN},"is_changed":[NaN]}}';
    expect(await readBoth(await png(plainText("prompt", promptText)))).toMatchObject({
      graph: { "1": { inputs: { text: "雪 NaN, ок", seed: 18446744073709551615n, cfg: null } } },
    });
  });
});

it("reads only the headers of a two-gigabyte video", async () => {
  const film = readCarrier("both.mp4");
  const moov = film.indexOf("moov") - 4;
  const head = Buffer.alloc(16);
  head.writeUInt32BE(1);
  head.write("mdat", 4);
  head.writeBigUInt64BE(2_000_000_000n, 8);
  const begins = film.subarray(0, film.readUInt32BE(0));
  const parts = [begins, head];
  const at = begins.length + 2_000_000_000;
  let readCount = 0;
  const source = {
    size: at + film.length - moov,
    text: () => Promise.reject(new Error("too much")),
    read: async (from: number, to: number) => {
      readCount += to - from;
      const bytes = new Uint8Array(to - from);
      bytes.set(Buffer.concat(parts).subarray(from, to));
      if (to > at) bytes.set(film.subarray(moov + Math.max(0, from - at), moov + to - at), Math.max(0, at - from));
      return bytes;
    },
  };
  expect((await readEmbeddedWorkflow(source)).kind).toBe("workflow");
  expect(readCount).toBeLessThan(100_000);
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
])("%s carries none", async (_, make, response) => {
  expect(await readEmbedded(await make())).toEqual(response);
});

it("doesn't blame the file for an unreadable part", async () => {
  const source = {
    ...createBlobSource(new Blob([new Uint8Array(readCarrier("both.flac"))])),
    read: () => Promise.reject(new Error("gone")),
  };
  await expect(readEmbeddedWorkflow(source)).rejects.toThrow("gone");
});

const film = readCarrier("both.mp4");
const begins = film.readUInt32BE(0);
const moov = film.indexOf("moov") - 4;
/** A video with its index after a megabyte of frames. */
const long = Buffer.concat([film.subarray(0, begins), box("mdat", Buffer.alloc(1_000_000)), film.subarray(moov)]);
let sentBytes = 0;
let isGone = false;
const server = await openTestServer((request, response) => {
  const [from = 0, to = 0] =
    /bytes=(\d+)-(\d+)/
      .exec(request.headers.range ?? "")
      ?.slice(1)
      .map(Number) ?? [];
  if (isGone) return void response.writeHead(404).end();
  if (request.url?.includes("plain")) return void response.writeHead(200).end(long);
  const part = long.subarray(from, to + 1);
  sentBytes += part.length;
  response.writeHead(206, { "content-range": `bytes ${from}-${from + part.length - 1}/${long.length}` }).end(part);
});

async function createSource(path: string): Promise<ByteSource> {
  isGone = false;
  const source = await openByteSource(`${server.url}/${path}`);
  if (!source.ok) throw new Error(source.failure.code);
  return source.value;
}

it("reads a long file only up to its texts", async () => {
  expect((await readEmbeddedWorkflow(await createSource("film"))).kind).toBe("workflow");
  expect(sentBytes).toBeLessThan(400_000);
});

it("reads a file whole from a service without ranges", async () => {
  expect((await readEmbeddedWorkflow(await createSource("plain"))).kind).toBe("workflow");
});

it("reports an unreadable part and a missing file as service failures", async () => {
  const source = await createSource("film");
  isGone = true;
  await expect(readEmbeddedWorkflow(source)).rejects.toBeInstanceOf(PartReadError);
  expect(await openByteSource(`${server.url}/film`)).toMatchObject({ ok: false, failure: { status: 404 } });
});
