import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { canvas, list, record, submit } from "./support";

describe("reading jobs, refused", () => {
  let bench: ServiceBench;
  let client: Client;
  beforeAll(async () => {
    bench = await startService();
    client = bench.client();
  });
  afterAll(() => bench.dispose());

  it.each([
    ["limit=0", "limit"],
    ["limit=1001", "limit"],
    ["limit=ten", "limit"],
    ["offset=-1", "offset"],
    ["status=done", "status"],
    ["sort_by=name", "sort_by"],
    ["sort_order=up", "sort_order"],
    ["output_type=text", "output_type"],
    ["limit=1&limit=2", "limit"],
  ])("answers 400 to %s and names the parameter", async (query, field) => {
    const answer = await client.get(`/api/jobs?${query}`);
    expect(answer).toMatchObject({ status: 400, body: { code: "INVALID_QUERY", message: expect.stringContaining(field) } });
    expect(String(list(record(answer.body).details)[0]?.field)).toContain(field);
  });

  it("answers 404, never 403, for another user's job in every view", async () => {
    const id = await submit(client, canvas());
    const other = bench.client("eve");
    for (const path of [`/api/jobs/${id}`, `/api/job/${id}/status`, `/api/jobs/${id}/assets`, `/api/history_v2/${id}`]) {
      expect(await other.get(path)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    }
    expect(await other.post(`/api/jobs/${id}/cancel`)).toMatchObject({ status: 404 });
    expect((await other.get("/api/jobs/not-a-uuid")).status).toBe(404);
  });
});
