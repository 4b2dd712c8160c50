// A runner is another machine: the ids of nodes and jobs and the output keys that it sends are its own choice.
import { afterEach, describe, expect, it } from "vitest";
import { findJob } from "@/lib/comfyui/client";
import { comfyServer } from "@/lib/comfyui/http";
import { gpuClasses } from "@/tests/support/gpu-classes";
import { answerJson, startLittleServer } from "@/tests/support/little-server";
import { type RunnerServer, startRunnerServer } from "@/tests/support/runner-server";
import { createClient, type ServiceBench, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { made, makes } from "./built-in-job";
import { ended, type Json, record, submit } from "./support";

const inherited = ["constructor", "toString", "hasOwnProperty", "valueOf"];

/** The graph of one picture, with nodes that are called like members of every object. */
function graphOf(ids: readonly string[]): Json {
  const { "3": save, ...others } = made();
  return { ...others, ...Object.fromEntries(ids.map((id) => [id, save])) };
}

describe("node ids from a runner", () => {
  let bench: ServiceBench | undefined;
  let server: RunnerServer | undefined;
  afterEach(async () => {
    await bench?.dispose();
    await server?.close();
  });

  async function start() {
    bench = await startService({ runnerCheckMs: 100, runnerLeaseMs: 700, runnerSilenceMs: 60_000, concurrency: 1 });
    server = await startRunnerServer({ objectInfo: gpuClasses(["one.safetensors"]), makes });
    const added = await bench.service.runners.add({ address: server.address, label: "GPU" });
    if (!added.ok) throw new Error(added.failure.message);
    const { service } = bench;
    const { key } = await service.keys.createKey("ada");
    return { server, client: createClient((request) => service.fetch(request), key) };
  }

  /** `outputs` is JSON text: an object literal cannot have an own `__proto__`. */
  function answersHistory(runner: RunnerServer, outputs: string, status = '{"status_str":"success","completed":true,"messages":[]}'): void {
    const meta = '{"99":{"node_id":"99","display_node":"98"},"prototype":{"display_node":"__proto__"}}';
    runner.faults.set("GET /history/*", (request, response) => {
      const id = request.url?.split("/").at(-1) ?? "";
      const isOver = runner.seen.ran.includes(id) && runner.queue().running !== id;
      const text = isOver ? `{"${id}":{"prompt":[],"outputs":${outputs},"meta":${meta},"status":${status}}}` : "{}";
      response.writeHead(200, { "content-type": "application/json" }).end(text);
    });
  }

  it("drops outputs of nodes that the graph lacks, and pollutes no prototype", async () => {
    const before = Reflect.ownKeys(Object.prototype);
    const { server: runner, client } = await start();
    const attack = '{"operations":["x"],"prototype":[{"whileReadOnly":true}],"__proto__":["y"]}';
    const names = ["__proto__", "constructor", "prototype", "99"].map((name) => `"${name}":${attack}`);
    answersHistory(runner, `{${names.join(",")},"3":{"__proto__":["a"],"constructor":["b"],"toString":["c"],"text":["d"]}}`);
    const job = await ended(client, await submit(client, made()));
    expect(job.status).toBe("completed");
    const { outputs } = job;
    expect(Object.keys(record(outputs))).toEqual(["3"]);
    expect(Object.entries(record(record(outputs)["3"]))).toEqual(
      expect.arrayContaining([
        ["constructor", ["b"]],
        ["toString", ["c"]],
        ["text", ["d"]],
      ]),
    );
    expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
    expect(Reflect.get({}, "operations")).toBeUndefined();
    expect(Object.hasOwn(Object, "operations")).toBe(false);
  });

  it("brings files, texts and progress of nodes named like inherited members", async () => {
    const { server: runner, client } = await start();
    runner.does("hold the last");
    const id = await submit(client, graphOf(inherited));
    await until("the last node runs", async () => {
      const { progress } = record((await client.get(`/api/jobs/${id}`)).body);
      return progress !== undefined && record(progress).current_node === inherited.at(-1);
    });
    runner.letGo();
    const job = await ended(client, id);
    expect(job).toMatchObject({ status: "completed", outputs_count: inherited.length });
    expect(Object.keys(record(job.outputs))).toEqual(inherited);
    expect(Object.keys(record(job.execution_meta))).toEqual(expect.arrayContaining(inherited));
  });

  it("names no node that the graph lacks when a runner reports an error", async () => {
    const { server: runner, client } = await start();
    runner.faults.set("POST /prompt", (_request, response) => {
      const errors = '{"errors":[{"type":"t","message":"m","details":"","extra_info":{}}],"dependent_outputs":[],"class_type":"X"}';
      const body = `{"error":{"type":"prompt_outputs_failed_validation","message":"no","details":"","extra_info":{}},"node_errors":{"__proto__":${errors},"constructor":${errors},"3":${errors}}}`;
      response.writeHead(400, { "content-type": "application/json" }).end(body);
    });
    const job = await ended(client, await submit(client, made()));
    expect(job.status).toBe("failed");
    expect(JSON.stringify(job.execution_error)).not.toMatch(/__proto__|constructor/);
    expect(JSON.stringify(job.execution_error)).toContain('\\"3\\"');
  });
});

describe("the id that a runner gave a job", () => {
  async function lookFor(promptId: string) {
    const empty = { queue_running: [], queue_pending: [] };
    const runner = await startLittleServer(({ url }, response) => answerJson(response, url === "/queue" ? empty : {}));
    const found = await findJob(comfyServer(runner.url), { promptId, clientId: "ours" });
    await runner.close();
    return { found, urls: runner.seen.map(({ url }) => url) };
  }

  it.each(["../queue", "..", ".", "", "a/b", "a\\b", "a%2Fb", "a?clear=1", "a#b", "a\nb", "\ud800"])(
    "is never part of an address when it is %j",
    async (promptId) => {
      expect(await lookFor(promptId)).toEqual({ found: { kind: "missing" }, urls: ["/queue", "/history?max_items=200"] });
    },
  );

  it("is never part of an address when it is too long", async () => {
    expect((await lookFor("x".repeat(201))).urls).toEqual(["/queue", "/history?max_items=200"]);
  });

  it.each(["__proto__", "constructor"])("finds no inherited member when it is %s", async (promptId) => {
    expect((await lookFor(promptId)).found).toEqual({ kind: "missing" });
  });
});
