// What a service reports about an address before it is fetched: name, size, picture, and what is wrong with it.
// Guarantees: bounded; a picture must be embedded in the answer itself, so that showing it fetches nothing from elsewhere.

import { type ApiFailure } from "@/lib/browser/read-failure";
import { isNotThere } from "@/lib/contract/failure";
import { list, number, object, oneOf, type Reader, text, where } from "@/lib/contract/json/readers";
import { type Result } from "@/lib/shared/result";

const MOST_SENTENCES = 5;

export type SourceFacts = { name?: string; sizeBytes?: number; picture?: string; errors: string[]; warnings: string[] };
export type SourceCheck =
  { kind: "asking" } | { kind: "known"; facts: SourceFacts } | { kind: "refused"; failure: ApiFailure } | { kind: "unsupported" };

const spoken = object({}, { message: text, code: text });
const sentence: Reader<string> = (sent) => text(sent) ?? spoken(sent)?.message ?? spoken(sent)?.code;
const metadata = object(
  {},
  {
    name: text,
    filename: text,
    content_length: where(number, (size) => size >= 0),
    preview_image: where(text, (address) => /^data:image\/(png|jpeg|webp|gif|avif);/i.test(address)),
    validation: object({}, { is_valid: oneOf([true, false]), errors: list(sentence), warnings: list(sentence) }),
  },
);

export function toCheck(answer: Result<unknown, ApiFailure>): SourceCheck {
  if (answer.ok) return { kind: "known", facts: toFacts(answer.value) };
  return isNotThere(answer.failure) ? { kind: "unsupported" } : { kind: "refused", failure: answer.failure };
}

function toFacts(answer: unknown): SourceFacts {
  const { name, filename, content_length: sizeBytes, preview_image: picture, validation } = metadata(answer) ?? {};
  return {
    name: name ?? filename,
    ...(sizeBytes !== undefined && { sizeBytes }),
    ...(picture !== undefined && { picture }),
    errors: validation?.is_valid === false ? (validation.errors?.slice(0, MOST_SENTENCES) ?? []) : [],
    warnings: validation?.warnings?.slice(0, MOST_SENTENCES) ?? [],
  };
}
