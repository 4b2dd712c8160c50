import { afterAll, expect, test } from "vitest";
import { createGuardedSend } from "@/lib/server/upstream/send";
import { startLittleServer } from "@/tests/support/little-server";

const send = createGuardedSend({ trustedHosts: [], connectTimeoutMs: 500 });
afterAll(() => send.close());

const codeOf = (address: string) =>
  send(new Request(address)).then(
    () => "opened",
    (error: unknown) => (error instanceof Error && "code" in error ? error.code : String(error)),
  );

test.each([
  "https://127.0.0.1/",
  "https://[::1]/",
  "https://localhost/",
  "https://10.0.0.1/",
  "https://169.254.169.254/latest",
  "https://[::ffff:127.0.0.1]/",
  "https://[fe80::1]/",
  "https://[fc00::1]/",
  "https://[64:ff9b::7f00:1]/",
  "https://[2002:7f00:1::]/",
  "https://2130706433/",
  "https://0177.0.0.1/",
  "https://0x7f.1/",
  "https://127.1:25/",
  "http://8.8.8.8/",
])("%s is refused before a connection is tried", async (address) => {
  expect(await codeOf(address)).toBe("FORBIDDEN_ADDRESS");
});

test("a host that the configuration names is opened, another port of it is not", async () => {
  const [named, other] = [
    await startLittleServer((_, response) => void response.end("ok")),
    await startLittleServer((_, response) => void response.end("ok")),
  ];
  const trusting = createGuardedSend({ trustedHosts: [named.host] });
  expect(await (await trusting(new Request(named.url))).text()).toBe("ok");
  await expect(trusting(new Request(other.url))).rejects.toMatchObject({ code: "FORBIDDEN_ADDRESS" });
  expect(other.seen).toEqual([]);
  await Promise.all([trusting.close(), named.close(), other.close()]);
});

test("a name is judged by the look-up that is connected to, each time anew: one inside among its addresses is too many", async () => {
  const [inside, outside] = [await startLittleServer((_, response) => void response.end("inside")), "203.0.114.1"];
  const port = new URL(inside.url).port;
  const answers = [["127.0.0.1"], [outside, "127.0.0.1"], ["::1"], ["::ffff:10.0.0.1"], ["64:ff9b::7f00:1"], ["169.254.169.254"], []];
  for (const addresses of answers) {
    const asked: string[] = [];
    const guarded = createGuardedSend({
      trustedHosts: [],
      resolve: (host, _, done) => {
        asked.push(host);
        done(
          null,
          addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
        ); // in the form of the system's own answer
      },
    });
    for (let time = 1; time <= 2; time += 1) {
      const refused = guarded(new Request(`https://storage.example:${port}/signed.png`));
      await expect(refused).rejects.toThrow(addresses.length > 0 ? "not a public https address" : "no address");
      expect(asked).toHaveLength(time);
    }
    await guarded.close();
  }
  expect(inside.seen).toEqual([]);
  await inside.close();
});
