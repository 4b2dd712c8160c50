// The pages that a host page may show. Free of zod: browsers load it.

export const embedPages = ["overview", "jobs", "queue", "history", "assets", "files", "run", "apps", "settings"] as const;
export type EmbedPage = (typeof embedPages)[number];
export const embedThemes = ["system", "light", "dark"] as const;
export type EmbedTheme = (typeof embedThemes)[number];

/** The page at an address of the console; undefined if it is none of these pages. */
export function embedPageOf(pathname: string): EmbedPage | undefined {
  const first = pathname.split(/[/?#]/)[1] ?? "";
  return embedPages.find((page) => page === (first === "" ? "overview" : first));
}

export type EmbedLook = { theme?: EmbedTheme; language?: string };
