// Names of files inside an archive.
// Guarantees: each name is given once, whatever letters' case a disk tells apart; none leaves the folder it is unpacked into.

import "server-only";

const LONGEST = 180;
const fallback = "file";

export function createFileNames() {
  const given = new Set<string>();
  return (wanted: string): string => {
    const { stem, ending } = parts(wanted);
    for (let count = 1; ; count += 1) {
      const name = count === 1 ? stem + ending : `${stem} (${count})${ending}`;
      const key = name.toLowerCase();
      if (given.has(key)) continue;
      given.add(key);
      return name;
    }
  };
}

/** Slashes, control characters, and what some systems refuse become underscores. */
function parts(wanted: string): { stem: string; ending: string } {
  const safe = wanted.replace(/[\\/:*?"<>|\p{Cc}\p{Surrogate}]/gu, "_").replace(/^[. ]+|[. ]+$/g, "");
  const dot = safe.lastIndexOf(".");
  const ending = dot > 0 && safe.length - dot <= 12 ? safe.slice(dot) : "";
  const stem = [...safe.slice(0, safe.length - ending.length)].slice(0, LONGEST).join("");
  return { stem: stem || fallback, ending };
}
