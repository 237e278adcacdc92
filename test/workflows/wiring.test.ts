// The compiler wires a workflow to its queues, its activities and its children. Each `@ts-expect-error` is a mistake that it finds.
import { expect, test } from "vitest";
import { files, textOf } from "../docs/repository.js";
import type { Queues } from "../../src/activities/queues.js";
import type { InputOf, ProcessName, Registry, ResultOf } from "../../src/contracts/registry.js";
import type { Provider } from "../../src/providers/registry.js";
import { providerProxy, ownProxy } from "../../src/workflows/runtime/activity-options.js";
import { Child } from "../../src/workflows/runtime/child.js";
import type { AnyFlow } from "../../src/workflows/runtime/flow.js";
import { stepsOf } from "../../src/workflows/runtime/steps.js";

const step = { name: "s", summary: "s", journaled: true };
const options = { startToCloseTimeout: "1 minute" } as const;
const noticeId = { account: "a", uniqueId: "n" };

test("a step calls the activities of its queue alone", () => {
  const compiled = (flow: AnyFlow) => {
    const atNotice = stepsOf(flow, "evi-notice");
    void atNotice(step, (evi) => evi.readNotice({ ...noticeId, mode: "quick" }));
    // @ts-expect-error: no provider has this queue.
    stepsOf(flow, "evi-posts");
    // @ts-expect-error: the queue of certified post has no such activity.
    void stepsOf(flow, "evi-post")(step, (evi) => evi.readNotice({ ...noticeId, mode: "quick" }));
    // @ts-expect-error: it runs for hours, so only the queue of batches has it.
    void atNotice(step, (evi) => evi.archiveAffidavits({}));
    // @ts-expect-error: the queue of certified notices knows no letter.
    void atNotice(step, (evi, call) => evi.cancel({ ...call, ...noticeId }));
    // @ts-expect-error: the activity has another argument.
    void atNotice(step, (evi) => evi.readNotice({ idConference: "c" }));
  };
  expect(compiled).toBeDefined();
});

test("an update calls the activities of its queue alone", () => {
  const compiled = () => {
    void providerProxy("video-identification", options).rejectCall;
    // @ts-expect-error: the wallet has no calls.
    void providerProxy("credential-wallet", options).rejectCall;
    // @ts-expect-error: the queue of the workflows asks no provider.
    void ownProxy(options).rejectCall;
  };
  expect(compiled).toBeDefined();
});

test("a child gets the input of its process, and gives its result", () => {
  const of = { id: "order-7.post", title: "Certified post", label: "the post" };
  const start = { account: "a", digest: "d", lookIntervalSeconds: 1 };
  const compiled = (letter: InputOf<"sendPostal">, notice: InputOf<"sendNotice">) => {
    const child = new Child({ ...of, process: "sendPostal" });
    void child.start({ ...start, input: letter });
    const result: ResultOf<"sendPostal"> | undefined = child.result;
    // @ts-expect-error: it is the input of another process.
    void child.start({ ...start, input: notice });
    // @ts-expect-error: it is the result of another process.
    const other: ResultOf<"sendNotice"> | undefined = child.result;
    // @ts-expect-error: there is no such process.
    const none = new Child({ ...of, process: "sendPostcard" });
    return { result, other, none };
  };
  expect(compiled).toBeDefined();
});

test("each process has its workflow, and each provider a queue", () => {
  type Workflows = { [P in ProcessName]: (input: InputOf<P>) => Promise<ResultOf<P>> };
  const workflows = (bundle: typeof import("../../src/workflows/index.js")): Workflows => bundle;
  const queues = (every: Queues): Record<Provider, object> => every;
  const providers = (used: Registry[ProcessName]["provider"]): Provider => used;
  expect([workflows, queues, providers]).toHaveLength(3);
});

test("no module of the workflows keeps a state, because all processes of a worker share the modules", () => {
  // The bundle has no zod.
  const isShared = (path: string) =>
    /^src\/(workflows|contracts)\/.*\.ts$/.test(path) && !textOf(path).includes('from "zod"');
  const state = /^(export )?((let|var) |const .* = new (Weak)?Map).*/gm;
  const found = files
    .filter(isShared)
    .flatMap((path) => [...textOf(path).matchAll(state)].map(([line]) => `${path}: ${line}`));
  expect(found).toEqual([]);
});
