// What a node may do while it runs, bound to its job: claim pixels, wait, find an image file, write its own files.
// Files are named by node and number inside the job's folder; nothing a user wrote becomes part of a path.

import { setTimeout } from "node:timers/promises";
import { type NodeContext, NodeFailure } from "./definition";
import { type NodeRun } from "./node-run";
import { type PlannedNode } from "./plan";
import { type ProducedFile } from "./run";
import { type FileSaver } from "./save-file";
import { producedPath } from "./stored-outputs";

type Saving = {
  saver: FileSaver;
  /** Takes what the node saves, as the runner is told. */
  files: ProducedFile[];
};

export function createContext(planned: PlannedNode, run: NodeRun, { saver, files }: Saving): NodeContext {
  const { request, cancellation, kept } = run;
  return {
    claim: kept.claim,
    tick: run.tick,
    wait: (milliseconds) => setTimeout(milliseconds, undefined, { signal: cancellation.signal }),
    imagePath(name) {
      const file = Object.hasOwn(request.images, name) ? request.images[name] : undefined;
      if (!file) throw new NodeFailure("FileNotFoundError", `There is no image file "${name}".`);
      return file.path;
    },
    readPixels: (path) => run.imageFiles.read(path, kept.claim),
    pngText: request.pngText,
    nextNumber: run.nextNumber,
    async save({ content, size, ...wish }) {
      cancellation.check();
      const index = files.length;
      const path = producedPath(request.outputDir, planned, index, wish.extension);
      const bytes = await saver.save(path, content);
      files.push({ nodeId: planned.id, key: "images", index, path, ...bytes, ...wish, ...size });
    },
    now: () => new Date(),
  };
}
