// The base path lint rule, service addresses, embed paths, and documentation that must match the code.
import { AsyncLocalStorage } from "node:async_hooks";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import { Linter } from "eslint";
import { afterEach, describe, expect, it, test } from "vitest";
import config from "@/eslint.config.mjs";
import { errorStatus } from "@/lib/contract/failure";
import { createEmbedPaths, isApiPath, toRoutableUrl } from "@/lib/http/request-line";
import { describeUnknownSettings, listSettingNames, readEnv } from "@/lib/server/env";
import { addEmbedPath, EMBED_PATH_HEADER, getEmbedPath, parseEmbedPath, setEmbedPaths } from "@/lib/shared/console-paths";
import { isForbiddenAddress } from "@/lib/shared/guarded-connector";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

const [baseUrlRule] = config.flatMap((part) => {
  const syntaxRule = "rules" in part ? part.rules?.["no-restricted-syntax"] : undefined;
  return Array.isArray(syntaxRule) ? [syntaxRule] : [];
});
const linter = new Linter();
const getLintMessages = (code: string) =>
  linter
    .verify(code, [
      {
        languageOptions: { parserOptions: { ecmaFeatures: { jsx: true } } },
        rules: { "no-restricted-syntax": ["error", ...(baseUrlRule ?? []).slice(1)] },
      },
    ])
    .map(({ message }) => message);

test.each([
  'fetch("/api/jobs")',
  "fetch(`/samples/${name}.json`)",
  'fetch(withQuery("/api/jobs", {}))',
  'window.location.assign("/sign-in")',
  'window.history.replaceState(null, "", "/jobs")',
  'request.open("POST", `/api/${path}`)',
  'new EventSource("/api/events")',
  "link.href = `/api/archive/${id}`",
  '<a href="/api/view" />',
  '<a href={isOpen ? "/jobs" : undefined} />',
  '<img src={withQuery("/api/view", {})} />',
  '<Picture src="/samples/one.webp" />',
])("reports a URL without the base path: %s", (code) => {
  expect(getLintMessages(code)).toEqual([expect.stringContaining("Add the base path")]);
});

test.each(['callApi(apiPath("/api/jobs"))', 'router.push(apiPath("/jobs"))', '<Link href={apiPath("/jobs")} />'])(
  "reports a duplicate base path in %s",
  (code) => {
    expect(getLintMessages(code)).toEqual([expect.stringContaining("Remove apiPath")]);
  },
);

test.each([
  'fetch(apiPath("/api/jobs"))',
  'callApi("/api/jobs")',
  '<Link href="/jobs" />',
  '<a href="#content" />',
  '<a href={apiPath("/api/view")} />',
  'new URL("./worker.ts", import.meta.url)',
  'text.replace("/", "-")',
])("accepts a correct URL: %s", (code) => {
  expect(getLintMessages(code)).toEqual([]);
});

test("rejects a service at a link-local, unspecified or metadata address", () => {
  const addresses = [
    ...["169.254.169.254", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "[64:ff9b::a9fe:a9fe]", "[fe80::1]", "fe80::1%eth0"],
    ...["fd00:ec2::254", "0.0.0.0", "::", "::ffff:0.0.0.0", "168.63.129.16", "192.0.0.192"],
    ...["100.100.100.200", "[::ffff:6464:64c8]", "64:ff9b::6464:64c8"],
  ];
  for (const address of addresses) expect([address, isForbiddenAddress(address)]).toEqual([address, true]);
  for (const address of ["127.0.0.1", "::1", "10.0.0.1", "fd00::1", "100.100.100.201", "8.8.8.8", "desk.example.com", ""])
    expect([address, isForbiddenAddress(address)]).toEqual([address, false]);
});

