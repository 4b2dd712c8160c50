// What a node may do while it runs, bound to its job: claim pixels, wait, find an image file, write its own files.
// Files are named by node and number inside the job's folder; nothing a user wrote becomes part of a path.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type NodeContext, NodeFailure, type SavedFile } from "./definition";
import { type NodeRun } from "./node-run";
import { type PlannedNode } from "./plan";
import { type ProducedFile } from "./run";

/** Beyond it the files of a node are not worth remembering. */
const MOST_REMEMBERED_BYTES = 64 * 1024 * 1024;

/** `files` takes what the node saves, as the runner is told; `contents` the same with its bytes, as long as they are few. */
export function createContext(planned: PlannedNode, run: NodeRun, files: ProducedFile[], contents: SavedFile[]): NodeContext {
  const { request, cancellation, kept, numbers } = run;
  let bytes = 0;
  return {
    claim: kept.claim,
    tick: run.tick,
    wait: (milliseconds) => setTimeout(milliseconds, undefined, { signal: cancellation.signal }),
    imagePath(name) {
      const file = Object.hasOwn(request.images, name) ? request.images[name] : undefined;
      if (!file) throw new NodeFailure("FileNotFoundError", `There is no image file "${name}".`);
      return file.path;
    },
    pngText: request.pngText,
    nextNumber(prefix) {
      const number = (numbers.get(prefix) ?? 0) + 1;
      numbers.set(prefix, number);
      return number;
    },
    async save(file) {
      cancellation.check();
      files.push(await writeProduced(file, planned, files.length, request.outputDir));
      bytes += file.content.byteLength;
      if (bytes <= MOST_REMEMBERED_BYTES) contents.push(file);
    },
    now: () => new Date(),
  };
}

export async function writeProduced(file: SavedFile, { id, place }: PlannedNode, index: number, outputDir: string): Promise<ProducedFile> {
  const { content, extension, size, ...wish } = file;
  const path = join(outputDir, `${place}-${index}.${extension}`);
  await writeFile(path, content, { flag: "wx" });
  return { nodeId: id, key: "images", index, path, ...wish, ...size };
}
