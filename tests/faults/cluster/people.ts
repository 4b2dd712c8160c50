// Simulates people and programs at work while parts of the cluster fail. Each request is retried as a page retries it, each refusal is compared
// with the allowed ones, and everything acknowledged is recorded for the checks at the end.
import { once } from "node:events";
import { expect } from "vitest";
import { WebSocket } from "ws";
import { type EventSocket, openEvents } from "@/tests/support/event-socket";
import { queryDatabase } from "@/tests/support/postgres-server";
import { isPrompt } from "@/tests/support/service-gate";
import { until } from "@/tests/support/until";
import { type Cluster } from "./cluster";

export type Answer = { status: number; text: string; setCookies: string[] };
type PeopleRequest = { json?: unknown; headers?: Record<string, string>; to?: string };
/** `gpu`: on the runner that the services share; `own`: by a service itself; `slow`: likewise, for SLOW_MS; `long`: until cancelled. */
type JobMode = "gpu" | "own" | "slow" | "long";
type JobRow = { id: string; holder: string; attempts: number; state: string; lasted: number };
export type People = Awaited<ReturnType<typeof createPeople>>;

const owner = { name: "Ada Owner", email: "ada@example.com", password: "correct horse battery" };
/** Requests of each kind that are in progress at once. */
const REQUESTS_PER_KIND = 3;
const SLOW_MS = 6000;
const NOT_ALLOWED = 1008;
/** Jobs that began before a cut of half a minute end some time after it. */
export const patience = { timeoutMs: 100_000 };

