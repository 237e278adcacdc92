// `list` and `resolve --where --dry-run` on a real Temporal: its visibility answers the filters. The processes have no worker; the test
// sets what their workers would.
import { beforeAll, describe, expect, test } from "vitest";
import type { ListedProcess } from "../../../src/client.js";
import type { AttentionKind } from "../../../src/contracts/shared/failures.js";
import { searchAttributes, statusMemo } from "../../../src/contracts/shared/names.js";
import type { Attention, ProcessStatus } from "../../../src/contracts/shared/status.js";
import { generateKeyRing, KeyRing } from "../../../src/crypto/key-ring.js";
import { dataConverter } from "../../../src/temporal/codec/data-converter.js";
import { registerSearchAttributes } from "../../../src/temporal/visibility/search-attributes.js";
import { eventually } from "../../harness/outages/wait.js";
import { ofFile } from "../../harness/of-file.js";
import { clientIn, testTemporal } from "../../temporal/support.js";
import { commandLine } from "../in-process.js";

const ring = generateKeyRing("k1");
const temporal = ofFile(testTemporal);
let env: Record<string, string>;

const day = (days: number) => new Date(Date.now() + days * 86_400_000);

interface Wanted {
  phase?: "tracking" | "waiting" | "ended";
  /** Where it is in the memo; `phase` if it is absent. */
  notedPhase?: "affidavits";
  account?: string;
  outcome?: string;
  deadline?: Date;
  attention?: Partial<Attention> & Pick<Attention, "kind" | "reason">;
  more?: (Partial<Attention> & Pick<Attention, "kind" | "reason">)[];
  /** As a search attribute; that of the attention if it is absent. */
  shownKind?: AttentionKind;
}

/** A process as its worker would show it. */
async function begin(workflowId: string, wanted: Wanted = {}): Promise<void> {
  const [process = "", id = ""] = workflowId.split("/");
  const { phase, account = "default", outcome, deadline, attention, more = [], shownKind } = wanted;
  const [shown, ...others] = [...(attention ? [attention] : []), ...more].map((one): Attention => ({
    ...{ id: "submit-1", step: "submit", since: "2026-01-01T00:00:00.000Z" },
    decisions: ["retry", "abandon"],
    ...one,
  }));
  const status: ProcessStatus = {
    ...{ process, id, environment: "sandbox", account, references: {}, timeline: [] },
    phase: wanted.notedPhase ?? phase ?? "submitting",
    ...(shown && { attention: shown, moreAttentions: others }),
  };
  const client = clientIn(temporal, dataConverter(KeyRing.parse(ring)));
  await client.workflow.start(process, {
    ...{ taskQueue: "none", workflowId, memo: { [statusMemo]: status } },
    typedSearchAttributes: [
      { key: searchAttributes.account, value: account },
      ...(phase ? [{ key: searchAttributes.phase, value: phase }] : []),
      ...(outcome ? [{ key: searchAttributes.outcome, value: outcome }] : []),
      ...(deadline ? [{ key: searchAttributes.deadline, value: deadline }] : []),
      ...(shown ? [{ key: searchAttributes.attention, value: shownKind ?? shown.kind }] : []),
    ],
  });
}

beforeAll(async () => {
  await registerSearchAttributes(temporal.connection, temporal.namespace);
  env = {
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    TRUSTFLOW_KEYS__CODEC: ring,
  };
  await begin("sendPostal/new");
  await begin("sendPostal/tracked", { phase: "tracking", deadline: day(2) });
  await begin("sendPostal/late", {
    ...{ phase: "tracking", notedPhase: "affidavits" },
    ...{ account: "branch", deadline: day(-1) },
  });
  await begin("sendNotice/read", { phase: "ended", outcome: "read", deadline: day(9) });
  await begin("sendPostal/refused", {
    ...{ phase: "tracking", account: "branch" },
    attention: { kind: "accessDenied", reason: "The account is Unauthorized (401)" },
  });
  await begin("sendMessage/lost", {
    phase: "waiting",
    attention: {
      ...{ kind: "unknownOutcome", reason: 'No answer came: 50% of "it" was sent' },
      ...{ retryNeeds: ["confirmRetry", "note"], decisions: ["retry", "happened", "abandon"] },
    },
  });
  await temporal.client.workflow.getHandle("sendNotice/read").terminate();
  await eventually("visibility shows all of them", async () => {
    const open = await temporal.client.workflow.count('ExecutionStatus = "Running"');
    return open.count === 5 && (await temporal.client.workflow.count("")).count === 6;
  });
}, 60_000);

