// The description of an asset: name, tags, metadata, its preview; as a form holds it, as it is sent, and the difference between two.
// Guarantees: a parsed form is valid for the interface; an invalid form names the wrong fields.

import { withSpellingsOf, writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject, type JsonObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { failed, ok, type Result } from "@/lib/shared/result";
import { readTags } from "@/lib/shared/text";

export type About = {
  /** Empty: the file's own name. */
  name: string;
  tags: readonly string[];
  metadata: Readonly<JsonObject>;
  previewId?: string;
};

export type AboutDraft = { name: string; tags: string; metadata: string; preview: string };
export type DraftFaults = Partial<Record<keyof AboutDraft, true>>;
/** How the folders above a file are used. */
export type FolderUse = "none" | "tags" | "name";

const DEFAULT_TAG = "input";
const control = /\p{Cc}/u;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** The page of an asset, or the list with its panel. */
const assetAddress = /\/assets(?:\/|\?(?:[^#]*&)?asset=)([0-9a-f-]+)(?=[?#&/]|$)/i;

export const newDraft: AboutDraft = { name: "", tags: DEFAULT_TAG, metadata: "", preview: "" };

export function draftOf({ name, tags, metadata, previewId }: About): AboutDraft {
  const text = Object.keys(metadata).length === 0 ? "" : writeExactJson(metadata, 2);
  return { name, tags: tags.join(", "), metadata: text, preview: previewId ?? "" };
}

export function readDraft({ name, tags: tagText, metadata: metadataText, preview }: AboutDraft): Result<About, DraftFaults> {
  const tags = readTags(tagText);
  const metadata = metadataText.trim() === "" ? {} : parseJson(metadataText);
  const previewId = assetAddress.exec(preview.trim())?.[1] ?? preview.trim();
  const faults: DraftFaults = {
    ...((name.length > 500 || control.test(name)) && { name: true as const }),
    ...(tags.some((tag) => tag.length > 200 || control.test(tag)) && { tags: true as const }),
    ...((!isObject(metadata) || metadataText.length > 64 * 1024) && { metadata: true as const }),
    ...(previewId !== "" && !uuid.test(previewId) && { preview: true as const }),
  };
  if (Object.keys(faults).length > 0 || !isObject(metadata)) return failed(faults);
  return ok({ name: name.trim(), tags, metadata, ...(previewId !== "" && { previewId }) });
}

/** The name, tags and metadata of one file, from the form for all files. */
export function aboutFile(about: About, path: string, use: FolderUse): About {
  const folders = path.split("/").slice(0, -1);
  if (use === "tags") return { ...about, tags: [...new Set([...about.tags, ...folders])] };
  return use === "name" && folders.length > 0 ? { ...about, name: path } : about;
}

/** Merged into what exists already: fields left empty in the form keep their values. */
export function mergeAbout(before: About, more: About): About {
  return {
    name: before.name,
    tags: [...new Set([...before.tags, ...more.tags])],
    metadata: withSpellingsOf(before.metadata, withSpellingsOf(more.metadata, { ...before.metadata, ...more.metadata })),
    previewId: more.previewId ?? before.previewId,
  };
}

export type Changes = { addedTags: string[]; removedTags: string[]; fields: JsonObject };
/** The parts that a service refused. */
export type Part = "tags" | "name" | "metadata" | "preview";

export function changesBetween(before: About, after: About): Changes | undefined {
  const addedTags = after.tags.filter((tag) => !before.tags.includes(tag));
  const removedTags = before.tags.filter((tag) => !after.tags.includes(tag));
  const fields: JsonObject = {
    ...(after.name !== before.name && after.name !== "" && { name: after.name }),
    ...(writeExactJson(after.metadata) !== writeExactJson(before.metadata) && { user_metadata: after.metadata }),
    ...(after.previewId !== before.previewId && { preview_id: after.previewId ?? null }),
  };
  return addedTags.length + removedTags.length + Object.keys(fields).length === 0 ? undefined : { addedTags, removedTags, fields };
}

/** The resulting description when all but these parts were written. */
export function writtenBut(parts: readonly Part[], before: About, after: About): About {
  const left = (part: Part) => (parts.includes(part) ? before : after);
  return { name: left("name").name, tags: left("tags").tags, metadata: left("metadata").metadata, previewId: left("preview").previewId };
}
