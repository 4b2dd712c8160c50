// A console of the production build with an empty data folder, as `npm start` runs it.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type APIRequestContext, type BrowserContext, expect } from "@playwright/test";
import { type Role } from "@/lib/contract/people/roles";
import { type StartedProcess, startProcess } from "@/tests/support/start-process";

export const owner = { name: "Ada Owner", email: "ada@example.com", password: "correct horse battery" };

export type Person = { name: string; email: string; password: string };

export type Desk = {
  url: string;
  setUpUrl: string;
  dataDir: string;
  output(): string;
  /** Creates the owner without a browser. */
  setUp(request: APIRequestContext): Promise<void>;
  /** Gives the context a session of the owner, or of `who`. */
  signIn(context: Pick<BrowserContext, "request">, who?: Person): Promise<void>;
  /** Creates an operator, or a member of another role, without a browser; `request` is the owner's. */
  addOperator(request: APIRequestContext, who: Person, role?: Role): Promise<void>;
  /** Ends the process and starts another with the same data and address. */
  restart(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
};

/** Names of all files of the built-in service except its database, whose journal is temporary. */
export function listFiles(desk: Desk): string[] {
  return readdirSync(join(desk.dataDir, "service"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.sqlite(-wal|-shm|-journal)?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

export async function startDesk(settings: Record<string, string> = {}, script = "dist/console.mjs"): Promise<Desk> {
  const dataDir = mkdtempSync(join(tmpdir(), "lightdesk-desk-"));
  const start = (port: string) =>
    startProcess(script, { PORT: port, LIGHTDESK_CONCURRENCY: "1", LIGHTDESK_DATA_DIR: dataDir, ...settings });
  let started = start("0");
  const remove = () => rmSync(dataDir, { recursive: true, force: true });
  const { url, setUpUrl } = await ready(started).catch((error: unknown) => {
    remove();
    throw error;
  });
  const fromHere = { origin: url };
  return {
    url,
    setUpUrl,
    dataDir,
    output: () => started.output(),
    async setUp(request) {
      const token = new URL(setUpUrl).searchParams.get("token") ?? "";
      const response = await request.post(`${url}/api/console/set-up`, { data: { token, ...owner }, headers: fromHere });
      expect(response.status(), await response.text()).toBe(201);
    },
    async addOperator(request, { email, ...rest }, role = "operator") {
      const headers = fromHere;
      const inviteResponse = await request.post(`${url}/api/console/members/invitations`, { data: { email, role }, headers });
      const { url: link }: { url: string } = await inviteResponse.json();
      const token = new URL(link).searchParams.get("token") ?? "";
      const joinResponse = await request.post(`${url}/api/console/members/invitations/accept`, { data: { token, ...rest }, headers });
      expect(joinResponse.status(), await joinResponse.text()).toBe(201);
    },
    async signIn(context, who = owner) {
      const { csrfToken }: { csrfToken: string } = await (await context.request.get(`${url}/api/auth/csrf`)).json();
      const form = { csrfToken, email: who.email, password: who.password, json: "true" };
      const response = await context.request.post(`${url}/api/auth/callback/credentials`, { form, headers: fromHere });
      expect(response.ok(), await response.text()).toBe(true);
    },
    async restart() {
      expect(await started.stop(), started.output()).toBe(0);
      started = start(new URL(url).port);
      await started.printed("Lightdesk");
    },
    async stop(signal) {
      const code = await started.stop(signal);
      remove();
      return code;
    },
  };
}

async function ready(started: StartedProcess): Promise<{ url: string; setUpUrl: string }> {
  return { url: await started.printed("Lightdesk"), setUpUrl: await started.printed("Set up") };
}
