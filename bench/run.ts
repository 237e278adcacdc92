// `npm run bench`: the floor and Trustflow side by side on a fresh server (docs/design.md §12, docs/benchmarks.md).
import { cpus, totalmem } from "node:os";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import { partsText, table } from "./measure.js";
import type { Measure } from "./measure.js";
import { startPersistentTemporal } from "./cluster.js";
import { measureAcknowledgements } from "./measures/acknowledgements.js";
import { measureBatch } from "./measures/batch.js";
import type { BatchSizes } from "./measures/batch.js";
import { measureCosts } from "./measures/costs.js";
import { measureDocuments } from "./measures/documents.js";
import { measureHistory } from "./measures/history.js";
import { measurePreflight } from "./measures/preflight.js";
import { measureProcesses } from "./measures/processes.js";
import { measureResume } from "./measures/resume.js";
import { measureRolling } from "./measures/rolling.js";
import { measureOpen, measureWatching } from "./measures/watching.js";
import type { WatchSizes } from "./measures/watching.js";
import { measureWorker } from "./measures/worker.js";
import { sidesOf } from "./sides.js";
import type { Bench } from "./sides.js";
import { startStand } from "./stand.js";
import type { Stand } from "./stand.js";

const groups = {
  processes: measureProcesses,
  history: measureHistory,
  acknowledgements: measureAcknowledgements,
  resume: measureResume,
  rolling: measureRolling,
  worker: measureWorker,
};
/** Measures that need no server, or one of their own. */
const commands = {
  documents: measureDocuments,
  preflight: measurePreflight,
  batch: measureBatch,
  watching: measureWatching,
  open: measureOpen,
};
type GroupName = keyof typeof groups;
type CommandName = keyof typeof commands;
const COSTS = "costs";
const allNames = [...Object.keys(groups), ...Object.keys(commands), COSTS];

const usage = `usage: npm run bench -- [--json] [--quick] [--cpu-prof FOLDER] [--cluster] [--only ${allNames.join("|")}]… [--process NAME] [--after N,N…] [--recipients N,N…] [--notices N] [--callbacks N] [--open N] [--cached N] [--questions N] [--spread N]`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      json: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      "cpu-prof": { type: "string" },
      cluster: { type: "boolean", default: false },
      process: { type: "string" },
      after: { type: "string" },
      recipients: { type: "string" },
      notices: { type: "string" },
      callbacks: { type: "string" },
      open: { type: "string" },
      cached: { type: "string" },
      questions: { type: "string" },
      spread: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const unknown = values.only.filter((name) => !allNames.includes(name));
  if (values.help || unknown.length > 0) {
    console.error(usage);
    return values.help ? 0 : 2;
  }
  const chosen = <N extends string>(of: Record<N, unknown>) =>
    (Object.keys(of) as N[]).filter(
      (name) => values.only.length === 0 || values.only.includes(name),
    );
  const say = (line: string) => console.error(line);
  const measures: Measure[] = [];
  const sizes = sizesOf(values);
  for (const name of chosen<CommandName>(commands)) {
    const found = await commands[name]({
      quick: values.quick,
      say,
      sizes,
      watching: watchSizesOf(values),
      profiles: values["cpu-prof"],
    });
    measures.push(...found);
    say(table(found));
  }
  const wanted = chosen<GroupName>(groups);
  let versions: Record<string, string> = { node: process.versions.node };
  const wantsCosts = values.only.includes(COSTS);
  if (wanted.length === 0 && !wantsCosts) return report({ versions, measures }, values.json);
  const temporal = values.cluster ? await startPersistentTemporal(say) : undefined;
  let stand: Stand | undefined;
  try {
    if (wantsCosts) {
      const after = values.after?.split(",").map(Number);
      const { quick, process: only } = values;
      const found = await measureCosts({ quick, say, only, after, temporal });
      measures.push(...found);
      say(table(found));
      if (wanted.length === 0) return report({ versions, measures }, values.json);
    }
    stand = await startStand({ progress: say, profiles: values["cpu-prof"], temporal });
    versions = await versionsOf(stand);
    const bench: Bench = { stand, sides: sidesOf(stand), quick: values.quick, say };
    for (const name of wanted) {
      const found = await groups[name](bench);
      measures.push(...found);
      say(table(found));
    }
  } finally {
    await stand?.close();
    await temporal?.close();
  }
  return report({ versions, measures }, values.json);
}

/** Of the batch. */
function sizesOf(given: {
  recipients?: string | undefined;
  notices?: string | undefined;
  callbacks?: string | undefined;
}): Partial<BatchSizes> {
  const { recipients, notices, callbacks } = given;
  return {
    ...(recipients !== undefined && { recipients: recipients.split(",").map(Number) }),
    ...(notices !== undefined && { notices: Number(notices) }),
    ...(callbacks !== undefined && { callbacks: Number(callbacks) }),
  };
}

function watchSizesOf(given: {
  open?: string | undefined;
  cached?: string | undefined;
  questions?: string | undefined;
  spread?: string | undefined;
}): Partial<WatchSizes> {
  const { open, cached, questions: questionsPerSecond, spread: spreadSeconds } = given;
  const sizes = Object.entries({ open, cached, questionsPerSecond, spreadSeconds });
  return Object.fromEntries(
    sizes.flatMap(([name, value]) => (value === undefined ? [] : [[name, Number(value)]])),
  );
}

interface Report {
  versions: Record<string, string>;
  measures: Measure[];
}

function report({ versions, measures }: Report, isJson: boolean): number {
  const document = { machine: machineOf(), versions, measures };
  if (isJson) console.log(JSON.stringify(document, undefined, 2));
  else console.log(`${table(measures)}\n\n${partsText(measures)}`);
  return 0;
}

function machineOf() {
  const [cpu] = cpus();
  return {
    cores: cpus().length,
    cpu: cpu?.model ?? "unknown",
    memoryGb: Math.round(totalmem() / 1e9),
    platform: `${process.platform} ${process.arch}`,
  };
}

async function versionsOf(stand: Stand): Promise<Record<string, string>> {
  const require = createRequire(import.meta.url);
  const { version } = require("@temporalio/worker/package.json") as { version: string };
  const { serverVersion } = await stand.plain.connection.workflowService.getSystemInfo({});
  const { rows } = await stand.pool.query<{ server_version: string }>("show server_version");
  return {
    node: process.versions.node,
    temporalSdk: version,
    temporalServer: serverVersion ?? "unknown",
    postgresql: rows[0]?.server_version ?? "unknown",
  };
}

process.exitCode = await main();