/** The allowed refusals during a fault, by code. `unknown`: the service may have accepted the request all the same. */
const sayings: Record<string, { statuses: number[]; message: RegExp; unknown?: true }> = {
  SERVICE_UNAVAILABLE: {
    statuses: [503],
    message:
      /^(The console's database is unreachable\. Try again in a moment: you stay signed in\.|The service's database is unavailable\. .*)$/,
  },
  STARTING: { statuses: [503], message: /^Lightdesk is starting\. Ask again in a moment\.$/ },
  UPSTREAM_ERROR: { statuses: [502], message: /^The service answered 50[0234] without saying why\.$/, unknown: true },
  UPSTREAM_UNREACHABLE: { statuses: [502], message: /^The service at 127\.0\.0\.1:\d+ cannot be reached(: [a-z ]+)?\.$/, unknown: true },
  INTERNAL: { statuses: [500], message: /^The console stopped while it waited for the service's response\.$/, unknown: true },
};

export async function createPeople(cluster: Cluster) {
  const { front, gate, runner } = cluster;
  let cookie = "";
  const acknowledged = new Map<string, { job: string; way: JobMode }>();
  const unknown: string[] = [];
  const runs = new Map<string, string>();

  /** A request as a browser sends it; status 0 if the connection broke. */
  async function request(path: string, { json, headers, to = front }: PeopleRequest = {}): Promise<Answer> {
    const allHeaders = { cookie, ...(json !== undefined && { origin: front, "content-type": "application/json" }), ...headers };
    try {
      const response = await fetch(to + path, {
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

  await create("/api/console/set-up", { token: cluster.setUpToken, ...owner });
  cookie = await signIn(front);
  const { connection: ownConnection } = await create("/api/console/connections", {
    name: "The cluster",
    baseUrl: gate.url,
    key: cluster.key,
    shared: true,
  });
  const connection: string = ownConnection.id;
  const { app } = await create(`/api/apps?connection=${connection}`, { definition, access: { kind: "team" } });
  const { token } = await create("/api/console/tokens", { name: "A script", role: "runner", connection, operations: "all", days: 30 });
  const listener = listenAgainAndAgain(`${front}/ws?connection=${connection}`, { cookie, origin: front });
  await until("it listens", () => listener.isOpen());

  const about = (path: string) => `${path}${path.includes("?") ? "&" : "?"}connection=${connection}`;
  const list = () => request(about("/api/jobs?limit=5"));
  const submit = (key: string, mode: JobMode) =>
    request(about("/api/prompt"), { headers: { "idempotency-key": key }, json: { prompt: graphs[mode](key) } });
  /** A request as a program sends it, without a session. */
  const runApp = (key: string, to?: string) =>
    request(`/api/apps/${app.id}/runs`, {
      headers: { cookie: "", "x-api-key": token, "idempotency-key": key },
      json: { inputs: { prefix: key } },
      ...(to !== undefined && { to }),
    });
  /** Without requests that a service refused, which are sent again. */
  const sentFor = (key: string) =>
    gate.requests.filter(
      (countRequests) => isPrompt(countRequests) && countRequests.body.includes(`"${key}"`) && !cluster.refused.has(countRequests),
    ).length;
  const ranFor = (key: string) => runner.seen.submissions.filter((body) => JSON.stringify(body).includes(`"${key}"`)).length;
  const getJob = async (id: string) =>
    JSON.parse((await retryUntilAnswered("a job is read", () => request(about(`/api/jobs/${id}`)))).text);

  /** The stored rows of these jobs. */
  const getRows = (jobs: readonly (string | undefined)[]) =>
    queryDatabase<JobRow>(
      cluster.url,
      `SELECT id, holder, attempts::integer, state, (end_time - start_time)::float AS lasted FROM lightdesk_service.jobs
       WHERE id IN (${jobs.map((job) => `'${job}'`).join()}) ORDER BY seq`,
    );

  /** Retried until it is accepted, or its outcome is reported as unknown. */
  async function submitted(key: string, mode: JobMode): Promise<string | undefined> {
    const { status, text } = await retryUntilAnswered(`${key} is accepted`, () => submit(key, mode), { mayBeUnknown: true });
    const job: string | undefined = status === 200 ? JSON.parse(text).prompt_id : undefined;
    if (job === undefined) unknown.push(key);
    else acknowledged.set(key, { job, way: mode });
    return job;
  }

  async function cancelled(key: string): Promise<void> {
    const job = await submitted(key, "long");
    if (job === undefined) return;
    await until(`${key} is cancelled`, async () => {
      const { status, text } = await request(about(`/api/jobs/${job}/cancel`), { json: {} });
      // The lost response may be that of an earlier request.
      if (status !== 200 && status !== 404) expectRefusedWell({ status, text, setCookies: [] });
      return (await getJob(job)).status === "cancelled";
    });
  }

  /** Sent twice at once and then once more: all return the same run. */
  async function ran(key: string): Promise<void> {
    const getRun = ({ text }: Answer): string => JSON.parse(text).run.id;
    const responses = await Promise.all([1, 2].map(() => retryUntilAnswered(`${key} is run`, () => runApp(key))));
    const rerun = await retryUntilAnswered(`${key} is run once more`, () => runApp(key));
    expect(new Set([...responses, rerun].map(getRun)).size).toBe(1);
    runs.set(key, getRun(rerun));
  }

  return {
    connection,
    listener,
    request,
    list,
    submit,
    runApp,
    sentFor,
    ranFor,
    submitted,
    answered: retryUntilAnswered,
    jobOf: getJob,
    rowsOf: getRows,

    /** Requests of every kind, all at once. */
    async work(name: string): Promise<void> {
      const each = Array.from({ length: REQUESTS_PER_KIND }, (_, at) => `key-${name}-${at}-of-a-`);
      const looked = each.map(() => retryUntilAnswered("the list is read", list));
      await Promise.all([
        ...looked,
        ...each.flatMap((key) => [submitted(`${key}gpu`, "gpu"), submitted(`${key}own`, "own")]),
        cancelled(`${each[0]}long`),
        ran(`${each[0]}run`),
      ]);
    },

    /** Checks everything that was ever acknowledged, and that the listener gets a new job. */
    async expectAllOnce(): Promise<void> {
      await Promise.all(
        [...acknowledged].map(async ([key, { job, way }]) => {
          expect(JSON.parse((await retryUntilAnswered("the same key again", () => submit(key, way))).text).prompt_id).toBe(job);
          expect(sentFor(key), key).toBe(1);
          const ended = await until(`the job of ${key} has ended`, async () => {
            const jobBody = await getJob(job);
            return ["completed", "failed", "cancelled"].includes(jobBody.status) && jobBody;
          });
          expect([key, ended.status, ended.outputs_count]).toEqual([
            key,
            way === "long" ? "cancelled" : "completed",
            way === "long" ? 0 : 1,
          ]);
          if (way === "gpu") expect(ranFor(key), key).toBe(1);
          if (way === "long") return;
          const [output] = Object.values<{ images: { filename: string }[] }>(ended.outputs).flatMap(({ images }) => images);
          await retryUntilAnswered("its result is read", () => request(about(`/api/view?type=output&filename=${output?.filename}`)));
        }),
      );
      expect(new Set([...acknowledged.values()].map(({ job }) => job)).size).toBe(acknowledged.size);
      for (const key of unknown) expect([sentFor(key), ranFor(key)].map((times) => times <= 1)).toEqual([true, true]);
      for (const [key, id] of runs) {
        const read = () => request(`/api/apps/${app.id}/runs/${id}`, { headers: { cookie: "", "x-api-key": token } });
        const state = await until(`${key} has ended`, async () => {
          const { run } = JSON.parse((await retryUntilAnswered("a run is read", read)).text);
          return ["completed", "unknown"].includes(run.state) && run.state;
        });
        // A killed console may not have sent it yet.
        expect(sentFor(key) === 1 || (state === "unknown" && sentFor(key) === 0), key).toBe(true);
      }
      await until("it listens again", () => listener.isOpen());
      const last = await submitted(`key-heard-${acknowledged.size}-of-all`, "gpu");
      await until("it hears the end of a new job", () => listener.hasSeenEndOf(last ?? ""));
      expect(listener.refusals().filter((refusal) => !/ 50[23]$/.test(refusal))).toEqual([]);
      expect(listener.closedWith()).not.toContain(NOT_ALLOWED);
    },
    remove: () => listener.stop(),
  };
}

/** The console explains, or the proxy reports no response; neither signs out. */
export function expectRefusedWell({ status, text, setCookies }: Answer): { isUnknown: boolean } {
  expect(setCookies).toEqual([]);
  if (status === 0) return { isUnknown: true };
  if (text.startsWith("<html>")) {
    expect([status, text]).toEqual([502, expect.stringContaining("502 Bad Gateway")]);
    return { isUnknown: false };
  }
  const { code, message } = JSON.parse(text);
  const saying = sayings[code];
  expect([status, code, message], text).toEqual([
    expect.toBeOneOf(saying?.statuses ?? []),
    code,
    expect.stringMatching(saying?.message ?? /^$/),
  ]);
  return { isUnknown: saying?.unknown === true };
}

/** Retried until it is answered, like pages do. */
async function retryUntilAnswered(label: string, send: () => Promise<Answer>, { mayBeUnknown = false } = {}): Promise<Answer> {
  const tryOnce = async () => {
    const response = await send();
    if (response.status === 200 || response.status === 202) return response;
    const { isUnknown } = expectRefusedWell(response);
    // With the same key the console would repeat this response.
    return mayBeUnknown && isUnknown && response.status !== 0 ? response : undefined;
  };
  return until(label, tryOnce, patience);
}

const graphs: Record<JobMode, (key: string) => object> = {
  gpu: (key) => ({
    "1": { class_type: "LoadModel", inputs: { model: "one.safetensors" } },
    "2": { class_type: "Sample", inputs: { model: ["1", 0], seed: 1, prompt: key } },
    "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: key } },
  }),
  own: (key) => ({
    "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 7 } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: key } },
  }),
  slow: (key) => ({
    "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 8 } },
    "2": { class_type: "Wait", inputs: { seconds: SLOW_MS / 1000, anything: ["1", 0] } },
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

async function signIn(front: string): Promise<string> {
  const getCookies = (response: Response) => response.headers.getSetCookie().map((value) => value.split(";")[0]);
  const csrfResponse = await fetch(`${front}/api/auth/csrf`);
  const { csrfToken } = (await csrfResponse.json()) as { csrfToken: string };
  const body = new URLSearchParams({ csrfToken, email: owner.email, password: owner.password, json: "true" });
  const headers = { cookie: getCookies(csrfResponse).join("; "), origin: front };
  const signInResponse = await fetch(`${front}/api/auth/callback/credentials`, { method: "POST", body, headers, redirect: "manual" });
  expect(signInResponse.status).toBe(200);
  return getCookies(signInResponse).join("; ");
}

/** Opens its socket again whenever it is closed, as a page does. */
function listenAgainAndAgain(url: string, headers: Record<string, string>) {
  const sockets: EventSocket[] = [];
  const refusals: string[] = [];
  const closes: unknown[] = [];
  let isOver = false;
  const isOpen = () => sockets.at(-1)?.socket.readyState === WebSocket.OPEN;
  const work = (async () => {
    while (!isOver) {
      const open = () => openEvents(url, headers).catch((error: Error) => void refusals.push(error.message));
      const socketResult = await until("it is let in", async () => isOver || open());
      if (socketResult === true) return;
      sockets.push(socketResult);
      if (isOver) await socketResult.close();
      if (socketResult.socket.readyState === WebSocket.OPEN) closes.push((await once(socketResult.socket, "close"))[0]);
    }
  })();
  return {
    isOpen,
    refusals: () => refusals,
    closedWith: () => closes,
    hasSeenEndOf: (job: string) =>
      sockets.some(({ received }) =>
        received.some(({ type, data }) => type === "executing" && data.node === null && data.prompt_id === job),
      ),
    async stop(): Promise<void> {
      isOver = true;
      await sockets.at(-1)?.close();
      await work;
    },
  };
}
