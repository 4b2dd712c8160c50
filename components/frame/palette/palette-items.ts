export const paletteGroups = ["pages", "jobs", "workflows", "samples", "assets", "connections", "actions"] as const;
export type PaletteGroup = (typeof paletteGroups)[number];

export type PaletteItem = {
  /** Unlike every other's; a part of an element's id. */
  key: string;
  group: PaletteGroup;
  label: string;
  note?: string;
  /** Found by these too, though they are not shown. */
  also?: string;
  /** Shown only where something was typed: there are too many of them for a list that was not asked for. */
  onDemand?: boolean;
  run: () => void;
};

/** Where nothing is typed, each group shows so many. */
const SHOWN_OF_A_GROUP = 12;

/** Those that hold every word that was typed, in the order of the groups; what begins with the text comes first. */
export function findItems(items: readonly PaletteItem[], typed: string): PaletteItem[] {
  const text = typed.trim().toLowerCase();
  const words = text.split(/\s+/).filter(Boolean);
  const found = items.filter((item) => {
    if (words.length === 0) return !item.onDemand;
    const held = `${item.label} ${item.note ?? ""} ${item.also ?? ""}`.toLowerCase();
    return words.every((word) => held.includes(word));
  });
  return paletteGroups.flatMap((group) => {
    const own = found.filter((item) => item.group === group);
    const begins = (item: PaletteItem) => text !== "" && item.label.toLowerCase().startsWith(text);
    return [...own.filter(begins), ...own.filter((item) => !begins(item))].slice(0, SHOWN_OF_A_GROUP);
  });
}

/** The id of a job, whole, wherever it was copied from; undefined for anything shorter or else. */
export function wholeJobId(typed: string): string | undefined {
  const text = typed.trim();
  return /^[\w-]{16,200}$/.test(text) && /\d/.test(text) ? text : undefined;
}
