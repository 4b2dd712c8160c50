// A refused query or body names the parameter or field, once, in words; an unknown path is distinguished from a wrong method.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";

describe("a refusal names what is wrong", () => {
  let bench: ServiceBench;
  let client: Client;
  beforeAll(async () => {
    bench = await startService();
    client = bench.client();
  });
  afterAll(async () => {
    await bench.dispose();
    expect(bench.complaints).toEqual([]);
  });

  it.each([
    ["/api/jobs?limit=0", "limit", />=1/],
    ["/api/jobs?limit=1001", "limit", /<=1000/],
    ["/api/jobs?limit=abc", "limit", /whole number/],
    ["/api/jobs?limit=", "limit", /whole number/],
    ["/api/jobs?offset=-1", "offset", />=0/],
    ["/api/jobs?offset=1.5", "offset", /whole number/],
    ["/api/jobs?status=completed,done", "status", /"completed"/],
    ["/api/jobs?sort_by=created_at", "sort_by", /"create_time"/],
    ["/api/jobs?sort_order=up", "sort_order", /"asc"/],
    ["/api/jobs?output_type=3d", "output_type", /"image"/],
    ["/api/assets?limit=501", "limit", /<=500/],
    ["/api/assets?include_public=maybe", "include_public", /true or false/],
    ["/api/assets?sort=none", "sort", /"name"/],
    ["/api/assets?metadata_filter=[]", "metadata_filter", /JSON text of an object/],
    ["/api/history_v2?max_items=0", "max_items", />=1/],
    ["/api/tags?order=x", "order", /"count_desc"/],
    ["/api/view", "filename", /expected string/],
    ["/api/jobs?limit=1&limit=2", "limit", /more than once/],
  ])("GET %s", async (path, field, message) => {
    const { status, body } = await client.get(path);
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { code: "INVALID_QUERY", details: [{ field, message: expect.stringMatching(message) }] },
    });
  });

  it("tags to filter by that are too many, or given twice, are refused as a filter", async () => {
    for (const query of [`include_tags=${Array.from({ length: 101 }, (_, n) => n).join(",")}`, "exclude_tags=a&exclude_tags=b"])
      for (const path of ["/api/assets", "/api/assets/tags/refine"])
        expect(await client.get(`${path}?${query}`), query).toMatchObject({ status: 400, body: { code: "INVALID_TAG_FILTER" } });
  });

  it.each([
    ["/api/jobs/cancel", { job_ids: ["x".repeat(201)] }, "job_ids.0"],
    ["/api/interrupt", { prompt_id: "x".repeat(201) }, "prompt_id"],
    ["/api/queue", { delete: ["x".repeat(201)] }, "delete.0"],
  ])("an id longer than any is refused, as the interface's table says: POST %s", async (path, body, field) => {
    expect(await client.post(path, body)).toMatchObject({ status: 400, body: { code: "INVALID_BODY", details: [{ field }] } });
  });

  it("a list refuses a filter that it does not have, and ignores what narrows nothing", async () => {
    const { status, body } = await client.get("/api/assets?include_tag=x");
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { details: [{ field: "include_tag", message: expect.stringMatching(/did you mean include_tags/) }] },
    });
    expect((await client.get("/api/jobs?_=1&_=2&clientId=a")).status).toBe(200);
  });

  it("fields that are not known are ignored, but not where queue and history are managed", async () => {
    expect((await client.post("/api/interrupt", { other: 1 })).status).toBe(200);
    for (const path of ["/api/queue", "/api/history"])
      expect(await client.post(path, { other: 1 })).toMatchObject({
        status: 400,
        body: { code: "INVALID_BODY", details: [{ field: "other" }] },
      });
  });

  it("an address that exists takes some methods, and says which; one that does not is not found", async () => {
    const allowed = async (method: string, path: string) => {
      const answer = await client.call(method, path);
      return [answer.status, answer.headers.get("allow")?.split(", ").sort().join()];
    };
    expect(await allowed("DELETE", "/api/userdata")).toEqual([405, "GET,HEAD"]);
    expect(await allowed("POST", "/api/userdata")).toEqual([405, "GET,HEAD"]);
    expect(await allowed("PATCH", "/api/userdata/a%2Fb.json")).toEqual([405, "DELETE,GET,HEAD,POST"]);
    expect(await allowed("POST", "/api/health")).toEqual([405, "GET,HEAD"]);
    expect(await allowed("DELETE", "/api/openapi.json")).toEqual([405, "GET,HEAD"]);
    expect(await allowed("GET", "/api/assets/hash/blake3:0")).toEqual([405, "HEAD"]);
    expect(await allowed("POST", "/api/tasks")).toEqual([404, undefined]);
    expect(await allowed("GET", "/api/jobs/")).toEqual([404, undefined]);
  });

  it("an id of somebody else's asset is taken, and nothing more is reported of it", async () => {
    const id = "6f0d4f7e-13b2-4a1f-9d5c-0c4f1f8a7a02";
    expect((await bench.client("grace").upload("hers", "hers.txt", { id })).status).toBe(201);
    const refused = await client.upload("mine", "mine.txt", { id });
    expect(refused).toMatchObject({ status: 409, body: { code: "ASSET_ID_UNAVAILABLE", details: { field: "id" } } });
    expect(refused.text).not.toMatch(/hers|grace|blake3/);
    expect((await client.get(`/api/assets/${id}`)).status).toBe(404);
  });
});
