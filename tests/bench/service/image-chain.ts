// LoadImage, ImageScale to 512 lanczos, SaveImage on pictures of 1,024 px: jobs a second, beside sharp doing decode, resize and encode
// of the same files at the same PNG level, one after the other in this process. Every job has its own upload, so that no result is cached;
// uploading is not timed. The service does everything that belongs to a job: queue, hash, sync, database.
import sharp from "sharp";
import { type PortService } from "../processes";
import { forEachConcurrently, get, type Graph, submit, waitForEmptyQueue, withService } from "./client";
import { type BenchRow, formatRuns, median } from "./row";

const RUNS = 3;
const JOBS = 40;
const PNG_LEVEL = 4;
const photo = "public/samples/photo.png";

export function measureImageChain(): Promise<BenchRow[]> {
  return withService({}, async (service) => {
    const serviceMs: number[] = [];
    const referenceMs: number[] = [];
    for (let run = 0; run <= RUNS; run += 1) {
      const pictures = await Promise.all(Array.from({ length: JOBS }, (_, index) => picture(run * JOBS + index)));
      const names: string[] = [];
      for (const [index, content] of pictures.entries()) names.push(await upload(service, content, `${run}-${index}.png`));
      const alone = await perSecond(async () => {
        for (const content of pictures) await resize(content);
      });
      const jobs = await perSecond(async () => {
        await forEachConcurrently(names, 10, async (name) => void (await submit(service, chain(name))));
        await waitForEmptyQueue(service);
      });
      await expectCompleted(service, (run + 1) * JOBS);
      if (run === 0) continue; // warm-up
      referenceMs.push(alone);
      serviceMs.push(jobs);
    }
    const ratios = serviceMs.map((jobs, index) => jobs / (referenceMs[index] ?? NaN));
    return [
      {
        name: "1,024 px: LoadImage, ImageScale to 512 lanczos, SaveImage",
        target: "",
        ...formatRuns(serviceMs, "jobs a second", 1),
        meets: true,
      },
      { name: "beside: sharp alone, decode, resize, encode", target: "", ...formatRuns(referenceMs, "a second", 1), meets: true },
      { name: "ratio of the two", target: "at least 0.35", ...formatRuns(ratios, "", 2), meets: median(ratios) >= 0.35 },
    ];
  });
}

/** A failed job ends early and would spoil the figure. */
async function expectCompleted(service: PortService, count: number): Promise<void> {
  const { pagination } = await get<{ pagination: { total: number } }>(service, "/api/jobs?status=completed&limit=1");
  if (pagination.total !== count) throw new Error(`${pagination.total} of ${count} jobs were completed`);
}

async function perSecond(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return JOBS / ((performance.now() - started) / 1000);
}

/** The shipped photo at 1,024 px, a little brighter or darker each time. */
async function picture(index: number): Promise<Buffer> {
  const brightness = 0.8 + (index % 400) / 1000;
  return sharp(photo).removeAlpha().resize(1024, 1024, { fit: "fill" }).modulate({ brightness }).png({ compressionLevel: 6 }).toBuffer();
}

function resize(content: Buffer): Promise<Buffer> {
  return sharp(content).resize(512, 512, { fit: "fill", kernel: "lanczos3" }).png({ compressionLevel: PNG_LEVEL }).toBuffer();
}

async function upload(service: PortService, content: Buffer, fileName: string): Promise<string> {
  const form = new FormData();
  form.set("image", new Blob([new Uint8Array(content)], { type: "image/png" }), fileName);
  const response = await fetch(`${service.url}/api/upload/image`, { method: "POST", headers: service.headers, body: form });
  const { name }: { name: string } = await response.json();
  if (!response.ok || !name) throw new Error(`the upload was answered with ${response.status}`);
  return name;
}

function chain(image: string): Graph {
  return {
    "1": { class_type: "LoadImage", inputs: { image } },
    "2": { class_type: "ImageScale", inputs: { image: ["1", 0], upscale_method: "lanczos", width: 512, height: 512, crop: "disabled" } },
    "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "chain" } },
  };
}
