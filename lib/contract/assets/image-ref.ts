// How inputs name stored pictures.

export type FileRef = { filename: string; subfolder: string; type: string };

const SUFFIX = / ?\[(input|output|temp)\]$/;

export function toFileRef(value: string): FileRef {
  const type = SUFFIX.exec(value)?.[1] ?? "input";
  const path = value.replace(SUFFIX, "");
  const slash = path.lastIndexOf("/");
  return { filename: path.slice(slash + 1), subfolder: slash < 0 ? "" : path.slice(0, slash), type };
}

/** The value for the graph, made from the answer to an upload. */
export function toImageValue(answer: { name: string; subfolder?: string | null; type?: string | null }): string {
  const path = answer.subfolder ? `${answer.subfolder}/${answer.name}` : answer.name;
  return !answer.type || answer.type === "input" ? path : `${path} [${answer.type}]`;
}

/** The tag on files that the embedded service keeps beside the result of a saved mask; lists leave them out unless asked for the tag. */
export const MASK_LAYER_TAG = "mask-layer";
