// Colours as the nodes of the family write them: one whole number, red in the high byte.

/** "#dba446" for 14394438; undefined for what is no colour, so that the caller shows a plain number. */
export function toHexColor(value: unknown): string | undefined {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > 0xffffff) return undefined;
  return `#${value.toString(16).padStart(6, "0")}`;
}

export function fromHexColor(hex: string): number | undefined {
  return /^#[0-9a-f]{6}$/i.test(hex) ? Number.parseInt(hex.slice(1), 16) : undefined;
}
