import { expect, test } from "vitest";
import { publicConnector, type Resolve } from "@/lib/shared/guarded-connector";

const refusal = () => new Error("refused");
const resolve: Resolve = (_host, _options, done) => done(null, [{ address: "203.0.114.1", family: 4 }]);

/** The socket connects to `remoteAddress`, whatever was looked up. */
function connectTo(hostname: string, remoteAddress: string | undefined) {
  let isDestroyed = false;
  const socket = { remoteAddress, destroy: () => void (isDestroyed = true) };
  const connect = publicConnector<{ hostname: string }, typeof socket>({ resolve, refusal }, () => (_target, done) => done(null, socket));
  return new Promise<[unknown, boolean]>((tell) =>
    connect({ hostname }, (error, found) => tell([error?.message ?? found === socket, isDestroyed])),
  );
}

test("a socket that ended somewhere else than was looked up is judged by where it is, and closed", async () => {
  expect(await connectTo("storage.example", "203.0.114.1")).toEqual([true, false]);
  for (const inside of ["127.0.0.1", "::1", "::ffff:10.0.0.1", "fe80::1%eth0", undefined])
    expect([inside, await connectTo("storage.example", inside)]).toEqual([inside, ["refused", true]]);
});

test("an address inside is refused before a socket is opened, also in brackets", async () => {
  for (const hostname of ["10.0.0.1", "[::1]", "::1"]) expect(await connectTo(hostname, "203.0.114.1")).toEqual(["refused", false]);
});
