// The address below which an embedded page is, and how the addresses in it are changed.
import { AsyncLocalStorage } from "node:async_hooks";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createEmbedPaths, isApi } from "@/lib/http/request-line";
import { EMBED_PATH_HEADER, embedAddressOf, embedPath, inEmbedPath, keepEmbedPaths } from "@/lib/shared/console-paths";

const here = "/embed/0123456789abcdef01/abcdefgh1234";

afterEach(() => keepEmbedPaths({ getStore: () => undefined }));

describe("the session in an address", () => {
  it("is that of a session, with what follows it", () => {
    expect(embedAddressOf(`${here}/jobs?status=failed`)).toEqual({
      path: here,
      host: "0123456789abcdef01",
      slot: "abcdefgh1234",
      rest: "/jobs?status=failed",
    });
    expect(embedAddressOf(here)?.rest).toBe("");
    expect(embedAddressOf(`/desk${here}/api/jobs`)?.path).toBe(here);
  });

  it.each([
    "/jobs",
    "/embed/doctor",
    "/embed/0123456789abcdef01/short",
    "/embed/0123456789abcdef01/UPPERCASE123",
    "/jobs?at=/embed/a1b2c3/abcdefgh",
  ])("is none for %s", (address) => expect(embedAddressOf(address)).toBeUndefined());
});

describe("a request", () => {
  const answered = (url: string) => {
    const request = new IncomingMessage(new Socket());
    request.url = url;
    request.headers[EMBED_PATH_HEADER] = here;
    const at = createEmbedPaths().answerAt(request, () => embedPath());
    return [at, request.url, request.headers[EMBED_PATH_HEADER]];
  };

  it("below a session is answered there, under the route's own address", () => {
    expect([answered(`${here}/api/jobs?limit=1`), isApi(`${here}/api/jobs`)]).toEqual([[here, "/api/jobs?limit=1", here], true]);
  });

  it.each(["/api/userdata/embed/styles/portrait1/x.json", `/api/userdata${here}/jobs`, `/embed/short${here}/jobs`])(
    "whose address only holds one further on has none: %s",
    (url) => {
      expect(answered(url)).toEqual(["", url, undefined]);
      expect(isApi(url)).toBe(url.startsWith("/api/"));
    },
  );
});

it("on a server an address is put below the path of the request that is being answered, once, and no other one", async () => {
  const paths = new AsyncLocalStorage<string>();
  keepEmbedPaths(paths);
  const answer = async (path: string) => paths.run(path, async () => [await Promise.resolve(embedPath()), inEmbedPath("/jobs")]);
  expect(await Promise.all([answer(here), answer("/embed/ffffff/zzzzzzzz")])).toEqual([
    [here, `${here}/jobs`],
    ["/embed/ffffff/zzzzzzzz", "/embed/ffffff/zzzzzzzz/jobs"],
  ]);
  paths.run(here, () => {
    expect(["https://elsewhere.example", "//elsewhere.example", "#content", `${here}/jobs`].map(inEmbedPath)).toEqual([
      "https://elsewhere.example",
      "//elsewhere.example",
      "#content",
      `${here}/jobs`,
    ]);
  });
  expect(inEmbedPath("/jobs")).toBe("/jobs");
});
