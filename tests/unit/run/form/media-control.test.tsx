// @vitest-environment jsdom
import { act, cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { MediaControl } from "@/components/run/form/controls/media-control";
import { type PictureContext } from "@/components/run/form/controls/picture-api";
import { failed, ok } from "@/lib/shared/result";
import { renderPage } from "../render";

afterEach(cleanup);

const nobody = failed({ code: "CONSOLE_UNREACHABLE", message: "", status: 0 });

const unlisted = "Not among the files this service lists.";

it.each([
  ["a name that is not in it", "gone.mp4", ["there.mp4"], true],
  ["a name that is in it", "there.mp4", ["there.mp4"], false],
  ["the same, with its folder's word", "there.mp4 [input]", ["there.mp4"], false],
  ["a file of another folder than the one that is listed", "made.mp4 [output]", ["there.mp4"], false],
  ["a file below the folder, where the list tells of none", "clips/made.mp4", ["there.mp4"], false],
  ["a file below the folder, where the list tells of some", "clips/made.mp4", ["clips/other.mp4"], true],
  ["content by its hash", `${"ab".repeat(32)}.mp4`, ["there.mp4"], false],
  ["anything, where the service lists nothing", "gone.mp4", [], true],
  ["anything, where the list is not known", "gone.mp4", undefined, false],
  ["no file at all", "", ["there.mp4"], false],
  ["a name that every object inherits", "constructor", ["there.mp4"], true],
])("beside the service's list of films, %s", (_, value, options, isMarked) => {
  const picture: PictureContext = {
    listAssets: async () => nobody,
    storedName: async () => undefined,
    onNamed: () => undefined,
    canSend: true,
    sendPicture: async () => nobody,
    ownNames: {},
  };
  const control = { id: "film", media: "video" as const, onChange: () => undefined, onRunning: () => undefined };
  renderPage(<MediaControl {...control} options={options} picture={picture} value={value} />);
  expect(screen.queryByText(unlisted) !== null).toBe(isMarked);
  cleanup();
  renderPage(<MediaControl {...control} options={options} picture={{ ...picture, ownNames: { [value]: "mine.mp4" } }} value={value} />);
  expect(screen.queryByText(unlisted)).toBeNull();
});

it("a film on its way can be stopped: nothing is changed, and Run is free again", async () => {
  let end: (() => void) | undefined;
  let isAborted = false;
  const picture: PictureContext = {
    listAssets: async () => nobody,
    storedName: async () => undefined,
    onNamed: () => undefined,
    canSend: true,
    sendPicture: (_file, { signal, onProgress }) =>
      new Promise((resolve) => {
        onProgress(0.25);
        signal.addEventListener("abort", () => (isAborted = true));
        end = () => resolve(ok({ name: "late.mp4" }));
      }),
  };
  const changes: unknown[] = [];
  const running: boolean[] = [];
  renderPage(
    <MediaControl
      id="film"
      media="video"
      options={[]}
      picture={picture}
      value="old.mp4"
      onChange={(value) => void changes.push(value)}
      onRunning={(isRunning) => void running.push(isRunning)}
    />,
  );
  fireEvent.change(screen.getByTestId("media-file"), { target: { files: [new File(["film"], "new.mp4", { type: "video/mp4" })] } });
  expect((await screen.findByRole("progressbar", { name: "Uploading new.mp4" })).getAttribute("aria-valuenow")).toBe("25");
  fireEvent.click(screen.getByRole("button", { name: "Stop" }));
  expect(isAborted).toBe(true);
  await act(async () => end?.());
  expect(screen.queryByRole("progressbar")).toBeNull();
  expect(changes).toEqual([]);
  expect(running).toEqual([true, false]);
});
