// The dev server has our search attributes from the start, and comes back on its ports after a crash.
import { join } from "node:path";
import { expect, test } from "vitest";
import { Client, Connection } from "@temporalio/client";
import { searchAttributes } from "../../../src/contracts/shared/names.js";
import { findTemporal, startTemporal } from "../src/servers/temporal-server.js";
import { temporaryFolder } from "../../../test/harness/temporary.js";

const folder = await temporaryFolder();

async function withClient<T>(address: string, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

test("search attributes are there, and with a file a process survives the server's crash", async () => {
  const server = await startTemporal({
    path: await findTemporal(),
    searchAttributes: Object.values(searchAttributes),
    dbFilename: join(folder, "temporal.db"),
    logFile: join(folder, "temporal.log"),
  });
  try {
    await withClient(server.address, async ({ connection, workflow }) => {
      const { customAttributes } = await connection.operatorService.listSearchAttributes({
        namespace: "default",
      });
      for (const { name } of Object.values(searchAttributes)) {
        expect(Object.keys(customAttributes ?? {})).toContain(name);
      }
      await workflow.start("anything", { taskQueue: "nobody", workflowId: "kept" });
    });
    expect((await fetch(server.uiUrl)).status).toBe(200);
    const { address, uiUrl, pid } = server;
    await server.kill();
    expect(server.isAlive()).toBe(false);
    await server.restart();
    expect(server).toMatchObject({ address, uiUrl });
    expect(server.pid).not.toBe(pid);
    const described = await withClient(address, ({ workflow }) =>
      workflow.getHandle("kept").describe(),
    );
    expect(described.status.name).toBe("RUNNING");
  } finally {
    await server.close();
  }
});

test("a server that cannot start says why", async () => {
  const dbFilename = join(folder, "no", "such", "folder", "temporal.db");
  await expect(
    startTemporal({ path: await findTemporal(), dbFilename, logFile: join(folder, "failed.log") }),
  ).rejects.toThrow(/did not start: .*temporal\.db|did not start: .*(unable|no such)/s);
});

test("a wrong TEMPORAL_CLI_PATH is named, not passed over", async () => {
  const before = process.env["TEMPORAL_CLI_PATH"];
  process.env["TEMPORAL_CLI_PATH"] = process.execPath;
  try {
    await expect(findTemporal()).rejects.toThrow("TEMPORAL_CLI_PATH");
  } finally {
    if (before === undefined) delete process.env["TEMPORAL_CLI_PATH"];
    else process.env["TEMPORAL_CLI_PATH"] = before;
  }
});
