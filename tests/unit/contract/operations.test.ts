import { describe, expect, it } from "vitest";
import { capabilities } from "@/lib/contract/capabilities";
import { fillPath } from "@/lib/contract/operation";
import { allOperations, coreOperations, operations } from "@/lib/contract/operations";
import { hasRole } from "@/lib/contract/roles";

const core = [
  "POST /api/prompt",
  "GET /api/jobs",
  "GET /api/jobs/{job_id}",
  "GET /api/job/{job_id}/status",
  "POST /api/queue",
  "GET /api/history_v2",
  "POST /api/history",
  "GET /api/assets",
  "POST /api/assets",
  "GET /api/assets/{id}",
  "POST /api/assets/{id}/tags",
  "POST /api/assets/from-hash",
  "POST /api/assets/download",
  "GET /api/tasks/{task_id}",
  "POST /api/upload/image",
  "POST /api/upload/mask",
  "GET /api/userdata",
  "POST /api/userdata/{file}",
  "GET /api/user",
];

const extensions: Record<string, string> = {
  "GET /api/view": "view",
  "DELETE /api/assets/{id}/tags": "tags.remove",
  "PUT /api/assets/{id}": "assets.edit",
  "DELETE /api/assets/{id}": "assets.delete",
  "GET /api/assets/{id}/content": "assets.content",
  "HEAD /api/assets/hash/{hash}": "assets.hash",
  "GET /api/assets/remote-metadata": "assets.remoteMetadata",
  "GET /api/tags": "tags.list",
  "GET /api/assets/tags/refine": "tags.list",
  "GET /api/queue": "queue.list",
  "GET /api/prompt": "queue.list",
  "POST /api/interrupt": "interrupt",
  "POST /api/jobs/{job_id}/cancel": "jobs.cancel",
  "POST /api/jobs/cancel": "jobs.cancel",
  "GET /api/jobs/{job_id}/assets": "jobs.assets",
  "GET /api/history_v2/{job_id}": "history.detail",
  "GET /api/history": "history.older",
  "GET /api/history/{job_id}": "history.older",
  "POST /api/job/{job_id}/cancel": "job.cancel",
  "GET /api/object_info/{class}": "objectInfo.class",
  "POST /api/free": "free",
  "GET /api/userdata/{file}": "userdata.read",
  "DELETE /api/userdata/{file}": "userdata.delete",
  "POST /api/userdata/{file}/move/{dest}": "userdata.move",
  "GET /api/files/mask-layers": "maskLayers",
  "GET /api/object_info": "objectInfo",
  "GET /api/features": "features",
  "GET /api/tasks": "tasks.list",
  "DELETE /api/tasks/{task_id}": "tasks.cancel",
  "GET /api/system_stats": "systemStats",
};

const signature = (operation: { method: string; path: string }) => `${operation.method} ${operation.path}`;

describe("the table of operations", () => {
  it("holds every core operation of the interface exactly once", () => {
    expect(coreOperations.map(signature).sort()).toEqual([...core].sort());
  });

  it("holds every extension under its capability, exactly once", () => {
    const listed = allOperations.filter((operation) => operation.tier === "extension").map((one) => [signature(one), one.capability]);
    expect(Object.fromEntries(listed)).toEqual(extensions);
    expect(listed).toHaveLength(Object.keys(extensions).length);
  });

  it("names every operation by its key", () => {
    expect(Object.entries(operations).filter(([key, operation]) => key !== operation.name)).toEqual([]);
  });

  it("gives no capability to a core operation", () => {
    expect(coreOperations.filter((operation) => operation.capability !== undefined)).toEqual([]);
  });

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
