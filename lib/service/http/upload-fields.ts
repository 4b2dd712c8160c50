// The text parts of an upload, read with its operation's schema. A list comes as JSON text, as repeated parts or as a comma list; an object is
// JSON text. A blank part counts as left out.

import { z } from "zod";
import { asRefusal } from "../service-error";
import { type ServiceSettings } from "../settings";
import { parseJson } from "./read-json";
import { invalid, toIssues } from "./read-query";
import { type Fields } from "./read-upload";

type Limits = Pick<ServiceSettings, "maxJsonDepth">;

export function readFields<S extends z.ZodObject>(parts: Fields, schema: S, limits: Limits): z.output<S> {
  const values = Object.entries(schema.shape).map(([name, field]) => [name, valueOf(name, field, parts.get(name) ?? [], limits)] as const);
  const parsed = schema.safeParse(Object.fromEntries(values));
  if (parsed.success) return parsed.data;
  throw invalid("INVALID_BODY", toIssues(parsed.error));
}

function valueOf(name: string, field: z.core.$ZodType, texts: readonly string[], limits: Limits): unknown {
  const inner = field instanceof z.ZodOptional || field instanceof z.ZodDefault ? field.unwrap() : field;
  if (inner instanceof z.ZodArray) return texts.flatMap((text) => readList(name, text, limits));
  const text = texts.find((one) => one.trim() !== "");
  return text !== undefined && inner instanceof z.ZodRecord ? readJsonPart(name, text, limits) : text;
}

function readList(field: string, text: string, limits: Limits): unknown[] {
  if (text.trim() === "") return [];
  // What begins as JSON is JSON: an object or a text in quotes is no comma list.
  if (!/^\s*[[{"]/.test(text)) return text.includes(",") ? splitList(text) : [text];
  const list = readJsonPart(field, text, limits);
  if (!Array.isArray(list)) throw invalid("INVALID_BODY", [{ field, message: "must be a JSON list of texts" }]);
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
