// What a node may do while it runs, bound to its job: claim pixels, wait, find an image file, write its own files.
// Files are named by node and number inside the job's folder; nothing a user wrote becomes part of a path.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type NodeContext, NodeFailure } from "./definition";
import { type NodeRun } from "./node-run";
import { type PlannedNode } from "./plan";
import { type ProducedFile } from "./run";

/** `files` takes what the node saves. */
export function createContext({ id, place }: PlannedNode, run: NodeRun, files: ProducedFile[]): NodeContext {
  const { request, cancellation, kept, numbers } = run;
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
    async save({ content, extension, size, ...wish }, type) {
      cancellation.check();
      const index = files.length;
      const path = join(request.outputDir, `${place}-${index}.${extension}`);
      await writeFile(path, content, { flag: "wx" });
      files.push({ nodeId: id, key: "images", index, path, type, ...wish, ...size });
    },
    now: () => new Date(),
  };
}
