import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { capabilities } from "@/lib/contract/capabilities";
import { isTerminalStatus, jobStates, toJobState } from "@/lib/contract/jobs/job-list";
import { getPathTopic, getTopicPath, isLiveEvent, parseTopic } from "@/lib/contract/live";
import { hasRole } from "@/lib/contract/members/roles";
import { fillPath, type Operation } from "@/lib/contract/operation";
import { allOperations, coreOperations } from "@/lib/contract/operations";

const signature = (operation: { method: string; path: string }) => `${operation.method} ${operation.path}`;

describe("the operations table", () => {
  it("uses each capability in an operation, except stop variants and WebSocket", () => {
    const usedIds = new Set<string | undefined>(allOperations.map((operation) => operation.capability));
    expect(Object.keys(capabilities).filter((capability) => !usedIds.has(capability))).toEqual(["jobs.stop", "events"]);
  });

  it("documents the 404 of every path with a parameter", () => {
    expect(allOperations.filter(({ path, item }) => path.includes("{") && item === undefined).map(signature)).toEqual([]);
  });

  it("has no two operations that match the same request", () => {
    const pathPatterns = allOperations.map((operation) => `${operation.method} ${operation.path.replace(/\{\w+\}/g, "{}")}`);
    expect(new Set(pathPatterns).size).toBe(pathPatterns.length);
  });

  it("sends no body with a GET or HEAD request", () => {
    expect(allOperations.filter((operation) => ["GET", "HEAD"].includes(operation.method) && operation.body)).toEqual([]);
  });

  it("allows operators but not viewers every write operation", () => {
    const changing = allOperations.filter((operation) => !["GET", "HEAD"].includes(operation.method));
    expect(changing.filter((operation) => hasRole("viewer", operation.role)).map(signature)).toEqual([]);
    expect(changing.filter((operation) => !hasRole("operator", operation.role)).map(signature)).toEqual([]);
  });

  it("encodes each path parameter as one segment", () => {
    expect(fillPath("/api/userdata/{file}/move/{dest}", { file: "workflows/a b.json", dest: "ü?#/.." })).toBe(
      "/api/userdata/workflows%2Fa%20b.json/move/%C3%BC%3F%23%2F..",
    );
  });

  it("throws when a path parameter is missing", () => {
    expect(() => fillPath("/api/jobs/{job_id}", {})).toThrow("job_id");
  });
});

const page = readFileSync("docs/interface.md", "utf8");

/** Returns the cells of each row in a section's table. */
function getRows(section: string): string[][] {
  const text = page.split(`## ${section}\n`)[1]?.split("\n## ")[0] ?? "";
  const rows = text.split("\n").filter((line) => line.startsWith("| `"));
  return rows.map((row) => row.split(" | "));
}
const findCodeSpans = (cell = "") => [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text);

it("lists exactly the table's operations in docs/interface.md", () => {
  const core = getRows("Core operations").flatMap(([names]) => findCodeSpans(names));
  const extensions = getRows("Extensions").flatMap(([names, capability]) =>
    findCodeSpans(names).map((name) => [name, ...findCodeSpans(capability)]),
  );
  const signature = ({ method, path }: Operation) => `${method} ${path}`;
  expect(core.sort()).toEqual(coreOperations.map(signature).sort());
  const extensionOperations = allOperations.filter(({ tier }) => tier === "extension");
  expect(extensions.sort()).toEqual(extensionOperations.map((operation) => [signature(operation), operation.capability]).sort());
});

/** Returns the cells of each documented state except "unknown". */
function getStateRows(): string[][] {
  const rows = page.split("## Job states")[1]?.split("##")[0]?.split("\n") ?? [];
  return rows
    .map((row) => row.split("|").map((cell) => cell.trim()))
    .filter((row) => /^(yes|no)$/.test(row[3] ?? "") && row[1] !== "unknown");
}

it("maps every status as documented in docs/interface.md", () => {
  const rows = getStateRows();
  expect(rows).toHaveLength(6);
  for (const [, state, words, terminal] of rows) {
    for (const word of words?.split(", ") ?? [])
      expect([word, toJobState(word), isTerminalStatus(word)]).toEqual([word, state, terminal === "yes"]);
  }
});

describe("job states", () => {
  const documentedWords = new Set(getStateRows().flatMap(([, , words = ""]) => words.split(", ")));

  it("maps an unknown status to unknown and not terminal", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom("constructor", "__proto__", "toString", "expired", "")), (word) => {
        fc.pre(!documentedWords.has(word));
        expect([toJobState(word), isTerminalStatus(word)]).toEqual(["unknown", false]);
      }),
    );
  });

  it("maps each job state to itself", () => {
    expect(jobStates.map(toJobState)).toEqual([...jobStates]);
  });
});

describe("a topic", () => {
  it.each([
    ["jobs?limit=50&connection=a", "/api/jobs?limit=50&connection=a"],
    ["job:a%2Fb?connection=a", "/api/jobs/a%2Fb?connection=a"],
    ["batches:1", "/api/apps/1/runs"],
    ["counts", "/api/console/counts"],
    ["search?text=a%3Fb", "/api/console/jobs/search?text=a%3Fb"],
  ])("converts %s to and from the path %s", (topic, path) => {
    expect(getTopicPath(topic)).toBe(path);
    expect(getPathTopic(path)).toBe(topic);
  });

  it("rejects a missing or unexpected id and an invalid name", () => {
    for (const topic of ["job", "job:", "jobs:1", "nothing", "", "toString", "job:%zz", "?limit=1"])
      expect(parseTopic(topic)).toBeUndefined();
  });

  it("ignores a path's fragment", () => {
    expect(getPathTopic("/api/jobs?limit=1#started")).toBe("jobs?limit=1");
    expect(getPathTopic("/api/jobs/1#workflow")).toBe("job:1");
  });

  it("returns no topic for a path without live updates", () => {
    for (const path of ["/api/jobs/1/assets", "/api/job", "/jobs", "/api/prompt"]) expect(getPathTopic(path)).toBeUndefined();
  });
});

it("recognizes only the console's live events", () => {
  expect(isLiveEvent({ event: "snapshot", data: { topic: "jobs", atMs: 1, value: null } })).toBe(true);
  for (const [event, data] of [
    ["snapshot", { topic: "jobs", value: 1 }],
    ["job.updated", { topic: "jobs", atMs: 1 }],
    ["toString", {}],
    ["ping", null],
  ] as const)
    expect(isLiveEvent({ event, data })).toBe(false);
});
