// Lists user data: a missing folder is empty, other errors are reported, and paths are relative to the folder.
import { expect, test } from "vitest";
import { listFiles } from "@/lib/server/operations/list-files";
import { connectService, createConnectionClient, createJobPage } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { sendJsonResponse } from "@/tests/support/test-server";

const harness = await createHarness();
const { connection } = await connectService(harness, ({ url }, response) => {
  const dir = new URL(url, "http://x").searchParams.get("dir");
  if (dir === "workflows/") return sendJsonResponse(response, [{ path: "workflows/a.json", size: 2, modified: 1_700_000_000 }]);
  if (url.startsWith("/api/jobs")) return sendJsonResponse(response, createJobPage([]));
  if (dir === "broken/") return sendJsonResponse(response, { code: "INTERNAL", message: "no disk" }, 500);
  response.writeHead(404, { "content-type": "text/plain" }).end("directory not found");
});

const listFolder = (dir: string, id = connection) => listFiles(harness.getContext("viewer"), new URLSearchParams({ dir, connection: id }));
const requestFolder = async (dir: string, id = connection) => {
  const response = await createConnectionClient(harness, id).send(`/api/userdata?dir=${encodeURIComponent(dir)}`);
  return { status: response.status, body: await response.json() };
};

test("shows a missing folder as empty on the page and in the list", async () => {
  expect(await requestFolder("workflows/")).toMatchObject({ status: 200, body: [{ path: "a.json" }] });
  expect(await requestFolder("new/")).toEqual({ status: 200, body: [] });
  expect(await listFolder("new/")).toEqual({ ok: true, value: [] });
});

test("returns only the path of a written or moved file unless full_info is true", async () => {
  const post = async (path: string) =>
    (await harness.request(`/api/userdata/${path}`, { as: "operator", method: "POST", body: "{}" })).json();
  expect(await post("a.json")).toBe("a.json");
  expect(await post("a.json?full_info=false")).toBe("a.json");
  expect(await post("a.json/move/b.json")).toBe("b.json");
  expect(await post("b.json?full_info=true")).toMatchObject({ path: "b.json", size: 2 });
  expect(await post("b.json/move/c.json?full_info=true")).toMatchObject({ path: "c.json", size: 2 });
});

test("doesn't list an empty folder when the connection is missing or the service fails", async () => {
  expect(await requestFolder("new/", "gone")).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  expect(await listFolder("new/", "gone")).toMatchObject({ ok: false, failure: { code: "NOT_FOUND" } });
  expect((await requestFolder("broken/")).status).toBeGreaterThanOrEqual(500);
  expect((await listFolder("broken/")).ok).toBe(false);
});

test("lists a folder that contains a folder of the same name", async () => {
  const storedPaths = ["a/a/x.json", "b/b/b/x.json", "b/b/y.json", "c/y.json", "d/d/d/x.json", "d/d/x.json"];
  for (const pathStyle of ["relative", "absolute"]) {
    const { getJson } = await connectService(harness, ({ url }, response) => {
      const query = new URL(url, "http://x").searchParams;
      const dir = query.get("dir") === "/" ? "" : (query.get("dir") ?? "");
      const relativePaths = storedPaths.filter((path) => path.startsWith(dir)).map((path) => path.slice(dir.length));
      const paths = query.get("recurse") === "true" ? relativePaths : relativePaths.filter((path) => !path.includes("/"));
      if (paths.length === 0) return void response.writeHead(404).end();
      const files = paths.map((path) => ({ path: pathStyle === "absolute" ? `/${dir}${path}` : path }));
      sendJsonResponse(response, files);
    });
    for (const [dir, recurse, expected] of [
      ["/", "&recurse=true", storedPaths],
      ["a/", "&recurse=true", ["a/x.json"]],
      ["a/a/", "&recurse=true", ["x.json"]],
      ["b/", "&recurse=true", ["b/b/x.json", "b/y.json"]],
      ["d/", "&recurse=true", ["d/d/x.json", "d/x.json"]],
      ["c/", "", ["y.json"]],
    ] as const) {
      const files: { path: string }[] = await getJson(`/api/userdata?dir=${encodeURIComponent(dir)}${recurse}`);
      expect([pathStyle, dir, files.map(({ path }) => path)]).toEqual([pathStyle, dir, expected]);
    }
  }
});

test("lists a folder when its path check fails, unless the API key is rejected", async () => {
  let errorStatus = 500;
  const { connection: id } = await connectService(harness, ({ url }, response) => {
    const dir = new URL(url, "http://x").searchParams.get("dir");
    if (dir === "a/") return sendJsonResponse(response, [{ path: "a/x.json" }]);
    sendJsonResponse(response, { code: "REFUSED", message: "invalid folder" }, errorStatus);
  });
  const listFolderA = () => listFiles(harness.getContext("viewer"), new URLSearchParams({ dir: "a/", recurse: "true", connection: id }));
  for (errorStatus of [400, 403, 404, 405, 422, 500]) expect(await listFolderA()).toMatchObject({ ok: true, value: [{ path: "x.json" }] });
  errorStatus = 401;
  expect((await listFolderA()).ok).toBe(false);
});
