// Makes public/samples/pictures/NAME.webp from the first picture of each sample. Run it when a sample changes: node
// bin/build/make-sample-pictures.mjs [NAME…].
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import sharp from "sharp";
import { ensureBundles, root } from "../prepare.mjs";

const samples = join(root, "public/samples");
const pictures = join(samples, "pictures");
const size = { width: 480, height: 360 };
const LONGEST_MS = 120_000;

await ensureBundles();
const dataDir = await mkdtemp(join(tmpdir(), "lightdesk-samples-"));
const start = (...args) => {
  const env = { ...process.env, PORT: "0", LIGHTDESK_DATA_DIR: dataDir };
  return spawn(process.execPath, [join(root, "dist/service.mjs"), ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
};

const service = start();
const address = await new Promise((resolve, reject) => {
  let printed = "";
  service.stdout.on("data", (chunk) => {
    printed += chunk;
    const found = /Service: (\S+)/.exec(printed);
    if (found) resolve(found[1]);
  });
  service.once("exit", (code) => reject(new Error(`The service ended with ${code}.`)));
});
try {
  const key = await newKey();
  const wanted = process.argv.slice(2);
  const names = wanted.length > 0 ? wanted : await offered();
  await mkdir(pictures, { recursive: true });
  for (const name of names) {
    const bytes = await firstPicture(name, { "X-API-Key": key });
    const to = join(pictures, `${name}.webp`);
    const made = await sharp(bytes)
      .resize({ ...size, fit: "cover" })
      .webp({ quality: 78, effort: 6 })
      .toFile(to);
    console.log(`${name}.webp  ${made.width}x${made.height}  ${made.size} bytes`);
  }
} finally {
  service.kill("SIGTERM");
  await once(service, "exit");
  await rm(dataDir, { recursive: true, force: true });
}

/** The samples that components/frame/samples/samples.ts offers. */
async function offered() {
  const list = await readFile(join(root, "components/frame/samples/samples.ts"), "utf8");
  const files = (await readdir(samples)).filter((file) => file.endsWith(".json"));
  return files.map((file) => file.slice(0, -".json".length)).filter((name) => list.includes(`"${name}"`));
}

async function newKey() {
  const command = start("keys", "create", "--user", "samples");
  let printed = "";
  command.stdout.on("data", (chunk) => (printed += chunk));
  await once(command, "exit");
  return printed.trimEnd().split("\n").at(-1);
}

async function firstPicture(name, headers) {
  const prompt = JSON.parse(await readFile(join(samples, `${name}.json`), "utf8"));
  const { prompt_id: id } = await answerOf("/api/prompt", { method: "POST", headers, body: JSON.stringify({ prompt }) });
  const endMs = Date.now() + LONGEST_MS;
  for (;;) {
    const job = await answerOf(`/api/jobs/${id}`, { headers });
    // A job that fails may have put out a picture before.
    if (job.status === "completed" || job.status === "failed") {
      const file = Object.values(job.outputs ?? {}).flatMap(({ images = [] }) => images)[0];
      if (!file) throw new Error(`${name} gave no picture.`);
      const { filename, subfolder, type } = file;
      const view = await fetch(`${address}/api/view?${new URLSearchParams({ filename, subfolder: subfolder ?? "", type })}`, { headers });
      if (!view.ok) throw new Error(`${name}: its picture answered ${view.status}.`);
      return Buffer.from(await view.arrayBuffer());
    }
    if (Date.now() > endMs) throw new Error(`${name} did not end in ${LONGEST_MS / 1000} s.`);
    await wait(200);
  }
}

async function answerOf(path, init) {
  const answer = await fetch(address + path, init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return JSON.parse(text);
}
