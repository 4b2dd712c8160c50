import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { errorStatus } from "@/lib/contract/failure";
import { knownSettings, readEnv, unknownSettings } from "@/lib/server/env";

const page = (name: string) => readFileSync(`docs/admin/${name}.md`, "utf8");

describe("docs/admin/configuration.md", () => {
  const rows = [...page("configuration").matchAll(/^\| `(LIGHTDESK_\w+|DATABASE_URL|PORT|HOST)`.*\| (?:`([^`]+)`)?[^|]*\|$/gm)];
  const settings = rows.map(([, name = "", byDefault]) => ({ name, byDefault }));

  it("has one row for each setting", () => {
    expect(settings.map(({ name }) => name).sort()).toEqual(knownSettings(["id"]).sort());
  });

  const required = { LIGHTDESK_OIDC: "id", LIGHTDESK_OIDC_ID_ISSUER: "https://a.example", LIGHTDESK_OIDC_ID_CLIENT_ID: "a" };
  const provider = { ...required, LIGHTDESK_OIDC_ID_CLIENT_SECRET: "a" };
  const literal = settings.flatMap(({ name, byDefault }) => (byDefault === undefined ? [] : [[name, byDefault] as const]));

  it.each(literal)("states the default of %s", (name, byDefault) => {
    const source = name.startsWith("LIGHTDESK_OIDC_") ? provider : {};
    expect(JSON.stringify(readEnv({ ...source, [name]: byDefault }))).toBe(JSON.stringify(readEnv(source)));
  });
});

const pages = readdirSync("docs/admin").map((name) => name.replace(".md", ""));
/** Code blocks that contain nothing but settings. */
const examples = pages.flatMap((name) =>
  [...page(name).matchAll(/```sh\n((?: *[A-Z_0-9]+=\S+(?: +#.*)?\n)+) *```/g)].map(([, text = ""]) => [name, text]),
);

it.each(examples)("accepts the settings of an example in docs/admin/%s.md", (_, text) => {
  const secret = join(mkdtempSync(join(tmpdir(), "lightdesk-docs-")), "secret");
  writeFileSync(secret, "a secret of a provider");
  const filled = text.replaceAll(/\/run\/secrets\/\S+/g, secret).replaceAll(/NEW_KEY|OLD_KEY/g, Buffer.alloc(32).toString("base64"));
  const source = parseEnv(filled);
  expect(readEnv(source)).toBeDefined();
  expect(unknownSettings(source)).toEqual([]);
});

it("docs/admin/monitoring.md lists every metric", () => {
  const source = readFileSync("lib/shared/metrics.ts", "utf8");
  const metrics = [...source.matchAll(/^ {2}(lightdesk_\w+):/gm)].map(([, name]) => name);
  const listed = new Set([...page("monitoring").matchAll(/`(lightdesk_\w+)`/g)].map(([, name]) => name));
  expect([...listed].sort()).toEqual([...metrics].sort());
});

it("docs/admin/troubleshooting.md lists every error code with its status", () => {
  const rows = [...page("troubleshooting").matchAll(/^\| `([A-Z_]+)` +\| (\d+) /gm)].map(([, code, status]) => [code, Number(status)]);
  expect(Object.fromEntries(rows)).toEqual(errorStatus);
});

/** As GitHub derives them from headings. */
function anchorsOf(file: string): string[] {
  const headings = readFileSync(file, "utf8")
    .replaceAll(/^ *```[\s\S]*?^ *```/gm, "")
    .matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, text = ""]) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

it("resolves every relative link of the docs", () => {
  const inDocs = readdirSync("docs", { recursive: true, encoding: "utf8" }).map((name) => `docs/${name}`);
  const files = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...inDocs.filter((name) => name.endsWith(".md"))];
  const broken = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/\]\(((?!\w+:)[^)\s]+)\)/g)].flatMap(([, link = ""]) => {
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? file : join(dirname(file), path);
      const exists = existsSync(target) && (anchor === undefined || anchorsOf(target).includes(anchor));
      return exists ? [] : [`${file}: ${link}`];
    }),
  );
  expect(broken).toEqual([]);
});
