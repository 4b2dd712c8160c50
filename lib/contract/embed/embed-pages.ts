// The pages that a host page may show. Free of zod: browsers load it.

export const embedPages = ["overview", "jobs", "queue", "history", "assets", "files", "run", "apps", "settings"] as const;
export type EmbedPage = (typeof embedPages)[number];
export const embedThemes = ["system", "light", "dark"] as const;
export type EmbedTheme = (typeof embedThemes)[number];

/** Parts of the settings that a frame may show. What is left out belongs to the member or decides who signs in: their account and tokens,
 * shares and host pages. */
const embedSettings: readonly string[] = ["members", "usage", "runners", "audit"];
/** Pages with addresses below their own, such as that of one job. */
const pagesWithParts: readonly EmbedPage[] = ["jobs", "assets", "apps"];

/** The page at an address of the console; undefined for every address that is not listed here, however it is written. */
export function embedPageOf(address: string): EmbedPage | undefined {
  const [first = "", ...parts] = (address.split(/[?#]/)[0] ?? "").slice(1).split("/");
  const page = embedPages.find((one) => one === (first === "" ? "overview" : first));
  if (page === undefined || parts.length === 0) return page;
  const isListed = page === "settings" ? parts.length === 1 && embedSettings.includes(parts[0] ?? "") : pagesWithParts.includes(page);
  return isListed ? page : undefined;
}

export type EmbedLook = { theme?: EmbedTheme; language?: string };