async function list(...args: string[]): Promise<ListedProcess[]> {
  const { code, stdout, stderr } = await commandLine(["list", "--json", ...args], { env });
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("error")]);
  return JSON.parse(stdout) as ListedProcess[];
}

const idsOf = (found: ListedProcess[]) => found.map(({ id }) => id);
const wordsOf = (text: string) => text.split(" ").filter(Boolean);

test("PHASE is that of now, and the filter goes by what the process has told Temporal", async () => {
  const phasesOf = (found: ListedProcess[]) => found.map(({ id, phase }) => `${id} ${phase}`);
  expect(phasesOf(await list("--phase", "tracking"))).toEqual([
    "refused tracking",
    "late affidavits",
    "tracked tracking",
  ]);
  const { stdout } = await commandLine(["list", "--sort", "phase", "--limit", "1"], { env });
  expect(stdout).toMatch(/^sendPostal\/late .* affidavits /m);
});

const newestFirst = "lost refused late tracked new read";

test.each([
  ["", newestFirst],
  ["--process sendPostal", "refused late tracked new"],
  ["--state running", "lost refused late tracked new"],
  ["--state terminated --state failed", "read"],
  ["--outcome read", "read"],
  ["--outcome refused", ""],
  ["--phase waiting --phase ended", "lost read"],
  ["--phase submitting", "new"],
  ["--phase submitting --account branch", ""],
  ["--account branch", "refused late"],
  ["--account branch --account default", newestFirst],
  ["--kind accessDenied", "refused"],
  ["--kind accessDenied --kind unknownOutcome", "lost refused"],
  ["--attention", "lost refused"],
  ["--started-after 1h", newestFirst],
  ["--started-before 1h", ""],
  ["--started-before 2999-01-01", newestFirst],
  ["--deadline-before 0s", "late"],
  ["--deadline-before 3d", "late tracked"],
  ["--deadline-before 3d --deadline-after 0s", "tracked"],
  ["--deadline-after 3d --state terminated", "read"],
  ["--reason unauthorized", "refused"],
  ["--reason unauthorized --account default", ""],
])("list %s", async (options, wanted) => {
  expect(idsOf(await list(...wordsOf(options)))).toEqual(wordsOf(wanted));
});

test("a reason is looked for as it is written", async () => {
  expect(idsOf(await list("--reason", '50% of "it"'))).toEqual(["lost"]);
});

test.each([
  ["id", "lost read late new refused tracked", ""],
  ["started", "new tracked late read refused lost", ""],
  ["deadline", "late tracked read", ""],
  ["outcome", "read", ""],
  // Of those with the same account the id decides, both ways.
  ["account", "late refused", "late refused"],
  ["attention", "refused lost", ""],
])(
  "list --sort %s; --reverse turns it round, and what has no value stays last",
  async (sort, wanted, wantedLast) => {
    const found = idsOf(await list("--sort", sort));
    const first = wordsOf(wanted);
    expect(found.slice(0, first.length)).toEqual(first);
    expect(found.toSorted()).toEqual(wordsOf(newestFirst).toSorted());
    const reversed = idsOf(await list("--sort", sort, "--reverse"));
    if (wantedLast === "") expect(reversed.slice(0, first.length)).toEqual(first.toReversed());
    else expect(reversed.slice(-2)).toEqual(wordsOf(wantedLast));
  },
);

