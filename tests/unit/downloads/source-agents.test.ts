import { type LookupAddress } from "node:dns";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createOpenSource } from "@/lib/service/downloads/open-source";
import { createSourceAgents, createSourcePolicy } from "@/lib/service/downloads/sources";
import { type Resolve } from "@/lib/shared/guarded-connector";
import { type LittleServer, startLittleServer } from "@/tests/support/little-server";

const loopback = { address: "127.0.0.1", family: 4 };
const outside = { address: "203.0.114.1", family: 4 };

describe("names of sources", () => {
  let server: LittleServer;
  beforeAll(async () => {
    server = await startLittleServer((_, response) => void response.end("inside"));
  });
  afterAll(() => server.close());

  /** Each look-up gets the next answer. */
  function resolverOf(...answers: LookupAddress[][]): { resolve: Resolve; asked: string[] } {
    const asked: string[] = [];
    const resolve: Resolve = (host, _options, done) => {
      asked.push(host);
      done(null, answers[Math.min(asked.length, answers.length) - 1] ?? []);
    };
    return { resolve, asked };
  }

  async function openWith(resolve: Resolve, address: string): Promise<unknown> {
    const agents = createSourceAgents(resolve);
    const open = createOpenSource(createSourcePolicy(["source.example", server.url]), agents);
    try {
      return await open(new URL(address), { method: "GET", signal: AbortSignal.timeout(5000), idleMs: 1000 }).catch(
        (error: unknown) => error,
      );
    } finally {
      await agents.close();
    }
  }

  it.each([
    [[loopback]],
    [[outside, loopback]],
    [[{ address: "::1", family: 6 }]],
    [[{ address: "::ffff:10.0.0.1", family: 6 }]],
    [[{ address: "64:ff9b::7f00:1", family: 6 }]],
    [[{ address: "2002:7f00:1::", family: 6 }]],
    [[{ address: "fd00:ec2::254", family: 6 }]],
    [[{ address: "169.254.169.254", family: 4 }]],
    [[{ address: "100.100.100.200", family: 4 }]],
  ])("nothing is connected to where a permitted name resolves to %j", async (addresses) => {
    const { resolve } = resolverOf(addresses);
    expect(await openWith(resolve, "https://source.example/x")).toMatchObject({ code: "UNSUPPORTED_SOURCE" });
    expect(server.seen).toEqual([]);
  });

  it("is judged by the look-up that is connected to: a name that was public a moment ago gains nothing", async () => {
    const { resolve, asked } = resolverOf([outside], [loopback]);
    expect(await createSourceAgents(resolve).leadsInside(new URL("https://source.example/x"))).toBe(false);
    expect(await openWith(resolve, "https://source.example/x")).toMatchObject({ code: "UNSUPPORTED_SOURCE" });
    expect(asked).toEqual(["source.example", "source.example"]);
  });

  it("is judged early where it can be, literal addresses without a look-up, and a name that does not resolve is left for later", async () => {
    const { resolve, asked } = resolverOf([loopback]);
    const agents = createSourceAgents(resolve);
    expect(await agents.leadsInside(new URL("https://source.example/x"))).toBe(true);
    expect(await agents.leadsInside(new URL("https://[::1]/x"))).toBe(true);
    expect(await agents.leadsInside(new URL("https://8.8.8.8/x"))).toBe(false);
    expect(asked).toEqual(["source.example"]);
    const failing = createSourceAgents((_host, _options, done) => done(new Error("no such name"), []));
    expect(await failing.leadsInside(new URL("https://source.example/x"))).toBe(false);
  });

  it("connects to an origin that the configuration names, wherever it lies", async () => {
    expect(await openWith(resolverOf([]).resolve, `${server.url}/x`)).toMatchObject({ status: 200 });
  });
});
