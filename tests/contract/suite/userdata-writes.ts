// Steps that write files of their own into the user's data and remove them.
import { operations } from "@/lib/contract/operations";
import { LABEL, type Step } from "./steps";
import { demand, demandRefusal } from "./verdict";

const o = operations;
const file = `${LABEL}/a file.json`;
const moved = `${LABEL}/moved.json`;

export const userdataWriteSteps: readonly Step[] = [
  {
    operation: o.writeUserdata,
    writes: true,
    async run({ ask, call, state }) {
      const write = { params: { file }, headers: { "content-type": "application/octet-stream" }, body: "{}" };
      await ask(o.writeUserdata, { ...write, query: { overwrite: true, full_info: true } });
      state.own.userFile = file;
      demandRefusal(await call(o.writeUserdata, { ...write, query: { overwrite: false } }), [409], "overwrite=false on a file that exists");
      const outside = await call(o.writeUserdata, { ...write, params: { file: "../outside.json" } });
      demandRefusal(outside, [400, 403, 404], "a path that leaves the folder");
    },
  },
  {
    operation: o.listUserdata,
    writes: true,
    async run({ ask }) {
      const files = await ask(o.listUserdata, { query: { dir: `${LABEL}/`, recurse: true, split: false, full_info: true } });
      demand(JSON.stringify(files).includes("a file.json"), "the file that was written is not listed");
    },
  },
  {
    operation: o.readUserdata,
    writes: true,
    async run({ call }) {
      const response = await call(o.readUserdata, { params: { file } });
      if (response.status === 200) demand(response.text === "{}", "the file holds other bytes than were written");
    },
  },
  {
    operation: o.moveUserdata,
    writes: true,
    run: async ({ ask }) => void (await ask(o.moveUserdata, { params: { file, dest: moved }, query: { overwrite: true } })),
  },
  {
    operation: o.deleteUserdata,
    writes: true,
    async run({ ask, call }) {
      const wasMoved = (await call(o.deleteUserdata, { params: { file: moved } })).status === 204;
      if (!wasMoved) await ask(o.deleteUserdata, { params: { file } });
      demandRefusal(await call(o.readUserdata, { params: { file: wasMoved ? moved : file } }), [404, 405, 501], "a file that was deleted");
    },
  },
];
