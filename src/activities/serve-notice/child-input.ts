// The input of a process that `serveNotice` starts. A child is started without a client, so what a client does before a start is done
// here, before any effect: the check of the id, the documents, and the secrets, sealed for the child (docs/decisions/0031).
import type { z } from "zod";
import { comparedInput } from "../../contracts/definition/compared-input.js";
import { withSecrets } from "../../contracts/definition/secret-fields.js";
import type { ServeNoticeInput } from "../../contracts/serve-notice/contract.js";
import type { serveChildren } from "../../contracts/serve-notice/states.js";
import { erasedProblem } from "../../contracts/shared/failures.js";
import {
  BUSINESS_ID_LENGTH,
  businessIdPattern,
  splitWorkflowId,
  workflowIdOf,
} from "../../contracts/shared/names.js";
import { contentOf } from "../../documents/content.js";
import type { Provider } from "../../providers/registry.js";
import { InvalidInput } from "../runtime/failure.js";
import type { AttemptMode } from "../runtime/failure.js";
import type { ProviderContext } from "../runtime/provider-context.js";

type ChildOf = (typeof serveChildren)[number];

/** What the workflow starts a child with. */
export interface PreparedChild<Input> {
  environment: string;
  account: string;
  /** Its documents are references, and its secrets are sealed for the child. */
  input: Input;
  /** Of the input: a process that is there already under the id has to have the same. */
  digest: string;
}

/** The argument of an activity that prepares a child. */
export interface Prepare {
  /** The whole input, unchecked: that of a plain Temporal client is parsed here for the first time. */
  input: unknown;
  mode: AttemptMode;
}

/** `given` and `settings`: the part of the checked input that the child gets. */
export async function preparedChild<S extends z.ZodType<object>>(
  { deps, account, process: processKey }: ProviderContext<Provider>,
  contract: S,
  child: ChildOf,
  parts: { input: ServeNoticeInput; given: object; settings: object | undefined },
): Promise<PreparedChild<z.output<S>>> {
  const key = await childKey(deps, child, processKey);
  const input = {
    ...parts.given,
    ...(parts.input.account !== undefined && { account: parts.input.account }),
    ...(parts.settings && { settings: parts.settings }),
  };
  return {
    environment: deps.environment,
    account: account.name,
    input: withSecrets(contract, input, (secret) => deps.secrets.seal(secret, key)) as z.output<S>,
    digest: deps.digests.of(comparedInput(contract, input, contentOf)),
  };
}

/** Refuses an id that leaves no room for the child's, and a child that was erased: its effects are no longer known. */
async function childKey(
  { documents }: ProviderContext<Provider>["deps"],
  { process: processName, suffix }: ChildOf,
  { namespace, workflowId }: ProviderContext<Provider>["process"],
): Promise<ProviderContext<Provider>["process"]> {
  const id = `${splitWorkflowId(workflowId)?.id}${suffix}`;
  if (!businessIdPattern.test(id))
    throw new InvalidInput([{ path: "id", problem: tooLongFor(suffix) }]);
  const key = { namespace, workflowId: workflowIdOf(processName, id) };
  if (await documents.dataKeys.isErased(key))
    throw new InvalidInput([{ path: "id", problem: erasedProblem }]);
  return key;
}

const tooLongFor = (suffix: string) =>
  `must have at most ${BUSINESS_ID_LENGTH - suffix.length} characters: ${suffix} is added to it`;

/** Errors of one part of the input, with the path that the part has in the whole. */
export async function inPart<T>(part: string, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const inWhole = ({ path, problem }: InvalidInput["fields"][number]) => ({
      path: `${part}.${path}`,
      problem,
    });
    throw new InvalidInput(error.fields.map(inWhole));
  }
}
