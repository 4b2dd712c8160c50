// A console of the production build with an empty data folder, as `npm start` runs it.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type APIRequestContext, type BrowserContext, expect } from "@playwright/test";
import { type Role } from "@/lib/contract/members/roles";
import { type StartedProcess, startProcess } from "@/tests/support/start-process";

export const owner = { name: "Ada Owner", email: "ada@example.com", password: "correct horse battery" };

export type NewMember = { name: string; email: string; password: string };

export type Desk = {
  url: string;
  setUpUrl: string;
  dataDir: string;
  output(): string;
  /** Creates the owner without a browser. */
  setUp(request: APIRequestContext): Promise<void>;
  /** Signs the context in: gives it a session of the owner, or of `member`. */
  signIn(context: Pick<BrowserContext, "request">, member?: NewMember): Promise<void>;
  /** Creates an operator or a member with another role, without a browser. `request` is the owner's. */
  addOperator(request: APIRequestContext, member: NewMember, role?: Role): Promise<void>;
  /** Restarts the process with the same data and address. */
  restart(): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
};

/** Returns the paths of the built-in service's files, except its database and journal. */
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
  let consoleProcess = start("0");
  const removeData = () => rmSync(dataDir, { recursive: true, force: true });
  const { url, setUpUrl } = await readUrls(consoleProcess).catch((error: unknown) => {
    removeData();
    throw error;
  });
  const originHeaders = { origin: new URL(url).origin };
  return {
    url,
    setUpUrl,
    dataDir,
    output: () => consoleProcess.output(),
    async setUp(request) {
      const token = new URL(setUpUrl).searchParams.get("token") ?? "";
      const response = await request.post(`${url}/api/console/set-up`, { data: { token, ...owner }, headers: originHeaders });
      expect(response.status(), await response.text()).toBe(201);
    },
    async addOperator(request, { email, ...profile }, role = "operator") {
      const headers = originHeaders;
      const inviteResponse = await request.post(`${url}/api/console/members/invitations`, { data: { email, role }, headers });
      const { url: link }: { url: string } = await inviteResponse.json();
      const token = new URL(link).searchParams.get("token") ?? "";
      const joinResponse = await request.post(`${url}/api/console/members/invitations/accept`, { data: { token, ...profile }, headers });
      expect(joinResponse.status(), await joinResponse.text()).toBe(201);
    },
    async signIn(context, member = owner) {
      const { csrfToken }: { csrfToken: string } = await (await context.request.get(`${url}/api/auth/csrf`)).json();
      const form = { csrfToken, email: member.email, password: member.password, json: "true" };
      const response = await context.request.post(`${url}/api/auth/callback/credentials`, { form, headers: originHeaders });
      expect(response.ok(), await response.text()).toBe(true);
    },
    async restart() {
      expect(await consoleProcess.stop(), consoleProcess.output()).toBe(0);
      consoleProcess = start(new URL(url).port);
      await consoleProcess.waitForOutput("Lightdesk");
    },
    async stop(signal) {
      const code = await consoleProcess.stop(signal);
      removeData();
      return code;
    },
  };
}

async function readUrls(consoleProcess: StartedProcess): Promise<{ url: string; setUpUrl: string }> {
  return { url: await consoleProcess.waitForOutput("Lightdesk"), setUpUrl: await consoleProcess.waitForOutput("Set up") };
}
