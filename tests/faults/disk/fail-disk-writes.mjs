// Preloaded into the service's process (node --import). While `<disk>.full` or `<disk>.read-only` exists, every write
// below the disk fails with the kernel's error.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { wrapSqlite } from "./wrap-sqlite.mjs";

const disk = process.env.LIGHTDESK_TEST_DISK;
const { promises } = fs;
const exists = fs.existsSync;

/** The disk is full while a reserve file exists. Deleting the reserve frees a little space. */
const isFull = () => exists(`${disk}.full`) && [`${disk}/reserve`, `${disk}/service/reserve`].some((file) => exists(file));

function createDiskError(call) {
  const [code, errno, message] = isFull()
    ? ["ENOSPC", -28, "no space left on device"]
    : exists(`${disk}.read-only`)
      ? ["EROFS", -30, "read-only file system"]
      : [];
  return code && Object.assign(new Error(`${code}: ${message}, ${call}`), { code, errno, syscall: call });
}

const isBelow = (path) => String(path).startsWith(disk);

/** `getPaths` returns the paths of a call. `link` and `rename` have two. */
function failWrites(owner, call, getPaths, isWrite = () => true) {
  const original = owner[call];
  owner[call] = (...args) => {
    const error = getPaths(args).some(isBelow) && isWrite(args) ? createDiskError(call) : undefined;
    if (!error) return original.apply(owner, args);
    if (owner === promises) return Promise.reject(error);
    throw error;
  };
}

const { O_WRONLY, O_RDWR, O_CREAT } = fs.constants;
const opensForWriting = (flags = "r") => (typeof flags === "number" ? (flags & (O_WRONLY | O_RDWR | O_CREAT)) !== 0 : flags !== "r");
for (const call of ["mkdir", "writeFile", "appendFile", "mkdtemp"]) failWrites(promises, call, ([path]) => [path]);
for (const call of ["link", "rename", "copyFile"]) failWrites(promises, call, ([from, to]) => [from, to]);
for (const call of ["mkdirSync", "writeFileSync", "linkSync", "renameSync"]) failWrites(fs, call, ([path]) => [path]);

// A file that was opened before the disk filled up fails at its next write.
const open = promises.open;
promises.open = async (path, flags, ...rest) => {
  const error = isBelow(path) && opensForWriting(flags) ? createDiskError("open") : undefined;
  if (error) throw error;
  const handle = await open(path, flags, ...rest);
  if (!isBelow(path) || !opensForWriting(flags)) return handle;
  for (const call of ["write", "writev", "writeFile", "sync", "datasync"]) {
    const original = handle[call].bind(handle);
    handle[call] = async (...args) => {
      const writeError = createDiskError(call);
      if (writeError) throw writeError;
      return original(...args);
    };
  }
  return handle;
};
const statfs = fs.statfsSync;
fs.statfsSync = (path, ...rest) => Object.assign(statfs(path, ...rest), isBelow(path) && exists(`${disk}.full`) && { bavail: 0 });
syncBuiltinESMExports();

// SQLite writes its files natively, so the COMMIT of a transaction with changes fails here instead.
const sqliteError = (message, errcode) => Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode });
wrapSqlite(
  (DatabaseSync) =>
    class extends DatabaseSync {
      prepare(sql) {
        const statement = super.prepare(sql);
        if (!/^(BEGIN|COMMIT)/.test(sql) || !isBelow(this.location())) return statement;
        const changes = () => super.prepare("SELECT total_changes() AS number").get().number;
        const run = statement.run.bind(statement);
        const runUnlessFull = () => {
          if (sql !== "COMMIT") this.changesAtBegin = changes();
          else if (changes() !== this.changesAtBegin) {
            const error = createDiskError("COMMIT");
            if (error?.code === "ENOSPC") throw sqliteError("database or disk is full", 13);
            if (error) throw sqliteError("attempt to write a readonly database", 8);
          }
          return run();
        };
        return Object.defineProperty(statement, "run", { value: runUnlessFull });
      }
    },
);
