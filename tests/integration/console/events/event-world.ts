// The console's /ws over real sockets, with a fake clock and small limits.
import { once } from "node:events";
import { type WebSocket } from "ws";
import { createEventSockets } from "@/lib/http/event-sockets";
import { createHttpServer } from "@/lib/http/server";
import { authorizeSubscription } from "@/lib/server/bff/admit-listener";
import { closeAfterwards } from "@/tests/support/close-afterwards";
import { type EventSocket, openEvents } from "@/tests/support/event-socket";
import { createHarness } from "@/tests/support/harness";
import { until } from "@/tests/support/until";

export const KEY = "team-key-9f3b6c1d2e4a";
const limits = { perOwner: 3, perAddress: 5, waitingBytes: 256 * 1024 };

export async function createEventWorld() {
  const harness = await createHarness();
  const open: WebSocket[] = [];
  let tick = (): void => undefined;
  const from = { address: "192.0.2.1" };
  const world = {
    harness,
    url: "",
    /** The source address of the next sockets. */
    from,
    sockets: createEventSockets(authorizeSubscription, {
      addressOf: () => from.address,
      repeat: (_ms, run) => ((tick = run), { stop: () => undefined }),
      limits,
    }),
    /** Runs the 30-second timer's work. */
    look: () => tick(),
    as: (role: "owner" | "operator" | "viewer" | "runner") => ({ cookie: harness.cookieOf(role) }),
    keep<S extends WebSocket>(socket: S): S {
      open.push(socket);
      return socket;
    },
    async listen(query = "", headers: Record<string, string> = world.as("operator")): Promise<EventSocket> {
      const events = await openEvents(`${world.url}/ws${query}`, headers);
      world.keep(events.socket);
      return events;
    },
    endSockets() {
      for (const socket of open.splice(0)) socket.terminate();
      from.address = "192.0.2.1";
    },
    dispose: closeAfterwards(async () => {
      world.sockets.close();
      await server.close(1000);
    }),
  };
  const bounds = { patienceMs: 60_000, hosts: undefined, isPage: () => false };
  const upgrades = { "/ws": world.sockets.handler };
  const server = createHttpServer({ ...bounds, upgrades }, (_request, response) => void response.writeHead(404).end());
  world.url = `http://127.0.0.1:${await server.listen(0, "127.0.0.1")}`;
  return world;
}

export async function waitForClose({ socket }: EventSocket): Promise<[number, string]> {
  const [code, reason] = (await once(socket, "close")) as [number, Buffer];
  return [code, reason.toString("utf8")];
}

export const waitForGreeting = ({ received }: EventSocket) => until("it is greeted", () => received.length > 0);
