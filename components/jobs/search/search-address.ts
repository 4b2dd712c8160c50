import { type QueryValues } from "@/lib/browser/urls";
import { type JobSearch } from "@/lib/contract/console-job-search";

/** Takes every filter away that only the ledger knows. */
export const noSearch = { text: undefined, member: undefined, from: undefined, to: undefined, within: undefined } satisfies JobSearch;

const LONGEST_TEXT = 200;
const LONGEST_HOURS = 24 * 366;

/** The part of an address that is searched by. */
export function searchValues({ text, member, from, to, within }: JobSearch): QueryValues {
  return { text, member, from, to, within };
}

/** As the schema on the server reads it: what is no value of its own falls back by itself. */
export function readSearch(search: URLSearchParams): JobSearch {
  const textOf = (name: string) => {
    const text = search.getAll(name).join(",").trim();
    return text !== "" && text.length <= LONGEST_TEXT ? text : undefined;
  };
  const numberOf = (name: string, least: number, most: number) => {
    const text = textOf(name);
    const value = Number(text);
    return text !== undefined && /^\d{1,16}$/.test(text) && value >= least && value <= most ? value : undefined;
  };
  return {
    text: textOf("text"),
    member: textOf("member"),
    from: numberOf("from", 0, Number.MAX_SAFE_INTEGER),
    to: numberOf("to", 0, Number.MAX_SAFE_INTEGER),
    within: numberOf("within", 1, LONGEST_HOURS),
  };
}
