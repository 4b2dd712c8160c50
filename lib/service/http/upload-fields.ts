// The text parts of an asset upload. `tags` come as JSON text, as repeated parts or as a comma list; user_metadata is JSON text.

import { type AssetUploadFields, assetUploadFieldsSchema } from "@/lib/contract/schemas/asset";
import { asRefusal } from "../service-error";
import { type ServiceSettings } from "../settings";
import { parseJson } from "./read-json";
import { invalid, toIssues } from "./read-query";
import { type Fields } from "./read-upload";

type Limits = Pick<ServiceSettings, "maxJsonDepth">;

export function readUploadFields(fields: Fields, limits: Limits): AssetUploadFields {
  const value = (name: string) => fields.get(name)?.find((one) => one.trim() !== "");
  const metadata = value("user_metadata");
  const parsed = assetUploadFieldsSchema.safeParse({
    tags: (fields.get("tags") ?? []).flatMap((text) => readTags(text, limits)),
    id: value("id")?.toLowerCase(),
    preview_id: value("preview_id")?.toLowerCase(),
    name: value("name"),
    mime_type: value("mime_type"),
    ...(metadata !== undefined && { user_metadata: readJsonPart("user_metadata", metadata, limits) }),
  });
  if (parsed.success) return parsed.data;
  throw invalid("INVALID_BODY", toIssues(parsed.error));
}

function readTags(text: string, limits: Limits): unknown[] {
  if (text.trim() === "") return [];
  // What begins as JSON is JSON: an object or a text in quotes is no comma list.
  if (!/^\s*[[{"]/.test(text)) return text.includes(",") ? splitList(text) : [text];
  const list = readJsonPart("tags", text, limits);
  if (!Array.isArray(list)) throw invalid("INVALID_BODY", [{ field: "tags", message: "must be a JSON list of texts" }]);
  return list;
}

/** The blanks of a comma list belong to the list; a part that is one tag is kept as it was sent. */
function splitList(text: string): string[] {
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}

function readJsonPart(field: string, text: string, limits: Limits): unknown {
  try {
    return parseJson(text, limits);
  } catch (error) {
    throw invalid("INVALID_BODY", [{ field, message: asRefusal(error)?.message ?? "is not JSON" }]);
  }
}
