// A strict parser of the Prometheus text format: throws on anything that a scraper would refuse or find expensive.

export type Series = { name: string; labels: Record<string, string>; value: number };
export type Scrape = { series: Series[]; types: Map<string, string> };

const nameText = /^[a-z_][a-z0-9_]*$/;
const sample = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/;
const pair = /([a-z_][a-z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/gy;

export function readScrape(text: string): Scrape {
  const types = new Map<string, string>();
  const helped = new Set<string>();
  const series: Series[] = [];
  const families = new Set<string>();
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  for (const line of text.split("\n").filter((value) => value !== "")) {
    const [, kind, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === "TYPE") {
      if (types.has(name) || !nameText.test(name)) throw new Error(`a type that is given twice, or a name that is none: ${line}`);
      if (!["counter", "gauge", "histogram", "summary"].includes(rest)) throw new Error(`no type: ${line}`);
      types.set(name, rest);
    } else if (kind === "HELP") helped.add(name);
    else {
      const sample = readSample(line);
      const family = getFamily(sample.name, types);
      if (family === undefined || !helped.has(family)) throw new Error(`a series without type or words: ${line}`);
      if (types.get(family) === "counter" && !sample.name.endsWith("_total")) throw new Error(`a counter is named …_total: ${line}`);
      const key = line.slice(0, line.lastIndexOf(" "));
      if (families.has(key)) throw new Error(`a series that is there twice: ${line}`);
      families.add(key);
      series.push(sample);
    }
  }
  return { series, types };
}

function readSample(line: string): Series {
  const [, name = "", inside, number = ""] = sample.exec(line) ?? [];
  if (name === "" || !/^([+-]?(\d|Inf)|NaN|Nan)/.test(number)) throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  let end = 0;
  for (const match of (inside ?? "").matchAll(pair)) {
    labels[match[1] ?? ""] = match[2] ?? "";
    end = match.index + match[0].length;
  }
  if (end !== (inside ?? "").length) throw new Error(`labels that cannot be read: ${line}`);
  return { name, labels, value: Number(number.replace("+Inf", "Infinity")) };
}

function getFamily(name: string, types: ReadonlyMap<string, string>): string | undefined {
  if (types.has(name)) return name;
  const base = name.replace(/_(bucket|sum|count)$/, "");
  return ["histogram", "summary"].includes(types.get(base) ?? "") ? base : undefined;
}
