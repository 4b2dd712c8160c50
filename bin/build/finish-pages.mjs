// Finishes a build of the pages: marks first scripts as used at once, and packs files with Brotli (lib/http/packed-files.ts sends them).
import { readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";

const pack = promisify(brotliCompress);
const LEAST_BYTES = 1000;

/** V8 reads this in a first line, and compiles the functions off the main thread while the file loads. */
const USED_AT_ONCE = "//# allFunctionsCalledOnLoad\n";

/** @param {string} build the folder of `next build` */
export async function finishPages(build) {
  const listed = JSON.parse(readFileSync(join(build, "diagnostics/route-bundle-stats.json"), "utf8"));
  const first = new Set(
    listed.flatMap(({ firstLoadChunkPaths }) => firstLoadChunkPaths.map((path) => path.replace(`${basename(build)}/`, ""))),
  );
  await Promise.all([...first].map((path) => markUsedAtOnce(join(build, path))));
  const folder = join(build, "static");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => /\.(js|css)$/.test(file));
  await Promise.all(files.map((file) => packFile(join(folder, file))));
}

async function markUsedAtOnce(file) {
  const text = await readFile(file, "utf8");
  if (!text.startsWith(USED_AT_ONCE)) await writeFile(file, USED_AT_ONCE + text);
}

async function packFile(file) {
  const bytes = await readFile(file);
  if (bytes.length < LEAST_BYTES) return;
  await writeFile(`${file}.br`, await pack(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }));
}
