// An open connection to PostgreSQL for notifications (LISTEN) and advisory locks. A lost connection is reopened and reported.

import { type Client } from "pg";
import { createLimiter } from "../async";
import { StoreUnavailableError } from "../error-codes";

const CONNECT_TIMEOUT_MS = 5_000;
const RECONNECT_DELAY_MS = 1_000;
const CHECK_INTERVAL_MS = 15_000;
/** Lets the server detect a disconnected process early and release its locks. */
const keepaliveSettings = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3";

type Options = {
  url: string;
  channel: string;
  onNotification(payload: string): void;
  onConnected?(): Promise<unknown>;
  onMissed(): void;
};

export function createPostgresListener({ url, channel, onNotification, onConnected, onMissed }: Options) {
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const limitQueries = createLimiter(1);

  async function connect(): Promise<void> {
    const { default: pg } = await import("pg");
    const connectionOptions = { connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: CONNECT_TIMEOUT_MS, keepAlive: true };
    const newClient = new pg.Client({ connectionString: url, application_name: "lightdesk", ...connectionOptions });
    // Without a listener, the event would end the process.
    newClient.on("error", () => handleConnectionLoss(newClient));
    newClient.on("end", () => handleConnectionLoss(newClient));
    newClient.on("notification", ({ payload = "" }) => onNotification(payload));
    try {
      await newClient.connect();
      await newClient.query(`${keepaliveSettings}; LISTEN ${channel}`);
      client = newClient;
      await onConnected?.();
    } catch (error) {
      handleConnectionLoss(newClient);
      throw error;
    }
    if (isClosed) handleConnectionLoss(newClient);
    else if (client === newClient) timer = setTimeout(() => void checkConnection(newClient), CHECK_INTERVAL_MS).unref();
  }

  async function checkConnection(connectedClient: Client): Promise<void> {
    await runQuery("SELECT 1").catch(() => undefined); // the connection was closed
    if (client === connectedClient) timer = setTimeout(() => void checkConnection(connectedClient), CHECK_INTERVAL_MS).unref();
  }

  function handleConnectionLoss(lostClient: Client): void {
    void lostClient.end().catch(() => undefined);
    if (client !== lostClient) return;
    client = undefined;
    scheduleReconnect();
  }

  function scheduleReconnect(): void {
    clearTimeout(timer);
    if (isClosed) return;
    timer = setTimeout(() => {
      connect().then(onMissed, () => client === undefined && scheduleReconnect());
    }, RECONNECT_DELAY_MS).unref();
  }

  /** Runs queries one at a time. Fails immediately while disconnected, and closes the connection if a query times out. */
  function runQuery<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const currentClient = client;
    if (!currentClient) return Promise.reject(new StoreUnavailableError("the connection to the database is lost"));
    return limitQueries(() => currentClient.query<Row>(text, [...values])).then(
      ({ rows }) => rows,
      (error: unknown) => {
        handleConnectionLoss(currentClient);
        throw new StoreUnavailableError("the connection to the database is lost", { cause: error });
      },
    );
  }

  return {
    start: connect,
    query: runQuery,
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      const lastClient = client;
      client = undefined;
      await lastClient?.end().catch(() => undefined);
    },
  };
}
