import { TOP } from "@/lib/contract/assets/file-refs";

export type Crumb = { name: string; dir: string };

/** "a/b/" gives a, then b. The top folder gives none. */
export function crumbsOf(dir: string): Crumb[] {
  if (dir === TOP) return [];
  const names = dir.slice(0, -1).split("/");
  return names.map((name, index) => ({ name, dir: `${names.slice(0, index + 1).join("/")}/` }));
}

export function within(dir: string, name: string): string {
  return (dir === TOP ? "" : dir) + name;
}

/** Undefined for a name that no service could store; the service may have further rules. */
export function toFolderName(typed: string): string | undefined {
  const name = typed.trim().replace(/^\/+|\/+$/g, "");
  const isOdd = name === "" || name.split("/").some((part) => part.trim() === "" || part === "." || part === "..");
  return isOdd || /[\\\u0000-\u001f\u007f]/.test(name) ? undefined : name;
}
