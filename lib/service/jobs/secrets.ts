// Keys of partner services ride in `extra_data`. They are taken out before a submission is stored, so no view, file or log can hold them.

const secretKeys = new Set(["api_key_comfy_org", "auth_token_comfy_org"]);

/** As JSON text, ready to be stored. Mostly there is nothing to take out, and then nothing is walked through. */
export function toStoredText(value: Record<string, unknown>): string {
  const text = JSON.stringify(value);
  return [...secretKeys].some((key) => text.includes(key)) ? JSON.stringify(withoutSecrets(value)) : text;
}

function withoutSecrets(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !secretKeys.has(key))
      .map(([key, inner]) => [key, clean(inner)]),
  );
}

function clean(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(clean);
  if (typeof value === "object" && value !== null) return withoutSecrets({ ...value });
  return value;
}
