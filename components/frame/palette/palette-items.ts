export const paletteGroups = ["pages", "jobs", "workflows", "samples", "assets", "connections", "actions"] as const;
export type PaletteGroup = (typeof paletteGroups)[number];

export type PaletteItem = {
  /** Unique; also a part of an element's id. */
  key: string;
  group: PaletteGroup;
  label: string;
  note?: string;
  /** Also found by this text, which is not shown. */
  also?: string;
  /** Shown only after something was typed, as there are too many of these. */
  onDemand?: boolean;
  run: () => void;
};

/** The maximum number of items in a group. Actions are few, so all of them are listed. */
const MAX_GROUP_ITEMS = 12;

/** Items that contain every typed word, in the order of the groups; those that begin with the text come first. */
export function findItems(items: readonly PaletteItem[], typed: string): PaletteItem[] {
  const text = typed.trim().toLowerCase();
  const words = text.split(/\s+/).filter(Boolean);
  const found = items.filter((item) => {
    if (words.length === 0) return !item.onDemand;
    const searched = `${item.label} ${item.note ?? ""} ${item.also ?? ""}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
  return paletteGroups.flatMap((group) => {
    const own = found.filter((item) => item.group === group);
    const begins = (item: PaletteItem) => text !== "" && item.label.toLowerCase().startsWith(text);
    const ordered = [...own.filter(begins), ...own.filter((item) => !begins(item))];
    return group === "actions" ? ordered : ordered.slice(0, MAX_GROUP_ITEMS);
  });
}

/** A complete job id in pasted text; undefined for anything shorter or different. */
export function wholeJobId(typed: string): string | undefined {
  const text = typed.trim();
  return /^[\w-]{16,200}$/.test(text) && /\d/.test(text) ? text : undefined;
}
