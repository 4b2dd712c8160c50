// Runs each example server of the settings page unchanged.
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type CryptoKey, importSPKI, jwtVerify } from "jose";
import { afterEach, beforeEach, describe, expect, it, type TestContext } from "vitest";
import { languageNames, renderServerCode, type ServerLanguage, serverLanguages } from "@/components/settings/embedding/server-code";
import { findFreePort } from "@/tests/support/free-port";
import { requireProgram } from "@/tests/support/program";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { until } from "@/tests/support/until";

const host = {
  audience: "https://desk.example.com/embed/ID",
  origins: ["https://app.example.com", "https://studio.example.com"],
  jwksUrl: null,
  role: "operator",
  guests: false,
} as const;
const settings = { ...host, origins: [...host.origins] };
const secret = "a secret of a host page, of 43 characters";

let folder: string;
let child: ChildProcess | undefined;
beforeEach(async () => {
  folder = createTemporaryFolder();
  await writeFile(join(folder, "page.html"), "<h1>A host page</h1>");
});
afterEach(async () => {
  if (child && child.exitCode === null) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  child = undefined;
});

const files = { node: "server.mjs", python: "server.py", php: "server.php", ruby: "server.rb" } as const;
type RunnableLanguage = keyof typeof files;
const isRunnable = (language: ServerLanguage): language is RunnableLanguage => Object.hasOwn(files, language);

async function start(language: RunnableLanguage, code: string, env: Record<string, string>, context: TestContext): Promise<string> {
  const port = await findFreePort();
  const file = join(folder, files[language]);
  await writeFile(file, code);
  const commands: Record<RunnableLanguage, () => Promise<[string, ...string[]]>> = {
    node: async () => [process.execPath, file],
    python: async () => [await requireProgram("python3", context), file],
    php: async () => [await requireProgram("php", context), "-S", `127.0.0.1:${port}`, file],
    ruby: async () => [await requireProgram("ruby", context), file],
  };
  const [command, ...args] = await commands[language]();
  const childEnv = { NODE_ENV: "test", PATH: process.env.PATH ?? "", PORT: String(port), MEMBER: "ada@example.com", ...env } as const;
  child = spawn(command, args, { cwd: folder, env: childEnv, stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  await until("the server responds", async () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return url;
}

const requestTicket = (url: string, origin?: string, path = "/lightdesk-ticket") =>
  fetch(url + path, { method: "POST", headers: origin === undefined ? {} : { origin } });

describe.each(serverLanguages.filter(isRunnable))("the server in %s", (language) => {
  it("signs a ticket for the page's own origin, and none for other origins", async (context) => {
    const url = await start(language, renderServerCode(language, settings), { LIGHTDESK_SECRET: secret }, context);
    expect(await (await fetch(url)).text()).toBe("<h1>A host page</h1>");
    const ids = new Set<unknown>();
    for (const origin of host.origins) {
      const ticket = (await (await requestTicket(url, origin)).text()).trim();
      const { payload, protectedHeader } = await jwtVerify(ticket, new TextEncoder().encode(secret), {
        audience: host.audience,
        issuer: origin,
      });
      expect([protectedHeader.alg, payload.sub, payload.role]).toEqual(["HS256", "ada@example.com", "operator"]);
      expect(Number(payload.exp) - Number(payload.iat)).toBe(60);
      ids.add(payload.jti);
    }
    expect(ids.size).toBe(2);
    for (const origin of ["https://evil.example", undefined]) expect((await requestTicket(url, origin)).status).toBe(403);
    expect((await requestTicket(url, host.origins[0], "/another")).status).toBe(404);
  });
});

it.for(["node", "php", "ruby"] as const)("signs with the key of a JWKS host page in %s", async (language, context) => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  await writeFile(join(folder, "key.pem"), privateKey);
  const code = renderServerCode(language, { ...settings, jwksUrl: "https://app.example.com/keys" });
  const url = await start(language, code, { LIGHTDESK_KEY_FILE: join(folder, "key.pem"), LIGHTDESK_KEY_ID: "one" }, context);
  const key: CryptoKey = await importSPKI(publicKey, "RS256");
  const { protectedHeader } = await jwtVerify(await (await requestTicket(url, host.origins[0])).text(), key, { audience: host.audience });
  expect(protectedHeader).toEqual({ alg: "RS256", kid: "one" });
});

const page = readFileSync("docs/embedding.md", "utf8");

it("equals the server code in docs/embedding.md", () => {
  for (const language of serverLanguages) {
    expect(page).toContain(`### ${languageNames[language]}`);
    expect(page).toContain(renderServerCode(language, settings));
  }
});

it("differs as docs/embedding.md shows when a private key signs tickets", () => {
  const lines = page.split("```diff\n")[1]?.split("```")[0]?.split("\n") ?? [];
  const getLinesBySign = (sign: string) => lines.filter((line) => line.startsWith(sign)).map((line) => line.slice(1));
  const secretCode = renderServerCode("node", settings).split("\n").slice(1);
  const keyCode = renderServerCode("node", { ...settings, jwksUrl: "https://app.example.com/keys" })
    .split("\n")
    .slice(1);
  expect(getLinesBySign("-")).toEqual(secretCode.filter((line) => !keyCode.includes(line)));
  expect(getLinesBySign("+")).toEqual(keyCode.filter((line) => !secretCode.includes(line)));
});
