// Simulates users and programs while parts of the cluster fail. Requests are retried as a page does, refusals are compared
// with the allowed ones, and acknowledged work is recorded for the checks at the end.
import { once } from "node:events";
import { expect } from "vitest";
import { WebSocket } from "ws";
import { createOwnerAndSignIn } from "@/tests/integration/operations/fake-browser";
import { createWaitGraph, type Json } from "@/tests/integration/service/support";
import { type EventSocket, openEventSocket } from "@/tests/support/event-socket";
import { createGpuGraph } from "@/tests/support/gpu-classes";
import { queryDatabase } from "@/tests/support/postgres-server";
import { isPrompt } from "@/tests/support/service-gate";
import { until } from "@/tests/support/until";
import { type Cluster } from "./cluster";

export type UserResponse = { status: number; text: string; setCookies: string[] };
type UserRequest = { json?: unknown; headers?: Record<string, string>; baseUrl?: string };
/** `gpu` runs on the shared runner, `own` in a service, `slow` in a service for SLOW_MS, and `long` until cancelled. */
type JobMode = "gpu" | "own" | "slow" | "long";
type JobRow = { id: string; holder: string; attempts: number; state: string; lasted: number };
export type SimulatedUsers = Awaited<ReturnType<typeof createSimulatedUsers>>;

/** The number of simultaneous requests of each kind. */
const REQUESTS_PER_KIND = 3;
const SLOW_MS = 6000;
const POLICY_VIOLATION_CODE = 1008;
/** Jobs that started before an outage of half a minute end some time after it. */
export const retryOptions = { timeoutMs: 100_000 };

/** The allowed refusals during a fault, by code. `unknown`: the service may have accepted the request anyway. */
const allowedRefusals: Record<string, { statuses: number[]; message: RegExp; unknown?: true }> = {
  SERVICE_UNAVAILABLE: {
    statuses: [503],
    message:
      /^(The console's database is unreachable\. Try again in a moment\. You stay signed in\.|The service's database is unavailable\. .*)$/,
  },
  STARTING: { statuses: [503], message: /^Lightdesk is starting\. Try again in a moment\.$/ },
  UPSTREAM_ERROR: { statuses: [502], message: /^The service responded with status 50[0234] and no message\.$/, unknown: true },
  UPSTREAM_UNREACHABLE: { statuses: [502], message: /^The service at 127\.0\.0\.1:\d+ cannot be reached(: [a-z ]+)?\.$/, unknown: true },
  OUTCOME_UNKNOWN: { statuses: [409], message: /^It is unknown whether the service received this submission\./, unknown: true },
};

