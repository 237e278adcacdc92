// What the deployment of systemd takes for granted, on the ports of its units: PostgreSQL with the databases and roles of the deployment,
// Temporal behind TLS on both sides, and the sandbox. `node stand.ts FOLDER`, in the network of that systemd, until its input ends.
import { join } from "node:path";
import { once } from "node:events";
import {
  findTemporal,
  startTemporal,
} from "../../../../packages/dev/src/servers/temporal-server.js";
import { startPostgres } from "../../../../packages/dev/src/servers/postgres.js";
import { startSandbox } from "../../../../packages/sandbox/src/sandbox.js";
import { authoritiesOfClients, portOfTemporal } from "../../../deploy/compose-file.js";
import { deploymentDatabase } from "../../../deploy/deployment-database.js";
import { startHop } from "../../../harness/stack/hop.js";
import { preparePostgres } from "../../../harness/stack/postgres.js";

const [, , folder = ""] = process.argv;
const secrets = join(folder, "page", "secrets");
const directory = join(folder, "postgres");
await preparePostgres(directory);
const postgres = await startPostgres({ directory, port: 5432 });
await (await deploymentDatabase(postgres, secrets)).setUp();
const path = await findTemporal();
const temporal = await startTemporal({ path, logFile: join(folder, "temporal.log") });
const tls = portOfTemporal(join(secrets, "tls"), authoritiesOfClients);
const hop = await startHop([temporal.address], tls);
const sandbox = await startSandbox({ port: 8090, speed: 60_000 });
console.log(JSON.stringify({ temporal: hop.address.replace("127.0.0.1", "localhost") }));

process.stdin.resume();
await once(process.stdin, "end");
hop.close();
await Promise.all([sandbox.close(), temporal.close(), postgres.close()]);
process.exit();
