// `npm run doctor` with nginx as the reverse proxy: the example configuration, and changes an operator may have made.
// The console's own HTTP server is behind it, with the real route.
import { afterAll, beforeAll, expect, test } from "vitest";
import { getHosts } from "@/lib/http/request-line";
import { createHttpServer, type HttpServer } from "@/lib/http/server";
import { checkNetwork } from "@/lib/server/doctor/network";
import { readEnv } from "@/lib/server/env";
import { addSeenRequestHeader, createDoctorProof, PROOF_HEADER, SEEN_REQUEST_HEADER } from "@/lib/server/installation";
import { createAddressReader } from "@/lib/server/trusted-proxies";
import { findFreePort } from "@/tests/support/free-port";
import { createHarness, type Harness } from "@/tests/support/harness";
import { startNginx } from "@/tests/support/nginx";
import { requireProgram } from "@/tests/support/program";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";

let harness: Harness;
let server: HttpServer;
let port: number;
let front: number;
let publicUrl: string;
beforeAll(async () => {
  harness = await createHarness();
  front = await findFreePort();
  publicUrl = `http://127.0.0.1:${front}`;
  const getAddress = createAddressReader(readEnv({ LIGHTDESK_TRUST_PROXY: "127.0.0.1" }).proxies, () => undefined);
  const hosts = getHosts({ host: "127.0.0.1", publicUrl });
  server = createHttpServer({ headersTimeoutMs: 60_000, hosts, isPage: () => false }, (request, response) => {
    addSeenRequestHeader(request, response, { authSecret: harness.console.authSecret, getAddress, nowMs: Date.now() });
    void harness.request("/api/health").then(async (health) => {
      response.writeHead(health.status, Object.fromEntries(health.headers)).end(await health.text());
    });
  });
  port = await server.listen(0, "127.0.0.1");
});
afterAll(async () => {
  await server.close(0);
  await harness.dispose();
});

const host = "proxy_set_header Host $http_host;";
const forwardedFor = "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;";
type Case = { edit?: (example: string) => string; trust?: string; check?: string; state: string; text: string; remedy?: string };
const cases: Record<string, Case> = {
  "the example": { state: "passed", text: "arrive from the trusted proxy 127.0.0.1 and count as 127.0.0.1." },
  "the example, trusted at another address": {
    trust: "10.0.0.5",
    state: "failed",
    text: "X-Forwarded-For arrives from 127.0.0.1, which LIGHTDESK_TRUST_PROXY does not list",
    remedy: "LIGHTDESK_TRUST_PROXY=127.0.0.1",
  },
  "the example, and no proxy is trusted": {
    trust: "0",
    state: "failed",
    text: "which LIGHTDESK_TRUST_PROXY does not list",
    remedy: "LIGHTDESK_TRUST_PROXY=127.0.0.1",
  },
  "no X-Forwarded-For": {
    edit: (example) => example.replaceAll(forwardedFor, ""),
    state: "failed",
    text: "arrive from 127.0.0.1 without X-Forwarded-For",
    remedy: "Make the proxy set the header",
  },
  "no X-Forwarded-For, and no proxy is trusted": {
    edit: (example) => example.replaceAll(forwardedFor, ""),
    trust: "0",
    state: "passed",
    text: "X-Forwarded-For is ignored",
  },
  "the console's own address as Host": {
    edit: (example) => example.replaceAll(host, `proxy_set_header Host 127.0.0.1:${port};`),
    state: "failed",
    text: "so every change is refused",
    remedy: "Make the proxy forward Host",
  },
  "an unknown Host": {
    edit: (example) => example.replaceAll(host, ""),
    check: "public address",
    state: "failed",
    text: "refuses the Host header",
    remedy: "Make the proxy forward Host",
  },
  "a redirect to https": {
    edit: (example) => example.replaceAll("proxy_pass", "return 301 https://$host$request_uri; proxy_pass"),
    check: "public address",
    state: "failed",
    text: "redirects to https",
    remedy: "Set LIGHTDESK_PUBLIC_URL=https://127.0.0.1",
  },
};

test.for(Object.entries(cases))("reports the received headers and a remedy with %s", async ([, testCase], context) => {
  const program = await requireProgram("nginx", context);
  const folder = createTemporaryFolder();
  const nginx = startNginx(program, folder, { listenPort: front, consoles: [port], basePathPort: 9 }, testCase.edit);
  const { trust = "127.0.0.1", check = "reverse proxy", state, text, remedy } = testCase;
  try {
    await until("nginx responds", async () => fetch(publicUrl, { redirect: "manual" }).catch(() => undefined));
    const settings = { LIGHTDESK_DATA_DIR: harness.folder, PORT: "0", LIGHTDESK_PUBLIC_URL: publicUrl, LIGHTDESK_TRUST_PROXY: trust };
    const publicFinding = (await checkNetwork(readEnv(settings), Date.now)).find((finding) => finding.check === check);
    expect(publicFinding).toMatchObject({ state, text: expect.stringContaining(text) });
    expect(publicFinding?.remedy ?? "").toContain(remedy ?? "");
  } finally {
    await nginx.stop();
  }
});

test("returns the received headers only for a fresh proof", async () => {
  const { authSecret } = harness.console;
  const requestDoctor = (headers: Record<string, string>) => fetch(`http://127.0.0.1:${port}/api/health`, { headers });
  const getNames = ({ headers }: Response) => [...headers.keys()].sort();
  const plain = await requestDoctor({});
  const now = Date.now();
  const [at = "", code = ""] = createDoctorProof(authSecret, now).split(".");
  for (const proof of [
    "",
    "yes",
    `${at}.`,
    code,
    `${Number(at) + 1}.${code}`,
    createDoctorProof("another secret", now),
    createDoctorProof(authSecret, now - 120_000),
    createDoctorProof(authSecret, now + 120_000),
  ]) {
    const response = await requestDoctor({ [PROOF_HEADER]: proof });
    expect([proof, response.status, getNames(response)]).toEqual([proof, 200, getNames(plain)]);
  }
  const receivedHeaders = (
    await requestDoctor({ [PROOF_HEADER]: createDoctorProof(authSecret, now), "x-forwarded-for": "198.51.100.7" })
  ).headers.get(SEEN_REQUEST_HEADER);
  const expected = { from: "127.0.0.1", client: "198.51.100.7", host: `127.0.0.1:${port}`, forwardedFor: "198.51.100.7" };
  expect(JSON.parse(decodeURIComponent(receivedHeaders ?? ""))).toEqual(expected);
});
