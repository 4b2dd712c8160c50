// Measures jobs per second of LoadImage, ImageScale to 512 lanczos and SaveImage on pictures of 1,024 px. For comparison, sharp decodes,
// resizes and encodes the same files at the same PNG level in this process, one after the other. Every job has its own upload, so that
// no result is cached. Uploading is not timed.
import sharp from "sharp";
import { type ServiceProcess } from "../processes";
import { forEachConcurrently, getJson, type Graph, submitGraph, waitForEmptyQueue, withService } from "./client";
import { type BenchRow, formatRuns, median } from "./row";

const RUNS = 3;
const JOBS = 40;
const PNG_LEVEL = 4;
const PHOTO_PATH = "public/samples/photo.png";

export function measureImageChain(): Promise<BenchRow[]> {
  return withService({}, async (service) => {
    const serviceMs: number[] = [];
    const referenceMs: number[] = [];
    for (let run = 0; run <= RUNS; run += 1) {
      const pictures = await Promise.all(Array.from({ length: JOBS }, (_, index) => createPicture(run * JOBS + index)));
      const names: string[] = [];
      for (const [index, content] of pictures.entries()) names.push(await upload(service, content, `${run}-${index}.png`));
      const sharpRate = await measureRate(async () => {
        for (const content of pictures) await resize(content);
      });
      const serviceRate = await measureRate(async () => {
        await forEachConcurrently(names, 10, async (name) => void (await submitGraph(service, createChain(name))));
        await waitForEmptyQueue(service);
      });
      await assertCompleted(service, (run + 1) * JOBS);
      if (run === 0) continue; // warm-up
      referenceMs.push(sharpRate);
      serviceMs.push(serviceRate);
    }
    const ratios = serviceMs.map((jobs, index) => jobs / (referenceMs[index] ?? NaN));
    return [
      {
        name: "1,024 px: LoadImage, ImageScale to 512 lanczos, SaveImage",
        target: "",
        ...formatRuns(serviceMs, "jobs per second", 1),
        meets: true,
      },
      { name: "for comparison: sharp alone, decode, resize, encode", target: "", ...formatRuns(referenceMs, "per second", 1), meets: true },
      { name: "ratio of the two", target: "at least 0.35", ...formatRuns(ratios, "", 2), meets: median(ratios) >= 0.35 },
    ];
  });
}

/** Throws if a job failed, since failed jobs end early. */
async function assertCompleted(service: ServiceProcess, count: number): Promise<void> {
  const { pagination } = await getJson<{ pagination: { total: number } }>(service, "/api/jobs?status=completed&limit=1");
  if (pagination.total !== count) throw new Error(`${pagination.total} of ${count} jobs were completed`);
}

async function measureRate(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return JOBS / ((performance.now() - started) / 1000);
}

/** Returns the bundled photo at 1,024 px with a different brightness for each index. */
async function createPicture(index: number): Promise<Buffer> {
  const brightness = 0.8 + (index % 400) / 1000;
  return sharp(PHOTO_PATH)
    .removeAlpha()
    .resize(1024, 1024, { fit: "fill" })
    .modulate({ brightness })
    .png({ compressionLevel: 6 })
    .toBuffer();
}

function resize(content: Buffer): Promise<Buffer> {
  return sharp(content).resize(512, 512, { fit: "fill", kernel: "lanczos3" }).png({ compressionLevel: PNG_LEVEL }).toBuffer();
}

async function upload(service: ServiceProcess, content: Buffer, fileName: string): Promise<string> {
  const form = new FormData();
  form.set("image", new Blob([new Uint8Array(content)], { type: "image/png" }), fileName);
  const response = await fetch(`${service.url}/api/upload/image`, { method: "POST", headers: service.headers, body: form });
  const { name }: { name: string } = await response.json();
  if (!response.ok || !name) throw new Error(`upload responded with ${response.status}`);
  return name;
}

function createChain(image: string): Graph {
  return {
    "1": { class_type: "LoadImage", inputs: { image } },
    "2": { class_type: "ImageScale", inputs: { image: ["1", 0], upscale_method: "lanczos", width: 512, height: 512, crop: "disabled" } },
    "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "chain" } },
  };
}
