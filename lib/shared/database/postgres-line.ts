// A connection to PostgreSQL that stays open for notices (LISTEN) and advisory locks. A lost one is opened again and reported.

import { type Client } from "pg";
import { createLimiter } from "../async";
import { StoreUnavailable } from "../error-codes";

const CONNECT_MS = 5_000;
const AGAIN_MS = 1_000;
const LOOK_EVERY_MS = 15_000;
/** Lets the server notice soon that a process is cut off, and release its locks. */
const whenCutOff = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3";

type Options = {
  url: string;
  channel: string;
  receive(payload: string): void;
  setUp?(): Promise<unknown>;
  missed(): void;
};

export function createPostgresLine({ url, channel, receive, setUp, missed }: Options) {
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const inTurn = createLimiter(1);

  async function connect(): Promise<void> {
    const { default: pg } = await import("pg");
    const bounds = { connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS, keepAlive: true };
    const newClient = new pg.Client({ connectionString: url, application_name: "lightdesk", ...bounds });
    // Without a listener, the event would end the process.
    newClient.on("error", () => lose(newClient));
    newClient.on("end", () => lose(newClient));
    newClient.on("notification", ({ payload = "" }) => receive(payload));
    try {
      await newClient.connect();
      await newClient.query(`${whenCutOff}; LISTEN ${channel}`);
      client = newClient;
      await setUp?.();
    } catch (error) {
      lose(newClient);
      throw error;
    }
    if (isClosed) lose(newClient);
    else if (client === newClient) timer = setTimeout(() => void checkConnection(newClient), LOOK_EVERY_MS).unref();
  }

  async function checkConnection(newClient: Client): Promise<void> {
    await runQuery("SELECT 1").catch(() => undefined); // the connection was closed
    if (client === newClient) timer = setTimeout(() => void checkConnection(newClient), LOOK_EVERY_MS).unref();
  }

  function lose(lost: Client): void {
    void lost.end().catch(() => undefined);
    if (client !== lost) return;
    client = undefined;
    again();
  }

  function again(): void {
    clearTimeout(timer);
    if (isClosed) return;
    timer = setTimeout(() => {
      connect().then(missed, () => client === undefined && again());
    }, AGAIN_MS).unref();
  }

  /** Runs queries one at a time. Fails immediately while disconnected; closes the connection if a query times out. */
  function runQuery<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const currentClient = client;
    if (!currentClient) return Promise.reject(new StoreUnavailable("the line to the database is lost"));
    return inTurn(() => currentClient.query<Row>(text, [...values])).then(
      ({ rows }) => rows,
      (error: unknown) => {
        lose(currentClient);
        throw new StoreUnavailable("the line to the database is lost", { cause: error });
      },
    );
  }

  return {
    start: connect,
    ask: runQuery,
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      const last = client;
      client = undefined;
      await last?.end().catch(() => undefined);
    },
  };
}
