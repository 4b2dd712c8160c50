// `npm run conformance`: runs the suite against any deployment. It only reads by default. Exit codes: 0 if every tested core operation
// conforms, 1 if one does not, 2 if the arguments are invalid. Never prints the key.
import { parseArgs } from "node:util";
import { formatJson, formatText } from "./suite/report";
import { isConforming, runSuite } from "./suite/run-suite";

const USAGE = `npm run conformance -- --base-url URL --api-key KEY [options]

  --base-url URL    the service's URL, without /api
  --api-key KEY     an API key (or set LIGHTDESK_CONFORMANCE_KEY, which process lists don't show)
  --write           also create a job, assets, tags and files, labeled lightdesk-conformance, and delete them where possible
  --interrupt       with --write: also test interrupt, which may stop running jobs of the key's user
  --source-url URL  with --write: the URL of a small file on a host that the service may download from
  --timeout N       seconds per response (default 30); jobs and downloads may take twice as long
  --json            print the report as JSON`;

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
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const baseUrl = values["base-url"];
  const key = values["api-key"] ?? process.env.LIGHTDESK_CONFORMANCE_KEY;
  const seconds = Number(values.timeout);
  if (baseUrl === undefined || !/^https?:\/\/[^@]+$/.test(baseUrl) || !URL.canParse(baseUrl))
    throw new Error("--base-url must be an http:// or https:// URL without a user name.");
  if (!key || !/^[\x21-\x7e]+$/.test(key)) throw new Error("--api-key must be an API key of the service.");
  if (!(seconds > 0 && seconds <= 3600)) throw new Error("--timeout must be a number of seconds from 0 to 3600.");

  const rows = await runSuite(
    { baseUrl, key, send: (request) => fetch(request), timeoutMs: seconds * 1000 },
    { write: values.write, interrupt: values.interrupt, sourceUrl: values["source-url"], waitMs: seconds * 2000 },
  );
  process.stdout.write(`${values.json ? formatJson(baseUrl, rows) : formatText(baseUrl, rows)}\n`);
  return isConforming(rows) ? 0 : 1;
}

main().then(
  (code) => (process.exitCode = code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}\n`);
    process.exitCode = 2;
  },
);
