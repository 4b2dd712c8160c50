// One of the processes that enqueue or claim: it does what its parent orders and reports when each job was claimed.
import pg from "pg";
import { graphileWorker } from "./graphile-worker";
import { type QueueLibrary } from "./queue-library";

export const libraries = {
  "graphile-worker, kinds as tasks": () => graphileWorker("task"),
  "graphile-worker, kinds as flags": () => graphileWorker("flag"),
};
export type LibraryName = keyof typeof libraries;
export const isLibrary = (name: string): name is LibraryName => Object.hasOwn(libraries, name);

export type Order =
  | { do: "enqueue"; from: number; to: number; users: number }
  | { do: "serve"; slots: number; kinds: string[]; allKinds: string[]; jobMs: number; most?: number };
export type Report = { ready: true } | { done: true } | { claimed: [seq: number, at: number][] };

const ENQUEUERS = 8;
export const clock = () => performance.timeOrigin + performance.now();

export async function serveOrders(name: LibraryName, url: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, max: 20 });
  const library = libraries[name]();
  const tell = (report: Report) => process.send?.(report);

  process.on("message", (order: Order) => {
    if (order.do === "serve") void serve(library, pool, order, tell);
    else void enqueue(library, pool, order).then(() => tell({ done: true }));
  });
  process.once("disconnect", () => process.exit());
  await pool.query("SELECT 1");
  tell({ ready: true });
}

/** Like a submission: the user's number, the job's row and its place in the queue in one transaction. */
async function enqueue(library: QueueLibrary, pool: pg.Pool, { from, to, users }: Order & { do: "enqueue" }): Promise<void> {
  let next = from;
  const one = async () => {
    while (next < to) {
      const seq = next++;
      const client = await pool.connect();
      await client.query("BEGIN");
      const { rows } = await client.query<{ turn: number }>(
        "UPDATE bench_users SET turn = turn + 1 WHERE id = $1 RETURNING turn::integer AS turn",
        [seq % users],
      );
      await client.query("INSERT INTO bench_jobs (seq, user_id) VALUES ($1, $2)", [seq, seq % users]);
      await library.enqueue(client, [{ seq, turn: rows[0]?.turn ?? 0, kind: "first" }]);
      await client.query("COMMIT");
      client.release();
    }
  };
  await Promise.all(Array.from({ length: ENQUEUERS }, one));
}

/** `most`: after so many jobs it claims no more. */
async function serve(library: QueueLibrary, pool: pg.Pool, order: Order & { do: "serve" }, tell: (report: Report) => void): Promise<void> {
  let claimed: [number, number][] = [];
  let count = 0;
  setInterval(() => {
    if (claimed.length > 0) tell({ claimed });
    claimed = [];
  }, 20);
  await library.serve(pool, {
    ...order,
    async run(seq) {
      claimed.push([seq, clock()]);
      if (++count >= (order.most ?? Infinity)) await new Promise(() => undefined);
      if (order.jobMs > 0) await new Promise((resolve) => setTimeout(resolve, order.jobMs));
    },
  });
}