describe("embed path", () => {
  const embedPath = "/embed/0123456789abcdef01/abcdefgh1234";

  afterEach(() => setEmbedPaths({ getStore: () => undefined }));

  describe("parsing an embed path", () => {
    it("returns the embed path and the rest of the URL", () => {
      expect(parseEmbedPath(`${embedPath}/jobs?status=failed`)).toEqual({
        path: embedPath,
        host: "0123456789abcdef01",
        slot: "abcdefgh1234",
        innerUrl: "/jobs?status=failed",
      });
      expect(parseEmbedPath(embedPath)?.innerUrl).toBe("");
      expect(parseEmbedPath(`/desk${embedPath}/api/jobs`)?.path).toBe(embedPath);
    });

    it.each([
      "/jobs",
      "/embed/doctor",
      "/embed/0123456789abcdef01/short",
      "/embed/0123456789abcdef01/UPPERCASE123",
      "/jobs?at=/embed/a1b2c3/abcdefgh",
    ])("returns undefined for %s", (address) => expect(parseEmbedPath(address)).toBeUndefined());
  });

  describe("an embed request", () => {
    const rewriteRequest = (url: string) => {
      const request = new IncomingMessage(new Socket());
      request.url = url;
      request.headers[EMBED_PATH_HEADER] = embedPath;
      const currentPath = createEmbedPaths().runWithEmbedPath(request, () => getEmbedPath());
      return [currentPath, request.url, request.headers[EMBED_PATH_HEADER]];
    };

    it("removes the embed path from the request's URL", () => {
      expect([rewriteRequest(`${embedPath}/api/jobs?limit=1`), isApiPath(`${embedPath}/api/jobs`)]).toEqual([
        [embedPath, "/api/jobs?limit=1", embedPath],
        true,
      ]);
    });

    it.each(["/api/userdata/embed/styles/portrait1/x.json", `/api/userdata${embedPath}/jobs`, `/embed/short${embedPath}/jobs`])(
      "ignores an embed path that doesn't start the URL: %s",
      (url) => {
        expect(rewriteRequest(url)).toEqual(["", url, undefined]);
        expect(isApiPath(url)).toBe(url.startsWith("/api/"));
      },
    );
  });

  it.each(["/api", "/api/", "/api/jobs/", "/api//jobs", "/api/auth/session/", "/api/jobs\\"])(
    "replaces the API path %s, which Next would redirect or render as a page",
    (path) => expect([toRoutableUrl(path), toRoutableUrl(`${path}?a=//`)]).toEqual(["/api/-", "/api/-?a=//"]),
  );

  it.each(["/api/jobs?a=b/", "/api/userdata/a%2F", "/jobs/", "/apiary/", "//api/jobs"])("keeps %s", (url) =>
    expect(toRoutableUrl(url)).toBe(url),
  );

  it("prefixes a URL once with the current request's embed path", async () => {
    const paths = new AsyncLocalStorage<string>();
    setEmbedPaths(paths);
    const readAndAddPath = async (path: string) =>
      paths.run(path, async () => [await Promise.resolve(getEmbedPath()), addEmbedPath("/jobs")]);
    expect(await Promise.all([readAndAddPath(embedPath), readAndAddPath("/embed/ffffff/zzzzzzzz")])).toEqual([
      [embedPath, `${embedPath}/jobs`],
      ["/embed/ffffff/zzzzzzzz", "/embed/ffffff/zzzzzzzz/jobs"],
    ]);
    paths.run(embedPath, () => {
      expect(["https://elsewhere.example", "//elsewhere.example", "#content", `${embedPath}/jobs`].map(addEmbedPath)).toEqual([
        "https://elsewhere.example",
        "//elsewhere.example",
        "#content",
        `${embedPath}/jobs`,
      ]);
    });
    expect(addEmbedPath("/jobs")).toBe("/jobs");
  });
});

const readAdminPage = (name: string) => readFileSync(`docs/admin/${name}.md`, "utf8");

