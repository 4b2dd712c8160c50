export const embedPages = ["overview", "jobs", "queue", "history", "assets", "files", "run", "apps", "settings"] as const;
export type EmbedPage = (typeof embedPages)[number];
export const embedThemes = ["system", "light", "dark"] as const;
export type EmbedTheme = (typeof embedThemes)[number];

/** Settings pages that a frame may show. The others concern the account or sign-in: tokens, shares and host pages. */
const embedSettings: readonly string[] = ["members", "usage", "runners", "audit"];
const pagesWithSubpages: readonly EmbedPage[] = ["jobs", "assets", "apps"];

/** Returns the page of a console URL, or undefined if the URL is not listed here. */
export function findEmbedPage(address: string): EmbedPage | undefined {
  const [pageName = "", ...parts] = (address.split(/[?#]/)[0] ?? "").slice(1).split("/");
  const page = embedPages.find((embedPage) => embedPage === (pageName === "" ? "overview" : pageName));
  if (page === undefined || parts.length === 0) return page;
  const isListed = page === "settings" ? parts.length === 1 && embedSettings.includes(parts[0] ?? "") : pagesWithSubpages.includes(page);
  return isListed ? page : undefined;
}

export type EmbedAppearance = { theme?: EmbedTheme; language?: string };

export const embedRefusals = [
  "unreadable",
  "algorithm",
  "signature",
  "keys",
  "audience",
  "expired",
  "early",
  "lifetime",
  "claims",
  "origin",
  "replayed",
  "role",
  "pages",
  "connection",
  "member",
  "suspended",
  "guests",
] as const;
export type EmbedRefusal = (typeof embedRefusals)[number];
