import { describe, expect, it } from "vitest";
import { capabilities } from "@/lib/contract/capabilities";
import { fillPath } from "@/lib/contract/operation";
import { allOperations } from "@/lib/contract/operations";
import { hasRole } from "@/lib/contract/people/roles";

const signature = (operation: { method: string; path: string }) => `${operation.method} ${operation.path}`;

describe("the table of operations", () => {
  it("knows no capability that no operation needs, except stopping whichever way and the websocket", () => {
    const used = new Set<string | undefined>(allOperations.map((operation) => operation.capability));
    expect(Object.keys(capabilities).filter((capability) => !used.has(capability))).toEqual(["jobs.stop", "events"]);
  });

  it("says of every path with an item what its 404 may speak of", () => {
    expect(allOperations.filter(({ path, item }) => path.includes("{") && item === undefined).map(signature)).toEqual([]);
  });

  it("has no two operations that one request could mean", () => {
    const shapes = allOperations.map((operation) => `${operation.method} ${operation.path.replace(/\{\w+\}/g, "{}")}`);
    expect(new Set(shapes).size).toBe(shapes.length);
  });

  it("sends no body with a read", () => {
    expect(allOperations.filter((operation) => ["GET", "HEAD"].includes(operation.method) && operation.body)).toEqual([]);
  });

  it("lets a viewer change nothing", () => {
    const changing = allOperations.filter((operation) => !["GET", "HEAD"].includes(operation.method));
    expect(changing.filter((operation) => hasRole("viewer", operation.role)).map(signature)).toEqual([]);
    expect(changing.filter((operation) => !hasRole("operator", operation.role)).map(signature)).toEqual([]);
  });

  it("answers every operation with a success or a redirect only", () => {
    const statuses = allOperations.flatMap((operation) => Object.keys(operation.answers).map(Number));
    expect(statuses.every((status) => status >= 200 && status < 400)).toBe(true);
    expect(allOperations.every((operation) => Object.keys(operation.answers).length > 0)).toBe(true);
  });

  it("fills path parameters as one encoded segment each", () => {
    expect(fillPath("/api/userdata/{file}/move/{dest}", { file: "workflows/a b.json", dest: "ü?#/.." })).toBe(
      "/api/userdata/workflows%2Fa%20b.json/move/%C3%BC%3F%23%2F..",
    );
  });

  it("refuses to fill a path with a parameter missing", () => {
    expect(() => fillPath("/api/jobs/{job_id}", {})).toThrow("job_id");
  });
});