export async function createSimulatedUsers(cluster: Cluster) {
  const { consoleUrl, gate, runner } = cluster;
  const { host, port } = new URL(consoleUrl);
  const cookie = await createOwnerAndSignIn(Number(port), { host, base: "" }, cluster.setUpUrl);
  const acknowledged = new Map<string, { job: string; mode: JobMode }>();
  const unknown: string[] = [];
  const runs = new Map<string, string>();

  /** Sends a request as a browser does. Returns status 0 if the connection broke. */
  async function request(path: string, { json, headers, baseUrl = consoleUrl }: UserRequest = {}): Promise<UserResponse> {
    const allHeaders = { cookie, ...(json !== undefined && { origin: consoleUrl, "content-type": "application/json" }), ...headers };
    try {
      const response = await fetch(baseUrl + path, {
        headers: allHeaders,
        ...(json !== undefined && { method: "POST", body: JSON.stringify(json) }),
      });
      return { status: response.status, text: await response.text(), setCookies: response.headers.getSetCookie() };
    } catch {
      return { status: 0, text: "", setCookies: [] };
    }
  }
  const create = async (path: string, json: unknown) => {
    const { status, text } = await request(path, { json });
    if (status !== 201) throw new Error(`${path}: ${status} ${text}`);
    return JSON.parse(text);
  };

  const { connection: ownConnection } = await create("/api/console/connections", {
    name: "The cluster",
    baseUrl: gate.url,
    key: cluster.key,
    shared: true,
  });
  const connection: string = ownConnection.id;
  const { app } = await create(`/api/apps?connection=${connection}`, { definition, access: { kind: "team" } });
  const { token } = await create("/api/console/tokens", { name: "A script", role: "runner", connection, operations: "all", days: 30 });
  const listener = keepListening(`${consoleUrl}/ws?connection=${connection}`, { cookie, origin: consoleUrl });
  await until("the socket is open", () => listener.isOpen());

  const withConnection = (path: string) => `${path}${path.includes("?") ? "&" : "?"}connection=${connection}`;
  const listJobs = () => request(withConnection("/api/jobs?limit=5"));
  const submit = (key: string, mode: JobMode) =>
    request(withConnection("/api/prompt"), { headers: { "idempotency-key": key }, json: { prompt: graphs[mode](key) } });
  /** Sends a request as a program does, without a session. */
  const runApp = (key: string, baseUrl?: string) =>
    request(`/api/apps/${app.id}/runs`, {
      headers: { cookie: "", "x-api-key": token, "idempotency-key": key },
      json: { inputs: { prefix: key } },
      ...(baseUrl !== undefined && { baseUrl }),
    });
  /** Excludes requests that a service refused, which are sent again. */
  const countSubmissions = (key: string) =>
    gate.requests.filter(
      (sentRequest) => isPrompt(sentRequest) && sentRequest.body.includes(`"${key}"`) && !cluster.refused.has(sentRequest),
    ).length;
  const countRuns = (key: string) => runner.seen.submissions.filter((body) => JSON.stringify(body).includes(`"${key}"`)).length;
  const getJob = async (id: string) =>
    JSON.parse((await retryUntilAccepted("a job is read", () => request(withConnection(`/api/jobs/${id}`)))).text);

  /** Returns the stored rows of these jobs. */
  const getRows = (jobs: readonly (string | undefined)[]) =>
    queryDatabase<JobRow>(
      cluster.url,
      `SELECT id, holder, attempts::integer, state, (end_time - start_time)::float AS lasted FROM lightdesk_service.jobs
       WHERE id IN (${jobs.map((job) => `'${job}'`).join()}) ORDER BY seq`,
    );

  /** Retries until the job is accepted or its outcome is reported as unknown. */
  async function submitUntilAccepted(key: string, mode: JobMode): Promise<string | undefined> {
    const { status, text } = await retryUntilAccepted(`${key} is accepted`, () => submit(key, mode), { mayBeUnknown: true });
    const job: string | undefined = status === 200 ? JSON.parse(text).prompt_id : undefined;
    if (job === undefined) unknown.push(key);
    else acknowledged.set(key, { job, mode });
    return job;
  }

  async function submitAndCancel(key: string): Promise<void> {
    const job = await submitUntilAccepted(key, "long");
    if (job === undefined) return;
    await until(`${key} is cancelled`, async () => {
      const { status, text } = await request(withConnection(`/api/jobs/${job}/cancel`), { json: {} });
      // An earlier request, whose response was lost, may have cancelled the job.
      if (status !== 200 && status !== 404) expectValidRefusal({ status, text, setCookies: [] });
      return (await getJob(job)).status === "cancelled";
    });
  }

  /** Sends a request twice at once, then once more. All return the same run. */
  async function runAppRepeatedly(key: string): Promise<void> {
    const getRunId = ({ text }: UserResponse): string => JSON.parse(text).run.id;
    const responses = await Promise.all([1, 2].map(() => retryUntilAccepted(`${key} is run`, () => runApp(key))));
    const rerun = await retryUntilAccepted(`${key} is run once more`, () => runApp(key));
    expect(new Set([...responses, rerun].map(getRunId)).size).toBe(1);
    runs.set(key, getRunId(rerun));
  }

  return {
    listJobs,
    submit,
    runApp,
    countSubmissions,
    submitUntilAccepted,
    retryUntilAccepted,
    getJob,
    getRows,

    /** Sends requests of every kind at once. */
    async work(name: string): Promise<void> {
      const keys = Array.from({ length: REQUESTS_PER_KIND }, (_, at) => `key-${name}-${at}-of-a-`);
      const reads = keys.map(() => retryUntilAccepted("the list is read", listJobs));
      await Promise.all([
        ...reads,
        ...keys.flatMap((key) => [submitUntilAccepted(`${key}gpu`, "gpu"), submitUntilAccepted(`${key}own`, "own")]),
        submitAndCancel(`${keys[0]}long`),
        runAppRepeatedly(`${keys[0]}run`),
      ]);
    },

    /** Checks all acknowledged work, and that the listener receives a new job. */
    async expectAllOnce(): Promise<void> {
      await Promise.all(
        [...acknowledged].map(async ([key, { job, mode }]) => {
          expect(JSON.parse((await retryUntilAccepted("the same key is accepted again", () => submit(key, mode))).text).prompt_id).toBe(
            job,
          );
          expect(countSubmissions(key), key).toBe(1);
          const ended = await until(`the job of ${key} has ended`, async () => {
            const jobBody = await getJob(job);
            return ["completed", "failed", "cancelled"].includes(jobBody.status) && jobBody;
          });
          expect([key, ended.status, ended.outputs_count]).toEqual([
            key,
            mode === "long" ? "cancelled" : "completed",
            mode === "long" ? 0 : 1,
          ]);
          if (mode === "gpu") expect(countRuns(key), key).toBe(1);
          if (mode === "long") return;
          const [output] = Object.values<{ images: { filename: string }[] }>(ended.outputs).flatMap(({ images }) => images);
          await retryUntilAccepted("its result is read", () =>
            request(withConnection(`/api/view?type=output&filename=${output?.filename}`)),
          );
        }),
      );
      expect(new Set([...acknowledged.values()].map(({ job }) => job)).size).toBe(acknowledged.size);
      for (const key of unknown) expect([countSubmissions(key), countRuns(key)].map((count) => count <= 1)).toEqual([true, true]);
      for (const [key, id] of runs) {
        const read = () => request(`/api/apps/${app.id}/runs/${id}`, { headers: { cookie: "", "x-api-key": token } });
        const state = await until(`${key} has ended`, async () => {
          const { run } = JSON.parse((await retryUntilAccepted("a run is read", read)).text);
          return ["completed", "unknown"].includes(run.state) && run.state;
        });
        // A killed console may not have sent it yet.
        expect(countSubmissions(key) === 1 || (state === "unknown" && countSubmissions(key) === 0), key).toBe(true);
      }
      await until("the socket is open again", () => listener.isOpen());
      const last = await submitUntilAccepted(`key-listened-${acknowledged.size}-of-all`, "gpu");
      await until("the listener receives the end of a new job", () => listener.hasReceivedEnd(last ?? ""));
      expect(listener.getRefusals().filter((refusal) => !/ 50[23]$/.test(refusal))).toEqual([]);
      expect(listener.getCloseCodes()).not.toContain(POLICY_VIOLATION_CODE);
    },
    remove: () => listener.stop(),
  };
}

