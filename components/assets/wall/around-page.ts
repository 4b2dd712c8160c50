import { type AssetsSource } from "./assets-source";

type Page = Pick<AssetsSource, "at" | "indexOf" | "count" | "total">;

/** The whole list around one of its pages, counted from the list's first row: the viewer continues beyond the page. */
export function aroundPage(page: Page, offset: number, list: AssetsSource): AssetsSource {
  return {
    ...list,
    // A list without a total ends with the page.
    count: page.total ?? offset + page.count,
    at: (index) => page.at(index - offset) ?? list.at(index),
    indexOf(id) {
      const here = page.indexOf(id);
      return here < 0 ? list.indexOf(id) : offset + here;
    },
  };
}
