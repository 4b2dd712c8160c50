// Loaded into the service's process before its own code (node --import): while `<disk>.full` or `<disk>.read-only` exists, every write
// below the disk fails with the kernel's error. It works from outside; the service does not know of it.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { wrapSqlite } from "./wrap-sqlite.mjs";

const disk = process.env.LIGHTDESK_TEST_DISK;
const { promises } = fs;
const exists = fs.existsSync;

/** The disk counts as full while a reserve file exists: giving up the reserve makes a little room. */
const isFull = () => exists(`${disk}.full`) && [`${disk}/reserve`, `${disk}/service/reserve`].some((file) => exists(file));

function refusal(call) {
  const [code, errno, words] = isFull()
    ? ["ENOSPC", -28, "no space left on device"]
    : exists(`${disk}.read-only`)
      ? ["EROFS", -30, "read-only file system"]
      : [];
  return code && Object.assign(new Error(`${code}: ${words}, ${call}`), { code, errno, syscall: call });
}

const isBelow = (path) => String(path).startsWith(disk);

/** `pathsOf` gives the paths of a call: `link` and `rename` have two. */
function refuse(owner, call, pathsOf, isWrite = () => true) {
  const real = owner[call];
  owner[call] = (...args) => {
    const error = pathsOf(args).some(isBelow) && isWrite(args) ? refusal(call) : undefined;
    if (!error) return real.apply(owner, args);
    if (owner === promises) return Promise.reject(error);
    throw error;
  };
}

const { O_WRONLY, O_RDWR, O_CREAT } = fs.constants;
const writes = (flags = "r") => (typeof flags === "number" ? (flags & (O_WRONLY | O_RDWR | O_CREAT)) !== 0 : flags !== "r");
for (const call of ["mkdir", "writeFile", "appendFile", "mkdtemp"]) refuse(promises, call, ([path]) => [path]);
for (const call of ["link", "rename", "copyFile"]) refuse(promises, call, ([from, to]) => [from, to]);
for (const call of ["mkdirSync", "writeFileSync", "linkSync", "renameSync"]) refuse(fs, call, ([path]) => [path]);

// A file that was opened before the disk filled up fails at its next write.
const open = promises.open;
promises.open = async (path, flags, ...rest) => {
  const error = isBelow(path) && writes(flags) ? refusal("open") : undefined;
  if (error) throw error;
  const handle = await open(path, flags, ...rest);
  if (!isBelow(path) || !writes(flags)) return handle;
  for (const call of ["write", "writev", "writeFile", "sync", "datasync"]) {
    const real = handle[call].bind(handle);
    handle[call] = async (...args) => {
      const failed = refusal(call);
      if (failed) throw failed;
      return real(...args);
    };
  }
  return handle;
};
const statfs = fs.statfsSync;
fs.statfsSync = (path, ...rest) => Object.assign(statfs(path, ...rest), isBelow(path) && exists(`${disk}.full`) && { bavail: 0 });
syncBuiltinESMExports();

// SQLite writes by itself, so the COMMIT of a transaction with changes is made to fail, as a full or read-only disk would.
const sqliteError = (message, errcode) => Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR", errcode });
wrapSqlite(
  (DatabaseSync) =>
    class extends DatabaseSync {
      prepare(sql) {
        const statement = super.prepare(sql);
        if (!/^(BEGIN|COMMIT)/.test(sql) || !isBelow(this.location())) return statement;
        const changes = () => super.prepare("SELECT total_changes() AS number").get().number;
        const run = statement.run.bind(statement);
        const refusing = () => {
          if (sql !== "COMMIT") this.changesAtBegin = changes();
          else if (changes() !== this.changesAtBegin) {
            const error = refusal("COMMIT");
            if (error?.code === "ENOSPC") throw sqliteError("database or disk is full", 13);
            if (error) throw sqliteError("attempt to write a readonly database", 8);
          }
          return run();
        };
        return Object.defineProperty(statement, "run", { value: refusing });
      }
    },
);