/** Expects an explanation from the console or a 502 from the proxy, and no sign-out. */
export function expectValidRefusal({ status, text, setCookies }: UserResponse): { isUnknown: boolean } {
  expect(setCookies).toEqual([]);
  if (status === 0) return { isUnknown: true };
  if (text.startsWith("<html>")) {
    expect([status, text]).toEqual([502, expect.stringContaining("502 Bad Gateway")]);
    return { isUnknown: false };
  }
  const { code, message } = JSON.parse(text);
  const allowedRefusal = allowedRefusals[code];
  expect([status, code, message], text).toEqual([
    expect.toBeOneOf(allowedRefusal?.statuses ?? []),
    code,
    expect.stringMatching(allowedRefusal?.message ?? /^$/),
  ]);
  return { isUnknown: allowedRefusal?.unknown === true };
}

/** Retries until the request succeeds, as pages do. */
async function retryUntilAccepted(label: string, send: () => Promise<UserResponse>, { mayBeUnknown = false } = {}): Promise<UserResponse> {
  const tryOnce = async () => {
    const response = await send();
    if (response.status === 200 || response.status === 202) return response;
    const { isUnknown } = expectValidRefusal(response);
    // The console would repeat this response for the same key.
    return mayBeUnknown && isUnknown && response.status !== 0 ? response : undefined;
  };
  return until(label, tryOnce, retryOptions);
}

const graphs: Record<JobMode, (key: string) => Json> = {
  gpu: (key) => createGpuGraph(1, { prompt: key, prefix: key }),
  own: (key) => ({
    "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 7 } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: key } },
  }),
  slow: (key) => ({
    ...createWaitGraph(SLOW_MS / 1000, 8),
    "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: key } },
  }),
  long: (key) => ({
    "1": { class_type: "Wait", inputs: { seconds: 3600 } },
    "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
    "3": { class_type: "StringConcatenate", inputs: { string_a: key, string_b: "", delimiter: "" } },
  }),
};

const definition = {
  title: "A colour",
  inputs: [{ name: "prefix", node: "2", input: "filename_prefix", label: "Name", control: { kind: "text" }, isRequired: true }],
  outputs: [{ node: "2", label: "Result" }],
  graph: graphs.own("x"),
};

/** Reopens its socket whenever it is closed, as a page does. */
function keepListening(url: string, headers: Record<string, string>) {
  const sockets: EventSocket[] = [];
  const refusals: string[] = [];
  const closes: unknown[] = [];
  let isOver = false;
  const isOpen = () => sockets.at(-1)?.socket.readyState === WebSocket.OPEN;
  const listening = (async () => {
    while (!isOver) {
      const open = () => openEventSocket(url, headers).catch((error: Error) => void refusals.push(error.message));
      const socketResult = await until("the socket is accepted", async () => isOver || open());
      if (socketResult === true) return;
      sockets.push(socketResult);
      if (isOver) await socketResult.close();
      if (socketResult.socket.readyState === WebSocket.OPEN) closes.push((await once(socketResult.socket, "close"))[0]);
    }
  })();
  return {
    isOpen,
    getRefusals: () => refusals,
    getCloseCodes: () => closes,
    hasReceivedEnd: (job: string) =>
      sockets.some(({ received }) =>
        received.some(({ type, data }) => type === "executing" && data.node === null && data.prompt_id === job),
      ),
    async stop(): Promise<void> {
      isOver = true;
      await sockets.at(-1)?.close();
      await listening;
    },
  };
}
