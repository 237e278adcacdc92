// Each thing that a flow of the credential wallet needs is created once, or is there already, and then the flow is started; the provider
// reports no later status (P1 §1.6, 2.11, 4.6; docs/reading-the-specification.md §7).
import type {
  FlowInitiated,
  WalletActivities,
  WalletCall,
  WalletPlan,
} from "../../activities/credential-wallet/index.js";
import type { StepCall } from "../../activities/runtime/activity.js";
import type { ProcessDocument } from "../../contracts/shared/status.js";
import type { Made } from "../../contracts/shared/wallet.js";
import { pathIdPattern, providerIdPattern } from "../../contracts/shared/names.js";
import { Flow, run } from "../runtime/flow.js";
import { plainView } from "../runtime/event-log.js";
import { effectStep, queryStep, stepsOf } from "../runtime/steps.js";

/** Something that is created in one step; `id` is the name of its id in references, and in an operator's `happened`. */
export interface Creation<Id extends string> {
  /** Each step has the name of its operation. */
  name: string;
  id: Id;
  /** In business words, for the Web UI and the timeline. */
  what: string;
  /** The id stands in the path of `init`. */
  isInPath?: true;
  create(wallet: WalletActivities, call: WalletCall): Promise<Record<Id, string>>;
}

export const operator: Creation<"operatorId"> = {
  name: "createOperator",
  id: "operatorId",
  what: "the wallet's operator",
  create: (wallet, call) => wallet.createOperator(call),
};

export const template: Creation<"templateId"> = {
  name: "createTemplate",
  id: "templateId",
  what: "the credential template",
  create: (wallet, call) => wallet.createTemplate(call),
};

interface InitialInput {
  init?: { providerFields?: Record<string, unknown> | undefined } | undefined;
}

export class SetUp {
  readonly #flow = new Flow(plainView);
  readonly #step = stepsOf(this.#flow, "credential-wallet");
  readonly #input: InitialInput;
  #account = "";
  /** Something was created in this run, so that a refusal must not end the process. */
  #isLater = false;
  #initiated: FlowInitiated | undefined;

  constructor(input: InitialInput, steps: [string, ...string[]]) {
    this.#input = input;
    this.#flow.lifecycle.askBeforeCancelling(...steps);
  }

  run<P extends string>(processName: P, main: () => Promise<void>) {
    return run({ flow: this.#flow, main, result: () => this.#result(processName) });
  }

  async prepare(
    check: (wallet: WalletActivities, mode: StepCall["mode"]) => Promise<WalletPlan>,
  ): Promise<void> {
    const step = queryStep("prepare", "Check the input");
    const plan = await this.#step(step, (wallet, { mode }) => check(wallet, mode));
    this.#account = plan.account;
    this.#flow.status.identify(plan);
  }

  /** Returns the given id, or that of the newly created item. */
  async make<Id extends string>(made: Made, creation: Creation<Id>): Promise<string> {
    const { name, id, what, isInPath, create } = creation;
    if (made.id !== undefined) {
      this.#flow.status.given.add(id);
      this.#refer(id, made.id);
      return made.id;
    }
    const fields = made.providerFields ?? {};
    const step = effectStep(name, `Create ${what}`, {
      happened: { [id]: isInPath ? pathIdPattern : providerIdPattern },
    });
    const created = await this.#step(step, (wallet, call) =>
      create(wallet, { ...call, ...this.#shared(), fields }),
    );
    this.#isLater = true;
    this.#refer(id, created[id]);
    this.#flow.log.note(`Created ${what}`);
    this.#flow.status.publish();
    return created[id];
  }

  /** Starts the flow, where the input says so. */
  async init(
    name: string,
    start: (wallet: WalletActivities, call: WalletCall) => Promise<FlowInitiated>,
  ): Promise<void> {
    const { log, status } = this.#flow;
    const { init } = this.#input;
    if (init) {
      const fields = init.providerFields ?? {};
      const step = effectStep(name, "Start the flow");
      this.#initiated = await this.#step(step, (wallet, call) =>
        start(wallet, { ...call, ...this.#shared(), fields }),
      );
      log.note("Started the flow");
    }
    status.ownOutcome = this.#outcome;
  }

  #shared() {
    return { account: this.#account, isLater: this.#isLater };
  }

  #refer(name: string, id: string): void {
    const { status } = this.#flow;
    status.references = { ...status.references, [name]: id };
  }

  get #outcome(): "initiated" | "setUp" {
    return this.#initiated ? "initiated" : "setUp";
  }

  #result<P extends string>(processName: P) {
    const { document, initiatedAt } = this.#initiated ?? {};
    const kept: ProcessDocument[] = document
      ? [{ kind: "answer", document, arrivedAt: initiatedAt }]
      : [];
    return {
      ...this.#flow.result(processName),
      outcome: this.#outcome,
      dates: { initiatedAt },
      documents: kept,
    };
  }
}
