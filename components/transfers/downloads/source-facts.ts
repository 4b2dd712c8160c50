// What a service says of an address before it is fetched: name, size, picture, and what is wrong with it.
// Guarantees: bounded; a picture is one that is in the answer itself, so that nothing is fetched from elsewhere to show it.

import { type ApiFailure } from "@/lib/browser/read-failure";
import { lacksOperation } from "@/lib/contract/failure";
import { isObject, numberOf, textOf } from "@/lib/contract/json/json";
import { type Result } from "@/lib/shared/result";

export type SourceFacts = { name?: string; sizeBytes?: number; picture?: string; errors: string[]; warnings: string[] };
export type SourceCheck =
  { kind: "asking" } | { kind: "known"; facts: SourceFacts } | { kind: "refused"; failure: ApiFailure } | { kind: "untold" };

export type Metadata = { content_length?: unknown; filename?: unknown; name?: unknown; preview_image?: unknown; validation?: unknown };

export function toCheck(answer: Result<Metadata, ApiFailure>): SourceCheck {
  if (answer.ok) return { kind: "known", facts: toFacts(answer.value ?? {}) };
  return answer.failure.status === 404 || lacksOperation(answer.failure)
    ? { kind: "untold" }
    : { kind: "refused", failure: answer.failure };
}

function toFacts({ content_length, filename, name, preview_image, validation }: Metadata): SourceFacts {
  const size = numberOf(content_length);
  const picture = textOf(preview_image);
  const said = isObject(validation) ? validation : {};
  return {
    name: textOf(name) ?? textOf(filename),
    ...(size !== undefined && size >= 0 && { sizeBytes: size }),
    ...(picture !== undefined && /^data:image\/(png|jpeg|webp|gif|avif);/i.test(picture) && { picture }),
    errors: said.is_valid === false ? messagesOf(said.errors) : [],
    warnings: messagesOf(said.warnings),
  };
}

function messagesOf(list: unknown): string[] {
  const items: unknown[] = Array.isArray(list) ? list : [];
  const texts = items.map((item) => (isObject(item) ? (textOf(item.message) ?? textOf(item.code)) : textOf(item)));
  return texts.filter((text) => text !== undefined).slice(0, 5);
}
