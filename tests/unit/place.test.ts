// Below which address an embedded page stands, and what becomes of the addresses it names.
import { AsyncLocalStorage } from "node:async_hooks";
import { afterEach, describe, expect, it } from "vitest";
import { inPlace, keepPlaces, place, placeOf } from "@/lib/shared/place";

const here = "/embed/0123456789abcdef01/abcdefgh1234";

afterEach(() => keepPlaces({ getStore: () => undefined }));

describe("the place of an address", () => {
  it("is that of a session, with what follows it", () => {
    expect(placeOf(`${here}/jobs?status=failed`)).toEqual({
      path: here,
      host: "0123456789abcdef01",
      slot: "abcdefgh1234",
      rest: "/jobs?status=failed",
    });
    expect(placeOf(here)?.rest).toBe("");
    expect(placeOf(`/desk${here}/api/jobs`)?.path).toBe(here);
  });

  it.each([
    "/jobs",
    "/embed/doctor",
    "/embed/0123456789abcdef01/short",
    "/embed/0123456789abcdef01/UPPERCASE123",
    "/jobs?at=/embed/a1b2c3/abcdefgh",
  ])("is none for %s", (address) => expect(placeOf(address)).toBeUndefined());
});

it("on a server an address is put below the place of the request that is being answered, once, and no other one", async () => {
  const places = new AsyncLocalStorage<string>();
  keepPlaces(places);
  const answer = async (path: string) => places.run(path, async () => [await Promise.resolve(place()), inPlace("/jobs")]);
  expect(await Promise.all([answer(here), answer("/embed/ffffff/zzzzzzzz")])).toEqual([
    [here, `${here}/jobs`],
    ["/embed/ffffff/zzzzzzzz", "/embed/ffffff/zzzzzzzz/jobs"],
  ]);
  places.run(here, () => {
    expect(["https://elsewhere.example", "//elsewhere.example", "#content", `${here}/jobs`].map(inPlace)).toEqual([
      "https://elsewhere.example",
      "//elsewhere.example",
      "#content",
      `${here}/jobs`,
    ]);
  });
  expect(inPlace("/jobs")).toBe("/jobs");
});