describe("pages", () => {
  /** Follows the cursors, with pages of two. */
  async function pages(...args: string[]): Promise<string[][]> {
    const found: string[][] = [];
    for (let given = args; found.length < 9;) {
      const { code, stdout, stderr } = await commandLine(
        ["list", "--json", "--limit", "2", ...given],
        { env },
      );
      expect(code).toBe(0);
      found.push(idsOf(JSON.parse(stdout) as ListedProcess[]));
      if (stderr === "") return found;
      given = ["--cursor", (JSON.parse(stderr) as { next: string }).next];
    }
    return found;
  }

  test.each([
    ["", "lost refused | late tracked | new read"],
    ["--process sendPostal", "refused late | tracked new"],
    ["--phase tracking", "refused late | tracked"],
    ["--sort id", "lost read | late new | refused tracked"],
    ["--sort deadline --account default", "tracked read | lost new"],
    ["--reason a", "lost refused"],
  ])("of list %s have each process once, and the last has no cursor", async (options, wanted) => {
    expect(await pages(...wordsOf(options))).toEqual(wanted.split("|").map(wordsOf));
  });

  test("are named in the words of a person without --json", async () => {
    const { stdout, stderr } = await commandLine(["list", "--limit", "1"], { env });
    expect(stdout).toMatch(/^ID +STARTED .*\nsendMessage\/lost /);
    expect(stderr).toMatch(/^There are more: trustflow list --limit 1 --cursor [\w-]+\n$/);
  });
});

test.each([
  ["--cursor e30", "cursor: is not the cursor of a list"],
  ["--cursor e30 --account branch", "cannot be used with option '--account"],
  ["--reverse", "--reverse: needs --sort"],
  ['--account a"b', "filter.account: must have no quotation mark"],
  ["--started-before soon", "must be a time such as"],
  ["--started-before 2026-02-31", "must be a time such as"],
  ["--kind sad", "accessDenied, unavailable"],
])("list %s is a usage error", async (options, problem) => {
  const args = ["list", ...wordsOf(options), "--json"];
  const { code, stdout, stderr } = await commandLine(args, { env });
  expect([code, stdout]).toEqual([2, ""]);
  expect((JSON.parse(stderr) as { message: string }).message).toContain(problem);
});

test("the reason is shown where a decision is needed, and a note says that Temporal does not know it", async () => {
  const { stdout, stderr } = await commandLine(["list", "--reason", "401"], { env });
  expect(stdout).toMatch(/ REASON\n.* The account is Unauthorized \(401\)\n$/);
  expect(stderr).toBe(
    "Temporal knows no reasons: 2 processes that meet the other filters were read.\n",
  );
});