describe("docs/admin/configuration.md", () => {
  const settingRows = [
    ...readAdminPage("configuration").matchAll(/^\| `(LIGHTDESK_\w+|DATABASE_URL|PORT|HOST)`.*\| (?:`([^`]+)`)?[^|]*\|$/gm),
  ];
  const settings = settingRows.map(([, name = "", defaultValue]) => ({ name, defaultValue }));

  it("has one row for each setting", () => {
    expect(settings.map(({ name }) => name).sort()).toEqual(listSettingNames(["id"]).sort());
  });

  const required = { LIGHTDESK_OIDC: "id", LIGHTDESK_OIDC_ID_ISSUER: "https://a.example", LIGHTDESK_OIDC_ID_CLIENT_ID: "a" };
  const provider = { ...required, LIGHTDESK_OIDC_ID_CLIENT_SECRET: "a" };
  const settingsWithDefault = settings.flatMap(({ name, defaultValue }) =>
    defaultValue === undefined ? [] : [[name, defaultValue] as const],
  );

  it.each(settingsWithDefault)("states the default of %s", (name, defaultValue) => {
    const source = name.startsWith("LIGHTDESK_OIDC_") ? provider : {};
    expect(JSON.stringify(readEnv({ ...source, [name]: defaultValue }))).toBe(JSON.stringify(readEnv(source)));
  });
});

const pages = readdirSync("docs/admin").map((name) => name.replace(".md", ""));
/** Code blocks that contain only settings. */
const examples = pages.flatMap((name) =>
  [...readAdminPage(name).matchAll(/```sh\n((?: *[A-Z_0-9]+=\S+(?: +#.*)?\n)+) *```/g)].map(([, text = ""]) => [name, text]),
);

it.each(examples)("accepts the settings in an example of docs/admin/%s.md", (_, text) => {
  const secret = join(createTemporaryFolder(), "secret");
  writeFileSync(secret, "a secret of a provider");
  const settingsText = text.replaceAll(/\/run\/secrets\/\S+/g, secret).replaceAll(/NEW_KEY|OLD_KEY/g, Buffer.alloc(32).toString("base64"));
  const source = parseEnv(settingsText);
  expect(readEnv(source)).toBeDefined();
  expect(describeUnknownSettings(source)).toEqual([]);
});

it("lists every metric in docs/admin/monitoring.md", () => {
  const source = readFileSync("lib/shared/metrics.ts", "utf8");
  const metrics = [...source.matchAll(/^ {2}(lightdesk_\w+):/gm)].map(([, name]) => name);
  const documentedMetrics = new Set([...readAdminPage("monitoring").matchAll(/`(lightdesk_\w+)`/g)].map(([, name]) => name));
  expect([...documentedMetrics].sort()).toEqual([...metrics].sort());
});

it("lists every error code and status in docs/admin/troubleshooting.md", () => {
  const rows = [...readAdminPage("troubleshooting").matchAll(/^\| `([A-Z_]+)` +\| (\d+) /gm)].map(([, code, status]) => [
    code,
    Number(status),
  ]);
  expect(Object.fromEntries(rows)).toEqual(errorStatus);
});

const glossary = readFileSync("docs/glossary.md", "utf8");
const conceptRows = glossary.matchAll(/^\| ([a-z ]+?) +\| .* \| `([^`]+)` +\|$/gm);
const concepts = [...conceptRows].map(([, concept = "", source = ""]) => [concept, source]);

it("lists at most 15 concepts in docs/glossary.md", () => {
  expect(concepts.length).toBeGreaterThan(5);
  expect(concepts.length).toBeLessThanOrEqual(15);
});

it.each(concepts)("uses %s in %s", (concept, source) => {
  const text = `${source} ${readFileSync(source, "utf8")}`.toLowerCase().replaceAll(/[-_]/g, " ");
  expect(text.includes(concept)).toBe(true);
});

/** Returns the anchors that GitHub generates from a file's headings. */
function listAnchors(file: string): string[] {
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
  const docsFiles = readdirSync("docs", { recursive: true, encoding: "utf8" }).map((name) => `docs/${name}`);
  const files = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...docsFiles.filter((name) => name.endsWith(".md"))];
  const brokenLinks = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/\]\(((?!\w+:)[^)\s]+)\)/g)].flatMap(([, link = ""]) => {
      const [path = "", anchor] = link.split("#");
      const target = path === "" ? file : join(dirname(file), path);
      const exists = existsSync(target) && (anchor === undefined || listAnchors(target).includes(anchor));
      return exists ? [] : [`${file}: ${link}`];
    }),
  );
  expect(brokenLinks).toEqual([]);
});
