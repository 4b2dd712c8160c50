// A strict parser of the Prometheus text format: throws on anything that a scraper would refuse or find expensive.

export type Series = { name: string; labels: Record<string, string>; value: number };
export type Scrape = { series: Series[]; types: Map<string, string> };

const namePattern = /^[a-z_][a-z0-9_]*$/;
const samplePattern = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/;
const labelPattern = /([a-z_][a-z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/gy;

export function readScrape(text: string): Scrape {
  const types = new Map<string, string>();
  const namesWithHelp = new Set<string>();
  const series: Series[] = [];
  const seriesKeys = new Set<string>();
  if (!text.endsWith("\n")) throw new Error("the last line must end with a newline");
  for (const line of text.split("\n").filter((value) => value !== "")) {
    const [, kind, name = "", value = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (kind === "TYPE") {
      if (types.has(name) || !namePattern.test(name)) throw new Error(`duplicate type or invalid name: ${line}`);
      if (!["counter", "gauge", "histogram", "summary"].includes(value)) throw new Error(`unknown type: ${line}`);
      types.set(name, value);
    } else if (kind === "HELP") namesWithHelp.add(name);
    else {
      const sample = readSample(line);
      const family = getFamily(sample.name, types);
      if (family === undefined || !namesWithHelp.has(family)) throw new Error(`series without TYPE or HELP: ${line}`);
      if (types.get(family) === "counter" && !sample.name.endsWith("_total"))
        throw new Error(`a counter's name must end with _total: ${line}`);
      const key = line.slice(0, line.lastIndexOf(" "));
      if (seriesKeys.has(key)) throw new Error(`duplicate series: ${line}`);
      seriesKeys.add(key);
      series.push(sample);
    }
  }
  return { series, types };
}

function readSample(line: string): Series {
  const [, name = "", labelText, number = ""] = samplePattern.exec(line) ?? [];
  if (name === "" || !/^([+-]?(\d|Inf)|NaN|Nan)/.test(number)) throw new Error(`invalid sample: ${line}`);
  const labels: Record<string, string> = {};
  let end = 0;
  for (const match of (labelText ?? "").matchAll(labelPattern)) {
    labels[match[1] ?? ""] = match[2] ?? "";
    end = match.index + match[0].length;
  }
  if (end !== (labelText ?? "").length) throw new Error(`invalid labels: ${line}`);
  return { name, labels, value: Number(number.replace("+Inf", "Infinity")) };
}

function getFamily(name: string, types: ReadonlyMap<string, string>): string | undefined {
  if (types.has(name)) return name;
  const base = name.replace(/_(bucket|sum|count)$/, "");
  return ["histogram", "summary"].includes(types.get(base) ?? "") ? base : undefined;
}
