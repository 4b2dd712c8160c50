// Sockets whose messages take a while to become available: an opened source is stopped, and a failure to open is reported.
import { once } from "node:events";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createEventSockets } from "@/lib/http/event-sockets";
import { createHttpServer } from "@/lib/http/server";
import { type Feed, type FeedAdmission } from "@/lib/shared/http-types";
import { openEvents, refusedWith } from "@/tests/support/event-socket";
import { until } from "@/tests/support/until";

let open: Extract<FeedAdmission, { ok: true }>["open"];
const sockets = createEventSockets(() => ({ ok: true, owner: "ada", open: (target) => open(target) }), { limits: { inAll: 1 } });
const bounds = { patienceMs: 60_000, hosts: undefined, isPage: () => false, upgrades: { "/ws": sockets.handler } };
const server = createHttpServer(bounds, (_request, response) => void response.writeHead(404).end());
let url = "";
beforeAll(async () => {
  url = `http://127.0.0.1:${await server.listen(0, "127.0.0.1")}/ws`;
});
afterAll(async () => {
  sockets.close();
  await server.close(1000);
});

it("a feed that is opened when its peer has gone is stopped at once", async () => {
  let resolve: (feed: Feed) => void = () => undefined;
  const opened = new Promise<Feed>((told) => (resolve = told));
  open = () => opened;
  await (await openEvents(url)).close();
  let stopped = 0;
  open = () => Promise.resolve({ stop: () => undefined, objection: () => undefined });
  await until("its place is free", async () => (await refusedWith(url)) === undefined);
  resolve({ stop: () => void (stopped += 1), objection: () => undefined });
  await until("it is stopped", () => stopped === 1);
});

it("where no feed can be opened now, the peer is told to try again", async () => {
  open = () => Promise.reject(new Error("the database is away"));
  const { socket } = await until("there is a place", () => openEvents(url).catch(() => undefined));
  const [code, reason] = (await once(socket, "close")) as [number, Buffer];
  expect([code, reason.toString()]).toEqual([1013, "Events of jobs cannot be sent now. Try again."]);
});