describe("resolve --where --dry-run", () => {
  const decide = async (...args: string[]) => {
    const all = ["resolve", "--by", "Ana", "--dry-run", "--json", ...args];
    const { code, stdout, stderr } = await commandLine(all, { env });
    return { code, answers: JSON.parse(stdout || "null") as object[] | null, stderr };
  };

  test("says of each process that meets the filters what the decision would do, or why it would be refused", async () => {
    const every = ["--where", "state=running"];
    const lost = { id: "sendMessage/lost", attention: "submit-1" };
    const refused = { id: "sendPostal/refused", attention: "submit-1" };
    expect(await decide("--decision", "retry", ...every)).toEqual({
      ...{ code: 2, stderr: "" },
      answers: [
        {
          ...lost,
          ...{ answer: "wouldBeRefused", exitCode: 2 },
          message: expect.stringMatching(/^unknownOutcome: .*: retry needs confirmRetry, note$/),
        },
        {
          ...refused,
          ...{ answer: "wouldBeDecided", exitCode: 0 },
          message: expect.stringMatching(/^accessDenied: The account is .*: retry tries again now/),
        },
      ],
    });
    const confirmed = ["--confirm-retry", "--note", "not in the portal"];
    expect(await decide("--decision", "retry", ...every, ...confirmed)).toMatchObject({
      code: 0,
      answers: [lost, refused],
    });
    expect(await decide("--decision", "happened", ...every)).toMatchObject({
      code: 2,
      answers: [
        lost,
        { answer: "wouldBeRefused", message: expect.stringContaining("it takes retry") },
      ],
    });
  });

  test.each([
    [["kind=accessDenied"], ["sendPostal/refused"]],
    [["reason=no answer", "account=default"], ["sendMessage/lost"]],
    [["process=sendNotice"], []],
  ])("takes the filters %j", async (filters, ids) => {
    const where = filters.flatMap((filter) => ["--where", filter]);
    const { code, answers } = await decide("--decision", "abandon", ...where);
    expect([code, answers]).toEqual([0, ids.map((id) => expect.objectContaining({ id }))]);
  });

  test("decides the attention that has the kind and the reason, also where another one is shown first", async () => {
    const protocol = { kind: "protocol" as const, decisions: ["abandon" as const] };
    await begin("sendPostal/several", {
      attention: { ...protocol, id: "ask-1", reason: "The state is unknown" },
      more: [{ ...protocol, id: "ask-2", reason: "The outcome is unknown" }],
    });
    // Temporal still shows the kind of the one that was decided last.
    await begin("sendPostal/moved", {
      attention: { ...protocol, id: "ask-1", reason: "The state is unknown" },
      shownKind: "unavailable",
    });
    await eventually("visibility shows them", async () => (await list()).length === 8);
    const where = async (filter: string) => {
      const { answers } = await decide("--decision", "abandon", "--where", filter);
      return answers;
    };
    expect(await where("reason=the outcome")).toMatchObject([{ attention: "ask-2" }]);
    expect(await where("kind=protocol")).toMatchObject([{ attention: "ask-1" }]);
    expect(await where("kind=unavailable")).toMatchObject([{ answer: "notWaiting" }]);
    for (const id of ["several", "moved"])
      await temporal.client.workflow.getHandle(`sendPostal/${id}`).terminate();
    await eventually(
      "they have ended",
      async () => (await list("--state", "running")).length === 5,
    );
  });

  test("shows one process by its ID too, and one without an attention as such", async () => {
    expect(await decide("lost", "tracked", "--decision", "abandon")).toMatchObject({
      code: 1,
      answers: [{ answer: "wouldBeDecided" }, { answer: "notWaiting" }],
    });
    expect(await decide("lost", "--attention", "other", "--decision", "abandon")).toMatchObject({
      code: 1,
      answers: [{ answer: "notWaiting" }],
    });
  });

  test.each([
    ["", "give IDs or --where, and not both"],
    ["a --where kind=protocol", "give IDs or --where, and not both"],
    ["--where kind", "must be name=value"],
    ["--where sort=id", "known: process, state"],
    ["--where kind=sad", "Allowed choices are accessDenied"],
    ["--where kind=protocol --attention submit-1", "--attention: needs a single ID"],
    ["--where kind=protocol --result {}", "--result: needs IDs"],
    ["a --attention b --update-id c", "cannot be used together with --dry-run"],
  ])("%s is a usage error", async (options, problem) => {
    const { code, stderr } = await decide("--decision", "happened", ...wordsOf(options));
    expect(code).toBe(2);
    expect((JSON.parse(stderr) as { message: string }).message).toContain(problem);
  });
});

// The last test: what it starts stays.
test("a page keeps its place while a process begins", async () => {
  const first = await commandLine(["list", "--limit", "2", "--json"], { env });
  const { next } = JSON.parse(first.stderr) as { next: string };
  await begin("sendMessage/between");
  await eventually("the new one", async () => idsOf(await list()).includes("between"));
  expect(idsOf(await list("--limit", "2", "--cursor", next))).toEqual(["late", "tracked"]);
});
