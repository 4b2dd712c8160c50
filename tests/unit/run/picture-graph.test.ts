import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { failed } from "@/lib/shared/result";
import { describe, expect, it } from "vitest";
import { openFile } from "@/components/run/workflow/open-workflow";
import { pictureTexts } from "@/components/run/workflow/picture-graph";
import { sampleGraph, sampleText } from "./files";

const noCatalogue = { readCatalogue: async () => failed({ code: "UPSTREAM_TIMEOUT", message: "", status: 504 }) };

const pixels = { create: { width: 4, height: 4, channels: 3, background: "#3366cc" } } as const;
const graph = sampleText("01-invert");
const drawing = JSON.stringify({ id: "3d1f2a54-8f6f-4a86-9b7c-0c2a5d1e9f10", name: "hero", nodes: [] });

function chunk(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, Buffer.from(type), content, Buffer.alloc(4)]);
}

async function png(...chunks: Buffer[]): Promise<File> {
  const plain = await sharp(pixels).png().toBuffer();
  return new File([new Uint8Array(Buffer.concat([plain.subarray(0, 33), ...chunks, plain.subarray(33)]))], "hero.png", {
    type: "image/png",
  });
}

async function webp(tags: Record<string, string>): Promise<File> {
  const bytes = await sharp(pixels).webp().withExif({ IFD0: tags }).toBuffer();
  return new File([new Uint8Array(bytes)], "hero.webp", { type: "image/webp" });
}

const plainText = (keyword: string, text: string) => chunk("tEXt", Buffer.from(`${keyword}\0${text}`));
const packedText = (keyword: string, text: string) => chunk("zTXt", Buffer.concat([Buffer.from(`${keyword}\0\0`), deflateSync(text)]));
const worldText = (keyword: string, text: string, isPacked: boolean) =>
  chunk(
    "iTXt",
    Buffer.concat([
      Buffer.from(`${keyword}\0`),
      Buffer.from([isPacked ? 1 : 0, 0]),
      Buffer.from("\0\0"),
      isPacked ? deflateSync(text) : Buffer.from(text),
    ]),
  );

describe("a picture that carries a workflow opens as one", () => {
  it.each([
    ["plain", () => png(plainText("prompt", graph))],
    ["packed", () => png(packedText("prompt", graph))],
    ["international", () => png(worldText("prompt", graph, false))],
    ["international and packed", () => png(worldText("prompt", graph, true))],
  ])("a PNG with a %s text", async (_, make) => {
    const opened = await openFile(await make(), noCatalogue);
    expect(opened).toMatchObject({ ok: true, value: { name: "hero", graph: { "1": { class_type: "EmptyImage" } } } });
  });

  it("a WebP with texts in its EXIF block, as the well-known server writes them", async () => {
    const opened = await openFile(await webp({ Model: `prompt:${graph}`, Make: `workflow:${drawing}` }), noCatalogue);
    expect(opened).toMatchObject({ ok: true, value: { name: "hero", workflowId: "3d1f2a54-8f6f-4a86-9b7c-0c2a5d1e9f10" } });
    expect(opened.ok && Object.keys(opened.value.graph)).toEqual(Object.keys(sampleGraph("01-invert")));
  });

  it("with letters of every script, and with numbers that JSON does not know", async () => {
    const written = '{"1":{"class_type":"PreviewAny","inputs":{"text":"雪 NaN, ок","cfg":NaN},"is_changed":[NaN, -Infinity]}}';
    const opened = await openFile(await png(plainText("prompt", written)), noCatalogue);
    expect(opened).toMatchObject({ ok: true, value: { graph: { "1": { inputs: { text: "雪 NaN, ок", cfg: null } } } } });
  });
});

describe("a picture that carries none is refused with the reason", () => {
  it.each([
    ["nothing inside", () => png()],
    ["other texts", () => png(plainText("Software", "a camera"))],
    ["a WebP without any", () => webp({ Model: "a camera" })],
    ["another kind", async () => new File([new Uint8Array([255, 216, 255])], "a.jpg", { type: "image/jpeg" })],
  ])("%s", async (_, make) => {
    expect(await openFile(await make(), noCatalogue)).toMatchObject({ ok: false, failure: { reason: { code: "picture" } } });
  });

  it("the editor's own drawing alone is told as such, where the service's nodes are not known", async () => {
    const editor = JSON.stringify({ nodes: [{}, {}], links: [] });
    expect(await openFile(await png(plainText("workflow", editor)), noCatalogue)).toMatchObject({
      failure: { reason: { code: "no_catalogue" } },
    });
  });

  it("a file that is cut off, claims to be longer than it is, or unpacks without end", async () => {
    const whole = await png(packedText("prompt", graph));
    expect(await pictureTexts(whole.slice(0, 60))).toBeUndefined();
    const bomb = packedText("prompt", "a".repeat(40_000_000));
    expect(await pictureTexts(await png(bomb))).toBeUndefined();
    const liar = chunk("tEXt", Buffer.from("prompt\0{}"));
    liar.writeUInt32BE(4_000_000_000);
    expect(await pictureTexts(await png(liar))).toBeUndefined();
  });
});
