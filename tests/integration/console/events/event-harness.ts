// The console's /ws over real sockets, with a fake clock and small limits.
import { once } from "node:events";
import { type WebSocket } from "ws";
import { createEventSockets } from "@/lib/http/event-sockets";
import { createHttpServer } from "@/lib/http/server";
import { authorizeSubscription } from "@/lib/server/bff/authorize-subscription";
import { closeAfterwards } from "@/tests/support/close-afterwards";
import { type EventSocket, openEventSocket } from "@/tests/support/event-socket";
import { createHarness } from "@/tests/support/harness";
import { until } from "@/tests/support/until";

export const KEY = "team-key-9f3b6c1d2e4a";
const limits = { perOwner: 3, perAddress: 5, maxBufferedBytes: 256 * 1024 };

export async function createEventHarness() {
  const harness = await createHarness();
  const openSockets: WebSocket[] = [];
  let tick = (): void => undefined;
  const client = { address: "192.0.2.1" };
  const eventHarness = {
    harness,
    url: "",
    /** The source address of the next sockets. */
    from: client,
    sockets: createEventSockets(authorizeSubscription, {
      getAddress: () => client.address,
      repeat: (_ms, run) => ((tick = run), { stop: () => undefined }),
      limits,
    }),
    /** Runs the callback of the 30-second timer. */
    runTimer: () => tick(),
    getCookieHeaders: (role: "owner" | "operator" | "viewer" | "runner") => ({ cookie: harness.getCookie(role) }),
    trackSocket<S extends WebSocket>(socket: S): S {
      openSockets.push(socket);
      return socket;
    },
    async openSocket(query = "", headers: Record<string, string> = eventHarness.getCookieHeaders("operator")): Promise<EventSocket> {
      const events = await openEventSocket(`${eventHarness.url}/ws${query}`, headers);
      eventHarness.trackSocket(events.socket);
      return events;
    },
    terminateSockets() {
      for (const socket of openSockets.splice(0)) socket.terminate();
      client.address = "192.0.2.1";
    },
    dispose: closeAfterwards(async () => {
      eventHarness.sockets.close();
      await server.close(1000);
    }),
  };
  const serverOptions = { headersTimeoutMs: 60_000, hosts: undefined, isPage: () => false };
  const upgrades = { "/ws": eventHarness.sockets.handler };
  const server = createHttpServer({ ...serverOptions, upgrades }, (_request, response) => void response.writeHead(404).end());
  eventHarness.url = `http://127.0.0.1:${await server.listen(0, "127.0.0.1")}`;
  return eventHarness;
}

export async function waitForClose({ socket }: EventSocket): Promise<[number, string]> {
  const [code, reason] = (await once(socket, "close")) as [number, Buffer];
  return [code, reason.toString("utf8")];
}

export const waitForFirstMessage = ({ received }: EventSocket) => until("the first message arrives", () => received.length > 0);
