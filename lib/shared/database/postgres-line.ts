// An open connection to PostgreSQL for notices (LISTEN) and advisory locks. A lost connection is reopened and reported.

import { type Client } from "pg";
import { createLimiter } from "../async";
import { StoreUnavailable } from "../error-codes";

const CONNECT_TIMEOUT_MS = 5_000;
const RECONNECT_MS = 1_000;
const CHECK_INTERVAL_MS = 15_000;
/** Lets the server notice soon that a process is disconnected, and release its locks. */
const keepaliveSettings = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3";

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
  const limitQueries = createLimiter(1);

  async function connect(): Promise<void> {
    const { default: pg } = await import("pg");
    const bounds = { connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: CONNECT_TIMEOUT_MS, keepAlive: true };
    const newClient = new pg.Client({ connectionString: url, application_name: "lightdesk", ...bounds });
    // Without a listener, the event would end the process.
    newClient.on("error", () => handleLost(newClient));
    newClient.on("end", () => handleLost(newClient));
    newClient.on("notification", ({ payload = "" }) => receive(payload));
    try {
      await newClient.connect();
      await newClient.query(`${keepaliveSettings}; LISTEN ${channel}`);
      client = newClient;
      await setUp?.();
    } catch (error) {
      handleLost(newClient);
      throw error;
    }
    if (isClosed) handleLost(newClient);
    else if (client === newClient) timer = setTimeout(() => void checkConnection(newClient), CHECK_INTERVAL_MS).unref();
  }

  async function checkConnection(newClient: Client): Promise<void> {
    await runQuery("SELECT 1").catch(() => undefined); // the connection was closed
    if (client === newClient) timer = setTimeout(() => void checkConnection(newClient), CHECK_INTERVAL_MS).unref();
  }

  function handleLost(lost: Client): void {
    void lost.end().catch(() => undefined);
    if (client !== lost) return;
    client = undefined;
    scheduleReconnect();
  }

  function scheduleReconnect(): void {
    clearTimeout(timer);
    if (isClosed) return;
    timer = setTimeout(() => {
      connect().then(missed, () => client === undefined && scheduleReconnect());
    }, RECONNECT_MS).unref();
  }

  /** Runs queries one at a time. Fails immediately while disconnected, and closes the connection if a query times out. */
  function runQuery<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const currentClient = client;
    if (!currentClient) return Promise.reject(new StoreUnavailable("the line to the database is lost"));
    return limitQueries(() => currentClient.query<Row>(text, [...values])).then(
      ({ rows }) => rows,
      (error: unknown) => {
        handleLost(currentClient);
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
      const lastClient = client;
      client = undefined;
      await lastClient?.end().catch(() => undefined);
    },
  };
}
