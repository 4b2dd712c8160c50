// @vitest-environment jsdom
// The note about a file that the service's list lacks: the list may be older than the file.
import { act, cleanup, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { eventually } from "@/tests/support/eventually";
import { apiTo, openText, show } from "../page";

const unlisted = "Not among the files this service lists.";
let files: string[];
let reads: (() => void)[];
let isFailing: boolean;

beforeEach(() => {
  files = ["old.png"];
  reads = [];
  isFailing = false;
  vi.stubGlobal("fetch", async (path: string) => {
    if (!String(path).includes("object_info")) return Response.json({ code: "NOT_FOUND" }, { status: 404 });
    await new Promise<void>((resolve) => void reads.push(resolve));
    if (isFailing) return Response.json({ code: "INTERNAL", message: "" }, { status: 500 });
    const image = [files, { image_upload: true }];
    return Response.json({
      LoadImage: { name: "LoadImage", input: { required: { image } }, output: ["IMAGE"] },
      SaveImage: { name: "SaveImage", input: { required: { images: ["IMAGE"] } }, output: [], output_node: true },
    });
  });
});
afterEach(() => {
  cleanup();
  sessionStorage.clear();
  vi.unstubAllGlobals();
});

const workflow = (...images: string[]) =>
  JSON.stringify(
    Object.fromEntries(
      images.flatMap((image, at) => [
        [`${at}`, { class_type: "LoadImage", inputs: { image } }],
        [`s${at}`, { class_type: "SaveImage", inputs: { images: [`${at}`, 0] } }],
      ]),
    ),
  );
const answer = (at: number) => act(async () => reads[at]?.());
const asked = (count: number) => eventually(() => expect(reads).toHaveLength(count));

it("an opening whose file a former list does not have reads it again, once, before anything is shown", async () => {
  show(apiTo(undefined));
  await openText(workflow("old.png"));
  await asked(1);
  await answer(0);
  expect(screen.queryByText(unlisted)).toBeNull();
  files = ["old.png", "cat.png"];
  await openText(workflow("cat.png", "gone.png", "old.png"));
  await asked(2);
  expect(screen.queryByText(unlisted)).toBeNull();
  await answer(1);
  expect(await screen.findAllByText(unlisted)).toHaveLength(1);
  // A file that is in the list by now needs no further request.
  await openText(workflow("cat.png"));
  expect(screen.queryByText(unlisted)).toBeNull();
  expect(reads).toHaveLength(2);
});

it("a list that was read for this opening is believed; one that cannot be read again tells nothing", async () => {
  show(apiTo(undefined));
  await openText(workflow("gone.png"));
  await asked(1);
  await answer(0);
  expect(await screen.findByText(unlisted)).toBeTruthy();
  expect(reads).toHaveLength(1);
  isFailing = true;
  await openText(workflow("other.png"));
  await asked(2);
  await answer(1);
  expect(screen.queryByText(unlisted)).toBeNull();
  expect(screen.queryByText(/could not be read/)).toBeNull();
});

it("marks a file when the service lists none", async () => {
  files = [];
  show(apiTo(undefined));
  await openText(workflow("photo.png"));
  await asked(1);
  await answer(0);
  expect(await screen.findAllByText(unlisted)).toHaveLength(1);
});
