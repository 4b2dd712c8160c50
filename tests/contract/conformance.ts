// `npm run conformance`: the suite against any deployment. It only reads unless told otherwise. Exit code 0: every core operation that
// was tried conforms; 1: one does not; 2: the command was not understood. Must never print the key.
import { parseArgs } from "node:util";
import { toJson, toText } from "./suite/report";
import { conforms, runSuite } from "./suite/run-suite";

const usage = `npm run conformance -- --base-url URL --api-key KEY [options]

  --base-url URL    where the service is, without /api
  --api-key KEY     or the environment variable LIGHTDESK_CONFORMANCE_KEY, which no list of processes shows
  --write           also make a job, assets, tags and files, labelled lightdesk-conformance, and remove what can be removed
  --interrupt       with --write: also interrupt, which may stop running jobs of the key's user
  --source-url URL  with --write: a small file on a host that the service may fetch from
  --timeout N       seconds for one answer (30); a job or a download of its own may take twice that
  --json            the report as JSON`;

const options = {
  "base-url": { type: "string" },
  "api-key": { type: "string" },
  write: { type: "boolean", default: false },
  interrupt: { type: "boolean", default: false },
  "source-url": { type: "string" },
  timeout: { type: "string", default: "30" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

async function main(): Promise<number> {
  const { values } = parseArgs({ options });
  if (values.help) {
    process.stdout.write(`${usage}\n`);
    return 0;
  }
  const baseUrl = values["base-url"];
  const key = values["api-key"] ?? process.env.LIGHTDESK_CONFORMANCE_KEY;
  const seconds = Number(values.timeout);
  if (baseUrl === undefined || !/^https?:\/\/[^@]+$/.test(baseUrl) || !URL.canParse(baseUrl))
    throw new Error("--base-url must be an address that begins with http:// or https:// and holds no user name.");
  if (!key || !/^[\x21-\x7e]+$/.test(key)) throw new Error("--api-key must be the key of a user of the service.");
  if (!(seconds > 0 && seconds <= 3600)) throw new Error("--timeout must be a number of seconds.");

  const rows = await runSuite(
    { baseUrl, key, send: (request) => fetch(request), timeoutMs: seconds * 1000 },
    { write: values.write, interrupt: values.interrupt, sourceUrl: values["source-url"], waitMs: seconds * 2000 },
  );
  process.stdout.write(`${values.json ? toJson(baseUrl, rows) : toText(baseUrl, rows)}\n`);
  return conforms(rows) ? 0 : 1;
}

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}\n`);
    process.exitCode = 2;
  },
);
