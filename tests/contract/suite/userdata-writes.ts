// Steps that write their own files to the user data and delete them.
import { operations } from "@/lib/contract/operations";
import { LABEL, type Step } from "./steps";
import { assertRefusal, assertThat } from "./verdict";

const ops = operations;
const file = `${LABEL}/a file.json`;
const movedFile = `${LABEL}/moved.json`;

export const userdataWriteSteps: readonly Step[] = [
  {
    operation: ops.writeUserdata,
    writes: true,
    async run({ request, call, state }) {
      const write = { params: { file }, headers: { "content-type": "application/octet-stream" }, body: "{}" };
      await request(ops.writeUserdata, { ...write, query: { overwrite: true, full_info: true } });
      state.created.userFile = file;
      assertRefusal(await call(ops.writeUserdata, { ...write, query: { overwrite: false } }), [409], "overwrite=false on an existing file");
      const outside = await call(ops.writeUserdata, { ...write, params: { file: "../outside.json" } });
      assertRefusal(outside, [400, 403, 404], "a path outside the folder");
    },
  },
  {
    operation: ops.listUserdata,
    writes: true,
    async run({ request }) {
      const files = await request(ops.listUserdata, { query: { dir: `${LABEL}/`, recurse: true, split: false, full_info: true } });
      assertThat(JSON.stringify(files).includes("a file.json"), "the written file is not listed");
    },
  },
  {
    operation: ops.readUserdata,
    writes: true,
    async run({ call }) {
      const response = await call(ops.readUserdata, { params: { file } });
      if (response.status === 200) assertThat(response.text === "{}", "the file has other content than was written");
    },
  },
  {
    operation: ops.moveUserdata,
    writes: true,
    run: async ({ request }) => void (await request(ops.moveUserdata, { params: { file, dest: movedFile }, query: { overwrite: true } })),
  },
  {
    operation: ops.deleteUserdata,
    writes: true,
    async run({ request, call }) {
      const wasMoved = (await call(ops.deleteUserdata, { params: { file: movedFile } })).status === 204;
      if (!wasMoved) await request(ops.deleteUserdata, { params: { file } });
      assertRefusal(await call(ops.readUserdata, { params: { file: wasMoved ? movedFile : file } }), [404, 405, 501], "a deleted file");
    },
  },
];
